//! Fences and orders that repair a program, or that it does not need.

mod details;
mod text;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use weir_check::Witness;
use weir_front::Source;
use weir_model::answer::{Evidence as Shows, Verdict};
use weir_model::memory_model::MemoryModel;
use weir_model::program::FenceKind;

use super::{caveats, claim};
use crate::error::Error;
use crate::fences::{
    Broken, Change, Checked, Costs, Event as Step, Goal, Less, Repairs, Request, To, redundant,
    repairs, weaken,
};
use crate::finding::{Basis, Block, Event, Evidence, Finding, Listener, Proof, Question, Report};
use crate::load::{Loaded, Reading};
use crate::report::counted;
use crate::report::run::Layout;
use crate::verifier::Verifier;

pub use text::side_by_side;

/// Asks for the least fences that repair a program.
#[derive(Clone, Debug, Default)]
pub struct Repair {
    /// What fences are for.
    pub goal: Goal,
    /// The names of the properties that are asked; all if there are none.
    pub properties: Vec<String>,
    /// The kinds of fences that may be inserted; `None` for those that the model knows and the
    /// language has.
    pub kinds: Option<Vec<FenceKind>>,
    /// Whether orders may become stronger, which C11 alone knows; `None` if that is for the program to say.
    pub orders: Option<bool>,
    /// What fences cost.
    pub costs: Costs,
    /// How many sets to look for, the cheapest ones; `None` for all.
    pub most: Option<usize>,
    /// Whether to ask which fences of the program are enough, instead of inserting some.
    pub redundant: bool,
    /// Whether to ask which orders of the program can be weaker, under C11.
    pub weaken: bool,
    /// Whether to show the runs that come back without a fence.
    pub runs: bool,
}

/// What is known about the fences of a program.
#[derive(Debug)]
pub struct Repaired {
    /// What was found.
    pub repairs: Repairs,
    /// What was asked.
    pub request: Request,
    /// For each set what comes back one step from it.
    back: Vec<Vec<Return>>,
    is_redundant: bool,
    shows_runs: bool,
    /// Runs of the program as it is, if it is not known how to repair it.
    broken: Vec<Arc<Back>>,
}

/// The files that show what was found about fences.
#[derive(Debug)]
pub struct Exhibits {
    /// Names and texts.
    pub files: Vec<(String, String)>,
    /// What could not be shown, in words.
    pub unshown: Vec<String>,
}

/// What is known about the fences of a program while the search goes on.
#[derive(Clone, Debug, Default)]
struct Early {
    /// Runs of the program as it is.
    broken: Vec<Arc<Back>>,
    /// Sets that repair it: what changes, and the lines.
    sets: Vec<Vec<(To, usize)>>,
}

/// One step from a set, and what comes back then.
type Return = (Less, Arc<Back>);

/// What may be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Fences,
    Orders,
    Both,
}

/// A run that a change prevents, and the program that it belongs to.
#[derive(Debug)]
struct Back {
    /// The program, with the places of the text without fences.
    loaded: Loaded,
    /// Its own text.
    source: Source,
    broken: Broken,
}

impl Question for Repair {
    fn ask(&self, verifier: &Verifier, tell: Listener<'_>) -> Result<Report, Error> {
        let model = verifier.models()[0];
        let request = self.request(verifier, model)?;
        let (name, text) = (verifier.name_of(), verifier.text_of());
        let (program, source) = crate::load::program(name, text, &request.reading)?;
        let system = weir_model::system::System::unbuilt(program);
        let unbuilt = Loaded { source, system };
        let mut report = Report::new("fences", &unbuilt, format!("under {model}"));
        report.caveats = caveats(&unbuilt.source, model);
        let open = Finding::open(claim(&unbuilt, &model, "fences"), "repair");
        report.findings = vec![open.clone().unknown("the search has not ended")];
        tell(Event::Asked(&report));
        let early = Mutex::new(Early::default());
        let add = |change: &dyn Fn(&mut Early)| {
            let mut early = early.lock().unwrap_or_else(PoisonError::into_inner);
            change(&mut early);
            let mut finding = open.clone().settled(Verdict::Unknown, Arc::new(early.clone()));
            finding.outcome = Some(OPEN.to_owned());
            finding.reason = Some("the search has not ended".to_owned());
            tell(Event::Found(0, &finding));
        };
        let listen = |step: Step<'_>| match step {
            Step::Tally(tally) => tell(Event::Working(format!(
                "{}, {} checked, any other costs at least {}",
                counted(tally.sets, "set"),
                counted(tally.checks, "candidate"),
                tally.at_least
            ))),
            Step::Broken(loaded, answer) => {
                let Shows::Run(run) = &answer.evidence else { return };
                let question = Some(answer.property);
                let broken = Broken { question, run: run.clone(), cycle: vec![] };
                let source = loaded.source.clone();
                let system = loaded.system.clone();
                let loaded = Loaded { source: source.clone(), system };
                let back = Arc::new(Back { loaded, source, broken });
                add(&|early| {
                    let is_new = early.broken.iter().all(|b| b.broken.question != question);
                    early.broken.extend(is_new.then(|| back.clone()));
                });
            }
            Step::Repair(changes) => add(&|early| early.sets.push(changes.clone())),
        };
        let search = match (self.redundant, self.weaken) {
            (true, _) => redundant,
            (_, true) => weaken,
            (false, false) => repairs,
        };
        let found = search(name, text, &request, &listen)?;
        let back = match self.redundant {
            true => vec![],
            false => confirmed(&found, &request)?,
        };
        let early = early.into_inner().unwrap_or_else(PoisonError::into_inner);
        let is_open = found.sets.is_empty() && found.beyond.is_none();
        let repaired = Repaired {
            repairs: found,
            request,
            back,
            is_redundant: self.redundant,
            shows_runs: self.runs,
            broken: if is_open { early.broken } else { vec![] },
        };
        report.findings[0] = repaired.finding(open);
        tell(Event::Found(0, &report.findings[0]));
        Ok(report)
    }
}

/// What is said while nothing else is known.
const OPEN: &str = "it is not known which fences repair this";

impl Repair {
    fn request(&self, verifier: &Verifier, model: MemoryModel) -> Result<Request, Error> {
        Ok(Request {
            goal: self.goal,
            properties: self.properties.clone(),
            reading: Reading { model, ..verifier.reading(false) },
            kinds: self.kinds.clone(),
            orders: self.orders,
            costs: self.costs.clone(),
            most: self.most,
            options: verifier.options(model)?,
        })
    }
}

/// Checks that every set repairs the text into which it is inserted, and that none of its changes can be left
/// out or weaker: the runs that come back then.
fn confirmed(found: &Repairs, request: &Request) -> Result<Vec<Vec<Return>>, Error> {
    let mut known: HashMap<Vec<Change>, Arc<Back>> = HashMap::new();
    let mut all = Vec::new();
    for repair in &found.sets {
        let name = &found.source.name;
        let wrong = |what: &str| Err(Error::Fences(format!("`{name}`: {what}")));
        if !repair.is_confirmed
            && let Checked::Broken(..) = found.check(&repair.changes, request, &request.options)?
        {
            return wrong("a set of fences does not repair its text");
        }
        let mut back = Vec::new();
        for less in found.steps(repair) {
            if let Some(run) = known.get(&less.changes) {
                back.push((less, run.clone()));
                continue;
            }
            match found.check(&less.changes, request, &request.options)? {
                Checked::Broken(mut loaded, runs) => {
                    let Some(broken) = runs.into_iter().next() else { continue };
                    let written = found.as_written(&less.changes, &loaded.source);
                    let source = std::mem::replace(&mut loaded.source, written);
                    let run = Arc::new(Back { loaded, source, broken });
                    known.insert(less.changes.clone(), run.clone());
                    back.push((less, run));
                }
                Checked::Repaired(..) => return wrong("a change can be left out"),
                Checked::Open(_) => {
                    back.clear();
                    break;
                }
            }
        }
        all.push(back);
    }
    Ok(all)
}

impl Repaired {
    fn finding(self, open: Finding) -> Finding {
        let (verdict, headline) = (self.verdict(), self.headline());
        let reason = self.repairs.stopped.map(|stop| stop.to_string());
        let reason = reason.or_else(|| self.repairs.open.first().map(|(_, why)| why.clone()));
        let mut finding = open.settled(verdict, Arc::new(self));
        finding.outcome = Some(headline);
        finding.reason = reason;
        finding
    }

    fn verdict(&self) -> Verdict {
        let found = &self.repairs;
        match () {
            () if found.skipped.is_some() => Verdict::Unknown,
            () if found.beyond.is_some() => Verdict::Violated,
            () if found.sets.is_empty() => Verdict::Unknown,
            () if found.stopped.is_some() && self.request.most != Some(found.sets.len()) => {
                Verdict::Unknown
            }
            () => Verdict::Holds,
        }
    }

    /// Whether it is only known of the fences of the program that they repair nothing.
    fn are_not_enough(&self) -> bool {
        let beyond = self.repairs.beyond.as_ref();
        let is_about_itself = self.is_redundant || self.repairs.is_weakened;
        is_about_itself && beyond.is_some_and(|beyond| beyond.model != MemoryModel::SC)
    }

    /// The most important thing.
    pub fn headline(&self) -> String {
        let found = &self.repairs;
        if let Some(lines) = &found.skipped {
            let what = match self.request.goal {
                Goal::Properties => match self.what() {
                    What::Fences => "whether fences repair this is not known",
                    What::Orders => "whether orders repair this is not known",
                    What::Both => "whether fences and orders repair this is not known",
                },
                Goal::Robust => "whether fences make it robust is not known",
            };
            let mut places: Vec<String> = Vec::new();
            for (file, line) in lines {
                places.push(match file {
                    Some(file) => format!("in {file}"),
                    None => format!("in line {line}"),
                });
            }
            places.dedup();
            let place = match places.is_empty() {
                true => "inside of statements".to_owned(),
                false => places.join(", "),
            };
            let skipped = match self.what() {
                What::Fences => "places between accesses were skipped",
                What::Orders | What::Both => "orders that the text does not name were skipped",
            };
            return format!("{what}: {skipped} {place}");
        }
        if found.beyond.is_some() {
            return match (self.request.goal, self.are_not_enough()) {
                (_, true) if found.is_weakened => "its orders are not enough",
                (_, true) if found.places.is_empty() => "it has no fences, and needs some",
                (_, true) => "its fences are not enough",
                (Goal::Properties, false) => match self.what() {
                    What::Fences => "no fences can repair this",
                    What::Orders => "no orders can repair this",
                    What::Both => "no fences and no orders can repair this",
                },
                (Goal::Robust, false) => "no fences can make it robust",
            }
            .to_owned();
        }
        let Some(cheapest) = found.sets.first() else {
            return match (self.request.goal, self.what()) {
                _ if found.is_weakened => "it is not known which orders can be weaker",
                (Goal::Properties, What::Fences) => OPEN,
                (Goal::Properties, What::Orders) => "it is not known which orders repair this",
                (Goal::Properties, What::Both) => "it is not known which changes repair this",
                (Goal::Robust, _) => "it is not known which fences make it robust",
            }
            .to_owned();
        };
        if found.is_weakened {
            return self.weaker(&cheapest.changes);
        }
        let sets = match (found.sets.len(), found.is_complete) {
            (1, true) => "there is one minimal set".to_owned(),
            (n, true) => format!("there are {n} minimal sets"),
            (1, false) => "there may be other sets".to_owned(),
            (n, false) => format!("the {n} cheapest sets that were found"),
        };
        let orders = cheapest.changes.iter().filter(|change| change.to.order().is_some()).count();
        let fences = cheapest.changes.len() - orders;
        let counts = [(orders, "stronger order"), (fences, "fence")];
        let counts = counts.into_iter().filter(|(n, _)| *n > 0).map(|(n, word)| counted(n, word));
        let count = counts.collect::<Vec<_>>().join(" and ");
        let does = match (self.request.goal, cheapest.changes.len()) {
            (Goal::Properties, 1) => "repairs this",
            (Goal::Properties, _) => "repair this",
            (Goal::Robust, 1) => "makes it robust",
            (Goal::Robust, _) => "make it robust",
        };
        match (cheapest.changes.len(), self.is_redundant) {
            (0, false) => match self.what() {
                What::Fences => "no fence is needed".to_owned(),
                What::Orders | What::Both => "no stronger order is needed".to_owned(),
            },
            (0, true) if found.places.is_empty() => "it has no fences, and needs none".to_owned(),
            (0, true) => "none of its fences is needed".to_owned(),
            (_, false) => format!("{count} {does}; {sets}"),
            (n, true) => {
                let are = if n == 1 { "is" } else { "are" };
                format!("{n} of its {} {are} enough; {sets}", counted(found.places.len(), "fence"))
            }
        }
    }

    /// What is found about weaker orders.
    fn weaker(&self, changes: &[Change]) -> String {
        let found = &self.repairs;
        if found.places.is_empty() {
            return "it has no order that could be weaker".to_owned();
        }
        let sets = match (found.sets.len(), found.is_complete) {
            (1, true) => "there is one maximal weakening".to_owned(),
            (n, true) => format!("there are {n} maximal weakenings"),
            (1, false) => "there may be other weakenings".to_owned(),
            (n, false) => format!("the {n} cheapest weakenings that were found"),
        };
        match (changes.len(), found.places.len()) {
            (0, 1) if found.is_complete => "its order cannot be weaker".to_owned(),
            (0, all) if found.is_complete => format!("none of its {all} orders can be weaker"),
            (_, 1) => format!("its order can be weaker; {sets}"),
            (n, all) => format!("{n} of its {all} orders can be weaker; {sets}"),
        }
    }

    /// What may be changed.
    fn what(&self) -> What {
        match (self.repairs.changes_orders, self.repairs.changes_fences) {
            (true, true) => What::Both,
            (true, false) => What::Orders,
            (false, _) => What::Fences,
        }
    }

    /// The text with the cheapest set, if one was found that changes something.
    pub fn text(&self) -> Option<String> {
        let repair = self.repairs.sets.first().filter(|repair| !repair.changes.is_empty())?;
        (!self.is_redundant).then(|| self.repairs.text(&repair.changes))
    }

    /// The files that show what was found: for each set the program with it and its proof, and the
    /// programs without one of its fences with their runs.
    ///
    /// # Errors
    /// If a text cannot be checked, or a checker rejects what was found.
    pub fn files(&self, ending: &str) -> Result<Exhibits, Error> {
        let found = &self.repairs;
        let model = found.model.to_string().to_lowercase();
        let threads = self.request.options.budget.threads();
        let (mut files, mut unshown) = (Vec::new(), Vec::new());
        for (number, repair) in found.sets.iter().enumerate() {
            let base = format!("{model}-set-{}", number + 1);
            files.push((format!("{base}.{ending}"), found.text(&repair.changes)));
            let mut options = self.request.options.clone();
            options.certificate = true;
            match found.check(&repair.changes, &self.request, &options)? {
                Checked::Repaired(loaded, answers) => {
                    match super::properties::certificate(&loaded, &answers) {
                        Some(proof) => {
                            let proof = Proof::accepted(proof, &loaded, threads)?;
                            files.push((format!("{base}.certificate.json"), proof.text));
                        }
                        None => {
                            unshown.push(format!(
                                "set {} has no inductive set as a proof",
                                number + 1
                            ));
                        }
                    }
                }
                _ => unshown
                    .push(format!("set {} was not proved again within the limits", number + 1)),
            }
            for (less, back) in &self.back[number] {
                let place = &found.places[less.change.place];
                let column = match place.is_inline {
                    true => format!("-{}", text::column(found, less.change.place) + 1),
                    false => String::new(),
                };
                let what = match less.instead {
                    None => format!("without-{}", less.change.to.name()),
                    Some(order) => format!("with-{}", order.name().replace(' ', "-")),
                };
                let without = format!("{base}-{what}-{}{column}", place.line);
                files.push((format!("{without}.{ending}"), found.text(&less.changes)));
                let Some(question) = back.broken.question else { continue };
                let loaded =
                    Loaded { source: back.source.clone(), system: back.loaded.system.clone() };
                let line = |span| loaded.line(span);
                let witness = Witness::new(&loaded.system, &back.broken.run, question, &line);
                let witness = Proof::accepted(witness, &loaded, threads)?;
                files.push((format!("{without}.witness.json"), witness.text));
            }
        }
        Ok(Exhibits { files, unshown })
    }
}

impl Basis for Repaired {
    fn evidence(&self) -> Option<Evidence> {
        let found = &self.repairs;
        match (found.sets.len(), &found.beyond) {
            (_, Some(beyond)) => {
                let what = match self.what() {
                    What::Fences => "fences",
                    What::Orders | What::Both => "orders",
                };
                let what = format!("{} that no {what} prevent", counted(beyond.runs.len(), "run"));
                Some(Evidence::new("run", what))
            }
            (0, None) => None,
            (n, None) if found.is_weakened => {
                Some(Evidence::new("fences", counted(n, "maximal weakening")))
            }
            (n, None) => Some(Evidence::new("fences", counted(n, "minimal set"))),
        }
    }

    fn column(&self) -> Option<String> {
        Some(String::new())
    }

    fn blocks(&self, layout: Layout) -> Vec<Block> {
        text::blocks(self, layout)
    }

    fn details(&self) -> Option<serde_json::Value> {
        serde_json::to_value(details::Details::new(self)).ok()
    }

    fn summary(&self) -> Option<String> {
        Some(format!("{} checked", counted(self.repairs.tally.checks, "candidate")))
    }
}

impl Basis for Early {
    fn evidence(&self) -> Option<Evidence> {
        None
    }

    fn column(&self) -> Option<String> {
        Some(String::new())
    }

    fn blocks(&self, layout: Layout) -> Vec<Block> {
        let broken = self.broken.iter().map(|back| text::broken_block(back, layout));
        let change = |(to, line): &(To, usize)| match to {
            To::Fence(kind) => format!("a {} at line {line}", kind.name()),
            To::Order(order) => format!("{order} at line {line}"),
        };
        let set = |changes: &Vec<(To, usize)>| {
            let changes: Vec<String> = changes.iter().map(change).collect();
            Block::plain("", "A set that repairs it", vec![changes.join(", ")])
        };
        broken.chain(self.sets.iter().map(set)).collect()
    }

    fn details(&self) -> Option<serde_json::Value> {
        serde_json::to_value(details::EarlyDetails::new(self)).ok()
    }
}
