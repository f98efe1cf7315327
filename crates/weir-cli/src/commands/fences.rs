//! `weir fences`

mod early;
mod evidence;
mod human;
mod json;

use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use weir::fences::{
    Broken, Checked, Event, Fence, Goal, Repair, RepairError, Repairs, Request, Tally, redundant,
    repairs,
};
use weir::load::read_text;
use weir::report::{counted, diff};
use weir::{CheckError, Loaded, MemoryModel};
use weir_front::Source;

use super::page::Html;
use super::{Status, complain, fail, note, print, print_json, reject};
use crate::cli::fences::Fences;
use crate::cli::options::Format;
use crate::output::{rewrite, write_backup};
use crate::progress::Progress;
use early::Early;

pub fn run(args: &Fences) -> Status {
    let models = args.models.or(&[MemoryModel::TSO]);
    let requests: Result<Vec<Request>, String> =
        models.into_iter().map(|model| args.request(model)).collect();
    let requests = match requests {
        Ok(requests) => requests,
        Err(message) => return fail(&message),
    };
    if (args.write || args.patch) && requests.len() > 1 {
        return fail("--patch and --write are for one memory model");
    }
    if args.write && args.programs.files.iter().any(|file| file == "-") {
        return fail("--write needs a file");
    }
    let mut status = Status::Fine;
    let mut html = Html::new("fences", &args.page.html);
    for file in &args.programs.files {
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
            let (ended, found) = one(args, file, &text, request, &mut html);
            status = status.and(ended);
            all.extend(found);
        }
        if all.len() > 1 && args.format == Format::Human {
            print(&human::side_by_side(&all));
        }
    }
    status.and(html.write())
}

/// What is said about one program under one model.
struct Found<'a> {
    repairs: &'a Repairs,
    request: &'a Request,
    /// For each set that is shown, what comes back without each of its fences.
    back: Vec<Vec<Rc<Back>>>,
    is_redundant: bool,
    /// What was known before the search ended.
    early: Vec<Early>,
}

/// A run that a fence prevents.
struct Back {
    /// The program, with the places of the text without fences.
    loaded: Loaded,
    /// Its own text.
    source: Source,
    broken: Broken,
}

fn one(
    args: &Fences,
    file: &str,
    text: &str,
    request: &Request,
    html: &mut Html<'_>,
) -> (Status, Option<Repairs>) {
    let progress = Mutex::new(Progress::default());
    let say = |tally: &Tally| {
        let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
        progress.say(&format!(
            "{}, {} checked, any other costs at least {}",
            counted(tally.sets, "set"),
            counted(tally.checks, "candidate"),
            tally.at_least
        ));
    };
    let name = args.language.name_of(file);
    let findings = early::findings(name, text, request.reading.model, args);
    let number = AtomicUsize::new(0);
    let listen = |event: Event<'_>| match event {
        Event::Tally(tally) => say(tally),
        Event::Broken(loaded, answer) => {
            if let Some(broken) = early::broken(loaded, answer, args) {
                findings.add(answer.property, broken);
            }
        }
        Event::Repair(fences) => {
            let number = number.fetch_add(1, Ordering::Relaxed) + (usize::MAX >> 1);
            findings.add(number, Early::Set(fences));
        }
    };
    let search = if args.redundant { redundant } else { repairs };
    let found = search(name, text, request, &listen);
    drop(progress);
    let found = match found {
        Ok(found) => found,
        Err(error) => return (refuse(file, error), None),
    };
    // Every set that is shown repairs the text into which it is inserted, and none of its
    // fences can be left out.
    let shown = if args.redundant { 0 } else { found.sets.len() };
    let mut back = Vec::new();
    let mut known = HashMap::new();
    for repair in &found.sets[..shown] {
        match confirm(&found, repair, request, &mut known) {
            Ok(runs) => back.push(runs),
            Err(status) => return (status, None),
        }
    }
    let early = findings.all().into_iter().map(|(_, early)| early).collect();
    let _ = findings.end();
    let known = Found { repairs: &found, request, back, is_redundant: args.redundant, early };
    let mut status = known.status().and(html.add(file, || json::Report::new(&known)));
    match args.format {
        Format::Json => print_json(&json::Report::new(&known)),
        Format::Human if args.patch => match found.sets.first() {
            Some(repair) if !repair.fences.is_empty() => {
                print(&diff::unified(file, text, &found.text(&repair.fences)));
            }
            _ => note(&format!("`{file}` under {}: {}", found.model, known.headline())),
        },
        Format::Human => print(&human::text(&known, args)),
    }
    if args.write
        && let Some(repair) = found.sets.first().filter(|r| !r.fences.is_empty())
    {
        status = status.and(insert_into(file, text, &found.text(&repair.fences)));
    }
    if let Some(folder) = &args.evidence {
        status = status.and(evidence::write(&known, folder, file));
    }
    (status, Some(found))
}

/// Puts a new text in the place of the one that was read, which is kept beside it. A file that was
/// changed meanwhile stays as it is.
fn insert_into(file: &str, read: &str, new: &str) -> Status {
    match read_text(file) {
        Ok(now) if now == read => {}
        Ok(_) => return fail(&format!("`{file}` was changed meanwhile, so it is not written")),
        Err(error) => return complain(&error),
    }
    let path = Path::new(file);
    match write_backup(path, read) {
        Ok(_) => rewrite(path, new),
        Err(status) => status,
    }
}

fn refuse(file: &str, error: RepairError) -> Status {
    match error {
        RepairError::Load(error) => complain(&error),
        RepairError::Check(error @ CheckError::NoProperty(_)) => {
            fail(&format!("{error}, or use `--for robust`, which needs none"))
        }
        RepairError::Check(error) => reject(file, &error),
        error => fail(&format!("`{file}`: {error}")),
    }
}

/// Checks the text with a set of fences, unless that is known, and without each of them. `known`
/// has the runs that come back with other sets.
///
/// # Errors
/// If the text is not repaired, or still is without one.
fn confirm(
    found: &Repairs,
    repair: &Repair,
    request: &Request,
    known: &mut HashMap<Vec<Fence>, Rc<Back>>,
) -> Result<Vec<Rc<Back>>, Status> {
    let options = &request.options;
    let name = &found.source.name;
    let check = |fences: &[Fence]| {
        found.check(fences, request, options).map_err(|error| refuse(name, error))
    };
    let wrong = |what: &str| {
        note(&format!("`{name}`: {what}; please report this"));
        Err(Status::Internal)
    };
    if !repair.is_confirmed
        && let Checked::Broken(..) = check(&repair.fences)?
    {
        return wrong("a set of fences does not repair its text");
    }
    let mut back = Vec::new();
    for left_out in &repair.fences {
        let rest: Vec<Fence> = repair.fences.iter().filter(|f| *f != left_out).copied().collect();
        if let Some(run) = known.get(&rest) {
            back.push(run.clone());
            continue;
        }
        match check(&rest)? {
            Checked::Broken(mut loaded, runs) => {
                let Some(broken) = runs.into_iter().next() else { continue };
                let written = found.as_written(&rest, &loaded.source);
                let source = std::mem::replace(&mut loaded.source, written);
                let run = Rc::new(Back { loaded, source, broken });
                known.insert(rest, run.clone());
                back.push(run);
            }
            Checked::Repaired(..) => return wrong("a fence can be left out"),
            Checked::Open(_) => return Ok(vec![]),
        }
    }
    Ok(back)
}

impl Found<'_> {
    /// Runs of the program as it is, if it is not known how to repair it.
    fn broken(&self) -> Vec<&serde_json::Value> {
        let is_open = self.repairs.sets.is_empty() && self.repairs.beyond.is_none();
        let early = self.early.iter().filter(|_| is_open);
        early
            .filter_map(|early| match early {
                Early::Broken { report, .. } => Some(report),
                Early::Set(_) => None,
            })
            .collect()
    }

    fn status(&self) -> Status {
        let found = self.repairs;
        match () {
            () if found.skipped.is_some() => Status::Unknown,
            () if found.beyond.is_some() => Status::Violated,
            () if found.sets.is_empty() => Status::Unknown,
            () if found.stopped.is_some() && self.request.most != Some(found.sets.len()) => {
                Status::Unknown
            }
            () => Status::Fine,
        }
    }

    /// Whether it is only known of the fences of the program that they repair nothing.
    fn are_not_enough(&self) -> bool {
        let beyond = self.repairs.beyond.as_ref();
        self.is_redundant && beyond.is_some_and(|beyond| beyond.model != MemoryModel::SC)
    }

    /// The most important thing.
    fn headline(&self) -> String {
        let found = self.repairs;
        if let Some(lines) = &found.skipped {
            let what = match self.request.goal {
                Goal::Properties => "whether fences repair this is not known",
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
            return format!("{what}: places between accesses were skipped {place}");
        }
        if found.beyond.is_some() {
            return match (self.request.goal, self.are_not_enough()) {
                (_, true) if found.places.is_empty() => "it has no fences, and needs some",
                (_, true) => "its fences are not enough",
                (Goal::Properties, false) => "no fences can repair this",
                (Goal::Robust, false) => "no fences can make it robust",
            }
            .to_owned();
        }
        let Some(cheapest) = found.sets.first() else {
            let why = found.stopped.map(|stop| stop.to_string());
            let why = why.or_else(|| found.open.first().map(|(_, why)| why.clone()));
            let why = why.unwrap_or_else(|| "nothing was found".to_owned());
            return match self.request.goal {
                Goal::Properties => format!("it is not known which fences repair this: {why}"),
                Goal::Robust => format!("it is not known which fences make it robust: {why}"),
            };
        };
        let sets = match (found.sets.len(), found.is_complete) {
            (1, true) => "there is one minimal set".to_owned(),
            (n, true) => format!("there are {n} minimal sets"),
            (1, false) => "there may be other sets".to_owned(),
            (n, false) => format!("the {n} cheapest sets that were found"),
        };
        let count = counted(cheapest.fences.len(), "fence");
        let does = match (self.request.goal, cheapest.fences.len()) {
            (Goal::Properties, 1) => "repairs this",
            (Goal::Properties, _) => "repair this",
            (Goal::Robust, 1) => "makes it robust",
            (Goal::Robust, _) => "make it robust",
        };
        match (cheapest.fences.len(), self.is_redundant) {
            (0, false) => "no fence is needed".to_owned(),
            (0, true) if found.places.is_empty() => "it has no fences, and needs none".to_owned(),
            (0, true) => "none of its fences is needed".to_owned(),
            (_, false) => format!("{count} {does}; {sets}"),
            (n, true) => {
                let are = if n == 1 { "is" } else { "are" };
                format!("{n} of its {} {are} enough; {sets}", counted(found.places.len(), "fence"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_that_was_changed_meanwhile_stays() {
        let path = std::env::temp_dir().join(format!("weir-fences-{}.weir", std::process::id()));
        let file = path.to_str().unwrap();
        fs::write(&path, "changed").unwrap();
        assert_eq!(insert_into(file, "read", "new"), Status::Wrong);
        assert_eq!(fs::read_to_string(&path).unwrap(), "changed");
        assert!(!Path::new(&format!("{file}.orig")).exists());
        fs::remove_file(path).unwrap();
    }
}
