//! The `automata` engine: TSO with sets of buffer contents as automata (Linden and Wolper
//! 2010).
//!
//! *Problem.* Reachability under TSO, where store buffers have no bound.
//!
//! *Idea.* A state has control states, memory, and for each process a regular language:
//! the set of its possible buffer contents ([`language`]). Stores, loads, commits and
//! fences are operations on languages (`operations`; section 3). A depth-first search
//! visits states, omits redundant interleavings of independent actions with sleep sets,
//! and stops at states that are included in stored ones (`search`; section 4). If a state
//! on the stack differs only in one buffer, which has grown by a word, a cycle was found,
//! and the effect of all its repetitions is added at once (`cycle`).
//!
//! *Second order.* A depth-first search may find a violation late. So a breadth-first search
//! without cycles takes turns with it. Each goes on until it has done as much work as the
//! other, and then twice as much; work is counted, not timed. The depth-first search is first,
//! so what it finds soon is found as without the other one. Each looks at its own states, so
//! whichever ends has seen everything.
//!
//! *Termination.* The search may not terminate. If it does, the stored states contain
//! every reachable configuration, and every step from one of them leads into one of them:
//! a certificate.
//!
//! *Violations* rest on runs. `runs` goes back from a stored state through the search and
//! the accelerated cycles. The result is replayed step by step on the store-buffer
//! semantics.
//!
//! # Corrections
//!
//! 1. *Load.* `L1` is printed as `L ∩ Σ*·(m,d)·(Σ \ {(y,v) | y ≠ m})*`, which allows only
//!    letters on `m` after `(m,d)`. The correct formula has `(Σ \ {(m,v)})*`: no later
//!    store to `m`. As printed, a load of `x` from the buffer `(x,1)(y,1)` would not
//!    return 1, and from `(x,1)(x,0)` it would.
//! 2. *Sleep sets.* Algorithms 2 and 3 never add to a sleep set; the text says that an
//!    executed transition is added. Here it is added at the state where it was taken, so
//!    that it sleeps for the transitions that are taken later.
//! 3. *Independence*, rule 3, makes a commit to `m` independent of all transitions of a
//!    process that has `m` in its buffer, also of that process's own commit to `m`. Two
//!    commits to one variable are never independent: the last one determines memory. And
//!    the words that have to contain `m` are those of the process that loads, `L(A_p')`.
//! 4. *Cycle conditions.* The three conditions do not consider the path of the cycle. If
//!    the process commits its own stores on the path, or waits for an empty buffer, then
//!    the cycle cannot be repeated with a longer buffer. So there is a fourth condition:
//!    on the path the process only adds to its buffer.
//! 5. *Acceleration adds unreachable contents*, if cycles were accelerated before.
//!    `W^c(L)`, the words that can follow `L` without leaving it, remembers that a cycle
//!    was accelerated but not where. With `x = 1` in one loop and `y = 1` in the next,
//!    `(x,1)*` becomes `((x,1) | (y,1))*`, in which the first loop follows the second. A
//!    test has a program for which this gives a spurious violation. `holds` stays valid,
//!    since states only get larger. For a state that violates a property, a run is
//!    searched; if there is none, a second search accelerates only cycles that can be
//!    repeated immediately (`Folding::Repeatable`): each is replayed from the state where
//!    the new one begins, and must lead back to it with its word appended to every
//!    content and no load changed. Then any sequence of these cycles can be taken, all
//!    contents are reachable, and a violation always has a run. The second search may not
//!    terminate where the first does; then the answer is *unknown*.
//! 6. *`W^c(L)`* is by its definition the set `{w | L·w ⊆ L}`, which is closed under
//!    concatenation. What the paper computes "in practice", the words that lead from an
//!    accepting state to itself, may leave `L` if there are several accepting states.
//!    Here the definition is used.
//!
//! # Differences from the paper
//!
//! * `sync` of the paper commits all buffers. Here a full fence waits until the buffer of
//!   its process is empty, and so does an atomic read-write; commits are separate steps.
//!   So a fence is independent of the steps of other processes.
//! * Accelerating a cycle clears the sleep set of the state: a sleeping transition was
//!   taken elsewhere from a smaller state. In the paper it stays asleep, and then the
//!   stored states are not closed: a test has a program of three stores for which a
//!   commit is missing.
//! * The paper takes the intersection of the sleep sets of all stored states that include
//!   a new one. Here one stored state is chosen. If two stored states include the new
//!   one, and one of them omits `a` and the other `b`, then each may rely on the other,
//!   and neither transition is explored; the argument below needs a single state. No
//!   program is known for which it makes a difference.
//! * A state that is included in a stored one, and from which nothing remains to be
//!   explored, is not stored.
//!
//! # Why the stored states are closed under all steps
//!
//! Call an action *first* in a sequence from a state if it can be moved to the front by
//! swapping independent neighbors. Claim: if a state was visited with a sleep set that
//! contains no first action of a sequence, then the result of the sequence is included in
//! a stored state. The proof is by induction on the length. The first actions are
//! executed, here or at the stored state that includes this one; take the one that was
//! executed first. After it, an action that sleeps and is first in the rest is
//! independent of it, so it was first before. Then it slept before, which is excluded, or
//! it was executed earlier, which is excluded as well. Acceleration only enlarges states
//! and clears sleep sets. Now take a stored state and an action that sleeps there. Some
//! state above it on the stack executed that action, and then the actions on the path
//! from there, all independent of it and none of them asleep; there was no acceleration
//! on the path. So the claim applies to the path followed by the action. The checker of
//! certificates checks every single step, so it does not rely on this argument.

mod cycle;
mod dfa;
mod graph;
pub mod language;
mod operations;
mod runs;
mod search;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use weir_model::answer::{
    Answer, BufferAutomaton, BufferAutomatonState, BufferSet, BufferState, Evidence, Run,
};
use weir_model::ids::{StateId, ValueId};
use weir_model::limits::Stop;
use weir_model::memory_model::MemoryModel;
use weir_model::question::{Question, numbered};
use weir_model::semantics::Form;

use crate::engine::{Engine, Task};
use crate::graph::{Graph, NoGraph};
use crate::stats::{Progress, SearchOptions, Stats};
use cycle::Folding;
use language::LanguageId;
use operations::Space;
use search::{Order, Search};

/// The `automata` engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Automata {
    /// Whether to leave out steps whose order does not matter.
    pub sleep_sets: bool,
    /// Whether to fold cycles in.
    pub acceleration: bool,
    /// How much work the depth-first search does before the breadth-first one begins.
    pub first_turn: usize,
}

impl Default for Automata {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl Automata {
    /// Everything is switched on.
    pub const DEFAULT: Self = Self { sleep_sets: true, acceleration: true, first_turn: 1 << 14 };

    /// How the first search folds cycles in.
    fn folding(self) -> Folding {
        if self.acceleration { Folding::Paper } else { Folding::Never }
    }

    /// The search of the paper.
    fn in_depth(self) -> Order {
        Order::Depth { folding: self.folding(), sleeps: self.sleep_sets }
    }
}

/// How many states that settle a question are looked at for a real run before cycles
/// are folded in with more care.
const TRIES: usize = 16;

/// What is known of a question.
#[derive(Clone, Debug)]
enum Found {
    Nothing,
    /// States that settle it without a run, so many times.
    Spurious(usize),
    /// A run that settles it.
    Settled(Box<Run>),
    /// Nothing settles it, as this shows.
    Excluded(Evidence),
}

impl Found {
    /// Whether this search can say no more about it.
    fn is_done(&self) -> bool {
        match self {
            Self::Nothing => false,
            Self::Spurious(tries) => *tries >= TRIES,
            Self::Settled(_) | Self::Excluded(_) => true,
        }
    }
}

impl Engine for Automata {
    fn name(&self) -> &'static str {
        "automata"
    }

    fn about(&self) -> &'static str {
        "Buffer contents as automata, for TSO: a proof or a run, or no termination"
    }

    fn decides(&self, model: MemoryModel) -> bool {
        Form::of(model)[0] == Form::Tso
    }

    fn search(&self, task: Task<'_>, progress: Progress<'_>) -> (Vec<Answer>, Stats) {
        let began = Instant::now();
        let options = task.options;
        let mut found = vec![Found::Nothing; task.questions.len()];
        let mut stats = Stats { engine: self.name(), ..Stats::default() };
        let all = match task.system.expanded(&options.budget) {
            Ok(all) => all,
            Err(stop) => {
                stats.stopped = Some(stop.to_string());
                return (task.unknown(&stop), stats);
            }
        };
        let mut wide = Search::new(all, Order::Breadth, &options.budget);
        let mut shown = vec![Found::Nothing; task.questions.len()];
        let mut until = self.first_turn.max(1);
        for folding in [self.folding(), Folding::Repeatable] {
            let order = Order::Depth { folding, sleeps: self.sleep_sets };
            let mut deep = Search::new(all, order, &options.budget);
            let is_deep = loop {
                let besides = (began, wide.stats.bytes);
                let is_over = deep.run(options, besides, until, progress, &mut |search, node| {
                    judge(search, task, node, &mut found)?;
                    Ok(enough(&found))
                });
                if is_over {
                    break true;
                }
                let besides = (began, deep.stats.bytes);
                let is_over = wide.run(options, besides, until, progress, &mut |search, node| {
                    judge(search, task, node, &mut shown)?;
                    let settled = shown.iter().zip(&mut found);
                    for (shown, found) in settled.filter(|(s, _)| matches!(s, Found::Settled(_))) {
                        found.clone_from(shown);
                    }
                    Ok(enough(&found))
                });
                if is_over {
                    break false;
                }
                until *= 2;
            };
            let (search, found_there) =
                if is_deep { (&mut deep, &mut found) } else { (&mut wide, &mut shown) };
            if search.stats.stopped.is_none()
                && let Err(stop) = exclude(search, task.model, options, found_there)
            {
                search.stats.stopped = Some(stop.to_string());
            }
            stats = search.stats.clone();
            if !is_deep && stats.stopped.is_none() {
                // It has seen every configuration.
                found = shown;
                break;
            }
            let is_spurious = |f: &Found| matches!(f, Found::Spurious(_));
            let is_limited = stats.stopped.is_some() && !found.iter().all(Found::is_done);
            if !found.iter().any(is_spurious) || is_limited || folding == Folding::Repeatable {
                break;
            }
            found.iter_mut().filter(|f| is_spurious(f)).for_each(|f| *f = Found::Nothing);
        }
        let questions = numbered(task.questions).zip(found);
        let answers = questions.map(|((i, question), found)| match (found, &stats.stopped) {
            (Found::Settled(run), _) => Answer::settled(i, question, *run),
            (Found::Excluded(evidence), _) => Answer::excluded(i, question, evidence),
            (Found::Nothing | Found::Spurious(_), Some(reason)) => Answer::unknown(i, reason),
            (Found::Nothing | Found::Spurious(_), None) => {
                Answer::unknown(i, "a state was found to which no run leads; please report this")
            }
        });
        (answers.collect(), stats.clone())
    }

    /// The stored states and the steps between them.
    fn graph(&self, task: Task<'_>, most: usize) -> Result<Graph, NoGraph> {
        graph::graph(*self, task, most)
    }
}

/// Whether a search can say no more about any question.
fn enough(found: &[Found]) -> ControlFlow<()> {
    match found.iter().all(Found::is_done) && !found.is_empty() {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    }
}

/// Finds the questions that a stored state settles, and searches runs for them.
fn judge(
    search: &Search<'_>,
    task: Task<'_>,
    node: search::NodeId,
    found: &mut [Found],
) -> Result<(), Stop> {
    let state = &search.nodes[node as usize].state;
    for ((i, question), found) in numbered(task.questions).zip(found) {
        let tries = match found {
            _ if found.is_done() => continue,
            Found::Spurious(tries) => *tries,
            _ => 0,
        };
        if search.space.settles(state, question) {
            let budget = &task.options.budget;
            *found = match runs::run(search, task.model, node, question, budget)? {
                Some(run) => {
                    if task.settled.is_told() {
                        task.settled.hand_over(&Answer::settled(i, question, run.clone()));
                    }
                    Found::Settled(Box::new(run))
                }
                None => Found::Spurious(tries + 1),
            };
        }
    }
    Ok(())
}

/// A search that saw everything excludes what it did not find.
fn exclude(
    search: &mut Search<'_>,
    model: MemoryModel,
    options: &SearchOptions,
    found: &mut [Found],
) -> Result<(), Stop> {
    let is_excluded = |f: &Found| matches!(f, Found::Nothing | Found::Excluded(_));
    if !found.iter().any(is_excluded) {
        return Ok(());
    }
    // One set for all that it shows, also for what an earlier search has shown.
    let evidence = match options.certificate {
        true => Evidence::Buffers(Arc::new(buffer_set(search, model)?)),
        false => Evidence::Exhausted,
    };
    for found in found.iter_mut().filter(|f| is_excluded(f)) {
        *found = Found::Excluded(evidence.clone());
    }
    Ok(())
}

/// What was stored, as evidence.
fn buffer_set(search: &mut Search<'_>, model: MemoryModel) -> Result<BufferSet, Stop> {
    let mut used: Vec<LanguageId> = Vec::new();
    let mut states = Vec::new();
    for id in search.maximal()? {
        let state = &search.nodes[id as usize].state;
        let mut number = |language: &LanguageId| {
            used.iter().position(|l| l == language).unwrap_or_else(|| {
                used.push(*language);
                used.len() - 1
            })
        };
        states.push(BufferState {
            controls: search.space.controls(state).iter().map(|s| StateId(*s)).collect(),
            memory: search.space.memory(state).iter().map(|v| ValueId(*v)).collect(),
            buffers: state.buffers.iter().map(&mut number).collect(),
        });
    }
    let automaton = |language: &LanguageId| automaton(&search.space, *language);
    Ok(BufferSet { model, automata: used.iter().map(automaton).collect(), states })
}

/// An automaton of buffer contents, for others.
fn automaton(space: &Space<'_>, language: LanguageId) -> BufferAutomaton {
    let dfa = space.languages.get(language);
    let edge = |(letter, to): &(language::Letter, u32)| {
        let (var, value) = space.store_of(*letter);
        (var, value, *to as usize)
    };
    let state = |s: u32| BufferAutomatonState {
        is_accepting: dfa.accepts_at(s),
        edges: dfa.edges(s).iter().map(edge).collect(),
    };
    BufferAutomaton { states: (0..dfa.len() as u32).map(state).collect() }
}

/// The questions that some configuration of a state settles.
fn settled(search: &Search<'_>, questions: &[Question], state: &operations::State) -> Vec<usize> {
    let is_settled = |i: &usize| search.space.settles(state, &questions[*i]);
    (0..questions.len()).filter(is_settled).collect()
}

/// What a search did that went on when it found violations.
#[derive(Clone, Debug)]
pub struct Exploration {
    /// What it did.
    pub stats: Stats,
    /// For each question the stored states that settle it.
    pub errors: Vec<usize>,
    /// How many cycles were folded in.
    pub folds: usize,
}

impl Automata {
    /// Explores a program to the end as the paper does, to count. Whether its errors are
    /// real is for [`Engine::check`] to say.
    pub fn explore(self, task: Task<'_>, progress: Progress<'_>) -> Exploration {
        let options = task.options;
        let mut errors = vec![0; task.questions.len()];
        let mut folds = 0;
        let all = match task.system.expanded(&options.budget) {
            Ok(all) => all,
            Err(stop) => {
                let stats = Stats { stopped: Some(stop.to_string()), ..Stats::default() };
                return Exploration { stats, errors, folds };
            }
        };
        let mut search = Search::new(all, self.in_depth(), &options.budget);
        let began = (Instant::now(), 0);
        search.run(options, began, usize::MAX, progress, &mut |search, node| {
            let node = &search.nodes[node as usize];
            settled(search, task.questions, &node.state).into_iter().for_each(|i| errors[i] += 1);
            folds += usize::from(node.fold.is_some());
            Ok(ControlFlow::Continue(()))
        });
        Exploration { stats: search.stats, errors, folds }
    }
}
