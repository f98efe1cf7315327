//! What was found about fences, for programs to read.

use std::sync::Arc;

use serde::Serialize;

use super::{Back, Early, Repaired, text};
use crate::fences::{Broken, Change, Less, Repair, To};
use crate::load::Loaded;
use crate::report::diff;
use crate::report::scene::Scene;
use weir_model::answer::Verdict;
use weir_model::program::Order;

/// What was found.
#[derive(Serialize)]
pub struct Details<'a> {
    /// `repaired`, `none needed`, `impossible`, `not enough` or `unknown`; of weaker orders, `weaker` or `none weaker`.
    result: &'static str,
    sets: Vec<SetReport<'a>>,
    /// Each repair has a fence of each region.
    regions: Vec<Vec<FenceReport<'a>>>,
    /// Asked about the fences of the program: whether they are needed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    existing: Vec<ExistingReport>,
    /// Whether there are no other minimal sets.
    complete: bool,
    /// Runs that no fences prevent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    beyond: Vec<BeyondReport<'a>>,
    /// Runs of the program as it is, if no set is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    broken: Vec<RunReport<'a>>,
    candidates: usize,
}

/// What was found before the search ended.
#[derive(Serialize)]
pub struct EarlyDetails<'a> {
    result: &'static str,
    complete: bool,
    /// Runs of the program as it is.
    broken: Vec<RunReport<'a>>,
    /// Sets that repair it.
    found: Vec<Vec<FoundFence>>,
}

#[derive(Serialize)]
struct FoundFence {
    /// The kind of a fence, or an order.
    kind: &'static str,
    line: usize,
}

impl<'a> EarlyDetails<'a> {
    pub fn new(early: &'a Early) -> Self {
        let fence = |&(to, line): &(To, usize)| FoundFence { kind: to.name(), line };
        Self {
            result: "unknown",
            complete: false,
            broken: early.broken.iter().map(|b| RunReport::new(&b.loaded, &b.broken)).collect(),
            found: early.sets.iter().map(|set| set.iter().map(fence).collect()).collect(),
        }
    }
}

#[derive(Serialize)]
struct BeyondReport<'a> {
    /// Which program has the run.
    whose: &'static str,
    #[serde(flatten)]
    shown: RunReport<'a>,
}

#[derive(Serialize)]
struct ExistingReport {
    line: usize,
    column: usize,
    /// `needed`, `not needed` or `in some sets`.
    verdict: &'static str,
}

#[derive(Serialize)]
struct SetReport<'a> {
    cost: u64,
    /// Of weaker orders: what the orders of the program cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<u64>,
    /// The set as a patch; none for fences that the program has.
    #[serde(skip_serializing_if = "Option::is_none")]
    patch: Option<String>,
    fences: Vec<FenceReport<'a>>,
    /// Of weaker orders: those that are still not the weakest ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<Vec<FenceReport<'a>>>,
}

#[derive(Serialize)]
struct FenceReport<'a> {
    kind: &'a str,
    /// What the language calls it.
    word: &'a str,
    line: usize,
    column: usize,
    /// The same in words.
    place: String,
    /// Of an order: what has it, and what it is in the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    access: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    now: Option<&'static str>,
    /// The order that is one step weaker, of which the run speaks; none if the run is without a fence.
    #[serde(skip_serializing_if = "Option::is_none")]
    instead: Option<&'static str>,
    /// What is no longer excluded without it, and in how many steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    without: Option<RunReport<'a>>,
}

#[derive(Serialize)]
pub struct RunReport<'a> {
    /// Nothing if robustness is asked for.
    property: Option<&'a str>,
    /// What the run shows, in words.
    shows: String,
    steps: usize,
    /// The text to which the run belongs: that of the program, with other fences.
    text: &'a str,
    /// The run, state by state.
    scene: Scene,
}

impl<'a> RunReport<'a> {
    pub fn new(loaded: &'a Loaded, broken: &Broken) -> Self {
        Self {
            property: broken
                .question
                .map(|number| loaded.system.questions[number.index()].name.as_str()),
            shows: text::shown(loaded, broken),
            steps: broken.run.steps.len(),
            text: &loaded.source.text,
            scene: Scene::new(loaded, &broken.run, None),
        }
    }
}

impl<'a> Details<'a> {
    pub fn new(known: &'a Repaired) -> Self {
        let found = &known.repairs;
        let fence = |change: &Change, back: Option<&'a (Less, Arc<Back>)>| {
            let ordered = found.ordered(change.place);
            FenceReport {
                kind: change.to.name(),
                word: found.word(change.to),
                line: found.places[change.place].line,
                column: text::column(found, change.place) + 1,
                place: text::place_name(known, change.place),
                access: ordered.map(|(access, _)| access.name()),
                now: ordered.map(|(_, order)| order.name()),
                instead: back.and_then(|(less, _)| less.instead).map(Order::name),
                without: back.map(|(_, back)| RunReport::new(&back.loaded, &back.broken)),
            }
        };
        let set = |(number, repair): (usize, &Repair)| {
            let backs = known.back.get(number).map_or(&[][..], Vec::as_slice);
            let each = |change: &Change| {
                fence(change, backs.iter().find(|(less, _)| less.change == *change))
            };
            SetReport {
                cost: repair.cost,
                of: found.is_weakened.then_some(found.cost),
                patch: (!known.is_redundant).then(|| {
                    let (file, text) = (&found.source.name, &found.source.text);
                    diff::unified(file, text, &found.text(&repair.changes))
                }),
                fences: repair.changes.iter().map(each).collect(),
                kept: found.is_weakened.then(|| repair.kept.iter().map(each).collect()),
            }
        };
        let result = match (known.verdict(), found.sets.first()) {
            (Verdict::Violated, _) if known.are_not_enough() => "not enough",
            (Verdict::Violated, _) => "impossible",
            (_, None) => "unknown",
            (_, Some(set)) if found.is_weakened && set.changes.is_empty() => "none weaker",
            (_, Some(_)) if found.is_weakened => "weaker",
            (_, Some(set)) if set.changes.is_empty() => "none needed",
            (_, Some(_)) => "repaired",
        };
        Self {
            result,
            sets: found.sets.iter().enumerate().map(set).collect(),
            regions: found
                .regions
                .iter()
                .map(|region| region.iter().map(|f| fence(f, None)).collect())
                .collect(),
            existing: (0..found.places.len())
                .filter(|_| known.is_redundant && found.beyond.is_none())
                .map(|place| ExistingReport {
                    line: found.places[place].line,
                    column: text::column(found, place) + 1,
                    verdict: text::need(found, place),
                })
                .collect(),
            complete: found.is_complete,
            beyond: found
                .beyond
                .iter()
                .flat_map(|beyond| beyond.runs.iter().map(move |broken| (beyond, broken)))
                .map(|(beyond, broken)| BeyondReport {
                    whose: text::whose(known, beyond),
                    shown: RunReport::new(&beyond.loaded, broken),
                })
                .collect(),
            broken: known.broken.iter().map(|b| RunReport::new(&b.loaded, &b.broken)).collect(),
            candidates: found.tally.checks,
        }
    }
}
