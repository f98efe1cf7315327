//! Whether a machine visits a control state again and again.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use serde::Serialize;
use weir::report::json::StatsReport;
use weir_channel::explicit::{Again, again};
use weir_channel::semantics::Semantics;
use weir_channel::{SearchOptions, Stats};

use super::{About, StepReport, control_state, counts, with};
use crate::cli::channel::ChannelRun;
use crate::cli::options::Format;
use crate::commands::{Status, print, print_json};
use crate::limits;
use crate::output::paint;
use crate::progress::{Progress, counted};
use crate::terminal::{QUIET, STRONG};

pub fn run(args: &ChannelRun, name: &str) -> Status {
    with(&args.file, |machine| {
        let state = match control_state(machine, name) {
            Ok(state) => state,
            Err(status) => return status,
        };
        let semantics = if args.lossy { Semantics::Lossy } else { Semantics::Perfect };
        let options = SearchOptions { bound: Some(args.bound.into()), ..limits::search() };
        let mut progress = Progress::default();
        let (answer, stats) =
            again(machine, semantics, state, &options, &mut |s| progress.update(s));
        drop(progress);
        let about = About { machine, file: &args.file, semantics };
        report(&about, name, &answer, &stats, args)
    })
}

#[derive(Serialize)]
struct Report<'m> {
    machine: &'m str,
    file: &'m str,
    semantics: &'static str,
    state: &'m str,
    answer: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stem: Option<Vec<StepReport<'m>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cycle: Option<Vec<StepReport<'m>>>,
    stats: StatsReport,
}

fn report(
    about: &About<'_>,
    state: &str,
    answer: &Again,
    stats: &Stats,
    args: &ChannelRun,
) -> Status {
    let (word, color, status) = match answer {
        Again::Visited(_) => ("visited", AnsiColor::Red, Status::Violated),
        Again::NotVisited => ("not visited", AnsiColor::Green, Status::Fine),
        Again::Unknown(_) => ("unknown", AnsiColor::Yellow, Status::Unknown),
    };
    let (reason, lasso) = match answer {
        Again::Visited(lasso) => (None, Some(lasso)),
        Again::NotVisited => (None, None),
        Again::Unknown(reason) => (Some(reason.as_str()), None),
    };
    if args.format == Format::Json {
        let mut stem = lasso.map(|lasso| about.steps(&lasso.run));
        let cycle = stem.as_mut().zip(lasso).map(|(steps, lasso)| steps.split_off(lasso.stem));
        print_json(&Report {
            machine: about.machine.name(),
            file: about.file,
            semantics: about.semantics(),
            state,
            answer: word,
            reason,
            stem,
            cycle,
            stats: StatsReport::new(stats),
        });
        return status;
    }
    let style: Style = color.on_default().bold();
    let title = format!("{}, {}", about.file, about.semantics());
    let mut out = format!("{}\n\n", paint(STRONG, &title));
    let how = lasso.map_or(String::new(), |lasso| {
        let cycle = lasso.run.steps.len() - lasso.stem;
        format!(": {}, then a cycle of {cycle}", counted(lasso.stem, "step"))
    });
    let _ = writeln!(out, "  {}  {state}  again and again{how}", paint(style, word));
    if let Some(reason) = reason {
        let _ = writeln!(out, "    {}", paint(QUIET, reason));
    }
    if let Some(lasso) = lasso {
        out.push('\n');
        out += &about.table(&lasso.run, Some(lasso.stem));
    }
    out += &counts(stats, args.stats);
    print(&out);
    status
}
