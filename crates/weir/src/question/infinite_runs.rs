//! Infinite runs: progress of objects, and what a program asks with `live` and `ltl`.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use weir_check::Evidence as _;
use weir_live::{Answer, Evidence as Shows, Lasso, Options, Progress, Question as Asked, Seen};
use weir_model::answer::Verdict;
use weir_model::limits::Budget;
use weir_model::memory_model::MemoryModel;

use super::{caveats, claim};
use crate::engines::ENGINES;
use crate::error::Error;
use crate::finding::{
    Basis, Block, Event, Evidence, Finding, Listener, NoProof, Note, Proof, Question, Report, Shown,
};
use crate::live::{self, AskedFor};
use crate::load::Loaded;
use crate::report::counted;
use crate::report::run::{Layout, lasso_lines};
use crate::verifier::Verifier;

/// Asks about infinite runs.
#[derive(Clone, Debug, Default)]
pub struct InfiniteRuns {
    /// The progress properties of an object; all if there are none. Of processes it is asked what their
    /// program asks.
    pub progress: Vec<Progress>,
    /// Whether only runs count in which every write reaches memory.
    pub flush_fair: bool,
}

/// What is known about a question.
#[derive(Debug)]
pub struct Decided {
    all: Arc<All>,
    /// The place of the question.
    number: usize,
    answer: Answer,
    shows: String,
}

/// What all questions about a program have in common.
#[derive(Debug)]
struct All {
    loaded: Loaded,
    options: Options,
    progress: Vec<Progress>,
}

impl All {
    fn asked(&self) -> Vec<AskedFor<'_>> {
        live::asked(&self.loaded.system.program, &self.progress)
    }
}

impl Question for InfiniteRuns {
    fn ask(&self, verifier: &Verifier, tell: Listener<'_>) -> Result<Report, Error> {
        let verifier = &verifier.for_processors();
        let model = verifier.models()[0];
        if !weir_live::is_supported(model) {
            return Err(Error::Model("infinite runs are", "SC and TSO", model));
        }
        verifier.without_bounds("a question about infinite runs takes")?;
        let asks = |program: &_| !live::asked(program, &self.progress).is_empty();
        let (loaded, stopped) = verifier.load_running(asks)?;
        let options = Options {
            model,
            flush_fair: self.flush_fair,
            engine: ENGINES[0],
            search: verifier.options(model)?,
        };
        let all = Arc::new(All { loaded, options, progress: self.progress.clone() });
        let (loaded, asked) = (&all.loaded, all.asked());
        if asked.is_empty() {
            let name = verifier.name_of();
            let nothing = Error::no_property(name, &loaded.system);
            return Err(nothing.unwrap_or_else(|| Error::NoLive(name.to_owned())));
        }
        let mut about = format!("under {model}");
        let clients = live::clients(loaded);
        if let Some(clients) = clients {
            about += &format!(", {}", counted(clients, "client"));
        }
        if self.flush_fair {
            about += ", every write reaches memory";
        }
        let mut report = Report::new("live", loaded, about);
        report.caveats = caveats(&loaded.source, model);
        report.findings = (0..asked.len()).map(|i| all.open(&asked[i], i)).collect();
        let note = undecidable(model, clients, &asked)
            .map(|text| Note { text: text.to_owned(), is_open: false });
        report.notes.extend(note);
        tell(Event::Asked(&report));
        if let Some(reason) = stopped {
            report.findings = report.findings.into_iter().map(|f| f.unknown(&reason)).collect();
            return Ok(report);
        }
        let findings = Mutex::new(&mut report.findings);
        let settle = |i: usize, answer: &Answer| {
            let mut findings = findings.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            findings[i] = all.settled(findings[i].clone(), i, answer.clone());
            tell(Event::Found(i, &findings[i]));
        };
        let answers =
            live::answers_with(loaded, &asked, &all.options, &mut |i, answer| settle(i, answer))?;
        for (i, answer) in answers.iter().enumerate() {
            settle(i, answer);
        }
        Ok(report)
    }
}

/// What cannot be decided of what is asked.
fn undecidable(
    model: MemoryModel,
    clients: Option<usize>,
    asked: &[AskedFor<'_>],
) -> Option<&'static str> {
    let is_open = |a: &AskedFor<'_>| a.question != Asked::Progress(Progress::ObstructionFree);
    if model.normal() == MemoryModel::SC || !asked.iter().any(is_open) {
        return None;
    }
    Some(match clients {
        Some(_) => {
            "Under TSO all but obstruction-freedom are undecidable (Wang et al. 2021, Theorem 1). \
             `holds` and `violated` are proved; `unknown` means neither was."
        }
        None => {
            "Under TSO this is undecidable (Atig et al. 2010, theorem 4). `holds` and \
             `violated` are proved; `unknown` means neither was."
        }
    })
}

impl All {
    fn open(&self, asked: &AskedFor<'_>, i: usize) -> Finding {
        let (loaded, program) = (&self.loaded, &self.loaded.system.program);
        let mut claim = claim(loaded, &self.options.model, &asked.name);
        claim.clients = live::clients(loaded);
        claim.fairness = weir_check::lasso::flush_fairness(self.options.flush_fair);
        let mut finding = Finding::open(claim, "live");
        if let Some(live) = program.live.get(i).filter(|_| program.object.is_none()) {
            finding.line = Some(loaded.line(live.span));
            finding.span = Some(loaded.source.range(live.span));
            let words = loaded.source.text_of(live.span).split_whitespace();
            finding.says = words.collect::<Vec<_>>().join(" ");
        }
        finding
    }

    fn settled(self: &Arc<Self>, open: Finding, number: usize, answer: Answer) -> Finding {
        let asked = &self.asked()[number];
        let reason = match &answer.evidence {
            Shows::Reason(reason) => Some(reason.clone()),
            Shows::Lasso(lasso) => live::ending(&self.loaded, asked, lasso),
            _ => None,
        };
        let verdict = answer.verdict;
        let shows = format!("{} is {}", asked.name, verdict.name());
        let decided = Decided { all: self.clone(), number, answer, shows };
        let mut finding = open.settled(verdict, Arc::new(decided));
        finding.reason = reason;
        finding
    }
}

impl Decided {
    fn lasso(&self) -> Option<&Lasso> {
        match &self.answer.evidence {
            Shows::Lasso(lasso) => Some(lasso),
            _ => None,
        }
    }

    fn seen(&self) -> Option<Seen> {
        match &self.answer.evidence {
            Shows::Exhausted(seen) | Shows::Folded { seen, .. } => Some(*seen),
            _ => None,
        }
    }
}

impl Basis for Decided {
    fn evidence(&self) -> Option<Evidence> {
        Some(match &self.answer.evidence {
            Shows::Lasso(lasso) => match lasso.run.steps.len() - lasso.stem {
                0 => Evidence::new(
                    "run",
                    format!("a run of {} that ends", counted(lasso.stem, "step")),
                ),
                cycle => Evidence::new(
                    "lasso",
                    format!("a lasso: {}, then a cycle of {cycle}", counted(lasso.stem, "step")),
                ),
            },
            Shows::Exhausted(seen) => Evidence::new(
                "exhaustive search",
                format!("{}, all there are", counted(seen.nodes, "configuration")),
            ),
            Shows::Folded { level, seen } => Evidence::new(
                "folded graph",
                format!(
                    "{}, with folded buffers that keep {}",
                    counted(seen.nodes, "configuration"),
                    counted(*level, "write")
                ),
            ),
            Shows::Unblocked(proof) if proof.stops.is_empty() => {
                Evidence::new("blocking pairs", "no blocking pairs")
            }
            Shows::Unblocked(proof) => Evidence::new(
                "blocking pairs",
                format!("{} of blocking pairs, none reachable", counted(proof.cubes, "set")),
            ),
            Shows::Reason(_) => return None,
        })
    }

    fn run(&self) -> Option<Shown<'_>> {
        let lasso = self.lasso()?;
        let (loaded, cycle) = (&self.all.loaded, lasso.cycle());
        Some(Shown { loaded, run: &lasso.run, cycle, shows: &self.shows })
    }

    fn file(&self) -> Option<String> {
        let asked = self.all.asked().swap_remove(self.number);
        let fair = self.all.options.flush_fair;
        let file = live::lasso_file(&self.all.loaded, &asked, self.lasso()?, fair);
        Some(file.to_json() + "\n")
    }

    fn column(&self) -> Option<String> {
        Some(self.evidence().map_or_else(String::new, |evidence| evidence.what))
    }

    fn blocks(&self, layout: Layout) -> Vec<Block> {
        let Some(lasso) = self.lasso() else { return Vec::new() };
        let asked = &self.all.asked()[self.number];
        let why = live::ending(&self.all.loaded, asked, lasso);
        let lines = lasso_lines(&self.all.loaded, lasso, why.as_deref(), layout);
        vec![Block::plain(&asked.name, "", lines)]
    }

    fn details(&self) -> Option<Value> {
        let seen = self.seen()?;
        Some(json!({ "configurations": seen.nodes, "steps": seen.edges }))
    }

    fn proof(&self, report: &Report, budget: &Budget) -> Result<Option<Proof>, NoProof> {
        let (loaded, options) = (&self.all.loaded, &self.all.options);
        let unknown =
            || Answer { verdict: Verdict::Unknown, evidence: Shows::Reason(String::new()) };
        let answer = |f: &Finding| f.basis::<Self>().map_or_else(unknown, |b| b.answer.clone());
        let answers: Vec<Answer> = report.findings.iter().map(answer).collect();
        let proof = live::proof(loaded, &self.all.asked(), &answers, options);
        Ok(match proof.map_err(NoProof::Unmade)? {
            Some(live::Proof::Unblocked(file)) => {
                Some(Proof::accepted(file, loaded, budget.threads())?)
            }
            Some(live::Proof::Set(file)) => Some(Proof::accepted(file, loaded, budget.threads())?),
            None => None,
        })
    }
}
