//! `weir live`

use std::fmt::Write as _;

use serde::Serialize;
use weir::live::{AskedFor, Proof, answers, asked, clients, ending, lasso_file, proof};
use weir::load::read_text;
use weir::report::json::VERSION;
use weir::report::run::{Layout, lasso_lines};
use weir::report::scene::Scene;
use weir::report::table::Table;
use weir::{CheckError, ENGINES, LoadError, Loaded, MemoryModel, Verdict};
use weir_check::lasso::Lasso as LassoFile;
use weir_live::{Answer, Evidence, Lasso, Options, Progress, Question, Seen};

use super::page::Html;
use super::pictures::Pictures;
use super::{
    Status, accepted_text, complain, fail, internal, note, print, print_json, reject, write_json,
    write_whole,
};
use crate::cli::live::Live;
use crate::cli::options::Format;
use crate::limits;
use crate::output::{HINTS, caveat, paint};
use crate::progress::counted;
use crate::terminal::{self, QUIET, STRONG, style};

pub fn run(args: &Live) -> Status {
    let model = args.models.one();
    let file = &args.programs.files[0];
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
        Ok(loaded) => loaded,
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
    let report = Report { loaded: &loaded, args, model, asked: &asked };
    let (flush_fair, search) = (args.flush_fair, args.search());
    let options = Options { model, flush_fair, engine: ENGINES[0], search };
    let answers = match stopped {
        Some(reason) => {
            let evidence = Evidence::Reason(reason);
            vec![Answer { verdict: Verdict::Unknown, evidence }; asked.len()]
        }
        None => match answers(&loaded, &asked, &options) {
            Ok(answers) => answers,
            Err(error) => return internal(&error),
        },
    };
    let (proof, status) = match report.proof(&answers, &options) {
        Ok(proof) => (proof, Status::Fine),
        Err(Status::Unknown) => (None, Status::Unknown),
        Err(wrong) => return wrong,
    };
    match args.format.of_one() {
        Format::Human => print(&report.human(&answers)),
        Format::Json => print_json(&report.json(&answers)),
    }
    let mut html = Html::new("live", &args.page.html);
    let status = status.and(html.add(file, || report.json(&answers))).and(html.write());
    let status = answers.iter().fold(status, |s, a| s.and(a.verdict.into()));
    status.and(report.write_evidence(&answers, proof.as_deref()))
}

struct Report<'a> {
    loaded: &'a Loaded,
    args: &'a Live,
    model: MemoryModel,
    asked: &'a [AskedFor<'a>],
}

impl Report<'_> {
    fn clients(&self) -> Option<usize> {
        clients(self.loaded)
    }

    fn file(&self, asked: &AskedFor<'_>, lasso: &Lasso) -> LassoFile {
        lasso_file(self.loaded, asked, lasso, self.args.flush_fair)
    }

    fn human(&self, answers: &[Answer]) -> String {
        let mut out = format!("{} under {}", paint(STRONG, &self.loaded.source.name), self.model);
        if let Some(clients) = self.clients() {
            let _ = write!(out, ", {}", counted(clients, "client"));
        }
        if self.args.flush_fair {
            out += ", every write reaches memory";
        }
        let _ = write!(out, "\n{}\n", caveat(&self.loaded.source));
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
        // The lines are indented.
        let layout = Layout {
            width: terminal::width() - 2,
            full: self.args.evidence.full,
            hints: HINTS,
            ..Layout::default()
        };
        let mut shown = vec![false; answers.len()];
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
            let title = format!("{}:", names.join(", "));
            let _ = writeln!(out, "\n{}\n", terminal::title(STRONG, &title));
            let why = ending(self.loaded, &self.asked[i], lasso);
            for line in lasso_lines(self.loaded, lasso, why.as_deref(), layout) {
                let _ = writeln!(out, "  {line}");
            }
        }
        out
    }

    /// What cannot be decided of what was asked.
    fn undecidable(&self) -> Option<&'static str> {
        let is_open =
            |a: &AskedFor<'_>| a.question != Question::Progress(Progress::ObstructionFree);
        if self.model.normal() == MemoryModel::SC || !self.asked.iter().any(is_open) {
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

    fn json(&self, answers: &[Answer]) -> JsonReport {
        let properties = self.asked.iter().zip(answers).map(|(asked, answer)| {
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
        });
        JsonReport {
            version: VERSION,
            program: self.loaded.system.program.name.clone(),
            file: self.loaded.source.name.clone(),
            text: self.loaded.source.text.clone(),
            model: self.model.to_string(),
            clients: self.clients(),
            flush_fair: self.args.flush_fair,
            properties: properties.collect(),
        }
    }

    /// The text of the proof that settles most, if it is to be written or checked.
    ///
    /// # Errors
    /// If its checker rejects it, or it cannot be made: unknown then, and a note says why.
    fn proof(&self, answers: &[Answer], options: &Options) -> Result<Option<String>, Status> {
        if !self.args.evidence.needs_proof() {
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

    fn write_evidence(&self, answers: &[Answer], proof: Option<&str>) -> Status {
        let mut status = Status::Fine;
        let mut pictures = Pictures::new(&self.args.evidence);
        let first = self.asked.iter().zip(answers).find_map(|(asked, a)| match &a.evidence {
            Evidence::Lasso(lasso) => Some((asked, lasso)),
            _ => None,
        });
        if let Some((asked, lasso)) = first {
            if let Some(path) = self.args.evidence.witness.as_deref() {
                status = status.and(write_json(path, &self.file(asked, lasso)));
            }
            let shows = format!("{} is violated", asked.name);
            let drawn = pictures.draw(self.loaded, &lasso.run, lasso.cycle(), &shows);
            status = status.and(drawn);
        }
        pictures.note_undrawn();
        match (self.args.evidence.certificate.as_deref(), proof) {
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
