//! Which search answers which question.

use std::time::Instant;

use weir_engine::Limits;
use weir_model::answer::Verdict;
use weir_model::memory_model::MemoryModel;
use weir_model::semantics::Form;
use weir_model::system::System;

use crate::graph::{Graph, Unfinished};
use crate::property::{Progress, Question, hunts};
use crate::{Answer, DEFAULT_BOUND, Evidence, Lasso, Options, Seen, blocking, fair, fold};

/// Whether runs without end can be asked about under a model.
pub fn is_supported(model: MemoryModel) -> bool {
    [MemoryModel::SC, MemoryModel::TSO].contains(&model.normal())
}

/// Answers questions about the runs without end of a system, which has to be one
/// with rounds ([`System::with_rounds`]). Questions about progress are for objects
/// with clients. The model has to be one that [`is_supported`].
pub fn answers(system: &System, questions: &[Question<'_>], options: &Options) -> Vec<Answer> {
    let mut search = Search {
        system,
        questions,
        options,
        began: Instant::now(),
        found: vec![None; questions.len()],
        reasons: Vec::new(),
    };
    if options.model.normal() == MemoryModel::SC {
        search.sc();
    } else {
        search.tso();
    }
    let reason = search.reasons.join("; ");
    let unknown = Answer { verdict: Verdict::Unknown, evidence: Evidence::Reason(reason) };
    search.found.into_iter().map(|a| a.unwrap_or_else(|| unknown.clone())).collect()
}

struct Search<'a> {
    system: &'a System,
    questions: &'a [Question<'a>],
    options: &'a Options,
    began: Instant,
    found: Vec<Option<Answer>>,
    /// How far each search came that did not settle everything.
    reasons: Vec<String>,
}

impl Search<'_> {
    fn is_done(&self) -> bool {
        self.found.iter().all(Option::is_some)
    }

    /// All configurations there are.
    fn sc(&mut self) {
        if let Err(unfinished) = self.bounded(0) {
            self.reasons.push(stopped(&unfinished));
        }
    }

    /// Buffers up to a bound and folded graphs in turns, each time less coarse.
    fn tso(&mut self) {
        let question = Question::Progress(Progress::ObstructionFree);
        if let Some(i) = self.questions.iter().position(|q| *q == question) {
            match blocking::check(self.system, &self.options.limits, self.began) {
                Ok(answer) => self.found[i] = Some(answer),
                Err(reason) => self.reasons.push(format!("blocking pairs: {reason}")),
            }
        }
        let most = self.options.limits.bound.unwrap_or(DEFAULT_BOUND);
        let (mut buffers, mut level) = (None, None);
        for k in 1..=most {
            if self.is_done() {
                return;
            }
            match self.bounded(k) {
                Ok(()) => buffers = Some(k),
                Err(e) => {
                    self.reasons.push(format!("with buffers of {k}, {}", stopped(&e)));
                    break;
                }
            }
            if self.is_done() {
                return;
            }
            match self.folded(k - 1) {
                Ok(()) => level = Some(k - 1),
                Err(e) => {
                    self.reasons.push(format!("folded at {}, {}", k - 1, stopped(&e)));
                    break;
                }
            }
        }
        if let Some(bound) = buffers {
            self.reasons.insert(0, format!("no violation with buffers of up to {bound}"));
        }
        if let Some(level) = level {
            let proof = format!("no proof with buffers folded behind up to {level} writes");
            self.reasons.insert(usize::from(buffers.is_some()), proof);
        }
    }

    /// Looks for cycles with buffers of up to `bound` writes; a graph in which no
    /// buffer was ever full has all runs.
    fn bounded(&mut self, bound: usize) -> Result<(), Unfinished> {
        let Options { model, flush_fair, limits } = self.options;
        let semantics = Form::of(*model)[0].semantics(self.system, *model, bound);
        let initial = semantics.initial();
        let graph = Graph::explore(&*semantics, self.system, &initial, None, limits, self.began)?;
        for (question, found) in self.questions.iter().zip(&mut self.found) {
            if found.is_some() {
                continue;
            }
            check_clock(limits, self.began, &graph)?;
            let kinds = hunts(&graph, *question, *flush_fair, false);
            let cycle = kinds.iter().find_map(|hunt| fair::find(&graph, hunt));
            let settles = question.wants_cycle();
            *found = match cycle {
                Some(cycle) => Some(Answer {
                    verdict: if settles { Verdict::Holds } else { Verdict::Violated },
                    evidence: Evidence::Lasso(Lasso::new(&*semantics, *model, &graph, &cycle)),
                }),
                None if graph.complete => Some(Answer {
                    verdict: if settles { Verdict::Violated } else { Verdict::Holds },
                    evidence: Evidence::Exhausted(seen(&graph)),
                }),
                None => None,
            };
        }
        Ok(())
    }

    /// Looks for a proof with folded buffers.
    fn folded(&mut self, level: usize) -> Result<(), Unfinished> {
        let Options { flush_fair, limits, .. } = self.options;
        let graph = fold::graph(self.system, level, limits, self.began)?;
        for (question, found) in self.questions.iter().zip(&mut self.found) {
            if found.is_some() {
                continue;
            }
            check_clock(limits, self.began, &graph)?;
            let kinds = hunts(&graph, *question, *flush_fair, true);
            if kinds.iter().all(|hunt| fair::find(&graph, hunt).is_none()) {
                let settles = question.wants_cycle();
                *found = Some(Answer {
                    verdict: if settles { Verdict::Violated } else { Verdict::Holds },
                    evidence: Evidence::Folded { level, seen: seen(&graph) },
                });
            }
        }
        Ok(())
    }
}

fn check_clock(limits: &Limits, began: Instant, graph: &Graph<'_>) -> Result<(), Unfinished> {
    match limits.timeout.filter(|t| began.elapsed() >= *t) {
        None => Ok(()),
        Some(limit) => {
            let reason = format!("the time limit of {} s was reached", limit.as_secs_f64());
            Err(Unfinished { reason, nodes: graph.len() })
        }
    }
}

fn stopped(unfinished: &Unfinished) -> String {
    format!("{} after {} configurations", unfinished.reason, unfinished.nodes)
}

fn seen(graph: &Graph<'_>) -> Seen {
    Seen { nodes: graph.len(), edges: graph.edge_count() }
}
