//! What `weir fences` found, as JSON.

use serde::Serialize;
use weir::fences::{Fence, Repair};
use weir::report::scene::Scene;
use weir::report::{diff, json};

use super::{Back, Found, human};
use crate::commands::Status;

/// What was found, as JSON.
#[derive(Serialize)]
pub struct Report<'a> {
    version: u32,
    file: &'a str,
    text: &'a str,
    model: String,
    /// `repaired`, `none needed`, `impossible`, `not enough` or `unknown`.
    verdict: &'static str,
    sets: Vec<SetReport<'a>>,
    /// Each repair has a fence of each region.
    regions: Vec<Vec<FenceReport<'a>>>,
    /// Whether there are no other minimal sets.
    complete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    candidates: usize,
}

#[derive(Serialize)]
struct SetReport<'a> {
    cost: u64,
    /// The set as a patch; none for fences that the program has.
    #[serde(skip_serializing_if = "Option::is_none")]
    patch: Option<String>,
    fences: Vec<FenceReport<'a>>,
}

#[derive(Serialize)]
struct FenceReport<'a> {
    kind: &'a str,
    line: usize,
    column: usize,
    /// What is no longer excluded without it, and in how many steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    without: Option<WithoutReport<'a>>,
}

#[derive(Serialize)]
struct WithoutReport<'a> {
    /// Nothing if robustness is asked for.
    property: Option<&'a str>,
    steps: usize,
    /// The text with the other fences of the set, to which the run belongs.
    text: &'a str,
    /// The run, state by state.
    scene: Scene,
}

impl<'a> Report<'a> {
    pub fn new(known: &'a Found<'a>) -> Self {
        let found = known.repairs;
        let fence = |fence: &Fence, back: Option<&'a Back>| FenceReport {
            kind: fence.kind.name(),
            line: found.places[fence.place].line,
            column: human::column(found, fence.place) + 1,
            without: back.map(|back| WithoutReport {
                property: back
                    .broken
                    .question
                    .map(|number| back.loaded.system.questions[number].name.as_str()),
                steps: back.broken.run.steps.len(),
                text: &back.loaded.source.text,
                scene: Scene::new(&back.loaded, &back.broken.run, None),
            }),
        };
        let set = |(number, repair): (usize, &Repair)| SetReport {
            cost: repair.cost,
            patch: (!known.is_redundant).then(|| {
                let (file, text) = (&found.source.name, &found.source.text);
                diff::unified(file, text, &found.text(&repair.fences))
            }),
            fences: repair
                .fences
                .iter()
                .enumerate()
                .map(|(i, f)| {
                    fence(
                        f,
                        known.back.get(number).and_then(|back| back.get(i)).map(|back| &**back),
                    )
                })
                .collect(),
        };
        let verdict = match (known.status(), found.sets.first()) {
            (Status::Violated, _) if known.are_not_enough() => "not enough",
            (Status::Violated, _) => "impossible",
            (_, None) => "unknown",
            (_, Some(set)) if set.fences.is_empty() => "none needed",
            (_, Some(_)) => "repaired",
        };
        Self {
            version: json::VERSION,
            file: &found.source.name,
            text: &found.source.text,
            model: found.model.to_string(),
            verdict,
            sets: found.sets.iter().enumerate().map(set).collect(),
            regions: found
                .regions
                .iter()
                .map(|region| region.iter().map(|f| fence(f, None)).collect())
                .collect(),
            complete: found.is_complete,
            reason: found
                .stopped
                .map(|stop| stop.to_string())
                .or_else(|| found.open.first().map(|(_, why)| why.clone())),
            candidates: found.tally.checks,
        }
    }
}
