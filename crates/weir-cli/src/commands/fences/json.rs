//! What `weir fences` found, as JSON.

use serde::Serialize;
use weir::Loaded;
use weir::fences::{Broken, Fence, Repair};
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
    /// The verdict in words.
    headline: String,
    sets: Vec<SetReport<'a>>,
    /// Each repair has a fence of each region.
    regions: Vec<Vec<FenceReport<'a>>>,
    /// With `--redundant`: the fences of the program, and whether they are needed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    existing: Vec<ExistingReport>,
    /// Whether there are no other minimal sets.
    complete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Runs that no fences prevent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    beyond: Vec<BeyondReport<'a>>,
    /// Runs of the program as it is, if no set is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    broken: Vec<&'a serde_json::Value>,
    candidates: usize,
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
    /// The set as a patch; none for fences that the program has.
    #[serde(skip_serializing_if = "Option::is_none")]
    patch: Option<String>,
    fences: Vec<FenceReport<'a>>,
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
            property: broken.question.map(|number| loaded.system.questions[number].name.as_str()),
            shows: human::shown(loaded, broken),
            steps: broken.run.steps.len(),
            text: &loaded.source.text,
            scene: Scene::new(loaded, &broken.run, None),
        }
    }
}

impl<'a> Report<'a> {
    pub fn new(known: &'a Found<'a>) -> Self {
        let found = known.repairs;
        let fence = |fence: &Fence, back: Option<&'a Back>| FenceReport {
            kind: fence.kind.name(),
            word: found.word(fence.kind),
            line: found.places[fence.place].line,
            column: human::column(found, fence.place) + 1,
            place: human::place_name(known, fence.place),
            without: back.map(|back| RunReport::new(&back.loaded, &back.broken)),
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
            headline: known.headline(),
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
                    column: human::column(found, place) + 1,
                    verdict: human::need(found, place),
                })
                .collect(),
            complete: found.is_complete,
            reason: found
                .stopped
                .map(|stop| stop.to_string())
                .or_else(|| found.open.first().map(|(_, why)| why.clone())),
            beyond: found
                .beyond
                .iter()
                .flat_map(|beyond| beyond.runs.iter().map(move |broken| (beyond, broken)))
                .map(|(beyond, broken)| BeyondReport {
                    whose: human::whose(known, beyond),
                    shown: RunReport::new(&beyond.loaded, broken),
                })
                .collect(),
            broken: known.broken(),
            candidates: found.tally.checks,
        }
    }
}
