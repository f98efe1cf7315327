//! `weir live`

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use serde::Serialize;
use weir::live::{AskedFor, Proof, answers_with, asked, clients, ending, lasso_file, proof};
use weir::load::read_text;
use weir::report::json::VERSION;
use weir::report::run::{Layout, lasso_lines};
use weir::report::scene::Scene;
use weir::report::table::Table;
use weir::{CheckError, ENGINES, LoadError, Loaded, MemoryModel, Verdict};
use weir_check::lasso::Lasso as LassoFile;
use weir_live::{Answer, Evidence, Lasso, Options, Progress, Question, Seen};
use weir_model::limits::Stop;

use super::batch::rows;
use super::page::Html;
use super::pictures::Pictures;
use super::{
    Status, accepted_text, complain, fail, internal, note, print, print_json, reject, write_json,
    write_whole,
};
use crate::cli::batch::ReportFormat;
use crate::cli::live::Live;
use crate::cli::options::EvidenceArgs;
use crate::findings::Findings;
use crate::limits;
use crate::output::{HINTS, caveat, json, paint, print_errors_as_rows};
use crate::progress::counted;
use crate::terminal::{self, QUIET, STRONG, style};

pub fn run(args: &Live) -> Status {
    let model = args.models.one();
    let file = &args.programs.files[0];
    if args.format == ReportFormat::Jsonl {
        print_errors_as_rows(args.language.name_of(file), &model.to_string());
    }
    if !weir_live::is_supported(model) {
        return fail(&format!("`weir live` supports SC and TSO, not {model}"));
    }
    let language = match args.language.unbounded("live") {
        Ok(language) => language,
        Err(message) => return fail(&message),
    };
    let loaded = read_text(file).and_then(|text| {
        Loaded::running(
            args.language.name_of(file),
            &text,
            (language, &args.language.sources.settings()),
            args.clients.into(),
            &limits::budget(),
        )
    });
    let chosen: Vec<Progress> = args.properties.iter().map(|p| (*p).into()).collect();
    let unbuilt = |error: LoadError| {
        let found = error.into_unbuilt(|program| !asked(program, &chosen).is_empty());
        found.map(|(loaded, reason)| (loaded, Some(reason)))
    };
    let (loaded, stopped) = match loaded.map_or_else(unbuilt, |loaded| Ok((loaded, None))) {
        Ok((loaded, stopped)) => (Arc::new(loaded), stopped),
        Err(error) => return complain(&error),
    };
    let program = &loaded.system.program;
    let asked = asked(program, &chosen);
    if asked.is_empty() {
        return match CheckError::no_property(file, &loaded.system) {
            Some(error) => reject(file, &error),
            None => fail(&format!(
                "`{}` has no `live` property; add one, such as `live terminates`, or use `weir check`",
                file
            )),
        };
    }
    let printed = Printed { model, flush_fair: args.flush_fair, full: args.evidence.full };
    let report = Report { loaded: &loaded, printed, asked: &asked };
    let findings = findings(&loaded, &chosen, (args.format, printed));
    let (flush_fair, search) = (args.flush_fair, args.search());
    let options = Options { model, flush_fair, engine: ENGINES[0], search };
    let answers = match stopped {
        Some(reason) => {
            let evidence = Evidence::Reason(reason);
            vec![Answer { verdict: Verdict::Unknown, evidence }; asked.len()]
        }
        None => {
            let mut settled = |i: usize, answer: &Answer| {
                let is_new = findings.add(i, answer.clone());
                let is_violated = answer.verdict == Verdict::Violated;
                if is_new && args.format == ReportFormat::Jsonl && is_violated {
                    print(&report.row_lines(&[(i, answer.clone())]));
                }
            };
            match answers_with(&loaded, &asked, &options, &mut settled) {
                Ok(answers) => answers,
                Err(error) => return internal(&error),
            }
        }
    };
    let (proof, status) = match report.proof(&args.evidence, &answers, &options) {
        Ok(proof) => (proof, Status::Fine),
        Err(Status::Unknown) => (None, Status::Unknown),
        Err(wrong) => return wrong,
    };
    let early = findings.all();
    let shown = findings.end();
    match args.format {
        ReportFormat::Human => print(&report.human(&answers, &shown)),
        ReportFormat::Jsonl => {
            let is_early =
                |i: usize| early.iter().any(|(j, a)| *j == i && a.verdict == Verdict::Violated);
            let left = answers.iter().cloned().enumerate().filter(|(i, _)| !is_early(*i));
            print(&report.row_lines(&left.collect::<Vec<_>>()));
        }
        _ => print_json(&report.json(&answers)),
    }
    let mut html = Html::new("live", &args.page.html);
    let status = status.and(html.add(file, || report.json(&answers))).and(html.write());
    let status = answers.iter().fold(status, |s, a| s.and(a.verdict.into()));
    status.and(report.write_evidence(&args.evidence, &answers, proof.as_deref()))
}

/// The findings of a search, and how they are shown before it ends.
fn findings(
    loaded: &Arc<Loaded>,
    chosen: &[Progress],
    (format, printed): (ReportFormat, Printed),
) -> Findings<Answer> {
    let (of_report, of_one) = (loaded.clone(), loaded.clone());
    let (chosen, same) = (chosen.to_vec(), chosen.to_vec());
    let last_words = move |found: &[(usize, Answer)], stop: Stop| {
        let asked = asked(&of_report.system.program, &chosen);
        let report = Report { loaded: &of_report, printed, asked: &asked };
        let unknown =
            || Answer { verdict: Verdict::Unknown, evidence: Evidence::Reason(stop.to_string()) };
        let answer = |i: usize| {
            let known = found.iter().find(|(number, _)| *number == i);
            known.map_or_else(unknown, |(_, answer)| answer.clone())
        };
        let answers: Vec<Answer> = (0..asked.len()).map(answer).collect();
        let text = match format {
            ReportFormat::Human => report.human(&answers, &BTreeSet::new()),
            ReportFormat::Jsonl => {
                // Those that are violated were printed when they came.
                let left = answers.iter().cloned().enumerate();
                let left = left.filter(|(_, answer)| answer.verdict != Verdict::Violated);
                report.row_lines(&left.collect::<Vec<_>>())
            }
            _ => json(&report.json(&answers)).map_or_else(|_| String::new(), |line| line + "\n"),
        };
        (text, answers.iter().fold(Status::Fine, |s, a| s.and(a.verdict.into())))
    };
    Findings::begin(last_words, move |i, answer| {
        let asked = asked(&of_one.system.program, &same);
        let report = Report { loaded: &of_one, printed, asked: &asked };
        let is_shown = format == ReportFormat::Human && answer.verdict == Verdict::Violated;
        let name = asked[i].name.as_str();
        is_shown.then(|| report.lasso_of(&asked[i], answer, name).trim_start().to_owned() + "\n")
    })
}

/// What the answers are about, and how they are printed.
#[derive(Clone, Copy)]
struct Printed {
    model: MemoryModel,
    flush_fair: bool,
    full: bool,
}

struct Report<'a> {
    loaded: &'a Loaded,
    printed: Printed,
    asked: &'a [AskedFor<'a>],
}

impl Report<'_> {
    fn clients(&self) -> Option<usize> {
        clients(self.loaded)
    }

    fn file(&self, asked: &AskedFor<'_>, lasso: &Lasso) -> LassoFile {
        lasso_file(self.loaded, asked, lasso, self.printed.flush_fair)
    }

    /// Answers as rows.
    fn row_lines(&self, answers: &[(usize, Answer)]) -> String {
        let mut report = self.json(&[]);
        let properties = answers.iter().map(|(i, answer)| self.property(&self.asked[*i], answer));
        report.properties = properties.collect();
        let status = answers.iter().fold(Status::Fine, |s, (_, a)| s.and(a.verdict.into()));
        let (name, model) = (&self.loaded.source.name, self.printed.model.to_string());
        match answers.is_empty() {
            true => String::new(),
            false => {
                let out = json(&report).unwrap_or_default();
                rows::lines("live", name, &model, (out, status), &|_| true)
            }
        }
    }

    /// The lasso that an answer rests on, if it does.
    fn lasso_of(&self, asked: &AskedFor<'_>, answer: &Answer, names: &str) -> String {
        let mut out = String::new();
        // The lines are indented.
        let layout = Layout {
            width: terminal::width() - 2,
            full: self.printed.full,
            hints: HINTS,
            ..Layout::default()
        };
        if let Evidence::Lasso(lasso) = &answer.evidence {
            let _ = writeln!(out, "\n{}\n", terminal::title(STRONG, &format!("{names}:")));
            let why = ending(self.loaded, asked, lasso);
            for line in lasso_lines(self.loaded, lasso, why.as_deref(), layout) {
                let _ = writeln!(out, "  {line}");
            }
        }
        out
    }

    fn human(&self, answers: &[Answer], early: &BTreeSet<usize>) -> String {
        let name = paint(STRONG, &self.loaded.source.name);
        let mut out = format!("{name} under {}", self.printed.model);
        if let Some(clients) = self.clients() {
            let _ = write!(out, ", {}", counted(clients, "client"));
        }
        if self.printed.flush_fair {
            out += ", every write reaches memory";
        }
        let _ = write!(out, "\n{}\n", caveat(&self.loaded.source, self.printed.model));
        let mut table = Table::default();
        for (asked, answer) in self.asked.iter().zip(answers) {
            let how = match &answer.evidence {
                Evidence::Lasso(lasso) => ending(self.loaded, asked, lasso),
                _ => None,
            }
            .unwrap_or_else(|| how(&answer.evidence));
            table.row([asked.name.as_str(), answer.verdict.name(), &how]);
        }
        for (line, answer) in table.lines("  ").iter().zip(answers) {
            let word = answer.verdict.name();
            let _ =
                writeln!(out, "  {}", line.replacen(word, &paint(style(answer.verdict), word), 1));
        }
        if let Some(note) = self.undecidable() {
            let _ = writeln!(out, "\n{}", terminal::title(QUIET, note));
        }
        let mut shown: Vec<bool> = (0..answers.len()).map(|i| early.contains(&i)).collect();
        for (i, answer) in answers.iter().enumerate() {
            let Evidence::Lasso(lasso) = &answer.evidence else { continue };
            if shown[i] {
                continue;
            }
            let mut names = Vec::new();
            for (j, other) in answers.iter().enumerate() {
                if matches!(&other.evidence, Evidence::Lasso(l) if is_same(l, lasso)) {
                    shown[j] = true;
                    names.push(self.asked[j].name.as_str());
                }
            }
            out += &self.lasso_of(&self.asked[i], answer, &names.join(", "));
        }
        out
    }

    /// What cannot be decided of what was asked.
    fn undecidable(&self) -> Option<&'static str> {
        let is_open =
            |a: &AskedFor<'_>| a.question != Question::Progress(Progress::ObstructionFree);
        if self.printed.model.normal() == MemoryModel::SC || !self.asked.iter().any(is_open) {
            return None;
        }
        Some(match self.clients() {
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

    fn property(&self, asked: &AskedFor<'_>, answer: &Answer) -> JsonProperty {
        let (lasso, scene) = match &answer.evidence {
            Evidence::Lasso(lasso) => {
                let scene = Scene::new(self.loaded, &lasso.run, lasso.cycle());
                (Some(self.file(asked, lasso)), Some(scene))
            }
            _ => (None, None),
        };
        let reason = match &answer.evidence {
            Evidence::Reason(reason) => Some(reason.clone()),
            Evidence::Lasso(lasso) => ending(self.loaded, asked, lasso),
            _ => None,
        };
        JsonProperty {
            name: asked.name.clone(),
            verdict: answer.verdict.name(),
            evidence: kind(&answer.evidence),
            configurations: seen(&answer.evidence).map(|s| s.nodes),
            steps: seen(&answer.evidence).map(|s| s.edges),
            reason,
            lasso,
            scene,
        }
    }

    fn json(&self, answers: &[Answer]) -> JsonReport {
        let properties = self.asked.iter().zip(answers).map(|(q, answer)| self.property(q, answer));
        JsonReport {
            version: VERSION,
            program: self.loaded.system.program.name.clone(),
            file: self.loaded.source.name.clone(),
            text: self.loaded.source.text.clone(),
            model: self.printed.model.to_string(),
            clients: self.clients(),
            flush_fair: self.printed.flush_fair,
            properties: properties.collect(),
        }
    }

    /// The text of the proof that settles most, if it is to be written or checked.
    ///
    /// # Errors
    /// If its checker rejects it, or it cannot be made: unknown then, and a note says why.
    fn proof(
        &self,
        evidence: &EvidenceArgs,
        answers: &[Answer],
        options: &Options,
    ) -> Result<Option<String>, Status> {
        if !evidence.needs_proof() {
            return Ok(None);
        }
        match proof(self.loaded, self.asked, answers, options) {
            Ok(Some(Proof::Unblocked(file))) => accepted_text(file, self.loaded).map(Some),
            Ok(Some(Proof::Set(file))) => accepted_text(file, self.loaded).map(Some),
            Ok(None) => Ok(None),
            Err(reason) => {
                note(&format!("the proof was not made: {reason}"));
                Err(Status::Unknown)
            }
        }
    }

    fn write_evidence(
        &self,
        evidence: &EvidenceArgs,
        answers: &[Answer],
        proof: Option<&str>,
    ) -> Status {
        let mut status = Status::Fine;
        let mut pictures = Pictures::new(evidence);
        let first = self.asked.iter().zip(answers).find_map(|(asked, a)| match &a.evidence {
            Evidence::Lasso(lasso) => Some((asked, lasso)),
            _ => None,
        });
        if let Some((asked, lasso)) = first {
            if let Some(path) = evidence.witness.as_deref() {
                status = status.and(write_json(path, &self.file(asked, lasso)));
            }
            let shows = format!("{} is violated", asked.name);
            let drawn = pictures.draw(self.loaded, &lasso.run, lasso.cycle(), &shows);
            status = status.and(drawn);
        }
        pictures.note_undrawn();
        match (evidence.certificate.as_deref(), proof) {
            (Some(path), Some(proof)) => status = status.and(write_whole(path, proof)),
            (Some(path), None) => {
                note(&format!("no proof was found, so `{}` was not written", path.display()));
            }
            (None, _) => {}
        }
        status
    }
}

fn is_same(a: &Lasso, b: &Lasso) -> bool {
    a.stem == b.stem && a.run.start == b.run.start && a.run.steps == b.run.steps
}

fn seen(evidence: &Evidence) -> Option<Seen> {
    match evidence {
        Evidence::Exhausted(seen) | Evidence::Folded { seen, .. } => Some(*seen),
        _ => None,
    }
}

fn kind(evidence: &Evidence) -> &'static str {
    match evidence {
        Evidence::Lasso(_) => "lasso",
        Evidence::Exhausted(_) => "exhausted",
        Evidence::Folded { .. } => "folded",
        Evidence::Unblocked(_) => "unblocked",
        Evidence::Reason(_) => "none",
    }
}

/// What an answer rests on, in a few words.
fn how(evidence: &Evidence) -> String {
    match evidence {
        Evidence::Lasso(lasso) => {
            let cycle = lasso.run.steps.len() - lasso.stem;
            if cycle == 0 {
                return format!("a run of {} that ends", counted(lasso.stem, "step"));
            }
            format!("a lasso: {}, then a cycle of {cycle}", counted(lasso.stem, "step"))
        }
        Evidence::Exhausted(seen) => {
            format!("{}, all there are", counted(seen.nodes, "configuration"))
        }
        Evidence::Folded { level, seen } => format!(
            "{}, with folded buffers that keep {}",
            counted(seen.nodes, "configuration"),
            counted(*level, "write")
        ),
        Evidence::Unblocked(proof) if proof.stops.is_empty() => "no blocking pairs".to_owned(),
        Evidence::Unblocked(proof) => {
            format!("{} of blocking pairs, none reachable", counted(proof.cubes, "set"))
        }
        Evidence::Reason(reason) => reason.clone(),
    }
}

#[derive(Serialize)]
struct JsonReport {
    version: u32,
    program: String,
    file: String,
    text: String,
    model: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    clients: Option<usize>,
    flush_fair: bool,
    properties: Vec<JsonProperty>,
}

#[derive(Serialize)]
struct JsonProperty {
    name: String,
    verdict: &'static str,
    evidence: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    configurations: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lasso: Option<LassoFile>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scene: Option<Scene>,
}
