//! Post's correspondence problem, by the program that stands for an instance (Atig et al. 2010, section 9.1).

use std::sync::Arc;

use serde_json::{Value, json};
use weir_check::{Evidence as _, Witness};
use weir_engine::{SearchOptions, Stats};
use weir_model::answer::{Run, Verdict};
use weir_model::ids::QuestionId;
use weir_model::memory_model::MemoryModel;
use weir_theory::pcp::{Instance, Solved, is_asked_under, program, solve};

use super::claim;
use crate::certify::accepted;
use crate::error::Error;
use crate::finding::{Basis, Block, Event, Evidence, Finding, Listener, Report};
use crate::load::{Loaded, Reading};
use crate::report::counted;
use crate::report::run::Layout;
use crate::report::table::Table;

/// Whether an instance has a solution.
#[derive(Clone, Debug)]
pub struct Post<'i> {
    /// The instance.
    pub instance: &'i Instance,
    /// The memory model.
    pub model: MemoryModel,
}

/// A solution of an instance.
#[derive(Debug)]
struct Solution {
    instance: Instance,
    indices: Vec<usize>,
    steps: usize,
    witness: Witness,
}

/// There is no solution.
#[derive(Debug)]
struct NoSolution;

impl Post<'_> {
    /// Answers it. `file` and `text` are those of the instance.
    ///
    /// # Errors
    /// If the program does not stand for the problem under the model, or its run is rejected by its checker.
    pub fn ask(
        &self,
        (file, text): (&str, &str),
        options: &SearchOptions,
        tell: Listener<'_>,
    ) -> Result<Report, Error> {
        let Self { instance, model } = *self;
        if !is_asked_under(model) {
            return Err(Error::Model(
                "Post's problem is",
                "TSO+r->r+r->w, with w->w or without",
                model,
            ));
        }
        let printed = weir_front::weir::print(&program(instance));
        let reading = Reading { model, budget: options.budget.clone(), ..Reading::default() };
        let loaded = Loaded::read("pcp.weir", &printed, &reading)?;
        let mut report = Report::new("pcp", &loaded, format!("under {model}"));
        (report.file, report.text) = (file.to_owned(), text.to_owned());
        let open = Finding::open(claim(&loaded, &model, "solution"), "Post's problem");
        report.findings = vec![open.clone()];
        tell(Event::Asked(&report));
        let mut progress = |stats: &Stats| tell(Event::Searching(stats));
        let (solved, stats) = solve(instance, &loaded.system, model, options, &mut progress);
        let stats = Arc::new(stats);
        report.findings[0] = match solved {
            Solved::Solution(indices, run) => {
                let witness = witness(&loaded, &run, options)?;
                let (instance, steps) = (instance.clone(), run.steps.len());
                let basis = Solution { instance, indices, steps, witness };
                let mut finding = open.settled(Verdict::Holds, Arc::new(basis));
                finding.outcome = Some("solved".to_owned());
                finding
            }
            Solved::Nothing(_) => {
                let mut finding = open.settled(Verdict::Violated, Arc::new(NoSolution));
                finding.outcome = Some("no solution".to_owned());
                let reason = "every sequence of pairs was tried, letter by letter";
                finding.reason = Some(reason.to_owned());
                finding
            }
            Solved::Unknown(reason) => open.unknown(reason),
        };
        report.findings[0].statistics = Some(stats);
        tell(Event::Found(0, &report.findings[0]));
        Ok(report)
    }
}

/// The witness of a run, which its checker accepts.
fn witness(loaded: &Loaded, run: &Run, options: &SearchOptions) -> Result<Witness, Error> {
    let witness = Witness::new(&loaded.system, run, QuestionId(0), &|span| loaded.line(span));
    Ok(accepted(witness, loaded, options.budget.threads())?)
}

impl Basis for Solution {
    fn evidence(&self) -> Option<Evidence> {
        Some(Evidence::new("run", format!("a run of {}", counted(self.steps, "step"))))
    }

    fn file(&self) -> Option<String> {
        Some(self.witness.to_json() + "\n")
    }

    fn column(&self) -> Option<String> {
        self.instance.spell(&self.indices)
    }

    /// The indices and their words, one below the other.
    fn blocks(&self, _: Layout) -> Vec<Block> {
        let pairs: Vec<(&str, &str)> = self.instance.pairs().collect();
        let chosen = || self.indices.iter().map(|i| pairs[i - 1]);
        let mut table = Table::default();
        table.row(
            std::iter::once("pair".to_owned()).chain(self.indices.iter().map(usize::to_string)),
        );
        table.row(std::iter::once("u".to_owned()).chain(chosen().map(|(u, _)| u.to_owned())));
        table.row(std::iter::once("v".to_owned()).chain(chosen().map(|(_, v)| v.to_owned())));
        vec![Block::plain("", "", table.lines("  "))]
    }

    fn details(&self) -> Option<Value> {
        Some(json!({ "solution": self.indices, "word": self.instance.spell(&self.indices) }))
    }
}

impl Basis for NoSolution {
    fn evidence(&self) -> Option<Evidence> {
        Some(Evidence::new("exhaustive search", "every sequence of pairs"))
    }
}
