//! What a program asks about itself: properties, infinite runs, games.

use super::{Formula, Ltl, Program};
use crate::ids::{LabelId, ProcessId, SpanId};

/// Something asked of the program.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Property {
    /// The name that a person gave it.
    pub name: Option<String>,
    /// What is asked.
    pub kind: PropertyKind,
    /// Where it stands.
    pub span: SpanId,
}

/// What a property asks.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum PropertyKind {
    /// No reachable state satisfies the formula.
    Never(Formula),
    /// No assertion fails, no index leaves its array, no value leaves the
    /// domain that was given for it.
    Assertions,
    /// No reachable state is a deadlock: no process can take a step, and some process has not ended
    /// and stands at none of these places.
    NoDeadlock(Vec<(ProcessId, LabelId)>),
    /// About the states in which every process has ended and every write has
    /// reached memory.
    Final(Quantifier, Formula),
}

/// How many final states have to satisfy a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// At least one.
    Exists,
    /// None.
    Never,
    /// All.
    Always,
}

/// Something asked about infinite runs.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Live {
    /// The name that a person gave it.
    pub name: Option<String>,
    /// What is asked.
    pub kind: LiveKind,
    /// Where it was written.
    pub span: SpanId,
}

/// What is asked about infinite runs. A run is *fair* if no process that can
/// take a step from some moment on stops taking steps.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum LiveKind {
    /// Some run satisfies the formula infinitely often (repeated reachability,
    /// Atig et al. 2010, section 3.4).
    Exists(Formula),
    /// No run satisfies the formula infinitely often.
    Never(Formula),
    /// Every fair infinite run satisfies the formula infinitely often.
    Always(Formula),
    /// There is no fair infinite run.
    Terminates,
    /// Every run, or every run of some kind, satisfies a formula of linear temporal logic.
    /// A run that ends stays in its last state for ever. Waiting is no step.
    Ltl {
        /// The runs that count.
        runs: Runs,
        /// The formula.
        formula: Ltl,
    },
}

/// The runs that a formula of linear temporal logic is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Runs {
    /// All of them.
    #[default]
    All,
    /// Fair ones, and ones that end.
    Fair,
    /// Those without end, fair or not.
    Endless,
}

impl Runs {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::All, Self::Fair, Self::Endless];

    /// The word for it in a program, if there is one.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Self::All => None,
            Self::Fair => Some("fair"),
            Self::Endless => Some("endless"),
        }
    }
}

/// A game of the program against its memory (Spengler 2024): one player picks
/// instructions, the other picks which buffered writes reach memory.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Game {
    /// The name that a person gave it.
    pub name: Option<String>,
    /// What the process player is after.
    pub objective: Objective,
    /// The local states that count, `Q_W`: it is enough that one process is in one.
    pub targets: Vec<(ProcessId, LabelId)>,
    /// Where it stands.
    pub span: SpanId,
}

/// What the process player of a game is after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Objective {
    /// `game reach`: to get to a target, a reachability condition.
    Reach,
    /// `game avoid`: never to get to a target, a safety condition.
    Avoid,
}

impl Program {
    /// What a person calls something that the program asks about infinite runs.
    pub fn live_name(&self, index: usize) -> String {
        let Some(live) = self.live.get(index) else { return format!("live #{}", index + 1) };
        if let Some(name) = &live.name {
            return name.clone();
        }
        let base = match live.kind {
            LiveKind::Exists(_) => "live exists",
            LiveKind::Never(_) => "live never",
            LiveKind::Always(_) => "live always",
            LiveKind::Terminates => "live terminates",
            LiveKind::Ltl { .. } => "ltl",
        };
        let same = |i: &usize| {
            let other = &self.live[*i];
            let kind = std::mem::discriminant(&other.kind);
            other.name.is_none() && kind == std::mem::discriminant(&live.kind)
        };
        match (0..self.live.len()).filter(same).count() {
            1 => base.to_owned(),
            _ => format!("{base} #{}", (0..=index).filter(same).count()),
        }
    }
}
