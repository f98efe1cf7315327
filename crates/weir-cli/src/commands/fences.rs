//! `weir fences`

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;
use weir::fences::{
    Beyond, Broken, Checked, Fence, Repair, RepairError, Repairs, Request, Tally, kind_name,
    redundant, repairs,
};
use weir::load::read_text;
use weir::report::run::{self as run_report, Layout};
use weir::report::scene::Scene;
use weir::report::table::Table;
use weir::report::{counted, diff, json};
use weir::{Loaded, MemoryModel};
use weir_engine::SearchOptions;
use weir_model::answer::Answer;

use super::{Status, accepted_text, complain, fail, note, print, print_json, reject, write_whole};
use crate::cli::fences::Fences;
use crate::cli::options::Format;

use crate::output::{HINTS, paint, rewrite};
use crate::progress::Progress;
use crate::terminal::{self, QUIET, STRONG, style};

pub fn run(args: &Fences) -> Status {
    let requests: Result<Vec<Request>, String> =
        args.models().into_iter().map(|model| args.request(model)).collect();
    let requests = match requests {
        Ok(requests) => requests,
        Err(message) => return fail(&message),
    };
    if (args.write || args.patch) && requests.len() > 1 {
        return fail("--patch and --write are for one memory model");
    }
    if args.write && args.files.iter().any(|file| file == "-") {
        return fail("--write needs a file");
    }
    let mut status = Status::Fine;
    for file in &args.files {
        let text = match read_text(file) {
            Ok(text) => text,
            Err(error) => {
                status = status.and(complain(&error));
                continue;
            }
        };
        let mut all = Vec::new();
        for (number, request) in requests.iter().enumerate() {
            if number > 0 && args.format == Format::Human {
                print("\n");
            }
            let (ended, found) = one(args, file, &text, request);
            status = status.and(ended);
            all.extend(found);
        }
        if all.len() > 1 && args.format == Format::Human {
            print(&side_by_side(&all));
        }
    }
    status
}

/// The cheapest sets under several models, one column each.
fn side_by_side(all: &[Repairs]) -> String {
    let cheapest = |found: &Repairs| found.sets.first().map(|set| set.fences.clone());
    let sets: Vec<Option<Vec<Fence>>> = all.iter().map(cheapest).collect();
    let places: BTreeSet<usize> = sets.iter().flatten().flatten().map(|f| f.place).collect();
    let mut table = Table::default();
    let models = all.iter().map(|found| found.model.to_string());
    table.row(["line".to_owned(), String::new()].into_iter().chain(models));
    for place in places {
        let line = all[0].places[place].line;
        let mut row = vec![line.to_string(), line_text(&all[0], line)];
        for (found, set) in all.iter().zip(&sets) {
            let here = set.iter().flatten().filter(|f| f.place == place);
            let words: Vec<&str> = here.map(|f| found.word(f.kind)).collect();
            row.push(words.join(", "));
        }
        table.row(row);
    }
    let mut out = format!("\n{}: the cheapest sets\n\n", paint(STRONG, &all[0].source.name));
    for line in table.lines("  ") {
        let _ = writeln!(out, "  {line}");
    }
    for found in all.iter().filter(|found| found.sets.is_empty()) {
        let _ = writeln!(out, "\n  Under {} no set is known.", found.model);
    }
    out
}

/// What is said about one program under one model.
struct Found<'a> {
    repairs: &'a Repairs,
    request: &'a Request,
    /// For each set that is shown, what comes back without each of its fences.
    back: Vec<Vec<Back>>,
    is_redundant: bool,
}

/// A run that a fence prevents.
struct Back {
    loaded: Loaded,
    broken: Broken,
}

/// What a run shows.
fn shown(loaded: &Loaded, broken: &Broken) -> String {
    match broken.question.map(|number| &loaded.system.questions[number]) {
        None => "there is a run that SC does not have".to_owned(),
        Some(question) => {
            let verdict = question.outcome(question.verdict(true)).unwrap_or("violated");
            format!("{} is {verdict}", question.name)
        }
    }
}

fn one(args: &Fences, file: &str, text: &str, request: &Request) -> (Status, Option<Repairs>) {
    let mut progress = Progress::default();
    let mut say = |tally: &Tally| {
        progress.say(&format!(
            "{}, {} checked, any other costs at least {}",
            counted(tally.sets, "set"),
            counted(tally.checks, "candidate"),
            tally.at_least
        ));
    };
    let search = if args.redundant { redundant } else { repairs };
    let found = search(file, text, request, &mut say);
    drop(progress);
    let found = match found {
        Ok(found) => found,
        Err(error) => return (refuse(file, error), None),
    };
    // Every set that is shown repairs the text into which it is inserted, and none of its
    // fences can be left out.
    let shown = if args.redundant { 0 } else { found.sets.len() };
    let mut back = Vec::new();
    for repair in &found.sets[..shown] {
        match confirm(&found, repair, request) {
            Ok(runs) => back.push(runs),
            Err(status) => return (status, None),
        }
    }
    let known = Found { repairs: &found, request, back, is_redundant: args.redundant };
    let mut status = known.status();
    match args.format {
        Format::Json => print_json(&Report::new(&known)),
        Format::Human if args.patch => match found.sets.first() {
            Some(repair) => print(&diff::unified(file, text, &found.text(&repair.fences))),
            None => note(&known.headline()),
        },
        Format::Human => print(&human(&known, args)),
    }
    if args.write
        && let Some(repair) = found.sets.first().filter(|r| !r.fences.is_empty())
    {
        let path = Path::new(file);
        let kept = format!("{file}.orig");
        status = status.and(write_whole(Path::new(&kept), text));
        if status == Status::Fine {
            status = status.and(rewrite(path, &found.text(&repair.fences)));
        }
    }
    if let Some(folder) = &args.evidence {
        status = status.and(write_evidence(&known, folder, file));
    }
    (status, Some(found))
}

fn refuse(file: &str, error: RepairError) -> Status {
    match error {
        RepairError::Load(error) => complain(&error),
        RepairError::Check(error) => reject(file, &error),
        error => fail(&format!("`{file}`: {error}")),
    }
}

/// Checks the text with a set of fences, and without each of them.
///
/// # Errors
/// If the text is not repaired, or still is without one.
fn confirm(found: &Repairs, repair: &Repair, request: &Request) -> Result<Vec<Back>, Status> {
    let options = &request.options;
    let name = &found.source.name;
    let check = |fences: &[Fence]| {
        found.check(fences, request, options).map_err(|error| refuse(name, error))
    };
    let wrong = |what: &str| {
        note(&format!("`{name}`: {what}; please report this"));
        Err(Status::Internal)
    };
    if let Checked::Broken(..) = check(&repair.fences)? {
        return wrong("a set of fences does not repair its text");
    }
    let mut back = Vec::new();
    for left_out in &repair.fences {
        let rest: Vec<Fence> = repair.fences.iter().filter(|f| *f != left_out).copied().collect();
        match check(&rest)? {
            Checked::Broken(loaded, runs) => {
                back.extend(runs.into_iter().next().map(|broken| Back { loaded, broken }));
            }
            Checked::Repaired(..) => return wrong("a fence can be left out"),
            Checked::Open(_) => return Ok(vec![]),
        }
    }
    Ok(back)
}

impl Found<'_> {
    fn status(&self) -> Status {
        let found = self.repairs;
        match () {
            () if found.beyond.is_some() => Status::Violated,
            () if found.sets.is_empty() => Status::Unknown,
            () if found.stopped.is_some() && self.request.most != Some(found.sets.len()) => {
                Status::Unknown
            }
            () => Status::Fine,
        }
    }

    /// The most important thing.
    fn headline(&self) -> String {
        let found = self.repairs;
        if found.beyond.is_some() {
            return "no fences can repair this".to_owned();
        }
        let Some(cheapest) = found.sets.first() else {
            let why = found.stopped.map(|stop| stop.to_string());
            let why = why.or_else(|| found.open.first().map(|(_, why)| why.clone()));
            let why = why.unwrap_or_else(|| "nothing was found".to_owned());
            return format!("it is not known which fences repair this: {why}");
        };
        let sets = match (found.sets.len(), found.is_complete) {
            (1, true) => "there is one minimal set".to_owned(),
            (n, true) => format!("there are {n} minimal sets"),
            (1, false) => "there may be other sets".to_owned(),
            (n, false) => format!("the {n} cheapest sets that were found"),
        };
        match (cheapest.fences.len(), self.is_redundant) {
            (0, false) => "no fence is needed".to_owned(),
            (0, true) => "none of its fences is needed".to_owned(),
            (1, false) => format!("1 fence repairs this; {sets}"),
            (n, false) => format!("{n} fences repair this; {sets}"),
            (n, true) => {
                format!("{n} of its {} are enough; {sets}", counted(found.places.len(), "fence"))
            }
        }
    }
}

fn human(known: &Found<'_>, args: &Fences) -> String {
    let found = known.repairs;
    let mut out = format!("{} under {}\n\n", paint(STRONG, &found.source.name), found.model);
    let status = match known.status() {
        Status::Fine => weir::Verdict::Holds,
        Status::Violated => weir::Verdict::Violated,
        _ => weir::Verdict::Unknown,
    };
    let _ = writeln!(out, "  {}", paint(style(status), &known.headline()));
    if let Some(beyond) = &found.beyond {
        out += &beyond_lines(beyond);
        return out;
    }
    // Of fences that stand in the program, the list below says which are needed.
    let is_listed = known.is_redundant && found.sets.len() == 1;
    if let Some(cheapest) = found.sets.first().filter(|s| !s.fences.is_empty() && !is_listed) {
        out += &cheapest_lines(known, cheapest);
    }
    if found.sets.len() > 1 {
        let _ = writeln!(out, "\n  Other sets:");
        let mut table = Table::default();
        for repair in &found.sets[1..] {
            table.row([format!("cost {}", repair.cost), places(known, &repair.fences)]);
        }
        for line in table.lines("  ") {
            let _ = writeln!(out, "    {line}");
        }
    }
    if known.is_redundant {
        out += &unneeded(found);
    } else {
        out += &regions(found);
    }
    for (fences, why) in &found.open {
        let places = places(known, fences);
        let _ = writeln!(out, "\n  It is not known whether these are enough ({why}): {places}");
    }
    if args.runs
        && let (Some(repair), Some(back)) = (found.sets.first(), known.back.first())
    {
        for (fence, back) in repair.fences.iter().zip(back) {
            let line = found.places[fence.place].line;
            let word = found.word(fence.kind);
            let _ = writeln!(out, "\n  Without the {word} before line {line}:");
            out += &run_lines(&back.loaded, &back.broken);
        }
    }
    let tally = &found.tally;
    let _ = writeln!(
        out,
        "\n{}",
        paint(QUIET, &format!("{} checked", counted(tally.checks, "candidate")))
    );
    out
}

/// The fences of the cheapest set, and what comes back without each.
fn cheapest_lines(known: &Found<'_>, repair: &Repair) -> String {
    let found = known.repairs;
    let mut out = format!("\n  The cheapest set, cost {}:\n", repair.cost);
    let mut table = Table::default();
    let back = known.back.first().map_or(&[][..], Vec::as_slice);
    for (i, fence) in repair.fences.iter().enumerate() {
        let without = back.get(i).map_or(String::new(), |back| {
            let steps = counted(back.broken.run.steps.len(), "step");
            format!("without it, {}: {steps}", shown(&back.loaded, &back.broken))
        });
        let line = found.places[fence.place].line;
        let side = if known.is_redundant { "on" } else { "before" };
        table.row([
            found.word(fence.kind).to_owned(),
            format!("{side} line {line}"),
            line_text(found, line),
            without,
        ]);
    }
    for line in table.lines("  ") {
        let _ = writeln!(out, "    {line}");
    }
    out
}

/// Where fences stand, in short.
fn places(known: &Found<'_>, fences: &[Fence]) -> String {
    let side = if known.is_redundant { "on" } else { "before" };
    let place = |f: &Fence| {
        let line = known.repairs.places[f.place].line;
        format!("{} {side} line {line}", known.repairs.word(f.kind))
    };
    fences.iter().map(place).collect::<Vec<_>>().join(", ")
}

/// The text of a line, short.
fn line_text(found: &Repairs, line: usize) -> String {
    let text = found.source.text.lines().nth(line - 1).unwrap_or("").trim();
    let text = text.split("//").next().unwrap_or("").trim_end();
    match text.chars().count() > 40 {
        true => text.chars().take(39).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

/// Runs that no fences prevent.
fn beyond_lines(beyond: &Beyond) -> String {
    let mut out = String::new();
    for broken in &beyond.runs {
        let what = shown(&beyond.loaded, broken);
        let _ = match beyond.model == MemoryModel::SC {
            true => writeln!(out, "\n  Under SC {what}:"),
            false => writeln!(out, "\n  With a fence wherever one can stand, {what}:"),
        };
        out += &run_lines(&beyond.loaded, broken);
    }
    out
}

fn run_lines(loaded: &Loaded, broken: &Broken) -> String {
    let layout = Layout { width: terminal::width() - 4, full: false, hints: HINTS };
    let lines = run_report::lines(loaded, &broken.run, broken.question.unwrap_or(0), layout);
    lines.iter().map(|line| format!("    {line}").trim_end().to_owned() + "\n").collect()
}

/// Which fences of a program are in no set, and which are in all.
fn unneeded(found: &Repairs) -> String {
    let mut out = String::new();
    let in_sets = |place: usize| {
        found.sets.iter().filter(|set| set.fences.iter().any(|f| f.place == place)).count()
    };
    let mut table = Table::default();
    for (place, at) in found.places.iter().enumerate() {
        let word = match in_sets(place) {
            0 if found.is_complete => "not needed",
            n if n == found.sets.len() && found.is_complete => "needed",
            _ => "in some sets",
        };
        table.row([format!("line {}", at.line), line_text(found, at.line), word.to_owned()]);
    }
    if !found.places.is_empty() {
        out.push('\n');
    }
    for line in table.lines("  ") {
        let _ = writeln!(out, "  {line}");
    }
    out
}

/// Where fences are needed, drawn into the lines of the program.
fn regions(found: &Repairs) -> String {
    let mut out = String::new();
    let lines: Vec<&str> = found.source.text.lines().collect();
    for region in &found.regions {
        let mut at: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
        for fence in region {
            let line = found.places[fence.place].line;
            at.entry(line).or_default().insert(found.word(fence.kind));
        }
        let (Some(first), Some(last)) = (at.keys().next(), at.keys().last()) else { continue };
        let places: BTreeSet<usize> = region.iter().map(|f| f.place).collect();
        let where_ = match places.len() {
            1 => "here".to_owned(),
            n => format!("at one of {n} places"),
        };
        let _ = writeln!(out, "\n  A fence is needed {where_}:");
        let (first, last) = (first.saturating_sub(1).max(1), (*last).min(lines.len()));
        let mut skipped = false;
        for line in first..=last {
            if let Some(words) = at.get(&line) {
                let words: Vec<&str> = words.iter().copied().collect();
                let text = lines[line - 1];
                let indent: String = text.chars().take_while(|c| c.is_whitespace()).collect();
                let drawn = format!("{:>6} + {indent}{}", "", words.join(" or "));
                let _ = writeln!(out, "{}", paint(STRONG, drawn.trim_end()));
            }
            // Long stretches without a place are left out.
            let near = at.range(line.saturating_sub(1)..=line + 1).next().is_some();
            if !near {
                if !skipped {
                    let _ = writeln!(out, "{:>6} …", "");
                }
                skipped = true;
                continue;
            }
            skipped = false;
            let shown = format!("{line:>6} | {}", lines[line - 1]);
            let _ = writeln!(out, "{}", shown.trim_end());
        }
    }
    out
}

/// Writes the programs with their sets and proofs, and the runs that come back.
fn write_evidence(known: &Found<'_>, folder: &Path, file: &str) -> Status {
    let found = known.repairs;
    if let Err(error) = std::fs::create_dir_all(folder) {
        return fail(&format!("cannot write to `{}`: {error}", folder.display()));
    }
    let ending = Path::new(file).extension().map_or("weir".into(), |e| e.to_string_lossy());
    let model = found.model.to_string().to_lowercase();
    let mut status = Status::Fine;
    for (number, repair) in found.sets.iter().enumerate() {
        let base = format!("{model}-set-{}", number + 1);
        let path = |rest: String| folder.join(format!("{base}{rest}"));
        status = status.and(write_whole(&path(format!(".{ending}")), &found.text(&repair.fences)));
        let options = SearchOptions { certificate: true, ..known.request.options.clone() };
        match found.check(&repair.fences, known.request, &options) {
            Ok(Checked::Repaired(loaded, answers)) => match json::certificate(&loaded, &answers) {
                Some(proof) => match accepted_text(proof, &loaded) {
                    Ok(text) => {
                        status = status.and(write_whole(&path(".certificate.json".into()), &text));
                    }
                    Err(wrong) => status = status.and(wrong),
                },
                None => note(&format!("set {} has no inductive set as a proof", number + 1)),
            },
            Ok(_) => note(&format!("set {} was not proved again within the limits", number + 1)),
            Err(error) => status = status.and(refuse(file, error)),
        }
        for (fence, back) in repair.fences.iter().zip(&known.back[number]) {
            let line = found.places[fence.place].line;
            let kind = kind_name(fence.kind);
            let rest: Vec<Fence> = repair.fences.iter().filter(|f| *f != fence).copied().collect();
            let without = format!("-without-{kind}-{line}");
            status =
                status.and(write_whole(&path(format!("{without}.{ending}")), &found.text(&rest)));
            let Some(question) = back.broken.question else { continue };
            let asked = &back.loaded.system.questions[question];
            let answer = Answer::settled(question, asked, back.broken.run.clone());
            if let Some(witness) = json::witness(&back.loaded, &answer) {
                let target = path(format!("{without}.witness.json"));
                match accepted_text(witness, &back.loaded) {
                    Ok(text) => status = status.and(write_whole(&target, &text)),
                    Err(wrong) => status = status.and(wrong),
                }
            }
        }
    }
    status
}

/// What was found, as JSON.
#[derive(Serialize)]
struct Report<'a> {
    version: u32,
    file: &'a str,
    text: &'a str,
    model: String,
    /// `repaired`, `none needed`, `impossible` or `unknown`.
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
    fences: Vec<FenceReport<'a>>,
}

#[derive(Serialize)]
struct FenceReport<'a> {
    kind: &'a str,
    line: usize,
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
    fn new(known: &'a Found<'a>) -> Self {
        let found = known.repairs;
        let fence = |fence: &Fence, back: Option<&'a Back>| FenceReport {
            kind: kind_name(fence.kind),
            line: found.places[fence.place].line,
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
            fences: repair
                .fences
                .iter()
                .enumerate()
                .map(|(i, f)| fence(f, known.back.get(number).and_then(|back| back.get(i))))
                .collect(),
        };
        let verdict = match (known.status(), found.sets.first()) {
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
