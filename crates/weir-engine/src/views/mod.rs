//! The `views` engine: proofs with buffers of any size.
//!
//! *Problem.* Reachability under SC, TSO, PSO and NSW, where store buffers have no bound.
//! Atig et al. 2010 and Atig et al. 2012 show that it is decidable, by a backward search
//! that drags in every configuration, reachable or not.
//!
//! *Idea.* Turn the memory round (Atig et al. 2010, section 5; Spengler 2024, section 9). A
//! write enters one history of memory states when it is issued, and each process
//! stands somewhere in that history, possibly behind: what the others do not see
//! yet of a buffered write, here its writer does not see yet of the history.
//! There is no update step; a process moves on only when a read or a fence needs
//! it, and one that lags more can do all that one does that lags less. So a
//! configuration *covers* those whose words are subwords of its own, and only
//! configurations that no other covers are kept.
//!
//! *Reads can wait.* For the same reason a process may put off all that it does
//! until it writes or comes to a fence: later it sees no less. So one step is all
//! that a process does up to its next write that enters the history, atomic
//! read-write or full fence (`space`), and where it can get to in between is
//! worked out for each process by itself (`places`). Interleavings of reads are
//! not looked at, which is most of them.
//!
//! *Words that grow.* Loops make words of any length. They are represented by
//! their subwords of up to `k` letters (`subwords`), which makes finitely many
//! configurations: the search ends. If it meets no bad one, what it has stored
//! is an inductive set: the property holds. If it does, the path is repeated
//! without folding (`concrete`): either it is a real run, or `k` was too small
//! and is raised.
//!
//! *Why refinement ends.* The set of all configurations that are covered by
//! reachable ones is closed under subwords, so by Higman's lemma it is given by
//! finitely many forbidden ones; when `k` reaches the length of the longest word
//! in these, folding adds nothing and no bad configuration is met that is not
//! real.
//!
//! *Differences from the literature.* Letters are blanked out to what the
//! process can still read before its next fence (`letters`), which keeps words
//! short; own writes are marks inside the word (`view`); formulas about memory
//! are decided by guessing the moment they speak of (`places`).

mod letters;
mod places;
mod search;
mod space;
mod subwords;
mod table;
mod view;
mod watch;

mod graph;

pub use graph::graph;
pub use search::{check, check_some, is_decided};
