//! `weir explain`: what a term means, in a few lines.
//!
//! `terms.txt` has the terms. A line `== NAME: what it is` begins one.

use weir::report::table::Table;
use weir_front::suggest::closest;

use super::{Status, fail, print};
use crate::cli::Explain;
use crate::output::paint;
use crate::terminal::{QUIET, STRONG};

const TERMS: &str = include_str!("terms.txt");

/// A term and its explanation.
struct Term {
    name: &'static str,
    /// What kind of thing it is.
    kind: &'static str,
    text: &'static str,
}

fn terms() -> Vec<Term> {
    let parts = TERMS.split("== ").filter(|part| !part.is_empty());
    let term = |part: &'static str| {
        let (head, text) = part.split_once('\n')?;
        let (name, kind) = head.split_once(": ")?;
        Some(Term { name, kind, text: text.trim_end() })
    };
    parts.filter_map(term).collect()
}

/// Other names of terms.
const ALIASES: [(&str, &str); 12] = [
    ("deadlock", "no deadlock"),
    ("exists", "final"),
    ("always", "final"),
    ("terminates", "live"),
    ("assert", "assertions"),
    ("rfence", "fence"),
    ("wfence", "fence"),
    ("mfence", "fence"),
    ("proof", "certificate"),
    ("run", "witness"),
    ("robustness", "robust"),
    ("x86", "tso"),
];

pub fn run(args: &Explain) -> Status {
    let terms = terms();
    if args.term.is_empty() {
        let mut table = Table::default();
        for term in &terms {
            table.row([term.name, term.kind]);
        }
        let lines = table.lines("  ").iter().map(|line| format!("  {line}\n")).collect::<String>();
        let hint = paint(QUIET, "`weir explain TERM` explains one of them.");
        print(&format!("{lines}\n{hint}\n"));
        return Status::Fine;
    }
    let asked = args.term.join(" ").to_lowercase();
    let alias = ALIASES.iter().find(|(name, _)| *name == asked).map(|(_, term)| *term);
    let wanted = alias.unwrap_or(&asked);
    match terms.iter().find(|term| term.name.to_lowercase() == wanted) {
        Some(term) => {
            let head = paint(STRONG, term.name);
            print(&format!("{head}: {}\n\n{}\n", term.kind, term.text));
            Status::Fine
        }
        None => {
            let names = terms.iter().map(|term| term.name).chain(ALIASES.iter().map(|a| a.0));
            fail(&match closest(&asked, names) {
                Some(meant) => format!("there is no term `{asked}`; did you mean `{meant}`?"),
                None => format!("there is no term `{asked}`; `weir explain` lists all terms"),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use weir::{ENGINES, MemoryModel};
    use weir_model::memory_model::Relaxation;

    use super::*;

    #[test]
    fn models_relaxations_and_engines_are_terms() {
        let terms = terms();
        let is_there = |name: &str| terms.iter().any(|t| t.name.eq_ignore_ascii_case(name));
        for (name, _) in MemoryModel::NAMED {
            assert!(is_there(name), "{name}");
        }
        for relaxation in Relaxation::ALL {
            assert!(is_there(relaxation.name()), "{}", relaxation.name());
        }
        for engine in ENGINES {
            assert!(is_there(engine.name()), "{}", engine.name());
        }
        for verdict in ["holds", "violated", "unknown", "allowed", "forbidden"] {
            assert!(is_there(verdict), "{verdict}");
        }
        for (name, term) in ALIASES {
            assert!(is_there(term) && !is_there(name), "{name}");
        }
    }

    #[test]
    fn terms_are_short() {
        for term in terms() {
            let lines: Vec<&str> = term.text.lines().collect();
            assert!((2..=12).contains(&lines.len()), "{}: {} lines", term.name, lines.len());
            let longest = lines.iter().map(|line| line.chars().count()).max();
            assert!(longest <= Some(100), "{}: {longest:?}", term.name);
        }
        assert_eq!(terms().len(), TERMS.lines().filter(|l| l.starts_with("== ")).count());
    }
}
