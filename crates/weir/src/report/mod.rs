//! Reports: answers as text, JSON and other formats.

pub mod draw;
pub mod explain;
pub mod graph;
pub mod herd;
pub mod json;
pub mod promela;
pub mod run;
pub mod strategy;
pub mod table;

use weir_engine::Stats;
use weir_model::answer::{Answer, Evidence};
use weir_model::program::{LiveKind, Program};

/// So many values of one variable or register are worth a word.
const MANY: usize = 1000;

/// Why there is no answer, and what could be done about it.
pub fn reason(answer: &Answer, stats: &Stats) -> Option<String> {
    let Evidence::Reason(reason) = &answer.evidence else { return None };
    Some(match &stats.growth {
        Some((name, count)) if *count >= MANY => format!(
            "{reason}; `{name}` took more than {} values: say how far to look, with \
             `--domain {name}=0..7`",
            10_usize.pow(count.ilog10())
        ),
        _ => reason.clone(),
    })
}

/// The most memory that this process has had, in bytes, where the system tells.
pub fn peak_memory() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    let kib: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// A number with its thousands apart.
pub fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// A number of things: `1 step`, `2 steps`.
pub fn counted(n: usize, thing: &str) -> String {
    format!("{} {thing}{}", grouped(n), if n == 1 { "" } else { "s" })
}

/// What a person calls something that a program asks about runs without end.
pub fn live_name(program: &Program, index: usize) -> String {
    let Some(live) = program.live.get(index) else { return format!("live #{}", index + 1) };
    if let Some(name) = &live.name {
        return name.clone();
    }
    let base = match live.kind {
        LiveKind::Exists(_) => "live exists",
        LiveKind::Never(_) => "live never",
        LiveKind::Always(_) => "live always",
        LiveKind::Terminates => "live terminates",
    };
    let same = |i: &usize| {
        let other = &program.live[*i];
        let kind = std::mem::discriminant(&other.kind);
        other.name.is_none() && kind == std::mem::discriminant(&live.kind)
    };
    match (0..program.live.len()).filter(same).count() {
        1 => base.to_owned(),
        _ => format!("{base} #{}", (0..=index).filter(same).count()),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn thousands() {
        for (n, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(super::grouped(n), text);
        }
    }
}
