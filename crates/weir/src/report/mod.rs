//! What a person, or another program, sees of an answer.

pub mod draw;
pub mod explain;
pub mod graph;
pub mod herd;
pub mod json;
pub mod promela;
pub mod run;
pub mod strategy;
pub mod table;

/// The most memory that this process has had, in bytes, where the system tells.
pub fn peak_memory() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    let kib: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}
