//! The `views` engine: proofs with unbounded buffers.
//!
//! *Problem.* Reachability under SC, TSO, PSO and NSW, where store buffers have no bound.
//! Atig et al. 2010 and Atig et al. 2012 show that it is decidable, by a backward search,
//! which also visits unreachable configurations.
//!
//! *Idea.* Reverse the direction of the buffers (Atig et al. 2010, section 5; Spengler
//! 2024, section 9). A write is appended to one history of memory states when it is
//! issued, and each process has a position in that history. A buffered write that other
//! processes do not see yet is, in this form, a write in the history that its writer has
//! not reached. There is no update step: a process moves forward only when a read or a
//! fence needs it, and a process that is further behind can do all that one further ahead
//! can do. So a configuration *covers* those whose words are subwords of its own, and
//! only configurations that no other one covers are stored.
//!
//! *Reads can be delayed.* For the same reason a process may delay all its operations
//! until it writes or reaches a fence: later it sees no less. So one step is everything
//! that a process does up to its next write that enters the history, atomic read-write or
//! full fence (`space`), and the places that it can reach in between are computed for
//! each process separately (`places`). Interleavings of reads, which are most
//! interleavings, are not explored.
//!
//! *Abstraction.* Loops produce words of any length. They are represented by their
//! subwords of up to `k` letters (`subwords`), which gives finitely many configurations:
//! the search terminates. If it finds no violation, the stored set is inductive: the
//! property holds. If it finds one, the path is repeated without abstraction
//! (`concrete`): either it is a real run, or the search told too little apart. Then it tells
//! more apart where that made the path possible (`precision`, `blame`), and begins again.
//!
//! *Why refinement terminates.* The set of all configurations that are covered by
//! reachable ones is closed under subwords, so by Higman's lemma it is described by
//! finitely many forbidden ones. When `k` reaches the length of the longest word in
//! these, the abstraction adds nothing, and every violation that is found is real.
//!
//! *Differences from the literature.* Letters are reduced to the variables that the
//! process can still read before its next fence (`letters`), which keeps words short; own
//! writes are marks inside the word (`view`); formulas about memory are decided by
//! guessing the moment they refer to (`places`).

mod blame;
mod course;
mod graph;
mod kept;
mod letters;
mod packed;
mod places;
mod precision;
mod proof;
mod search;
mod settling;
pub mod shared;
mod space;
mod store;
mod subwords;
mod table;
mod view;
mod watch;

use weir_model::answer::Answer;
use weir_model::ids::ProcessId;
use weir_model::memory_model::MemoryModel;
use weir_model::semantics::Form;

use crate::engine::{Engine, Task};
use crate::graph::{Graph, NoGraph};
use crate::stats::{Progress, Stats};

pub use search::check_some;

/// Whether a search ended without an answer although there was time and memory: a proof would need
/// longer words, or more memory states in words of that length, than can be packed.
pub fn has_given_up(stats: &Stats) -> bool {
    let too_many = letters::Halt::TooManyLetters.to_string();
    stats.stopped.as_ref().is_none_or(|reason| *reason == too_many)
}

/// The `views` engine.
#[derive(Clone, Copy, Debug)]
pub struct Views;

impl Engine for Views {
    fn name(&self) -> &'static str {
        "views"
    }

    fn about(&self) -> &'static str {
        "Unbounded buffers, for SC, TSO, PSO and NSW: a proof or a run"
    }

    fn decides(&self, model: MemoryModel) -> bool {
        matches!(Form::of(model)[0], Form::Sc | Form::Tso | Form::Pso | Form::NswFifo)
    }

    fn search(&self, task: Task<'_>, progress: Progress<'_>) -> (Vec<Answer>, Stats) {
        let all: Vec<ProcessId> = task.system.process_ids().collect();
        search::check_among(task, &all, progress)
    }

    fn graph(&self, task: Task<'_>, most: usize) -> Result<Graph, NoGraph> {
        graph::graph(task, most)
    }
}
