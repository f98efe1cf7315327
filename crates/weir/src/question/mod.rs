//! The kinds of questions: the one table of them.
//!
//! | kind | about | asked by |
//! | --- | --- | --- |
//! | [`Properties`] | reachable states: the properties of a program | [`Verifier::check`] |
//! | [`FinalStates`] | the final states of a program that ends | [`Verifier::outcomes`] |
//! | [`InfiniteRuns`] | progress of objects, termination, temporal formulas | [`Verifier::live`] |
//! | [`Games`] | games between a program and its memory | [`Verifier::games`] |
//! | [`Robustness`] | whether a memory model adds anything to SC | [`Verifier::robust`] |
//! | [`Repair`] | fences that repair a program | [`Verifier::fences`] |
//!
//! A new kind is a file here with a type that implements [`Question`], its [`Basis`](crate::finding::Basis), and a row of
//! [`QUESTIONS`]. Text and JSON need nothing more; `VIEWS` in `report/page/main.js` says how a page shows it.
//!
//! [`Verifier::check`]: crate::Verifier::check
//! [`Verifier::outcomes`]: crate::Verifier::outcomes
//! [`Verifier::live`]: crate::Verifier::live
//! [`Verifier::games`]: crate::Verifier::games
//! [`Verifier::robust`]: crate::Verifier::robust
//! [`Verifier::fences`]: crate::Verifier::fences

mod final_states;
mod games;
mod infinite_runs;
mod machine;
mod post;
pub(crate) mod properties;
mod repair;
mod robustness;

use weir_check::Claim;
use weir_front::Source;
use weir_model::memory_model::MemoryModel;
use weir_model::program::Program;

use crate::error::Error;
use crate::finding::{Listener, Question, Report};
use crate::load::Loaded;
use crate::verifier::Verifier;

pub use final_states::{FinalStates, Listed, show_value, value_json};
pub use games::{Games, Solved};
pub use infinite_runs::{Decided as DecidedRuns, InfiniteRuns};
pub(crate) use machine::StepReport as MachineStepReport;
pub use machine::{MachineQuestion, MachineRun};
pub use post::Post;
pub use properties::{Answered, Properties, certificate, witness};
pub use repair::{Exhibits, Repair, Repaired, side_by_side};
pub use robustness::{Compared, Robustness};

/// A kind of question.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The name of the command that asks it.
    pub name: &'static str,
    /// What it is about.
    pub about: &'static str,
    /// Whether a program asks it by itself under a model.
    pub is_asked: fn(&Program, MemoryModel) -> bool,
    /// Asks everything of this kind.
    pub ask: fn(&Verifier, Listener<'_>) -> Result<Report, Error>,
}

/// All kinds of questions about programs.
pub static QUESTIONS: [Kind; 6] = [
    Kind {
        name: "check",
        about: "the properties of a program",
        is_asked: |program, _| program.object.is_none(),
        ask: |verifier, tell| Properties::default().ask(verifier, tell),
    },
    Kind {
        name: "outcomes",
        about: "the final states of a program",
        is_asked: |_, _| false,
        ask: |verifier, tell| FinalStates::default().ask(verifier, tell),
    },
    Kind {
        name: "live",
        about: "infinite runs: progress of objects, termination of programs",
        is_asked: |program, model| {
            weir_live::is_supported(model) && (!program.live.is_empty() || program.object.is_some())
        },
        ask: |verifier, tell| InfiniteRuns::default().ask(verifier, tell),
    },
    Kind {
        name: "game",
        about: "games between a program and its memory",
        // Games are played under TSO.
        is_asked: |program, model| !program.games.is_empty() && model.normal() == MemoryModel::TSO,
        ask: |verifier, tell| Games::default().ask(verifier, tell),
    },
    Kind {
        name: "robust",
        about: "whether a memory model adds anything to SC",
        is_asked: |_, _| false,
        ask: |verifier, tell| Robustness.ask(verifier, tell),
    },
    Kind {
        name: "fences",
        about: "fences that repair a program",
        is_asked: |_, _| false,
        ask: |verifier, tell| Repair::default().ask(verifier, tell),
    },
];

/// A claim about a program under a model.
fn claim(loaded: &Loaded, model: &MemoryModel, question: impl Into<String>) -> Claim {
    let program = &loaded.system.program;
    Claim {
        program: program.name.clone(),
        fingerprint: program.fingerprint(),
        model: model.to_string(),
        question: question.into(),
        clients: None,
        fairness: None,
        guesses: None,
    }
}

/// What answers about a program in its language leave open.
fn caveats(source: &Source, model: MemoryModel) -> Vec<String> {
    let notes = source.notes.iter().cloned();
    if model == MemoryModel::C11 {
        let covered =
            "a store that takes effect before an earlier load of its thread is not covered";
        return std::iter::once(covered.to_owned()).chain(notes).collect();
    }
    let orders = source.has_weak_orders.then(|| match model.normal() {
        m if m == MemoryModel::SC => {
            "memory orders are read as SC has them: relaxed, acquire and release are as strong as seq_cst".to_owned()
        }
        m if m == MemoryModel::TSO => {
            "memory orders are read as x86 (TSO) has them, not as the language does: relaxed, acquire and release are plain loads and stores"
                .to_owned()
        }
        m => format!("memory orders are read as {m} has them, not as the language does"),
    });
    source.caveat.map(str::to_owned).into_iter().chain(orders).chain(notes).collect()
}

/// `under TSO`, or without a word about it if there are several models.
fn under(models: &[MemoryModel]) -> String {
    match models {
        [model] => format!("under {model}"),
        _ => String::new(),
    }
}
