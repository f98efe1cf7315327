//! Minimal sets of fences that repair a program, and fences that are not needed.
//!
//! ```
//! use weir::fences::{Request, repairs};
//! use weir::MemoryModel;
//!
//! let text = "
//!     var x, y
//!     process p {
//!         reg r
//!         x = 1
//!         r = y
//!     }
//!     process q {
//!         reg r
//!         y = 1
//!         r = x
//!     }
//!     both: final never p.r == 0 and q.r == 0
//! ";
//! let request = Request::new(MemoryModel::TSO);
//! let found = repairs("sb.weir", text, &request, &|_| {})?;
//! let lines = |set: &weir::fences::Repair| -> Vec<usize> {
//!     set.fences.iter().map(|fence| found.places[fence.place].line).collect()
//! };
//! assert_eq!(lines(&found.sets[0]), [6, 11]);
//! assert!(found.text(&found.sets[0].fences).contains("x = 1\n        fence\n"));
//! # Ok::<(), weir::Error>(())
//! ```
//!
//! [`repairs`] finds sets of fences to insert, [`redundant`] finds which of the fences of a
//! program are enough. The search is described in `search`.

mod hitting;
mod search;
mod variant;

use std::cell::Cell;
use std::ops::Range;

use weir_engine::SearchOptions;
use weir_front::gaps::{Gap, Inserted, insert};
use weir_front::{Language, Source, detect};
use weir_model::answer::Answer;
use weir_model::limits::Stop;
use weir_model::memory_model::MemoryModel;
use weir_model::program::{FenceKind, Program, Stmt, StmtKind};
use weir_model::system::System;

use crate::error::Error;
use crate::load::{self, LoadError, Loaded, Reading};
use crate::robust::shown_cycle;
use crate::solver::chosen;
use hitting::Set;
use search::{Ask, Decided, Search, Tried, decide};
use variant::{Variants, for_each_fence};

pub use search::{Broken, Tally};
pub use variant::Fence;

/// When a program is repaired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goal {
    /// No reachable state settles a question.
    #[default]
    Properties,
    /// Every run under TSO has the trace of a run under SC.
    Robust,
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// What fences are for.
    pub goal: Goal,
    /// The names of the properties that are asked; all if there are none.
    pub properties: Vec<String>,
    /// How to read the program, and for which model.
    pub reading: Reading,
    /// The kinds of fences that may be inserted; `None` for those that the model knows and the
    /// language has.
    pub kinds: Option<Vec<FenceKind>>,
    /// What fences cost.
    pub costs: Costs,
    /// How many sets to look for, the cheapest ones; `None` for all.
    pub most: Option<usize>,
    /// How far to search for each answer.
    pub options: SearchOptions,
}

impl Request {
    /// All sets, of all kinds of fences.
    pub fn new(model: MemoryModel) -> Self {
        Self {
            goal: Goal::Properties,
            properties: vec![],
            reading: Reading { model, ..Reading::default() },
            kinds: None,
            costs: Costs::default(),
            most: None,
            options: SearchOptions::default(),
        }
    }

    fn ask(&self) -> Ask<'_> {
        let Self { goal, properties, reading, .. } = self;
        Ask { goal: *goal, model: reading.model, properties, settled: None }
    }

    /// The kinds of fences that may be inserted into a text of a language.
    ///
    /// # Errors
    /// If the language does not have one that is asked for.
    pub fn kinds_in(&self, language: &Language) -> Result<Vec<FenceKind>, Error> {
        let is_known = |kind: &FenceKind| (language.fence)(*kind).is_some();
        match &self.kinds {
            None => Ok(kinds_of(self.reading.model).into_iter().filter(is_known).collect()),
            Some(kinds) => match kinds.iter().find(|kind| !is_known(kind)) {
                Some(kind) => Err(Error::NoFence(language.name, *kind)),
                None => Ok(kinds.clone()),
            },
        }
    }
}

/// The kinds of fences that can make a difference under a model.
pub fn kinds_of(model: MemoryModel) -> Vec<FenceKind> {
    match model.normal() {
        m if m == MemoryModel::SC || m == MemoryModel::TSO => vec![FenceKind::Full],
        m if m == MemoryModel::PSO => vec![FenceKind::Full, FenceKind::Write],
        _ => vec![FenceKind::Full, FenceKind::Write, FenceKind::Read],
    }
}

/// What a fence of each kind costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// A full fence.
    pub full: u32,
    /// A write fence.
    pub write: u32,
    /// A read fence.
    pub read: u32,
}

impl Default for Costs {
    fn default() -> Self {
        Self { full: 4, write: 1, read: 1 }
    }
}

impl Costs {
    /// What a fence costs: more than nothing, so that no fence is superfluous.
    fn of(self, kind: FenceKind) -> u64 {
        u64::from(match kind {
            FenceKind::Full => self.full,
            FenceKind::Write => self.write,
            FenceKind::Read => self.read,
        })
        .max(1)
    }
}

/// A place at which a fence can stand, or stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// What the fence stands before or behind, or the fence itself if it is in the program, as
    /// a part of one line of the text.
    pub range: Range<usize>,
    /// The line of it, from 1.
    pub line: usize,
    /// Whether a fence stands behind it.
    pub is_behind: bool,
    /// Whether the line alone does not say which place it is: it has other code before this
    /// place, or other places.
    pub is_inline: bool,
}

/// A set of fences that repairs a program; without any of them it would not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// What they cost together.
    pub cost: u64,
    /// The fences, in the order of their places.
    pub fences: Vec<Fence>,
    /// Whether the text with these fences is the program that was proved to be repaired.
    /// Otherwise [`Repairs::check`] has to prove it.
    pub is_confirmed: bool,
}

/// What was found about the fences of a program.
#[derive(Debug)]
pub struct Repairs {
    /// The model.
    pub model: MemoryModel,
    /// The text of the program.
    pub source: Source,
    /// The places at which fences can stand, in the order of the text.
    pub places: Vec<Place>,
    /// The minimal sets that were found, cheapest first. The empty set is the only one if the
    /// program needs no fence.
    pub sets: Vec<Repair>,
    /// Sets of fences of which every repair has one: where fences are needed.
    pub regions: Vec<Vec<Fence>>,
    /// Sets of which it is not known whether they repair the program, and why.
    pub open: Vec<(Vec<Fence>, String)>,
    /// Whether there are no other minimal sets.
    pub is_complete: bool,
    /// Why the search ended early, if it did.
    pub stopped: Option<Stop>,
    /// Why no fences at all repair it, if that is so.
    pub beyond: Option<Box<Beyond>>,
    /// Accesses before which no fence was tried, by their lines and, if they are in another file, its name. They are
    /// there if fences at all places together do not repair the program and it holds under SC: whether any fences repair
    /// it is not known then.
    pub skipped: Option<Vec<(Option<String>, usize)>>,
    /// What was done.
    pub tally: Tally,
    language: &'static Language,
    /// The kind of the fence at each place, if this is about the fences of the program.
    standing: Vec<FenceKind>,
    /// The gaps, unless this is about the fences of the program.
    gaps: Vec<Gap>,
    /// Systems that are freed last: after a limit was reached, there is no time to do it before
    /// something is said.
    kept: Vec<System>,
}

/// Why no fences repair a program.
#[derive(Debug)]
pub struct Beyond {
    /// The program itself, under SC, or the program with a fence wherever one can stand.
    pub loaded: Loaded,
    /// The model.
    pub model: MemoryModel,
    /// Runs that no fences prevent.
    pub runs: Vec<Broken>,
}

/// What became of the text of a program with some fences.
#[derive(Debug)]
pub enum Checked {
    /// It is repaired; there is an answer for each question if properties are asked for.
    Repaired(Loaded, Vec<Answer>),
    /// It is not, as these runs show.
    Broken(Loaded, Vec<Broken>),
    /// That is not known.
    Open(String),
}

/// What is known while a search for fences runs.
#[derive(Clone, Debug)]
pub enum Event<'e> {
    /// How far the search has got.
    Tally(&'e Tally),
    /// The program violates a property, or has a final state that is looked for: the answer has a
    /// run that its checker accepts.
    Broken(&'e Loaded, &'e Answer),
    /// These fences repair the program, each with the line that it stands at. Its text with them
    /// is the program that was proved to be repaired.
    Repair(Vec<(FenceKind, usize)>),
}

/// Receives events.
pub type Listener<'l> = &'l (dyn Fn(Event<'_>) + Sync);

/// Finds the minimal sets of fences that, inserted into a program, make sure that no state
/// settles a question: nothing that is claimed is violated, and no final state that is looked
/// for is allowed.
///
/// # Errors
/// If the program cannot be read, has no question, or its language has no such fences.
pub fn repairs(
    name: &str,
    text: &str,
    request: &Request,
    progress: Listener<'_>,
) -> Result<Repairs, Error> {
    let loaded = asked(name, text, request)?;
    let language = request.reading.language.unwrap_or_else(|| detect(name, text));
    let kinds = request.kinds_in(language)?;
    let mut gaps = (language.gaps)(text);
    gaps.sort_by_key(|gap| gap.at);
    let some_kind = kinds.first().copied().unwrap_or(FenceKind::Full);
    let all: Vec<_> = (0..gaps.len()).map(|gap| (gap, some_kind)).collect();
    let inserted = insert(text, &gaps, &all, |kind| word(language, kind));
    let (fenced, fenced_source) = load::program(name, &inserted.text, &reading(request, language))
        .map_err(Error::Inserted)?;
    let mut starts: Vec<(usize, usize)> =
        inserted.fences.iter().enumerate().map(|(place, fence)| (fence.start, place)).collect();
    starts.sort_unstable();
    let place = |range: Range<usize>, _| {
        let next = starts.get(starts.partition_point(|(start, _)| *start < range.start));
        next.filter(|(start, _)| range.contains(start)).map(|(_, place)| *place)
    };
    let fences = (0..gaps.len())
        .flat_map(|place| kinds.iter().map(move |&kind| Fence { place, kind }))
        .collect();
    let variants = Variants::new(fenced, &fenced_source, place, fences);
    let places = places(text, gaps.iter().map(|gap| (gap.at, gap.is_behind)));
    let mut found =
        Repairs::new((loaded.source.clone(), places, gaps), language, request.reading.model);
    // Most programs that need no fence are recognized by one search.
    let itself = decide_itself(&loaded, request, progress)?;
    found.tally.checks = 1;
    if let Decided::Repaired(_) = itself {
        found.sets = vec![Repair { cost: 0, fences: vec![], is_confirmed: true }];
        (found.is_complete, found.tally.sets) = (true, 1);
        return Ok(found);
    }
    let skipped = found.between(&loaded.system.program);
    found.kept.push(loaded.system);
    let all = Set::full(variants.fences.len());
    found.tally.checks += 1;
    let search = Search::new(&variants, request);
    let tried = search.try_set(&all, &request.options)?;
    found.kept.extend(search.into_kept());
    match tried {
        Tried::Repairs => found.search(&variants, request, progress)?,
        Tried::Open(reason) => found.open.push((self::fences(&variants, &all), reason)),
        Tried::Fails(_) => {
            let all = self::fences(&variants, &all);
            match found.check(&all, request, &request.options)? {
                Checked::Broken(mut loaded, runs) => {
                    loaded.source = found.as_written(&all, &loaded.source);
                    found.unrepaired((loaded, runs), request)?;
                }
                Checked::Repaired(loaded, _) => found.unrepaired((loaded, vec![]), request)?,
                Checked::Open(reason) => found.open.push((all, reason)),
            }
            // Without an order between any two accesses missing, it is as under SC.
            if found.beyond.as_ref().is_some_and(|beyond| beyond.model != MemoryModel::SC) {
                found.skipped = Some(skipped);
            }
        }
    }
    Ok(found)
}

/// Finds the minimal sets of the fences of a program that are enough, if the others are removed.
///
/// # Errors
/// As for [`repairs`].
pub fn redundant(
    name: &str,
    text: &str,
    request: &Request,
    progress: Listener<'_>,
) -> Result<Repairs, Error> {
    let loaded = asked(name, text, request)?;
    // Memory orders are fences too.
    let (program, source) = (&*loaded.system.program.fenced(), &loaded.source);
    let language = request.reading.language.unwrap_or_else(|| detect(name, text));
    // Copies of a process have the same fences.
    let mut standing: Vec<(usize, FenceKind)> = Vec::new();
    for_each_fence(program, &mut |stmt| {
        if let weir_model::program::StmtKind::Fence(kind) = stmt.kind {
            // Those of an included file stay.
            let at = source.range(stmt.span).start;
            standing.extend((source.file(at).1.start == 0).then_some((at, kind)));
        }
    });
    standing.sort_unstable();
    standing.dedup();
    let place = |range: Range<usize>, kind| standing.binary_search(&(range.start, kind)).ok();
    let fences = standing.iter().enumerate();
    let fences = fences.map(|(place, &(_, kind))| Fence { place, kind }).collect();
    let variants = Variants::new(program.clone(), source, place, fences);
    let places = places(text, standing.iter().map(|(at, _)| (*at, false)));
    let mut found = Repairs::new((source.clone(), places, vec![]), language, request.reading.model);
    found.standing = standing.iter().map(|(_, kind)| *kind).collect();
    found.tally.checks = 1;
    match decide_itself(&loaded, request, progress)? {
        Decided::Repaired(_) => found.search(&variants, request, progress)?,
        Decided::Open(reason) => {
            found.open.push((self::fences(&variants, &Set::full(standing.len())), reason));
        }
        Decided::Broken(mut runs) => {
            shown_cycles(&loaded, &mut runs, request.goal)?;
            found.unrepaired((loaded, runs), request)?;
            return Ok(found);
        }
    }
    found.kept.push(loaded.system);
    Ok(found)
}

/// Finds out whether the program is as it should be, and tells of runs that show that it is not.
fn decide_itself(
    loaded: &Loaded,
    request: &Request,
    progress: Listener<'_>,
) -> Result<Decided, Error> {
    let settled = |answer: &Answer| {
        if answer.has_run() {
            progress(Event::Broken(loaded, answer));
        }
    };
    let ask = Ask { settled: Some(&settled), ..request.ask() };
    decide(&loaded.system, ask, &request.options)
}

/// The program, if something is asked of it.
fn asked(name: &str, text: &str, request: &Request) -> Result<Loaded, Error> {
    let loaded = Loaded::read(name, text, &request.reading)?;
    if loaded.system.program.object.is_some() {
        return Err(Error::AsksLive(name.to_owned()));
    }
    if request.goal == Goal::Robust {
        return match request.reading.model.normal() == MemoryModel::TSO {
            true => Ok(loaded),
            false => Err(Error::Model("fences for robustness are", "TSO", request.reading.model)),
        };
    }
    if let Some(error) = Error::no_property(name, &loaded.system) {
        return Err(error);
    }
    let chosen = chosen(&loaded.system, &request.properties).map_err(Error::NoSuch)?;
    let mut asked = chosen.iter().map(|&i| &loaded.system.questions[i]);
    match asked.find(|q| q.asks_for_absence()) {
        Some(question) => Err(Error::Absence(question.name.clone())),
        None => Ok(loaded),
    }
}

fn word(language: &Language, kind: FenceKind) -> &'static str {
    (language.fence)(kind).unwrap_or("fence")
}

/// The places with these offsets, in the order of the text; of each is given whether a fence
/// stands behind it.
fn places(text: &str, at: impl Iterator<Item = (usize, bool)>) -> Vec<Place> {
    // What follows a gap at the end of a line stands on the next one.
    let next = |at: usize| text[at..].find(|c: char| !c.is_whitespace()).map_or(at, |s| at + s);
    let all: Vec<(usize, bool)> = at.map(|(at, is_behind)| (next(at), is_behind)).collect();
    let lines: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let place = |&(at, is_behind): &(usize, bool)| {
        let line = lines.partition_point(|&end| end < at);
        let begin = line.checked_sub(1).map_or(0, |before| lines[before] + 1);
        let end = lines.get(line).copied().unwrap_or(text.len());
        let later = all.get(all.partition_point(|(other, _)| *other <= at));
        let earlier = all[..all.partition_point(|(other, _)| *other < at)].last();
        let in_line = |other: Option<&(usize, bool)>| {
            other.map(|(other, _)| *other).filter(|other| (begin..end).contains(other))
        };
        Place {
            range: at..in_line(later).unwrap_or(end),
            line: line + 1,
            is_behind,
            is_inline: !text[begin..at].trim().is_empty()
                || in_line(later).or(in_line(earlier)).is_some(),
        }
    };
    all.iter().map(place).collect()
}

/// The language is known from the text without fences.
fn reading(request: &Request, language: &'static Language) -> Reading {
    Reading { language: Some(language), ..request.reading.clone() }
}

impl Repairs {
    /// Nothing is known yet.
    fn new(
        (source, places, gaps): (Source, Vec<Place>, Vec<Gap>),
        language: &'static Language,
        model: MemoryModel,
    ) -> Self {
        Self {
            model,
            source,
            places,
            sets: vec![],
            regions: vec![],
            open: vec![],
            is_complete: false,
            stopped: None,
            beyond: None,
            skipped: None,
            tally: Tally::default(),
            language,
            standing: vec![],
            gaps,
            kept: vec![],
        }
    }

    /// The lines of accesses that come after another one in the text without a gap between them.
    fn between(&self, program: &Program) -> Vec<(Option<String>, usize)> {
        let mut lines = Vec::new();
        for process in &program.processes {
            let mut last = None;
            for_each_access(&process.body, &mut |stmt| {
                let at = self.source.range(stmt.span).start;
                let has_gap = |from: usize| {
                    let (from, to) = (from.min(at), from.max(at));
                    self.gaps.iter().any(|gap| (from + 1..=to).contains(&gap.at))
                };
                if last.is_some_and(|last| !has_gap(last)) {
                    let (name, text) = self.source.file(at);
                    let file = (text.start > 0).then(|| name.to_owned());
                    lines.push((file, self.source.line(stmt.span)));
                }
                last = Some(at);
            });
        }
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    /// Searches for minimal sets. All fences together repair the program.
    fn search(
        &mut self,
        variants: &Variants,
        request: &Request,
        progress: Listener<'_>,
    ) -> Result<(), Error> {
        let mut search = Search::new(variants, request);
        search.tally = self.tally;
        if self.gaps.is_empty() && request.goal == Goal::Properties {
            search.try_without_each()?;
        }
        let repair = |set: &Set| {
            let fences = fences(variants, set);
            Repair {
                cost: fences.iter().map(|f| request.costs.of(f.kind)).sum(),
                is_confirmed: self.is_text_of(&variants.program(set, false), &fences, request),
                fences,
            }
        };
        let told = Cell::new(0);
        let found = search.run(request.most, &|tally, sets| {
            for repair in sets[told.replace(sets.len())..].iter().map(repair) {
                let line = |fence: &Fence| (fence.kind, self.places[fence.place].line);
                if repair.is_confirmed {
                    progress(Event::Repair(repair.fences.iter().map(line).collect()));
                }
            }
            progress(Event::Tally(tally));
        })?;
        let sets = found.sets.iter().map(repair).collect();
        self.sets = sets;
        self.regions = found.clauses.iter().map(|clause| fences(variants, clause)).collect();
        let open = found.open.into_iter();
        self.open.extend(open.map(|(set, reason)| (fences(variants, &set), reason)));
        (self.is_complete, self.stopped, self.tally) =
            (found.is_complete, found.stopped, found.tally);
        self.kept.extend(found.kept);
        Ok(())
    }

    /// Whether the text with some fences is a program.
    fn is_text_of(&self, program: &Program, fences: &[Fence], request: &Request) -> bool {
        // Fences that a program has are not inserted.
        if self.gaps.is_empty() {
            return false;
        }
        let reading = reading(request, self.language);
        let read = load::program(&self.source.name, &self.text(fences), &reading);
        read.is_ok_and(|(read, _)| read.fingerprint() == program.fingerprint())
    }

    /// Keeps runs that no fences prevent: those of SC if there are any, else those of the program
    /// with all fences.
    fn unrepaired(
        &mut self,
        (loaded, runs): (Loaded, Vec<Broken>),
        request: &Request,
    ) -> Result<(), Error> {
        let mut beyond = Beyond { loaded, model: self.model, runs };
        if request.goal == Goal::Properties {
            let model = MemoryModel::SC;
            let reading = Reading { model, ..reading(request, self.language) };
            let read = Loaded::read(&self.source.name, &self.source.text, &reading);
            // If a limit is reached, the other runs are shown.
            if let Ok(loaded) = read
                && let Decided::Broken(runs) =
                    decide(&loaded.system, Ask { model, ..request.ask() }, &request.options)?
            {
                self.kept.push(
                    std::mem::replace(&mut beyond, Beyond { loaded, model, runs }).loaded.system,
                );
            }
        }
        self.beyond = Some(Box::new(beyond));
        Ok(())
    }

    /// The text of the program with fences inserted.
    ///
    /// # Panics
    /// If this is about the fences that a program has ([`redundant`]).
    pub fn text(&self, fences: &[Fence]) -> String {
        assert!(fences.is_empty() || !self.gaps.is_empty(), "nothing can be inserted here");
        self.inserted(fences).text
    }

    /// The program of the text with fences inserted, with its places mapped to the text without
    /// them, which is the one that the user knows.
    pub fn as_written(&self, fences: &[Fence], source: &Source) -> Source {
        let inserted = self.inserted(fences);
        self.source.with_places_of(source, |at| inserted.before(at))
    }

    fn inserted(&self, fences: &[Fence]) -> Inserted {
        let fences: Vec<_> = match self.gaps.is_empty() {
            true => Vec::new(),
            false => fences.iter().map(|f| (f.place, f.kind)).collect(),
        };
        insert(&self.source.text, &self.gaps, &fences, |kind| word(self.language, kind))
    }

    /// The changes of the text that insert fences, in the order of the text: what is replaced, and
    /// by what.
    pub fn edits(&self, fences: &[Fence]) -> Vec<(Range<usize>, String)> {
        let mut edits = Vec::new();
        for fence in fences {
            for edit in self.gaps.get(fence.place).map_or(&[][..], |gap| &gap.edits) {
                let word = if edit.has_fence { word(self.language, fence.kind) } else { "" };
                let by = format!("{}{word}{}", edit.before, edit.after);
                edits.push((edit.range.clone(), by));
            }
        }
        edits.sort_by_key(|(range, _)| (range.start, range.end));
        edits
    }

    /// What the fence at a place of the program is, if it may be the order of an access.
    pub fn order(&self, place: usize) -> Option<&'static str> {
        let kind = self.standing.get(place).filter(|_| self.language.has_orders())?;
        Some(match kind {
            FenceKind::Read => "acquire",
            FenceKind::Write => "release",
            FenceKind::Full => "seq_cst",
        })
    }

    /// How a fence is written.
    pub fn word(&self, kind: FenceKind) -> &'static str {
        word(self.language, kind)
    }

    /// Reads the text of the program with fences inserted, and checks it.
    ///
    /// # Errors
    /// If it cannot be read, or a run is rejected by its checker.
    pub fn check(
        &self,
        fences: &[Fence],
        request: &Request,
        options: &SearchOptions,
    ) -> Result<Checked, Error> {
        let reading = reading(request, self.language);
        let loaded = match Loaded::read(&self.source.name, &self.text(fences), &reading) {
            Ok(loaded) => loaded,
            Err(LoadError::Stopped { reason, .. }) => return Ok(Checked::Open(reason)),
            Err(error) => return Err(Error::Inserted(error)),
        };
        let mut runs = match decide(&loaded.system, request.ask(), options)? {
            Decided::Repaired(answers) => return Ok(Checked::Repaired(loaded, answers)),
            Decided::Open(reason) => return Ok(Checked::Open(reason)),
            Decided::Broken(runs) => runs,
        };
        shown_cycles(&loaded, &mut runs, request.goal)?;
        Ok(Checked::Broken(loaded, runs))
    }
}

/// Calls a function with every access of a block, in the order of the code.
fn for_each_access(block: &[Stmt], visit: &mut dyn FnMut(&Stmt)) {
    for stmt in block {
        match &stmt.kind {
            StmtKind::Load(..) | StmtKind::Store(..) | StmtKind::Rmw(..) => visit(stmt),
            kind => kind.blocks().into_iter().for_each(|block| for_each_access(block, visit)),
        }
    }
}

/// Finds the cycles of runs, if robustness is asked for.
fn shown_cycles(loaded: &Loaded, runs: &mut [Broken], goal: Goal) -> Result<(), Error> {
    for broken in runs.iter_mut().filter(|_| goal == Goal::Robust) {
        broken.cycle = shown_cycle(loaded, &broken.run)?.cycle;
    }
    Ok(())
}

fn fences(variants: &Variants, set: &Set) -> Vec<Fence> {
    set.iter().map(|e| variants.fences[e]).collect()
}
