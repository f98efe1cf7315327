//! `weir check`

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::slice;
use std::sync::Arc;

use anstyle::Style;
use weir::certify::Unaccepted;
use weir::report::run::{self as run_report, Layout};
use weir::report::table::Table;
use weir::report::{counted, json, reason, says};
use weir::solver::check_some;
use weir::vacuity::vacuous;
use weir::{CheckError, Loaded, MemoryModel, Verdict};
use weir_check::Evidence;
use weir_check::shards::{Failure, Manifest, check};
use weir_engine::{Engine, Explicit, SearchOptions, Stats, Task, Views, reachable};
use weir_model::answer::{Answer, Evidence as Shown};
use weir_model::limits::{Budget, Stop};

use super::batch::rows;
use super::evidence::EvidenceFiles;
use super::page::Html;
use super::stats::{details, restrictions, summary};
use super::{
    Status, accepted_text, complain, fail, no_search, note, nothing_known, print, print_json,
    reject, unbuilt, write_json, write_whole,
};
use crate::cli::Check;
use crate::cli::batch::ReportFormat;
use crate::cluster::{self, Cluster, Unmade};
use crate::findings::Findings;
use crate::output::{
    HINTS, ShardFolder, caveat, fail_about, internal, json as json_line, paint, plain,
    print_errors_as_rows,
};
use crate::progress::Progress;
use crate::terminal::{self, NEUTRAL, QUIET, STRONG, style};

/// At most and at least so many characters of a formula are printed beside its verdict.
const MAX_FORMULA: usize = 70;
const MIN_FORMULA: usize = 20;

pub fn run(args: &Check) -> Status {
    let model = args.models.one();
    let asked = args.search.engine(model).and_then(|e| Ok((e, args.search.options(model)?)));
    let (engine, search) = match asked {
        Ok(asked) => asked,
        Err(message) => return fail(&message),
    };
    let cluster = match cluster::of(args) {
        Ok(cluster) => cluster,
        Err(message) => return fail(&message),
    };
    let engine = cluster.as_ref().map_or(engine, |cluster| cluster.engine);
    let needs_proof = args.evidence.needs_proof();
    if needs_proof && !Views.decides(model) {
        return fail(&format!("there are certificates for SC, TSO, PSO and NSW, not for {model}"));
    }
    let has_proofs = match engine.name() {
        "explicit" => reachable::is_listed(model),
        "channels" => false,
        _ => true,
    };
    if needs_proof && !has_proofs {
        let name = engine.name();
        return fail(&format!(
            "the engine `{name}` has no proofs under {model}; use --engine views"
        ));
    }
    let mut status = Status::Fine;
    let mut files = EvidenceFiles::new(&args.evidence);
    let mut html = Html::new("check", &args.page.html);
    for file in &args.programs.files {
        if args.format == ReportFormat::Jsonl {
            print_errors_as_rows(args.search.language.name_of(file), &model.to_string());
        }
        let read = args.search.language.load(file, &[model]);
        let (loaded, stopped) = match read.map_or_else(unbuilt, |loaded| Ok((loaded, None))) {
            Ok((loaded, stopped)) => (Arc::new(loaded), stopped),
            Err(error) => {
                status = status.and(complain(&error));
                continue;
            }
        };
        if let Some(error) = CheckError::no_property(file, &loaded.system) {
            status = status.and(reject(file, &error));
            continue;
        }
        let chosen = match args.search.asked.of(&loaded) {
            Ok(chosen) => chosen,
            Err(message) => {
                status = status.and(fail_about(file, &message));
                continue;
            }
        };
        let live = not_asked(&loaded, args);
        let certificate = files.need_proof();
        let options = SearchOptions { certificate, ..search.clone() };
        let mut progress = Progress::default();
        let printed = Printed { full: args.evidence.full, stats: args.stats, live };
        let findings = findings(&loaded, model, &chosen, (args.format, printed.clone()), status);
        let checked = match stopped {
            Some(reason) => Ok(nothing_known(&chosen, &reason)),
            None => {
                let task = Task::new(&loaded.system, model, &options);
                let settled = |answer: &Answer| {
                    let is_new = findings.add(answer.property, answer.clone());
                    if is_new && args.format == ReportFormat::Jsonl && is_violated(&loaded, answer)
                    {
                        let answers = slice::from_ref(answer);
                        print(&row_lines(&loaded, model, answers, &[None], &|_| true));
                    }
                };
                let tell: &(dyn Fn(&Answer) + Sync) = &settled;
                let found =
                    check_some(engine, task, &chosen, Some(tell), &mut |s| progress.update(s));
                found.map(|(answers, stats)| {
                    let vacuous = vacuous(task, &answers, &stats, &|s| loaded.line(s));
                    (answers, vacuous, stats)
                })
            }
        };
        drop(progress);
        let (answers, vacuous, stats) = match checked {
            Ok(checked) => checked,
            Err(error) => {
                status = status.and(reject(file, &error));
                continue;
            }
        };
        let mut sharded = None;
        let has_shards = engine.name() == Explicit.name();
        if let Some((cluster, path)) = cluster.as_ref().zip(files.certificate)
            && has_shards
        {
            let task = Task::new(&loaded.system, model, &options);
            match write_shards(cluster, &loaded, task, &answers, path, files.verify) {
                Ok(None) => {}
                Ok(Some(report)) => {
                    sharded = report;
                    files.certificate = None;
                    files.verify = false;
                }
                Err(unmade) => {
                    files.certificate = None;
                    files.verify = false;
                    status = status.and(unmade);
                }
            }
        }
        if let Some(cluster) = cluster.as_ref().filter(|cluster| !cluster.reports) {
            // The report is that of the first process.
            match (cluster.fault)() {
                Some(fault) => note(&format!("unknown: {fault}")),
                None => note("the search is over; process 0 prints the report"),
            }
            return answers.iter().fold(status, |s, a| s.and(a.verdict.into()));
        }
        let proof = match proof(&files, &loaded, model, &answers, &options.budget) {
            Ok(proof) => proof,
            Err(Status::Unknown) => {
                status = status.and(Status::Unknown);
                None
            }
            Err(wrong) => {
                status = status.and(wrong);
                continue;
            }
        };
        status = answers.iter().fold(status, |s, a| s.and(a.verdict.into()));
        if live > 0 {
            status = status.and(Status::Unknown);
        }
        let early = findings.all();
        let shown = findings.end();
        let workers = cluster.as_ref().and_then(|cluster| (cluster.stats)());
        let whole = || json::Report {
            certificate: proof.as_ref().map(|p| p.report.clone()).or_else(|| sharded.clone()),
            stats: json::StatsReport { cluster: workers.clone(), ..json::StatsReport::new(&stats) },
            ..report(&loaded, model, &answers, &vacuous, &stats, live)
        };
        match args.format {
            ReportFormat::Jsonl => {
                let is_left = |i: usize| {
                    let is_early = |(property, a): &(usize, Answer)| {
                        *property == answers[i].property && is_violated(&loaded, a)
                    };
                    !early.iter().any(is_early)
                };
                print(&row_lines(&loaded, model, &answers, &vacuous, &is_left));
                if live > 0 {
                    let report = report(&loaded, model, &[], &[], &stats, live);
                    let (out, name) = (json_line(&report).unwrap_or_default(), model.to_string());
                    let rows = (out, Status::Unknown);
                    print(&rows::lines("check", &loaded.source.name, &name, rows, &|_| true));
                }
            }
            ReportFormat::Human => {
                let vacuous = Some(&vacuous[..]);
                let mut text = human(&loaded, model, &answers, vacuous, &stats, &printed, &shown);
                if let Some(cluster) = cluster.as_ref().filter(|_| args.stats) {
                    text += &(cluster.details)();
                }
                print(&text);
            }
            _ => print_json(&whole()),
        }
        status = status.and(html.add(file, whole));
        status = status.and(write(&mut files, &loaded, &answers, proof.as_ref()));
    }
    if status != Status::Wrong {
        files.note_unwritten();
    }
    status.and(html.write())
}

/// How many formulas about infinite runs a program has that are not asked here.
fn not_asked(loaded: &Loaded, args: &Check) -> usize {
    match args.search.asked.properties.is_empty() {
        true => loaded.system.program.live.len(),
        false => 0,
    }
}

/// That some formulas were not asked, and who asks them.
fn not_asked_words(loaded: &Loaded, live: usize) -> Option<String> {
    let (name, were) = (&loaded.source.name, if live == 1 { "was" } else { "were" });
    let formulas = counted(live, "formula");
    (live > 0).then(|| format!("{formulas} about infinite runs {were} not asked: weir live {name}"))
}

/// What is printed besides answers.
#[derive(Clone)]
struct Printed {
    full: bool,
    stats: bool,
    /// How many formulas about infinite runs were not asked.
    live: usize,
}

/// The findings of a search, and how they are shown before it ends.
fn findings(
    loaded: &Arc<Loaded>,
    model: MemoryModel,
    chosen: &[usize],
    (format, printed): (ReportFormat, Printed),
    earlier: Status,
) -> Findings<Answer> {
    let (of_report, of_one, chosen) = (loaded.clone(), loaded.clone(), chosen.to_vec());
    let is_human = format == ReportFormat::Human;
    let full = printed.full;
    let last_words = move |found: &[(usize, Answer)], stop: Stop| {
        let loaded = &*of_report;
        let answer = |&i: &usize| {
            let known = found.iter().find(|(number, _)| *number == i);
            known.map_or_else(|| Answer::unknown(i, stop), |(_, answer)| answer.clone())
        };
        let answers: Vec<Answer> = chosen.iter().map(answer).collect();
        let stats = Stats { stopped: Some(stop.to_string()), ..no_search("") };
        let none = vec![None; answers.len()];
        let text = match format {
            ReportFormat::Human => {
                human(loaded, model, &answers, None, &stats, &printed, &BTreeSet::new())
            }
            // Those that are violated were printed when they came.
            ReportFormat::Jsonl => {
                row_lines(loaded, model, &answers, &none, &|i| !is_violated(loaded, &answers[i]))
            }
            _ => {
                let report = report(loaded, model, &answers, &none, &stats, printed.live);
                json_line(&report).map_or_else(|_| String::new(), |line| line + "\n")
            }
        };
        (text, answers.iter().fold(earlier, |s, a| s.and(a.verdict.into())))
    };
    Findings::begin(last_words, move |_, answer| {
        let is_shown = is_human && is_violated(&of_one, answer);
        is_shown.then(|| format!("{}\n", run_of(&of_one, model, answer, full).trim_start()))
    })
}

/// Whether an answer is that a claim is violated.
fn is_violated(loaded: &Loaded, answer: &Answer) -> bool {
    let question = &loaded.system.questions[answer.property];
    answer.verdict == Verdict::Violated && question.outcome(answer.verdict).is_none()
}

fn report(
    loaded: &Loaded,
    model: MemoryModel,
    answers: &[Answer],
    vacuous: &[Option<String>],
    stats: &Stats,
    live: usize,
) -> json::Report {
    json::Report {
        not_asked: not_asked_words(loaded, live),
        ..json::Report::new(loaded, model, answers, vacuous, (stats, HINTS))
    }
}

/// Answers as rows, of those whose places among them pass.
fn row_lines(
    loaded: &Loaded,
    model: MemoryModel,
    answers: &[Answer],
    vacuous: &[Option<String>],
    passes: &dyn Fn(usize) -> bool,
) -> String {
    let report = report(loaded, model, answers, vacuous, &Stats::default(), 0);
    let status = answers.iter().fold(Status::Fine, |s, a| s.and(a.verdict.into()));
    let out = json_line(&report).unwrap_or_default();
    rows::lines("check", &loaded.source.name, &model.to_string(), (out, status), passes)
}

/// A proof that its checker accepts.
struct Proof {
    text: String,
    report: json::ProofReport,
}

fn accepted_proof<E: Evidence>(evidence: E, subject: &E::Subject) -> Result<Proof, Status> {
    let what = evidence.what();
    let text = accepted_text(evidence, subject)?;
    Ok(Proof { report: json::ProofReport { what, bytes: text.len() }, text })
}

/// Has the workers write the proof of the answers that rest on an exhaustive search, if there are
/// some: what was written, if it was also checked.
///
/// # Errors
/// If it was not written, or its checker rejects it.
fn write_shards(
    cluster: &Cluster,
    loaded: &Loaded,
    task: Task<'_>,
    answers: &[Answer],
    path: &Path,
    verify: bool,
) -> Result<Option<Option<json::ProofReport>>, Status> {
    let properties = json::exhausted(task.model, answers);
    if properties.is_empty() {
        return Ok(None);
    }
    let unwritten =
        |error: io::Error| fail(&format!("cannot write `{}`: {}", path.display(), plain(&error)));
    let folder = ShardFolder::make(path).map_err(unwritten)?;
    let manifest = (cluster.write_shards)(task, properties, &folder).map_err(|why| match why {
        Unmade::Unknown(reason) => {
            note(&format!("the proof was not made: {reason}"));
            Status::Unknown
        }
        Unmade::Unwritten(reason) => fail(&format!("in `{}`: {reason}", path.display())),
    })?;
    if !cluster.reports {
        return Ok(Some(None));
    }
    if !verify {
        note(&format!(
            "{} is in `{}` and was not checked yet: `weir certify` does that",
            manifest.what(),
            path.display()
        ));
        return Ok(Some(None));
    }
    let (budget, what) = (&task.options.budget, manifest.what());
    let checked = Manifest::read(&folder)
        .and_then(|signed| check(&loaded.system, &signed, &folder, budget.threads(), budget));
    match checked {
        Ok(()) => {
            let bytes = manifest.shards.iter().map(|shard| shard.bytes as usize).sum();
            Ok(Some(Some(json::ProofReport { what, bytes })))
        }
        Err(Failure::Rejected(why)) => Err(internal(&Unaccepted { what, why })),
        Err(Failure::Stopped(stop)) => {
            note(&format!("the proof was written and not checked: {stop}"));
            Err(Status::Unknown)
        }
        Err(Failure::File(name, error)) => {
            Err(fail(&format!("cannot read `{}`: {}", folder.path(&name), plain(&error))))
        }
    }
}

/// The proof of the answers that rest on one, if it is to be written or checked.
///
/// # Errors
/// If its checker rejects it, or it cannot be made: unknown then, and a note says why.
fn proof(
    files: &EvidenceFiles<'_>,
    loaded: &Loaded,
    model: MemoryModel,
    answers: &[Answer],
    budget: &Budget,
) -> Result<Option<Proof>, Status> {
    if !files.need_proof() {
        return Ok(None);
    }
    if let Some(found) = json::certificate(loaded, answers) {
        return accepted_proof(found, loaded).map(Some);
    }
    if let Some(found) = json::upward_sets(loaded, answers) {
        return accepted_proof(found, loaded).map(Some);
    }
    if let Some(found) = json::buffers(loaded, answers) {
        return accepted_proof(found, loaded).map(Some);
    }
    match json::robust_sets(loaded, answers, budget) {
        Ok(Some(found)) => return accepted_proof(found, loaded).map(Some),
        Ok(None) => {}
        Err(reason) => {
            note(&format!("the proof was not made: {reason}"));
            return Err(Status::Unknown);
        }
    }
    match json::closed_set(loaded, model, answers, budget) {
        Ok(Some(found)) => accepted_proof(found, loaded).map(Some),
        Ok(None) if files.verify && answers.iter().any(|a| a.is_known() && !a.has_run()) => {
            note("what rests on no run was not verified: the engine has no proof for it");
            Err(Status::Unknown)
        }
        Ok(None) => Ok(None),
        Err(reason) => {
            note(&format!("the proof was not made: {reason}"));
            Err(Status::Unknown)
        }
    }
}

/// Writes the files for which there is evidence.
fn write(
    files: &mut EvidenceFiles<'_>,
    loaded: &Loaded,
    answers: &[Answer],
    proof: Option<&Proof>,
) -> Status {
    let mut status = Status::Fine;
    if let Some(path) = files.witness
        && let Some(found) = answers.iter().find_map(|a| json::witness(loaded, a))
    {
        status = status.and(write_json(path, &found));
        files.witness = None;
    }
    let first = answers.iter().find_map(|a| match &a.evidence {
        Shown::Run(run) => Some((a, run)),
        _ => None,
    });
    if let Some((answer, run)) = first {
        let name = &loaded.system.questions[answer.property].name;
        let shows = format!("{name} is {}", word(loaded, answer).0);
        status = status.and(files.pictures.draw(loaded, run, None, &shows));
    }
    if let Some((path, proof)) = files.certificate.zip(proof) {
        status = status.and(write_whole(path, &proof.text));
        files.certificate = None;
    }
    status
}

/// The verdict in a word, with its mark and its color. Whether a final state is allowed
/// is a question and no claim: either answer is as good.
fn word(loaded: &Loaded, answer: &Answer) -> (&'static str, &'static str, Style) {
    let question = &loaded.system.questions[answer.property];
    if let Some(outcome) = question.outcome(answer.verdict) {
        return (outcome, "•", NEUTRAL);
    }
    let mark = match answer.verdict {
        Verdict::Holds => "✓",
        Verdict::Violated => "✗",
        Verdict::Unknown => "?",
    };
    (answer.verdict.name(), mark, style(answer.verdict))
}

fn human(
    loaded: &Loaded,
    model: MemoryModel,
    answers: &[Answer],
    vacuous: Option<&[Option<String>]>,
    stats: &Stats,
    printed: &Printed,
    shown: &BTreeSet<usize>,
) -> String {
    let system = &loaded.system;
    let mut out = String::new();
    let how = restrictions(model, stats);
    let name = paint(STRONG, &loaded.source.name);
    let _ = writeln!(out, "{name} under {model}{how}\n{}", caveat(&loaded.source, model));
    let mut table = Table::default();
    // The lines are indented and have a mark.
    let words = answers.iter().map(|a| word(loaded, a).0.len()).max().unwrap_or(0);
    let names = answers.iter().map(|a| system.questions[a.property].name.chars().count());
    let used = 4 + words + 2 + names.max().unwrap_or(0) + 2;
    let room = terminal::width().saturating_sub(used).clamp(MIN_FORMULA, MAX_FORMULA);
    for answer in answers {
        let question = &system.questions[answer.property];
        let name = question.name.clone();
        let mut text = says(loaded, question);
        if text.chars().count() > room {
            text = text.chars().take(room - 1).chain(['…']).collect();
        }
        table.row([word(loaded, answer).0.to_owned(), name, text]);
    }
    for (i, (line, answer)) in table.lines("  ").into_iter().zip(answers).enumerate() {
        let (word, mark, color) = word(loaded, answer);
        let rest = &line[word.len()..];
        let _ = writeln!(out, "  {} {}{rest}", paint(color, mark), paint(color, word));
        if let Some(reason) = vacuous.and_then(|all| all[i].as_ref()) {
            let _ =
                writeln!(out, "    {}", paint(style(Verdict::Unknown), &format!("but {reason}")));
        }
        if let Some(reason) = reason(answer, stats, HINTS) {
            let _ = writeln!(out, "    {}", paint(QUIET, &reason));
        }
    }
    if let Some(besides) = loaded.source.besides {
        let _ = writeln!(out, "\n  {}", paint(QUIET, besides));
    }
    if let Some(words) = not_asked_words(loaded, printed.live) {
        let _ = writeln!(out, "\n  {}", paint(style(Verdict::Unknown), &words));
    }
    for answer in answers.iter().filter(|a| !shown.contains(&a.property)) {
        out += &run_of(loaded, model, answer, printed.full);
    }
    if vacuous.is_none() {
        return out;
    }
    let _ = writeln!(out, "\n{}", paint(QUIET, &summary(stats)));
    if printed.stats {
        out += &details(stats);
    }
    out
}

/// The run that an answer rests on, if it does.
fn run_of(loaded: &Loaded, model: MemoryModel, answer: &Answer, full: bool) -> String {
    let mut out = String::new();
    // The lines are indented.
    let layout = Layout { width: terminal::width() - 2, full, hints: HINTS, ..Layout::default() };
    if let Shown::Run(run) = &answer.evidence {
        let name = &loaded.system.questions[answer.property].name;
        let shows = match answer.verdict {
            Verdict::Holds => "how it is reached",
            _ => "how it is violated",
        };
        let count = counted(run.steps.len(), "step");
        let title = format!("{name}: {shows}, in {count} of {} under {model}", run.form.name());
        let _ = writeln!(out, "\n{}\n", terminal::title(STRONG, &title));
        for line in run_report::lines(loaded, run, answer.property, layout) {
            let _ = writeln!(out, "{}", format!("  {line}").trim_end());
        }
    }
    out
}
