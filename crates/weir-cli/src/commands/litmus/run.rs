//! `weir litmus run`

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use weir_front::columns::{pad, pad_left};

use weir::load::read_text;
use weir::question::{show_value, value_json};
use weir::report::hardware::{ObservedReport, ObservedState};
use weir::report::table::Table;
use weir::{LoadError, Loaded, MemoryModel, Reading, Verdict};
use weir_front::litmus::generate::Filling;
use weir_front::litmus::native::{self, Native};
use weir_model::program::{Atom, Formula, Program, PropertyKind};

use super::native::{Histogram, NotRun, Workshop, can_run, file_name, processors};
use super::{Status, complain, fail, print, reject, write_whole};
use crate::cli::litmus::LitmusRun;
use crate::cli::options::Format;
use crate::limits;
use crate::output::{fail_about, paint, print_json};
use crate::progress::{Progress, counted, grouped};
use crate::terminal::{QUIET, STRONG, style};

pub fn run(args: &LitmusRun) -> Status {
    if let Err(message) = can_run() {
        return fail(&message);
    }
    let mut models = args.models.or(&[MemoryModel::SC, MemoryModel::TSO, MemoryModel::PSO]);
    if !models.contains(&MemoryModel::TSO) {
        models.insert(0, MemoryModel::TSO);
    }
    let workshop = match Workshop::new() {
        Ok(workshop) => workshop,
        Err(message) => return fail(&message),
    };
    if let Some(folder) = &args.keep
        && let Err(error) = std::fs::create_dir_all(folder)
    {
        return fail(&format!("cannot make `{}`: {error}", folder.display()));
    }
    let mut runner = Runner { args, models, workshop, kept: BTreeSet::new() };
    match args.all {
        true => runner.family(),
        false => runner.files(),
    }
}

struct Runner<'a> {
    args: &'a LitmusRun,
    models: Vec<MemoryModel>,
    workshop: Workshop,
    /// The C programs that have been written.
    kept: BTreeSet<String>,
}

/// What was observed of a test, beside what models allow.
struct Run {
    loaded: Loaded,
    atoms: Vec<Atom>,
    /// Every final state that was observed or that some model allows.
    states: BTreeMap<Vec<i128>, State>,
    /// Whether the states of each model are all that it allows.
    exact: Vec<bool>,
    /// How many instances passed the filter of the test.
    counted: u64,
}

#[derive(Clone, Default)]
struct State {
    count: u64,
    /// Whether it satisfies the condition of the test.
    picked: bool,
    /// Whether each model allows it.
    allowed: Vec<bool>,
}

impl Runner<'_> {
    fn files(&mut self) -> Status {
        let mut status = Status::Fine;
        for (i, file) in self.args.files.iter().enumerate() {
            let run = read_text(file).map_err(|e| complain(&e)).and_then(|t| self.test(file, &t));
            let run = match run {
                Ok(run) => run,
                Err(wrong) => {
                    status = status.and(wrong);
                    continue;
                }
            };
            status = status.and(self.verdict(&run));
            match self.args.format {
                Format::Human => {
                    let gap = if i > 0 { "\n" } else { "" };
                    print(&(gap.to_owned() + &self.human(&run)));
                }
                Format::Json => print_json(&self.json(&run)),
            }
        }
        status
    }

    /// The generated tests, one line each, and what they show together.
    fn family(&mut self) -> Status {
        let fillings = [&Filling::CRITICAL[..], &[Filling::Between]].concat();
        let cycles = self.args.family.cycles(&fillings);
        let width = cycles.iter().map(|c| c.name().chars().count()).max().unwrap_or(0);
        let heading = format!("{}  {:>9}  {:>8}  TSO  SC", pad("name", width), "cycle", "states");
        if self.args.format == Format::Human {
            print(&format!("{}\n", paint(STRONG, &heading)));
        }
        let mut status = Status::Fine;
        let mut total = Total::default();
        let mut progress = Progress::default();
        for (i, cycle) in cycles.iter().enumerate() {
            let name = format!("{}.litmus", cycle.name());
            let text = cycle.text();
            if native::program(&name, &text).is_ok_and(|native| native.threads > processors()) {
                total.left_out += 1;
                continue;
            }
            progress.say(&format!("{} of {}: {}", i + 1, cycles.len(), cycle.name()));
            let run = match self.test(&name, &text) {
                Ok(run) => run,
                Err(wrong) => {
                    status = status.and(wrong);
                    // Limits are those of all tests together.
                    if limits::budget().check().is_err() {
                        break;
                    }
                    continue;
                }
            };
            status = status.and(self.verdict(&run));
            let row = self.row(&run);
            total.add(&row);
            match self.args.format {
                Format::Json => print_json(&self.json(&run)),
                Format::Human => {
                    let word = |allowed: bool| if allowed { "yes" } else { "no" };
                    let states = format!("{}/{}", row.observed, row.allowed);
                    let line = format!(
                        "{}  {:>9}  {states:>8}  {:3}  {}",
                        pad(&cycle.name(), width),
                        row.count,
                        word(row.tso),
                        word(row.sc)
                    );
                    progress.clear();
                    print(&match row.outside {
                        0 => format!("{}\n", line.trim_end()),
                        _ => {
                            format!("{line}  {}\n", paint(style(Verdict::Violated), "outside TSO"))
                        }
                    });
                }
            }
        }
        drop(progress);
        if self.args.format == Format::Human {
            let text = total.text(self.args.instances);
            let lines = text.lines().map(|line| format!("{}\n", paint(QUIET, line)));
            print(&format!("\n{}", lines.collect::<String>()));
        }
        status
    }

    /// Runs a test and asks the models.
    fn test(&mut self, file: &str, text: &str) -> Result<Run, Status> {
        let native = native::program(file, text).map_err(|errors| {
            let (name, text) = (file.to_owned(), text.to_owned());
            complain(&LoadError::Wrong { name, text, errors })
        })?;
        if native.threads > processors() {
            return Err(fail_about(
                file,
                &format!(
                    "`{file}` has {}, and this machine has {} to run them on",
                    counted(native.threads, "thread"),
                    counted(processors(), "processor")
                ),
            ));
        }
        self.keep(file, &native)?;
        let budget = limits::budget();
        let LitmusRun { instances, seed, .. } = *self.args;
        let found = self.workshop.run(&native, instances, seed, &budget);
        let histogram = found.map_err(|error| match error {
            NotRun::Failed(message) => fail_about(file, &format!("`{file}`: {message}")),
            NotRun::Stopped(stop) => {
                let (name, reason) = (file.to_owned(), stop.to_string());
                complain(&LoadError::Stopped { name, reason, unbuilt: None })
            }
        })?;
        self.compare(file, text, &native, &histogram)
    }

    /// Writes the C program of a test, if that is asked for.
    fn keep(&mut self, file: &str, native: &Native) -> Result<(), Status> {
        let Some(folder) = &self.args.keep else { return Ok(()) };
        let name = file_name(file);
        let path = Path::new(folder).join(&name);
        if !self.kept.insert(name) {
            let path = path.display();
            return Err(fail_about(file, &format!("`{path}` would be written twice")));
        }
        match write_whole(&path, &native.text) {
            Status::Fine => Ok(()),
            wrong => Err(wrong),
        }
    }

    /// Puts what was observed beside the final states of each model.
    fn compare(
        &self,
        file: &str,
        text: &str,
        native: &Native,
        histogram: &Histogram,
    ) -> Result<Run, Status> {
        let guessing = self.models.iter().copied().find(|model| model.guesses_reads());
        let model = guessing.unwrap_or(MemoryModel::SC);
        let reading = Reading { observing: true, model, ..limits::reading() };
        let loaded = Loaded::read(file, text, &reading).map_err(|error| complain(&error))?;
        let new = State { allowed: vec![false; self.models.len()], ..State::default() };
        let mut states: BTreeMap<Vec<i128>, State> = BTreeMap::new();
        let mut exact = Vec::new();
        let mut atoms = Vec::new();
        for (m, &model) in self.models.iter().enumerate() {
            let options = limits::search();
            let found = weir::solver::outcomes(&loaded.system, model, &options, &mut |_| {});
            let found = found.map_err(|error| reject(file, &error))?;
            for (values, picked) in found.states.iter() {
                let state = states.entry(values.clone()).or_insert_with(|| new.clone());
                state.allowed[m] = true;
                state.picked = *picked;
            }
            exact.push(found.stats.is_exact());
            atoms = found.atoms;
        }
        let program = &loaded.system.program;
        let mut counted = 0;
        for (values, count) in histogram {
            let known: BTreeMap<Atom, i128> =
                native.atoms.iter().copied().zip(values.iter().copied()).collect();
            let holds = |formula: &Formula| {
                formula.eval(&mut |atom| known[atom]).is_ok_and(|value| value != 0)
            };
            if !program.filter.as_ref().is_none_or(holds) {
                continue;
            }
            let values: Vec<i128> = atoms.iter().map(|atom| known[atom]).collect();
            let state = states.entry(values).or_insert_with(|| new.clone());
            state.picked = condition(program).is_some_and(holds);
            state.count += count;
            counted += count;
        }
        Ok(Run { loaded, atoms, states, exact, counted })
    }

    fn column(&self, model: MemoryModel) -> Option<usize> {
        self.models.iter().position(|m| *m == model)
    }

    fn tso(&self) -> usize {
        self.column(MemoryModel::TSO).expect("TSO is always asked")
    }

    /// Whether TSO allows everything that was observed.
    fn verdict(&self, run: &Run) -> Status {
        let tso = self.tso();
        match (run.outside(tso), run.exact[tso]) {
            (0, _) => Status::Fine,
            (_, true) => Status::Violated,
            (_, false) => Status::Unknown,
        }
    }

    fn row(&self, run: &Run) -> Row {
        let tso = self.tso();
        let picked = || run.states.values().filter(|state| state.picked);
        let allows = |m: usize| picked().any(|state| state.allowed[m]);
        Row {
            count: picked().map(|state| state.count).sum(),
            observed: run.states.values().filter(|s| s.count > 0 && s.allowed[tso]).count(),
            allowed: run.states.values().filter(|s| s.allowed[tso]).count(),
            outside: run.outside(tso),
            tso: allows(tso),
            sc: self.column(MemoryModel::SC).is_some_and(allows),
        }
    }

    fn human(&self, run: &Run) -> String {
        let tso = self.tso();
        let name = paint(STRONG, &run.loaded.source.name);
        let mut out = format!("{name}, {} instances\n\n", grouped(run.counted as usize));
        let mut table = Table::default();
        let width = grouped(run.counted as usize).len().max("count".len());
        let names = run.atoms.iter().map(|atom| run.loaded.system.atom_name(*atom));
        let models = self.models.iter().map(ToString::to_string);
        let heading = [String::new(), pad_left("count", width)];
        table.row(heading.into_iter().chain(names).chain(models));
        for (values, state) in &run.states {
            let mark = if state.picked { "*" } else { "" };
            let count = pad_left(&grouped(state.count as usize), width);
            let cells = run.atoms.iter().zip(values);
            let shown = cells.map(|(atom, value)| show_value(&run.loaded, *atom, *value));
            let words = state.allowed.iter().zip(&run.exact).map(|word| match word {
                (true, _) => "yes",
                (false, true) => "no",
                (false, false) => "unknown",
            });
            let start = [mark.to_owned(), count];
            table.row(start.into_iter().chain(shown).chain(words.map(str::to_owned)));
        }
        let states = run.states.values();
        let alarms = [None].into_iter().chain(states.map(|s| Some(s.count > 0 && !s.allowed[tso])));
        for (line, alarm) in table.lines("  ").into_iter().zip(alarms) {
            let line = match alarm {
                None => line,
                Some(false) => line,
                Some(true) => format!("{line}  {}", paint(style(Verdict::Violated), "outside TSO")),
            };
            let _ = writeln!(out, "  {line}");
        }
        let _ = writeln!(out, "\n{}", paint(QUIET, &self.summary(run)));
        out
    }

    fn summary(&self, run: &Run) -> String {
        let row = self.row(run);
        let condition = match condition(&run.loaded.system.program) {
            Some(_) => format!("; the condition (*) was met {} times", grouped(row.count as usize)),
            None => String::new(),
        };
        let outside = match row.outside {
            0 => "none outside TSO".to_owned(),
            n => format!("{} outside TSO", grouped(n as usize)),
        };
        format!(
            "{} of {} of TSO observed, {outside}{condition}",
            row.observed,
            counted(row.allowed, "final state")
        )
    }

    fn json(&self, run: &Run) -> ObservedReport {
        let system = &run.loaded.system;
        let states = run.states.iter().map(|(values, state)| ObservedState {
            state: run
                .atoms
                .iter()
                .zip(values)
                .map(|(a, v)| (system.atom_name(*a), value_json(&run.loaded, *a, *v)))
                .collect(),
            count: state.count,
            condition: state.picked,
            allowed: self
                .models
                .iter()
                .map(ToString::to_string)
                .zip(state.allowed.clone())
                .collect(),
        });
        ObservedReport {
            schema: ObservedReport::SCHEMA,
            program: system.program.name.clone(),
            file: run.loaded.source.name.clone(),
            text: run.loaded.source.text.clone(),
            instances: self.args.instances,
            seed: self.args.seed,
            exact: run.exact.iter().all(|exact| *exact),
            outside_tso: run.outside(self.tso()),
            states: states.collect(),
        }
    }
}

impl Run {
    /// How often a final state was observed that a model does not allow.
    fn outside(&self, model: usize) -> u64 {
        self.states.values().filter(|s| !s.allowed[model]).map(|s| s.count).sum()
    }
}

/// The proposition of the condition of a test.
fn condition(program: &Program) -> Option<&Formula> {
    program.properties.iter().find_map(|property| match &property.kind {
        PropertyKind::Final(_, formula) => Some(formula),
        _ => None,
    })
}

/// What a line about a test says.
struct Row {
    /// How often the condition was met.
    count: u64,
    /// How many of the final states that TSO allows were observed.
    observed: usize,
    allowed: usize,
    /// How often a final state was observed that TSO does not allow.
    outside: u64,
    /// Whether TSO and SC allow the condition.
    tso: bool,
    sc: bool,
}

/// What all tests of a family show together.
#[derive(Default)]
struct Total {
    tests: usize,
    left_out: usize,
    outside: u64,
    /// Tests whose condition TSO allows and SC does not, and how many of these were met.
    weak: usize,
    weak_observed: usize,
    allowed: usize,
    observed: usize,
}

impl Total {
    fn add(&mut self, row: &Row) {
        self.tests += 1;
        self.outside += row.outside;
        self.allowed += row.allowed;
        self.observed += row.observed;
        if row.tso && !row.sc {
            self.weak += 1;
            self.weak_observed += usize::from(row.count > 0);
        }
    }

    fn text(&self, instances: u64) -> String {
        let mut text = format!(
            "{}, {} instances each: {} final states outside TSO\n\
             {} of the {} cycles that TSO allows and SC forbids were observed, and {} of the {} \
             final states of TSO",
            counted(self.tests, "test"),
            grouped(instances as usize),
            if self.outside == 0 { "no".to_owned() } else { grouped(self.outside as usize) },
            self.weak_observed,
            self.weak,
            grouped(self.observed),
            grouped(self.allowed),
        );
        if self.left_out > 0 {
            let left_out = counted(self.left_out, "test");
            let _ = write!(text, "\n{left_out} with more threads than processors left out");
        }
        text
    }
}
