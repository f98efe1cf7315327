//! Proofs under C11 for programs that write without end: a search of the over-approximation in which old writes and
//! `seq_cst` operations are folded ([`weir_model::semantics::folded_c11`]).
//!
//! Reachability under release and acquire is undecidable for loops that write (Abdulla et al. 2019), so this does not
//! decide it. It ends for every level of folding if values are finite. What is not reached is proved. What is
//! reached may be an artifact of folding; it is asked again at the next level, where more is kept, and is unknown
//! after the last.

use weir_model::answer::{Answer, Evidence};
use weir_model::ids::QuestionId;
use weir_model::memory_model::MemoryModel;
use weir_model::question::Question;
use weir_model::semantics::{Form, folded_c11};

use super::search::Search;
use super::{Settling, stopped};
use crate::engine::{Engine, Task};
use crate::stats::{Progress, Stats};

/// The highest level of folding.
const LAST: usize = 4;

/// The engine that folds.
#[derive(Clone, Copy, Debug)]
pub struct Folded;

impl Engine for Folded {
    fn name(&self) -> &'static str {
        "folded"
    }

    fn about(&self) -> &'static str {
        "Old writes are folded, for C11: a proof for loops that write without end, or nothing"
    }

    fn decides(&self, model: MemoryModel) -> bool {
        model == MemoryModel::C11
    }

    fn has_proofs(&self, _: MemoryModel) -> bool {
        false
    }

    fn search(&self, task: Task<'_>, progress: Progress<'_>) -> (Vec<Answer>, Stats) {
        let mut answers = task.unknown(&"what folding old writes adds was found at every level");
        let mut total = Stats { engine: self.name(), within_bound: true, ..Stats::default() };
        for level in 1..=LAST {
            let open: Vec<usize> = (0..answers.len()).filter(|&i| !answers[i].is_known()).collect();
            if open.is_empty() {
                break;
            }
            let (settled, stats) = search(task, &open, level, progress);
            let is_over = stats.stopped.is_some() && settled.contains(&false);
            match &stats.stopped {
                Some(reason) if is_over => {
                    open.iter()
                        .for_each(|&i| answers[i] = Answer::unknown(QuestionId::new(i), reason));
                }
                _ => {
                    for (&i, _) in open.iter().zip(&settled).filter(|(_, is_settled)| !**is_settled)
                    {
                        let (id, question) = (QuestionId::new(i), &task.questions[i]);
                        answers[i] = Answer::excluded(id, question, Evidence::Exhausted);
                        task.settled.hand_over(&answers[i]);
                    }
                }
            }
            total.add(Stats { stopped: stats.stopped.filter(|_| is_over), ..stats });
            total.level = Some(level);
            if is_over {
                break;
            }
        }
        total.elapsed = task.options.budget.elapsed();
        (answers, total)
    }
}

/// Which of some questions are settled at a level of folding.
fn search(
    task: Task<'_>,
    open: &[usize],
    level: usize,
    progress: Progress<'_>,
) -> (Vec<bool>, Stats) {
    let asked: Vec<Question> = open.iter().map(|&i| task.questions[i].clone()).collect();
    let task = Task { questions: &asked, ..task };
    let stats = Stats { engine: Folded.name(), within_bound: true, ..Stats::default() };
    let semantics = folded_c11(task.system, level);
    match Search::over(task, &asked, Form::C11, semantics, stats) {
        Ok(mut search) => {
            let mut settling = Settling::new(task.system, &asked);
            search.go_on(&task.options.budget, progress, &mut settling);
            let settled = settling.settled.iter().map(Option::is_some).collect();
            (settled, search.stats().clone())
        }
        Err(stop) => (vec![false; open.len()], stopped(&stop)),
    }
}
