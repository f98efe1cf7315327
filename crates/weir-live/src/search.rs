//! Chooses the search for each property.

use weir_model::answer::Verdict;
use weir_model::limits::{Budget, Stop};
use weir_model::memory_model::MemoryModel;
use weir_model::program::LiveKind;
use weir_model::semantics::{Form, Semantics};
use weir_model::system::System;

use crate::fair::{Cycle, CyclePattern};
use crate::graph::{Extent, Graph, Unfinished};
use crate::property::{Progress, Question, in_block, patterns};
use crate::{Answer, DEFAULT_BOUND, Evidence, Lasso, Options, Seen, blocking, fair, fold, ltl};

/// Whether infinite runs can be asked about under a model.
pub fn is_supported(model: MemoryModel) -> bool {
    [MemoryModel::SC, MemoryModel::TSO].contains(&model.normal())
}

/// Answers questions about the infinite runs of a system, which has to be one
/// with rounds ([`System::with_rounds`]). Questions about progress are for objects
/// with clients. The model has to be one that [`is_supported`].
pub fn answers(system: &System, questions: &[Question<'_>], options: &Options) -> Vec<Answer> {
    answers_with(system, questions, options, &mut |_, _| {})
}

/// As [`answers`]; `settled` is called with each answer and the number of its question, as soon as
/// the answer is known.
pub fn answers_with(
    system: &System,
    questions: &[Question<'_>],
    options: &Options,
    settled: &mut dyn FnMut(usize, &Answer),
) -> Vec<Answer> {
    let is_sc = options.model.normal() == MemoryModel::SC;
    if !is_sc && system.has_blocks(options.model) {
        let reason = "atomic blocks of several accesses are followed under SC only".to_owned();
        let evidence = Evidence::Reason(reason);
        return vec![Answer { verdict: Verdict::Unknown, evidence }; questions.len()];
    }
    let divided = system.divided();
    let system = if is_sc { system } else { &divided };
    let mut search = Search {
        system,
        questions,
        options,
        extent: Extent::new(&options.search.budget),
        found: vec![None; questions.len()],
        valued: questions.iter().map(|question| !question.may_have_no_value()).collect(),
        settled,
        told: vec![false; questions.len()],
    };
    let reasons = match options.model.normal() {
        MemoryModel::SC => search.sc(),
        _ => search.tso(),
    };
    search.conclude();
    // Where Weir cannot follow a process, it stays for ever, which no run of the program does.
    let reason = match system.excess() {
        Some(excess) => {
            search.found.fill(None);
            excess.to_owned()
        }
        None => reasons.join("; "),
    };
    let unknown = Answer { verdict: Verdict::Unknown, evidence: Evidence::Reason(reason) };
    search.found.into_iter().map(|a| a.unwrap_or_else(|| unknown.clone())).collect()
}

/// Under TSO small graphs of both kinds come first, because it is not known in advance which kind
/// is small. These are the largest numbers of nodes of a graph in each turn.
const TURNS: [usize; 5] = [1 << 10, 1 << 14, 1 << 17, 1 << 20, usize::MAX];

/// A bound that no buffer of a lasso reaches.
pub(crate) const MAX_BUFFER: usize = 60_000;

struct Search<'a> {
    system: &'a System,
    questions: &'a [Question<'a>],
    options: &'a Options,
    extent: Extent,
    found: Vec<Option<Answer>>,
    /// For each question whether its formulas have a value in every reachable state.
    valued: Vec<bool>,
    settled: &'a mut dyn FnMut(usize, &Answer),
    /// Which answers were reported to the caller.
    told: Vec<bool>,
}

/// One of the two kinds of graphs under TSO, and its progress: the searches below `next` are done,
/// and the search `next` was stopped, for a reason.
struct Line {
    next: usize,
    stopped: Option<Unfinished>,
}

impl Search<'_> {
    fn is_done(&self) -> bool {
        self.found.iter().all(Option::is_some)
    }

    /// Reports what was found since the last report. Where Weir cannot follow a process, nothing is
    /// known.
    fn tell(&mut self) {
        if self.system.excess().is_some() {
            return;
        }
        for (i, (answer, told)) in self.found.iter().zip(&mut self.told).enumerate() {
            if let Some(answer) = answer.as_ref().filter(|_| !*told) {
                *told = true;
                (self.settled)(i, answer);
            }
        }
    }

    /// All configurations there are. Small parts come first: what is found in a part is real.
    fn sc(&mut self) -> Vec<String> {
        let semantics = Form::Sc.semantics(self.system, MemoryModel::SC, 0);
        let mut last = None;
        for nodes in TURNS {
            let partial = nodes != usize::MAX;
            let extent = Extent { nodes, partial, ..self.extent.clone() };
            let initial = semantics.initial();
            let graph = Graph::explore(&*semantics, self.system, initial, None, &extent);
            let looked = graph.and_then(|graph| {
                self.find_cycles(&graph, &*semantics)?;
                graph.unfinished.map_or(Ok(()), Err)
            });
            last = looked.err();
            if last.as_ref().is_none_or(|unfinished| !unfinished.can_grow) || self.is_done() {
                break;
            }
        }
        last.iter().map(stopped).collect()
    }

    /// Blocking pairs; then graphs with buffers that freeze beyond a bound that grows,
    /// which find violations, and folded ones that tell more and more apart, which
    /// find proofs.
    fn tso(&mut self) -> Vec<String> {
        let mut reasons = Vec::new();
        let question = Question::Progress(Progress::ObstructionFree);
        if let Some(i) = self.questions.iter().position(|q| *q == question) {
            match blocking::check(self.system, self.options.engine, &self.options.search) {
                Ok(answer) => self.found[i] = Some(answer),
                Err(reason) => reasons.push(format!("blocking pairs: {reason}")),
            }
            // What a lasso of blocking pairs settles need not be searched for.
            self.conclude();
            self.tell();
        }
        self.find_values();
        let most = self.options.search.bound.unwrap_or(DEFAULT_BOUND);
        let mut frozen = Line { next: 1, stopped: None };
        let mut folded = Line { next: 0, stopped: None };
        for nodes in TURNS {
            self.extent.nodes = nodes;
            self.go_on(&mut frozen, most, Self::frozen);
            self.go_on(&mut folded, most, Self::folded);
        }
        if frozen.next > 1 {
            reasons.push(format!("no violation with buffers of up to {}", frozen.next - 1));
        }
        if let Some(e) = &frozen.stopped {
            reasons.push(format!("with buffers of {}, {}", frozen.next, stopped(e)));
        }
        if folded.next > 0 {
            let level = folded.next - 1;
            reasons.push(format!("no proof with folded buffers that keep up to {level} writes"));
        }
        if let Some(e) = &folded.stopped {
            reasons.push(format!(
                "folded buffers that keep {} writes: {}",
                folded.next,
                stopped(e)
            ));
        }
        reasons
    }

    /// Looks at a small graph that has all states, and maybe more, for those in which a formula has
    /// no value.
    fn find_values(&mut self) {
        if self.valued.iter().all(|&valued| valued) {
            return;
        }
        self.extent.nodes = TURNS[1];
        let Ok(graph) = fold::graph(self.system, 0, &self.extent) else { return };
        for (question, valued) in self.questions.iter().zip(&mut self.valued) {
            *valued |= without_value(&graph, *question, &self.extent.budget) == Ok(None);
        }
    }

    /// Answers what is open by what is known: a lasso against a property is one against every
    /// property that implies it, and what shows that a property holds shows what it implies.
    fn conclude(&mut self) {
        let progress = |question: &Question<'_>| match question {
            Question::Progress(progress) => Some(*progress),
            Question::Live(_) => None,
        };
        for i in 0..self.questions.len() {
            let Some(open) = progress(&self.questions[i]).filter(|_| self.found[i].is_none())
            else {
                continue;
            };
            let settles = |(question, answer): (&Question<'_>, &Option<Answer>)| {
                let (other, answer) = (progress(question)?, answer.as_ref()?);
                let is_settled = match answer.verdict {
                    Verdict::Violated => open.implies().contains(&other),
                    Verdict::Holds => other.implies().contains(&open),
                    Verdict::Unknown => false,
                };
                is_settled.then(|| answer.clone())
            };
            self.found[i] = self.questions.iter().zip(&self.found).find_map(settles);
        }
    }

    /// Does the searches of one kind until one is larger than the budget allows.
    fn go_on(
        &mut self,
        line: &mut Line,
        most: usize,
        search: fn(&mut Self, usize) -> Result<(), Unfinished>,
    ) {
        let is_over = line.stopped.as_ref().is_some_and(|e| !e.can_grow);
        while !is_over && line.next <= most && !self.is_done() {
            line.stopped = search(self, line.next).err();
            if line.stopped.is_some() {
                return;
            }
            line.next += 1;
        }
    }

    /// Looks for cycles with buffers that are flushed while they hold up to `bound`
    /// writes. If none ever holds more, the graph has all runs. A graph that is too large
    /// is searched as far as it was built: what is found in a part of it is real.
    fn frozen(&mut self, bound: usize) -> Result<(), Unfinished> {
        let extent = Extent { partial: true, ..self.extent.clone() };
        let graph = fold::frozen(self.system, bound, &extent)?;
        let semantics = Form::Tso.semantics(self.system, MemoryModel::TSO, MAX_BUFFER);
        self.find_cycles(&graph, &*semantics)?;
        graph.unfinished.map_or(Ok(()), Err)
    }

    /// Searches a graph, whose runs are runs of a semantics, for cycles that settle questions.
    fn find_cycles(
        &mut self,
        graph: &Graph<'_>,
        semantics: &dyn Semantics,
    ) -> Result<(), Unfinished> {
        let Options { model, flush_fair, .. } = *self.options;
        for (i, question) in self.questions.iter().enumerate() {
            if self.found[i].is_some() {
                continue;
            }
            let budget = &self.extent.budget;
            let unfinished = |stop| Unfinished::stopped(stop, graph.len());
            budget.check().map_err(unfinished)?;
            let faulty = without_value(graph, *question, budget).map_err(unfinished)?;
            if let Some(node) = faulty {
                let end = Cycle { start: node, edges: Vec::new() };
                let lasso = Lasso::new(semantics, model, graph, &end, budget);
                let evidence = Evidence::Lasso(lasso.map_err(unfinished)?);
                self.found[i] = Some(Answer { verdict: Verdict::Violated, evidence });
                self.tell();
                continue;
            }
            // That a cycle is there does not show that the formula has a value everywhere.
            self.valued[i] |= graph.complete;
            if question.wants_cycle() && !self.valued[i] {
                continue;
            }
            let lasso = if let Some(asked) = as_ltl(*question, flush_fair, false) {
                let found = ltl::find(graph, asked, budget)?;
                found.map(|found| found.lasso(semantics, model, graph, budget))
            } else {
                let kinds = patterns(graph, *question, flush_fair, false);
                let cycle = find_any(graph, &kinds, budget).map_err(unfinished)?;
                cycle.map(|cycle| Lasso::new(semantics, model, graph, &cycle, budget))
            };
            let evidence = match lasso {
                Some(lasso) => Evidence::Lasso(lasso.map_err(unfinished)?),
                None if graph.complete => Evidence::Exhausted(seen(graph)),
                None => continue,
            };
            self.found[i] = Some(answer(*question, evidence));
            self.tell();
        }
        Ok(())
    }

    /// Looks for a proof with folded buffers.
    fn folded(&mut self, level: usize) -> Result<(), Unfinished> {
        let graph = fold::graph(self.system, level, &self.extent)?;
        for (i, question) in self.questions.iter().enumerate() {
            if self.found[i].is_some() {
                continue;
            }
            let unfinished = |stop| Unfinished::stopped(stop, graph.len());
            let budget = &self.extent.budget;
            budget.check().map_err(unfinished)?;
            if without_value(&graph, *question, budget).map_err(unfinished)?.is_some() {
                continue;
            }
            let is_settled = if let Some(asked) = as_ltl(*question, self.options.flush_fair, true) {
                ltl::find(&graph, asked, budget)?.is_none()
            } else {
                let kinds = patterns(&graph, *question, self.options.flush_fair, true);
                find_any(&graph, &kinds, budget).map_err(unfinished)?.is_none()
            };
            if is_settled {
                let evidence = Evidence::Folded { level, seen: seen(&graph) };
                self.found[i] = Some(answer(*question, evidence));
                self.tell();
            }
        }
        Ok(())
    }
}

/// A configuration in which a formula of a question has no value.
fn without_value(
    graph: &Graph<'_>,
    question: Question<'_>,
    budget: &Budget,
) -> Result<Option<usize>, Stop> {
    if !question.may_have_no_value() {
        return Ok(None);
    }
    let system = graph.system;
    for node in 0..graph.len() {
        budget.tick()?;
        let config = graph.config(node);
        let (controls, rest) = config.split_at(system.processes.len());
        let memory = &rest[..system.vars.len()];
        // States in the middle of an atomic block are not observed.
        if question.without_value(system, controls, memory).is_some() && !in_block(system, &config)
        {
            return Ok(Some(node));
        }
    }
    Ok(None)
}

/// What a question asks, if it has a formula of linear temporal logic.
fn as_ltl(question: Question<'_>, flush_fair: bool, spends: bool) -> Option<ltl::Asked<'_>> {
    match question {
        Question::Live(LiveKind::Ltl { runs, formula }) => {
            Some(ltl::Asked { formula, runs: *runs, flush_fair, spends })
        }
        _ => None,
    }
}

/// A cycle of one of some kinds.
pub(crate) fn find_any(
    graph: &Graph<'_>,
    kinds: &[CyclePattern<'_>],
    budget: &Budget,
) -> Result<Option<Cycle>, Stop> {
    for pattern in kinds {
        if let Some(cycle) = fair::find(graph, pattern, budget)? {
            return Ok(Some(cycle));
        }
    }
    Ok(None)
}

impl Answer {
    /// The answer that a lasso gives to a question that it settles.
    pub fn by_lasso(question: Question<'_>, lasso: Lasso) -> Self {
        answer(question, Evidence::Lasso(lasso))
    }
}

/// The answer that a lasso gives, or that there is none.
fn answer(question: Question<'_>, evidence: Evidence) -> Answer {
    let verdict = match (&evidence, question.wants_cycle()) {
        // A run without a cycle ends where a formula has no value, or shows what must not be.
        (Evidence::Lasso(lasso), true) if lasso.cycle().is_some() => Verdict::Holds,
        (Evidence::Lasso(_), _) | (_, true) => Verdict::Violated,
        (_, false) => Verdict::Holds,
    };
    Answer { verdict, evidence }
}

fn stopped(unfinished: &Unfinished) -> String {
    format!("{} after {} configurations", unfinished.reason, unfinished.nodes)
}

fn seen(graph: &Graph<'_>) -> Seen {
    Seen { nodes: graph.len(), edges: graph.edge_count() }
}
