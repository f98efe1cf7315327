//! `weir graph`

use std::io::Write as _;
use std::process::{Command, Stdio};

use weir::ENGINES;
use weir::report::graph;
use weir_engine::graph::NoGraph;
use weir_engine::{Engine, Explicit, SearchOptions, Task};
use weir_model::limits::Stop;

use super::page::Html;
use super::{Status, complain, fail, note, print, stopped, write_whole};
use crate::cli::{Graph, GraphFormat};
use crate::limits;
use crate::output::{advise, json};

/// The most states that are drawn by default, and in a page.
const MAX_DRAWN: u32 = 200;
const MAX_IN_A_PAGE: u32 = 5000;

pub fn run(args: &Graph) -> Status {
    match draw(args) {
        Ok(status) => status,
        Err(Undrawn::Failed(message)) => fail(&message),
        Err(Undrawn::Stopped(reason)) => stopped(&reason),
    }
}

/// Why nothing was drawn.
enum Undrawn {
    /// It cannot be.
    Failed(String),
    /// A limit was reached.
    Stopped(String),
}

impl From<String> for Undrawn {
    fn from(message: String) -> Self {
        Self::Failed(message)
    }
}

impl From<Stop> for Undrawn {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop.to_string())
    }
}

impl From<NoGraph> for Undrawn {
    fn from(none: NoGraph) -> Self {
        match none {
            NoGraph::None => Self::Failed(format!("{none}; name another one with `--engine`")),
            NoGraph::TooLarge(_) => Self::Failed(format!("{none}; `--most` allows more")),
            NoGraph::Stopped(reason) => Self::Stopped(reason),
        }
    }
}

fn draw(args: &Graph) -> Result<Status, Undrawn> {
    let model = args.language.model_of(&args.file, args.model.model);
    let format = format(args)?;
    let mut html = Html::new("graph", &args.page.html);
    let most = args.most.unwrap_or(if html.is_wanted() { MAX_IN_A_PAGE } else { MAX_DRAWN });
    let (bound, form) = (args.bound.map(usize::from), args.form.of(model)?);
    let options = SearchOptions { bound, form, ..limits::search() };
    let engine: &dyn Engine = match form {
        Some(_) if args.engine.name() == ENGINES[0].name() => &Explicit,
        _ => args.automata.apply(args.engine),
    };
    engine.accepts(model, &options).map_err(|e| advise(&e.into()))?;
    let loaded = match args.language.load(&args.file, &[model]) {
        Ok(loaded) => loaded,
        Err(error) => return Ok(complain(&error)),
    };
    let found = engine.graph(Task::new(&loaded.system, model, &options), most as usize)?;
    let text = match format {
        GraphFormat::Dot => graph::dot(&loaded, &found, &options.budget)?,
        GraphFormat::Svg => svg(&graph::dot(&loaded, &found, &options.budget)?)?,
        GraphFormat::Json => {
            let report = graph::Report::new(&loaded, model, &found, &options.budget)?;
            json(&report).map_err(|e| e.to_string())? + "\n"
        }
    };
    if found.is_cut {
        note("steps that need longer buffers were left out; `--bound` allows them");
    }
    let mut status = Status::Fine;
    if html.is_wanted() {
        let report = graph::Report::new(&loaded, model, &found, &options.budget)?;
        status = html.add(&args.file, || report).and(html.write());
    }
    Ok(match &args.output {
        Some(path) => status.and(write_whole(path, &text)),
        // With a page, nothing is printed.
        None if args.page.html.is_some() && args.format.is_none() => status,
        None => {
            print(&text);
            status
        }
    })
}

/// What was asked for, or what the name of the file says.
fn format(args: &Graph) -> Result<GraphFormat, String> {
    if let Some(format) = args.format {
        return Ok(format);
    }
    let Some(path) = &args.output else { return Ok(GraphFormat::Dot) };
    match path.extension().and_then(|e| e.to_str()) {
        Some("dot" | "gv") => Ok(GraphFormat::Dot),
        Some("svg") => Ok(GraphFormat::Svg),
        Some("json") => Ok(GraphFormat::Json),
        _ => Err(format!(
            "what is to be written to `{}`? Its name ends in none of .dot, .svg and .json, and \
             there is no `--format`",
            path.display()
        )),
    }
}

/// A picture of a graph, as Graphviz makes it.
fn svg(dot: &str) -> Result<String, String> {
    let missing = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::NotFound => "an SVG needs `dot` of Graphviz, which is not installed; \
             write DOT instead, with `--format dot`"
            .to_owned(),
        _ => format!("cannot run `dot`: {e}"),
    };
    let mut child = Command::new("dot")
        .arg("-Tsvg")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(missing)?;
    // It may print before it has read everything.
    let feeding = child.stdin.take().map(|mut input| {
        let text = dot.to_owned();
        std::thread::spawn(move || input.write_all(text.as_bytes()))
    });
    let output = child.wait_with_output().map_err(|e| format!("cannot run `dot`: {e}"))?;
    if let Some(feeding) = feeding {
        let _ = feeding.join();
    }
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(format!("`dot` failed: {}", why.trim()));
    }
    String::from_utf8(output.stdout).map_err(|_| "`dot` printed no text".to_owned())
}
