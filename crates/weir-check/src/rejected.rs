//! Why a checker rejects evidence: one type for all kinds.

use std::fmt;

/// Why evidence is rejected: the first thing that a checker found wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rejected {
    /// The text is not the JSON of its format.
    Unreadable(String),
    /// It has another format or version than its checker reads.
    Format {
        /// The format and the version that it names.
        found: (String, u32),
        /// Those of the checker.
        expected: (&'static str, u32),
    },
    /// It was made for another program, or another machine.
    Other {
        /// `program` or `machine`.
        what: &'static str,
    },
    /// It is not built as its format says, or names something that the program does not have.
    Malformed(String),
    /// There is no evidence of this kind under its memory model.
    Model {
        /// The kind of evidence, in the plural.
        what: &'static str,
        /// The memory model.
        model: String,
    },
    /// A step of a run is not possible, or does not do what the evidence says.
    Step {
        /// The number of the step, from 1.
        number: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A run does not begin where the program does.
    Start(String),
    /// A run does not end where the evidence says.
    End(String),
    /// The cycle of a lasso cannot be repeated, or not as the evidence says.
    Cycle(String),
    /// An initial configuration is not in a set that has to have all of them.
    InitialOutside,
    /// An initial configuration is in a set that may have none of them.
    InitialInside {
        /// The element of the set.
        place: String,
    },
    /// A step leads out of a set that has to be closed under steps.
    LeadsOut {
        /// The element of the set.
        place: String,
        /// The step.
        step: String,
    },
    /// A step leads from outside into a set that has to be closed under predecessors.
    LeadsIn {
        /// The element of the set.
        place: String,
        /// The step.
        step: String,
    },
    /// An element of a set settles a property that the set has to exclude.
    Settled {
        /// The element of the set.
        place: String,
        /// The name of the property.
        property: String,
    },
    /// A state that settles a property is not in a set that has to have all of them.
    Missing {
        /// What the missing state is, in words.
        state: String,
    },
    /// It settles nothing, or not what it says.
    SettlesNothing(String),
    /// A strategy does not win.
    Loses(String),
    /// An infinite run of the kind that the evidence excludes is possible.
    RunsForever(String),
    /// The property holds only if no value leaves its bound, and the evidence does not show that.
    Bounds,
    /// The translation cannot follow a process, so nothing is known of what it does.
    NotFollowed(String),
    /// It is too large for its checker: it was not checked, and may be right.
    TooLarge(String),
}

impl Rejected {
    /// Not built as its format says.
    pub fn malformed(reason: impl Into<String>) -> Self {
        Self::Malformed(reason.into())
    }

    /// The evidence names a memory model that does not exist.
    pub(crate) fn no_model(error: impl fmt::Display) -> Self {
        Self::Malformed(format!("memory model: {error}"))
    }

    /// The property that it names does not exist.
    pub(crate) fn no_property() -> Self {
        Self::malformed("there is no such property")
    }

    /// The step that is wrong, from 1, if it is one step's fault.
    pub fn step(&self) -> Option<usize> {
        match self {
            Self::Step { number, .. } => Some(*number),
            _ => None,
        }
    }
}

impl Rejected {
    /// Whether nothing was found wrong, and the evidence was not checked to its end.
    pub fn is_unchecked(&self) -> bool {
        matches!(self, Self::TooLarge(_))
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Format { found: (format, version), expected: (name, number) } => {
                write!(f, "this is {format} version {version}, not {name} version {number}")
            }
            Self::Other { what } => write!(f, "it was made for another {what}"),
            Self::Model { what, model } => write!(f, "there are no {what} for {model}"),
            Self::Step { number, reason } => write!(f, "step {number}: {reason}"),
            Self::InitialOutside => f.write_str("an initial configuration is not in the set"),
            Self::InitialInside { place } => write!(f, "{place}: it is initial"),
            Self::LeadsOut { place, step } => write!(f, "{place}: {step} leads out of the set"),
            Self::LeadsIn { place, step } => {
                write!(f, "{place}: {step} leads to it from outside of the set")
            }
            Self::Settled { place, property } => write!(f, "{place}: it settles `{property}`"),
            Self::Missing { state } => write!(f, "{state} is not in the set"),
            Self::Bounds => f.write_str("it does not show that no value leaves its bound"),
            Self::Unreadable(reason)
            | Self::Malformed(reason)
            | Self::Start(reason)
            | Self::End(reason)
            | Self::Cycle(reason)
            | Self::SettlesNothing(reason)
            | Self::Loses(reason)
            | Self::RunsForever(reason)
            | Self::NotFollowed(reason)
            | Self::TooLarge(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for Rejected {}
