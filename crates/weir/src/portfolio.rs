//! The `auto` engine: which engine answers.
//!
//! Nearly every real bug shows with buffers that hold one write, and a search that never
//! filled its buffers is a proof; `views` proves the rest. It is not known in advance
//! which of the two is faster, so [`Auto`] alternates between them, each time with more
//! memory. Memory and not time decides when to switch, so that the same input gives the
//! same answers.
//!
//! Under TSO there is a third way: if every run has the trace of an SC run
//! ([`weir_engine::robust`]), then what no SC configuration settles is not settled under TSO either,
//! for questions that [a trace determines](Question::is_determined_by_traces). *Proof*: let a run
//! under TSO lead to a state that settles such a question. Let its writes that are still under way
//! reach memory; that changes no control state, and for a final state there are none. Some SC run has the same
//! trace, so it leads to a configuration with the same control states and, when all writes have
//! reached memory, with the same memory. It settles the question.
//!
//! Where reads are guessed and the number of guesses is bounded, channel machines prove what
//! a short explicit search leaves open. Other sets of relaxations inside NSW are searched through
//! NSW ([`inclusion`]).
//!
//! `views` packs words of memory states into 64 bits, so a proof may need longer words than it has.
//! Then it gives up, and `backward` answers what is left: it decides everything but formulas about
//! memory while writes are under way (Atig et al. 2012, section 6).
//!
//! A question that is settled is asked again in later turns, together with the others. Two engines
//! that contradict each other are an internal error.

mod inclusion;

use std::time::Instant;

use weir_channel::decide::Channels;
use weir_engine::explicit::{Asked, Folded};
use weir_engine::graph::{Graph, NoGraph};
use weir_engine::robust::attack::{self, Attacks};
use weir_engine::{
    Backward, Engine, Explicit, Progress, SearchOptions, Stats, Task, Views, blame, reachable,
    views,
};
use weir_model::answer::{Answer, Evidence};
use weir_model::ids::QuestionId;
use weir_model::limits::Budget;
use weir_model::memory_model::MemoryModel;
use weir_model::question::Question;
use weir_model::semantics::has_bounded_guesses;

/// More processes than this are not tried two by two.
const MOST_TO_PAIR: usize = 8;

/// With bounded guesses, the explicit search goes first with so many bytes.
const SHORT: usize = 16 << 20;

/// The `auto` engine.
#[derive(Clone, Copy, Debug)]
pub struct Auto;

impl Engine for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn about(&self) -> &'static str {
        "Alternates between `explicit`, `views` and `backward`, with increasing memory"
    }

    fn decides(&self, _: MemoryModel) -> bool {
        true
    }

    fn follows_blocks(&self) -> bool {
        true
    }

    fn search(&self, task: Task<'_>, progress: Progress<'_>) -> (Vec<Answer>, Stats) {
        if task.system.has_blocks(task.model) {
            return Explicit.search(task, progress);
        }
        if task.options.guesses.is_some() && has_bounded_guesses(task.model) {
            return guessed(task, progress);
        }
        if task.model == MemoryModel::C11 && task.options.bound.is_none() {
            return growing(task, progress);
        }
        if !Views.decides(task.model) {
            return inclusion::search(task, progress);
        }
        if task.options.certificate {
            return with_proof(task, progress);
        }
        if task.model.normal() == MemoryModel::SC {
            return Explicit.search(task, progress);
        }
        in_turns(task, progress)
    }

    /// That of the explicit engine.
    fn graph(&self, task: Task<'_>, most: usize) -> Result<Graph, NoGraph> {
        Explicit.graph(task, most)
    }
}

/// Under C11: the explicit search with more and more writes that can still be read, and folding of old writes, each with
/// more and more memory. Where the writes of a location are few, a larger bound is soon enough; where they pile up without
/// end, none is, and only folding proves anything.
fn growing(task: Task<'_>, progress: Progress<'_>) -> (Vec<Answer>, Stats) {
    let mut turns = Turns::new(task);
    let is_decided = [1, 4, 16, 64, 256, 1024].into_iter().any(|mib| {
        turns.messages(4, mib * MIB, progress)
            || turns.folded(mib * MIB, progress)
            || turns.messages(16, mib * MIB, progress)
            || turns.messages(64, mib * MIB, progress)
    });
    if !is_decided {
        turns.messages(4, usize::MAX, progress);
    }
    turns.end()
}

/// A turn of the portfolio that is asked alone, as an engine of its own. What it does not decide is
/// unknown. The command line takes their names with `--engine` and lists them nowhere: they are
/// for comparing each turn with something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Proofs by a [slice](weir_model::system::System::slice).
    Slice,
    /// Proofs by robustness under TSO.
    Robust,
    /// Runs of two processes of many.
    Pairs,
    /// Sets of relaxations through NSW.
    Inclusion,
}

impl Engine for Turn {
    fn name(&self) -> &'static str {
        match self {
            Self::Slice => "auto-slice",
            Self::Robust => "auto-robust",
            Self::Pairs => "auto-pairs",
            Self::Inclusion => "auto-inclusion",
        }
    }

    fn about(&self) -> &'static str {
        "One turn of `auto` alone"
    }

    fn decides(&self, model: MemoryModel) -> bool {
        match self {
            Self::Slice | Self::Pairs => Views.decides(model),
            Self::Robust => model.normal() == MemoryModel::TSO,
            Self::Inclusion => inclusion::is_inside(model),
        }
    }

    fn search(&self, task: Task<'_>, progress: Progress<'_>) -> (Vec<Answer>, Stats) {
        let mut turns = Turns::new(task);
        match self {
            Self::Slice => turns.slice(true, progress),
            Self::Robust => turns.robust(usize::MAX, progress),
            Self::Pairs => turns.pairs(usize::MAX, progress),
            Self::Inclusion => return inclusion::through_nsw(task, progress),
        };
        turns.end()
    }
}

/// The explicit search and views in turns.
///
/// Short runs are found first. Then a [slice](weir_model::system::System::slice) for what is still open may be enough to see that
/// it is never settled. Then what small sets of views prove or refute; then bugs that need two
/// processes of many; then whatever takes longer. Explicit searches are paused and go on later;
/// one that never filled a buffer may become a proof, so it goes before those that look for
/// bugs with shorter buffers.
fn in_turns(task: Task<'_>, progress: Progress<'_>) -> (Vec<Answer>, Stats) {
    let bounded =
        |bound| SearchOptions { bound: task.options.bound.or(bound), ..task.options.clone() };
    let (one, two, any) = (bounded(Some(1)), bounded(Some(2)), bounded(None));
    let mut turns = Turns::new(task);
    let mut two = Paused::new(task.within(&two));
    let mut any = Paused::new(task.within(&any));
    let mut one = Paused::new(task.within(&one));
    'turns: {
        if turns.explicit(&mut two, MIB, progress) || turns.explicit(&mut any, MIB, progress) {
            break 'turns;
        }
        if turns.slice(any.may_prove(), progress) {
            break 'turns;
        }
        if turns.views(2 * MIB, progress) || turns.robust(16 * MIB, progress) {
            break 'turns;
        }
        if any.may_prove() && turns.explicit(&mut any, 64 * MIB, progress) {
            break 'turns;
        }
        if turns.views(16 * MIB, progress) || turns.pairs(16 * MIB, progress) {
            break 'turns;
        }
        for (explicit, proof) in [(128 * MIB, 256 * MIB), (512 * MIB, 1024 * MIB)] {
            let search = if any.may_prove() { &mut any } else { &mut one };
            if turns.explicit(search, explicit, progress)
                || turns.views(proof, progress)
                || turns.has_given_up && turns.backward(proof, progress)
            {
                break 'turns;
            }
        }
        let _ = turns.explicit(&mut two, 1024 * MIB, progress)
            || turns.views(usize::MAX, progress)
            || turns.backward(usize::MAX, progress)
            || turns.explicit(&mut any, usize::MAX, progress);
    }
    turns.end()
}

/// Views, whose proofs are short; the explicit search where they take long and its
/// configurations can be listed as a proof.
fn with_proof(task: Task<'_>, progress: Progress<'_>) -> (Vec<Answer>, Stats) {
    let mut turns = Turns::new(task);
    let mut explicit = Paused::new(task);
    let _ = turns.views(64 * MIB, progress)
        || turns.robust(64 * MIB, progress)
        || reachable::is_listed(task.model) && turns.explicit(&mut explicit, 256 * MIB, progress)
        || turns.views(usize::MAX, progress)
        || turns.backward(usize::MAX, progress);
    turns.end()
}

/// A mebibyte.
const MIB: usize = 1 << 20;

/// An explicit search that has not begun, is paused, or could not begin.
enum Paused<'t> {
    Waiting(Task<'t>),
    Begun(Box<Asked<'t>>),
}

impl<'t> Paused<'t> {
    fn new(task: Task<'t>) -> Self {
        Self::Waiting(task)
    }

    /// Whether it may still show that nothing settles a question: no buffer was full so far.
    fn may_prove(&self) -> bool {
        matches!(self, Self::Begun(asked) if asked.stats().within_bound)
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Waiting(_) => 0,
            Self::Begun(asked) => asked.stats().bytes,
        }
    }

    fn go_on(&mut self, budget: &Budget, progress: Progress<'_>) -> (Vec<Answer>, Stats) {
        if let Self::Waiting(task) = self {
            match Asked::new(*task) {
                Ok(asked) => *self = Self::Begun(Box::new(asked)),
                Err(stop) => return (task.unknown(&stop), Stats::default()),
            }
        }
        let Self::Begun(asked) = self else { unreachable!("it has begun") };
        asked.go_on(budget, progress);
        asked.answers(budget)
    }
}

/// What is known after some turns.
struct Turns<'t> {
    task: Task<'t>,
    began: Instant,
    answers: Vec<Answer>,
    stats: Stats,
    /// What views had in their last turn.
    views: usize,
    /// Whether views have ended without an answer, for want of longer words and not of memory.
    has_given_up: bool,
    /// Whether an engine that could have proved what is unknown has said why it did not.
    has_reason: bool,
    /// The explicit search under C11 that went furthest: its bound, and whether it was cut off.
    messages: Option<(usize, bool)>,
    /// The last explicit search under C11 that was cut off: its bound, and what it was given.
    cut: Option<(usize, usize)>,
    /// Whether folding has ended without being cut off.
    has_folded: bool,
    /// What paused searches keep.
    kept: usize,
}

impl<'t> Turns<'t> {
    fn new(task: Task<'t>) -> Self {
        let (answers, stats) = (task.unknown(&"nothing was searched"), Stats::default());
        let began = Instant::now();
        Self {
            task,
            began,
            answers,
            stats,
            views: 0,
            has_given_up: false,
            has_reason: false,
            messages: None,
            cut: None,
            has_folded: false,
            kept: 0,
        }
    }

    /// The limits of a turn. Paused searches keep what they have, so that an explicit search
    /// may take a quarter of what there is, before its last turn.
    fn within(&self, bytes: usize) -> SearchOptions {
        let options = self.task.options;
        let most = options.budget.store().unwrap_or(usize::MAX).saturating_sub(self.kept);
        SearchOptions {
            budget: options.budget.clone().with_store(bytes.min(most)),
            ..options.clone()
        }
    }

    /// What an explicit search may take if it is to be paused.
    fn share(&self, bytes: usize) -> usize {
        let most = self.task.options.budget.store().unwrap_or(usize::MAX);
        if bytes == usize::MAX { bytes } else { bytes.min(most / 4) }
    }

    /// Takes over what a turn has found. Whether nothing is left to do.
    fn take(&mut self, (found, stats): (Vec<Answer>, Stats)) -> bool {
        let all = found.into_iter().enumerate();
        self.take_some(all, stats)
    }

    /// Takes over answers to some questions, by their numbers. Whether nothing is left to do.
    fn take_some(&mut self, found: impl Iterator<Item = (usize, Answer)>, stats: Stats) -> bool {
        let contradiction = self.stats.contradiction.take();
        let is_complete = ![Explicit.name(), Folded.name()].contains(&stats.engine);
        self.stats = stats;
        self.stats.contradiction = self.stats.contradiction.take().or(contradiction);
        for (i, answer) in found {
            let known = &mut self.answers[i];
            match (known.is_known(), answer.is_known()) {
                (true, true) if known.verdict != answer.verdict => {
                    let (name, model) = (&self.task.questions[i].name, self.task.model);
                    let (first, second) = (known.verdict.name(), answer.verdict.name());
                    let engine = self.stats.engine;
                    self.stats.contradiction = Some(format!(
                        "under {model} `{name}` is {first} by one engine and {second} by `{engine}`"
                    ));
                }
                (true, _) => {}
                // An engine that could have proved it knows more of why it is unknown.
                (false, is_known) if is_known || is_complete || !self.has_reason => {
                    *known = Answer { property: QuestionId::new(i), ..answer };
                    self.has_reason |= !is_known && is_complete;
                }
                (false, _) => {}
            }
        }
        self.is_over()
    }

    /// Whether nothing is left to do. What is known is handed over.
    fn is_over(&self) -> bool {
        self.answers.iter().for_each(|answer| self.task.settled.hand_over(answer));
        self.answers.iter().all(Answer::is_known) || self.task.options.budget.check().is_err()
    }

    fn explicit(&mut self, search: &mut Paused<'t>, bytes: usize, progress: Progress<'_>) -> bool {
        self.kept -= search.bytes().min(self.kept);
        let options = self.within(self.share(bytes));
        let found = search.go_on(&options.budget, progress);
        self.kept += search.bytes();
        self.take(found)
    }

    fn views(&mut self, bytes: usize, progress: Progress<'_>) -> bool {
        let options = self.within(bytes);
        // With little memory it would be the same search again.
        let bytes = options.budget.store().unwrap_or(usize::MAX);
        if std::mem::replace(&mut self.views, bytes) >= bytes {
            return false;
        }
        if self.has_given_up {
            return false;
        }
        let found = Views.search(self.task.within(&options), progress);
        self.has_given_up = views::has_given_up(&found.1);
        self.take(found)
    }

    /// The explicit search under C11 with a bound on the writes that can still be read.
    fn messages(&mut self, bound: usize, bytes: usize, progress: Progress<'_>) -> bool {
        // With a larger bound there is as much to store, or more.
        let is_known = matches!(self.messages, Some((known, false)) if bound <= known);
        if is_known || self.cut.is_some_and(|(least, given)| bound >= least && bytes <= given) {
            return false;
        }
        let options = SearchOptions { bound: Some(bound), ..self.within(bytes) };
        let (found, stats) = Explicit.search(self.task.within(&options), progress);
        let is_cut = stats.stopped.is_some();
        self.cut = is_cut.then_some((bound, bytes)).or(self.cut);
        // A search that was cut off says less than one with a smaller bound that was not.
        if is_cut && matches!(self.messages, Some((_, false))) {
            return self.take_known(found, stats);
        }
        self.messages = Some((bound, is_cut));
        self.take((found, stats))
    }

    /// Folds old writes under C11.
    fn folded(&mut self, bytes: usize, progress: Progress<'_>) -> bool {
        if self.has_folded {
            return false;
        }
        let options = self.within(bytes);
        let (found, stats) = Folded.search(self.task.within(&options), progress);
        self.has_folded = stats.stopped.is_none();
        self.take_known(found, stats)
    }

    /// Takes over what is known, and the statistics only if that is something new.
    fn take_known(&mut self, found: Vec<Answer>, stats: Stats) -> bool {
        let is_new =
            |(i, answer): &(usize, Answer)| answer.is_known() && !self.answers[*i].is_known();
        let known = found.into_iter().enumerate().filter(|(_, answer)| answer.is_known());
        let known: Vec<(usize, Answer)> = known.collect();
        let last = if known.iter().any(is_new) { stats } else { self.stats.clone() };
        self.take_some(known.into_iter(), last)
    }

    /// Asks `backward` what is open, as far as it decides it.
    fn backward(&mut self, bytes: usize, progress: Progress<'_>) -> bool {
        let Task { system, questions, model, .. } = self.task;
        let is_open =
            |i: &usize| !self.answers[*i].is_known() && !questions[*i].asks_for_memory_under_way();
        let open: Vec<usize> = (0..questions.len()).filter(is_open).collect();
        if open.is_empty() || !Backward.decides(model) {
            return false;
        }
        let asked: Vec<Question> = open.iter().map(|&i| questions[i].clone()).collect();
        let options = self.within(bytes);
        let task = Task { questions: &asked, ..Task::new(system, model, &options) };
        let (found, stats) = Backward.search(task, progress);
        self.take_some(open.into_iter().zip(found), stats)
    }

    fn pairs(&mut self, bytes: usize, progress: Progress<'_>) -> bool {
        let options = self.within(bytes);
        match pairs(self.task.within(&options), progress) {
            Some(found) => self.take(found),
            None => false,
        }
    }

    /// Looks whether every run under TSO has the trace of an SC run. If so, an SC search shows that
    /// nothing settles the open questions that a trace determines.
    fn robust(&mut self, bytes: usize, progress: Progress<'_>) -> bool {
        let Task { system, questions, model, .. } = self.task;
        let is_open =
            |i: &usize| !self.answers[*i].is_known() && questions[*i].is_determined_by_traces();
        let open: Vec<usize> = (0..questions.len()).filter(is_open).collect();
        if open.is_empty() || model.normal() != MemoryModel::TSO {
            return false;
        }
        let options = SearchOptions { certificate: false, ..self.within(bytes) };
        let (found, mut stats) = attack::search(system, &options.budget, progress);
        if !matches!(found, Attacks::None) {
            return false;
        }
        let asked: Vec<Question> = open.iter().map(|&i| questions[i].clone()).collect();
        // A trace has accesses, not statements.
        let (model, divided) = (MemoryModel::SC, system.divided());
        let task = Task { questions: &asked, ..Task::new(&divided, model, &options) };
        let (found, last) = Explicit.search(task, progress);
        stats.add(last);
        let proved = open.into_iter().zip(found).filter(|(_, a)| a.is_known() && !a.has_run());
        let proved: Vec<(usize, Answer)> =
            proved.map(|(i, a)| (i, Answer { evidence: Evidence::Robust, ..a })).collect();
        if proved.is_empty() {
            return self.is_over();
        }
        self.take_some(proved.into_iter(), stats)
    }

    /// Looks whether a slice for the open questions is enough to see that nothing settles them. A
    /// run of the slice proves nothing, so the explicit search looks at it only where it may prove
    /// something.
    fn slice(&mut self, explicit_may_prove: bool, progress: Progress<'_>) -> bool {
        let Task { system, questions, model, options, .. } = self.task;
        let open: Vec<usize> =
            (0..questions.len()).filter(|&i| !self.answers[i].is_known()).collect();
        let asked: Vec<Question> = open.iter().map(|&i| questions[i].clone()).collect();
        let Ok(Some(sliced)) = system.slice(&asked, &options.budget) else { return false };
        for (explicit, views) in [(16 * MIB, 16 * MIB), (64 * MIB, 64 * MIB)] {
            let engines: [(&dyn Engine, usize); 2] = [(&Explicit, explicit), (&Views, views)];
            for (engine, bytes) in engines.into_iter().skip(usize::from(!explicit_may_prove)) {
                let options = self.within(bytes);
                let task = Task { questions: &asked, ..Task::new(&sliced, model, &options) };
                let (found, stats) = engine.search(task, progress);
                let is_settled = found.iter().any(Answer::has_run);
                let proves = |a: &Answer| a.is_known() && !a.has_run() && sliced.excess().is_none();
                let proved = open.iter().copied().zip(found).filter(|(_, a)| proves(a));
                let proved: Vec<(usize, Answer)> = proved.collect();
                if !proved.is_empty() {
                    self.take_some(proved.into_iter(), stats);
                }
                if is_settled || self.is_over() {
                    return self.is_over();
                }
            }
        }
        false
    }

    fn end(mut self) -> (Vec<Answer>, Stats) {
        self.stats.elapsed = self.began.elapsed();
        blame(&self.task.options.budget, &mut self.answers);
        (self.answers, self.stats)
    }
}

/// Looks for runs of any two processes, if there are others.
fn pairs(task: Task<'_>, progress: Progress<'_>) -> Option<(Vec<Answer>, Stats)> {
    let all: Vec<_> = task.system.process_ids().collect();
    if !(3..=MOST_TO_PAIR).contains(&all.len()) {
        return None;
    }
    let mut answers = Vec::new();
    let mut stats = Stats::default();
    for (i, p) in all.iter().enumerate() {
        for q in &all[i + 1..] {
            let (found, last) = views::check_some(task, &[*p, *q], progress);
            replace_unknown(&mut answers, found);
            stats = last;
            if answers.iter().all(Answer::is_known) || task.options.budget.check().is_err() {
                return Some((answers, stats));
            }
        }
    }
    Some((answers, stats))
}

/// A short explicit search, and channel machines for what it leaves open.
fn guessed(task: Task<'_>, progress: Progress<'_>) -> (Vec<Answer>, Stats) {
    let began = Instant::now();
    let options = task.options;
    let store = options.budget.store().unwrap_or(SHORT).min(SHORT);
    let short =
        SearchOptions { budget: options.budget.clone().with_store(store), ..options.clone() };
    let (mut answers, mut stats) = Explicit.search(task.within(&short), progress);
    if !answers.iter().all(Answer::is_known) {
        let (found, last) = Channels.search(task, progress);
        replace_unknown(&mut answers, found);
        stats = last;
    }
    stats.elapsed = began.elapsed();
    blame(&options.budget, &mut answers);
    (answers, stats)
}

/// Takes over what is known now; a reason that comes later says more.
fn replace_unknown(answers: &mut Vec<Answer>, by: Vec<Answer>) {
    if answers.is_empty() {
        *answers = by;
        return;
    }
    for (answer, better) in answers.iter_mut().zip(by) {
        if !answer.is_known() {
            *answer = better;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_model::answer::Verdict;
    use weir_model::system::System;

    /// Two engines that say what cannot both be true are noticed, and stay noticed.
    #[test]
    fn contradictions_are_noticed() {
        let text = "var x  process p { x = 1 }  a: never x == 2  b: never x == 1";
        let (program, _) = weir_front::read("a.weir", text, None).unwrap();
        let system = System::new(program).unwrap();
        let options = SearchOptions::default();
        let mut turns = Turns::new(Task::new(&system, MemoryModel::TSO, &options));
        let holds = |i| Answer {
            verdict: Verdict::Holds,
            evidence: Evidence::Exhausted,
            property: QuestionId(i),
        };
        let stats = |engine| Stats { engine, ..Stats::default() };
        turns.take((vec![holds(0), Answer::unknown(QuestionId(1), "-")], stats("explicit")));
        assert_eq!(turns.stats.contradiction, None);
        let otherwise = Answer { verdict: Verdict::Violated, ..holds(0) };
        turns.take((vec![otherwise, holds(1)], stats("views")));
        turns.take((vec![holds(0), holds(1)], stats("explicit")));
        let (_, stats) = turns.end();
        let expected = "under TSO `a` is holds by one engine and violated by `views`";
        assert_eq!(stats.contradiction.as_deref(), Some(expected));
    }

    /// The reason of what is unknown is that of an engine that could have proved it.
    #[test]
    fn the_engine_that_knows_most_says_why() {
        let text = "var x  process p { x = 1 }  a: never x == 2";
        let (program, _) = weir_front::read("a.weir", text, None).unwrap();
        let system = System::new(program).unwrap();
        let options = SearchOptions::default();
        let mut turns = Turns::new(Task::new(&system, MemoryModel::TSO, &options));
        for (engine, reason) in [("explicit", "one"), ("views", "two"), ("explicit", "three")] {
            let stats = Stats { engine, ..Stats::default() };
            turns.take((vec![Answer::unknown(QuestionId(0), reason)], stats));
        }
        let (answers, _) = turns.end();
        assert!(matches!(&answers[0].evidence, Evidence::Reason(why) if why == "two"));
    }
}
