//! What was found about the fences and orders of a program.

use std::cell::Cell;
use std::ops::Range;

use weir_engine::SearchOptions;
use weir_front::gaps::Inserted;
use weir_front::orders::Access;
use weir_front::{Language, Source};
use weir_model::answer::Answer;
use weir_model::limits::Stop;
use weir_model::memory_model::MemoryModel;
use weir_model::program::{FenceKind, Order, Program, Stmt, StmtKind};
use weir_model::system::System;

use super::change::{Change, Place, Site, To, changed, edits};
use super::hitting::Set;
use super::request::{Goal, Request};
use super::search::{Ask, Broken, Decided, Search, Space, Tally, decide};
use super::texts::Texts;
use super::variant::Variants;
use super::{Event, Listener, reading, shown_cycles};
use crate::error::Error;
use crate::load::{self, LoadError, Loaded, Reading};

/// A set of changes that repairs a program; without any of them it would not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// What they cost together. If weaker orders were looked for, what the orders cost that stay.
    pub cost: u64,
    /// The changes, in the order of their places; or the fences of the program that are enough.
    pub changes: Vec<Change>,
    /// If weaker orders were looked for: the places whose order is still not the weakest one, each with its
    /// order.
    pub kept: Vec<Change>,
    /// Whether the text with these changes is the program that was proved to be repaired.
    /// Otherwise [`Repairs::check`] has to prove it.
    pub is_confirmed: bool,
}

/// One step from a repair towards the program as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Less {
    /// What is left out, or weaker: a change of the repair, or an order that it keeps.
    pub change: Change,
    /// The order that is there instead; `None` if it is as in the program, or nothing.
    pub instead: Option<Order>,
    /// The changes that are left.
    pub changes: Vec<Change>,
}

/// What was found about the fences of a program.
#[derive(Debug)]
pub struct Repairs {
    /// The model.
    pub model: MemoryModel,
    /// The text of the program.
    pub source: Source,
    /// The places at which fences can stand and orders are, in the order of the text: first those of fences.
    pub places: Vec<Place>,
    /// The minimal sets that were found, cheapest first. The set without changes is the only one if the
    /// program needs none.
    pub sets: Vec<Repair>,
    /// Sets of changes of which every repair has one: where something is needed.
    pub regions: Vec<Vec<Change>>,
    /// Sets of which it is not known whether they repair the program, and why.
    pub open: Vec<(Vec<Change>, String)>,
    /// Whether there are no other minimal sets.
    pub is_complete: bool,
    /// Why the search ended early, if it did.
    pub stopped: Option<Stop>,
    /// Why no changes at all repair it, if that is so.
    pub beyond: Option<Box<Beyond>>,
    /// Accesses before which no fence was tried, or whose order was not, by their lines and, if they are in another file, its
    /// name. They are there if all changes together do not repair the program and it holds under SC: whether any
    /// repair it is not known then.
    pub skipped: Option<Vec<(Option<String>, usize)>>,
    /// If weaker orders were looked for: accesses whose order was not tried, in the same form.
    pub untried: Vec<(Option<String>, usize)>,
    /// Whether fences may be inserted or left out.
    pub changes_fences: bool,
    /// Whether orders may change.
    pub changes_orders: bool,
    /// Whether weaker orders were looked for.
    pub is_weakened: bool,
    /// What the orders of the program cost then.
    pub cost: u64,
    /// What was done.
    pub tally: Tally,
    pub(super) language: &'static Language,
    /// The kind of the fence at each place, if this is about the fences of the program.
    pub(super) standing: Vec<FenceKind>,
    /// What the places are.
    pub(super) sites: Vec<Site>,
    /// The systems that were searched when a limit was reached. To free them takes long, so they are kept until
    /// something is said.
    pub(super) kept: Vec<System>,
}

/// Why no changes repair a program.
#[derive(Debug)]
pub struct Beyond {
    /// The program itself, under SC, or the program with all changes.
    pub loaded: Loaded,
    /// The model.
    pub model: MemoryModel,
    /// Runs that no changes prevent.
    pub runs: Vec<Broken>,
}

/// What became of the text of a program with some changes.
#[derive(Debug)]
pub enum Checked {
    /// It is repaired; there is an answer for each question if properties are asked for.
    Repaired(Loaded, Vec<Answer>),
    /// It is not, as these runs show.
    Broken(Loaded, Vec<Broken>),
    /// That is not known.
    Open(String),
}

impl Repairs {
    /// Nothing is known yet.
    pub(super) fn new(
        (source, places, sites): (Source, Vec<Place>, Vec<Site>),
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
            untried: vec![],
            changes_fences: true,
            changes_orders: false,
            is_weakened: false,
            cost: 0,
            tally: Tally::default(),
            language,
            standing: vec![],
            sites,
            kept: vec![],
        }
    }

    /// The program needs no change.
    pub(super) fn without_changes(mut self) -> Self {
        self.sets = vec![Repair { cost: 0, changes: vec![], kept: vec![], is_confirmed: true }];
        (self.is_complete, self.tally.sets) = (true, 1);
        self
    }

    /// The lines of accesses that come after another one in the text without a gap between them.
    pub(super) fn between(&self, program: &Program) -> Vec<(Option<String>, usize)> {
        let mut lines = Vec::new();
        for process in &program.processes {
            let mut last = None;
            for_each_access(&process.body, &mut |stmt| {
                let at = self.source.range(stmt.span).start;
                let has_gap = |from: usize| {
                    let (from, to) = (from.min(at), from.max(at));
                    let is_inside = |site: &Site| match site {
                        Site::Gap(gap) => (from + 1..=to).contains(&gap.at),
                        _ => false,
                    };
                    self.sites.iter().any(is_inside)
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

    /// Searches for minimal sets of fences. All together repair the program.
    pub(super) fn search_fences(
        &mut self,
        variants: &Variants,
        request: &Request,
        progress: Listener<'_>,
    ) -> Result<(), Error> {
        let repair = |this: &Self, set: &Set| {
            let changes = variants.changes(set);
            let fences = changes.iter().filter_map(|change| change.to.fence());
            Repair {
                cost: fences.map(|kind| request.costs.fence(kind)).sum(),
                kept: vec![],
                is_confirmed: this.is_text_of(&variants.program(set, false), &changes, request),
                changes,
            }
        };
        let region = |clause: &Set| variants.changes(clause);
        let probes = self.standing.is_empty() || request.goal != Goal::Properties;
        self.search((variants, !probes), request, progress, &repair, &region)
    }

    /// Searches for minimal sets of changes of a text, or of orders that it keeps. All together repair the program.
    pub(super) fn search_texts(
        &mut self,
        texts: &Texts,
        request: &Request,
        progress: Listener<'_>,
    ) -> Result<(), Error> {
        let repair = |this: &Self, set: &Set| {
            let kept = if this.is_weakened { texts.standing(set) } else { vec![] };
            let changes = texts.changes(set);
            let cost = this.cost_of(&changes, request, this.is_weakened);
            // That a set repairs may follow from one inside it, so its own text is checked in the end.
            Repair { cost, changes, kept, is_confirmed: false }
        };
        let region = |clause: &Set| texts.region(clause);
        self.search((texts, self.is_weakened), request, progress, &repair, &region)
    }

    /// What changes cost more than what the text has; or, `all` together, what all orders cost with them.
    pub(super) fn cost_of(&self, changes: &[Change], request: &Request, all: bool) -> u64 {
        let mut cost: u64 = 0;
        for (place, site) in self.sites.iter().enumerate() {
            let here = changes.iter().filter(|change| change.place == place);
            match site {
                Site::Order(tuned) => {
                    let of = |order| request.costs.order(tuned.place.access, order);
                    let to = here.filter_map(|change| change.to.order()).next();
                    let to = to.unwrap_or(tuned.place.now);
                    cost += of(to) - if all { 0 } else { of(tuned.place.now).min(of(to)) };
                }
                _ => {
                    let fences = here.filter_map(|change| change.to.fence());
                    cost += fences.map(|kind| request.costs.fence(kind)).sum::<u64>();
                }
            }
        }
        cost
    }

    /// Searches for minimal sets of elements of a space.
    fn search(
        &mut self,
        (space, probes): (&dyn Space, bool),
        request: &Request,
        progress: Listener<'_>,
        repair: &dyn Fn(&Self, &Set) -> Repair,
        region: &dyn Fn(&Set) -> Vec<Change>,
    ) -> Result<(), Error> {
        let mut search = Search::new(space, request);
        search.tally = self.tally;
        if probes {
            search.try_without_each()?;
        }
        let told = Cell::new(0);
        let found = search.run(request.most, &|tally, sets| {
            for set in &sets[told.replace(sets.len())..] {
                let repair = repair(self, set);
                let line = |change: &Change| (change.to, self.places[change.place].line);
                if repair.is_confirmed {
                    progress(Event::Repair(repair.changes.iter().map(line).collect()));
                }
            }
            progress(Event::Tally(tally));
        })?;
        self.sets = found.sets.iter().map(|set| repair(self, set)).collect();
        self.regions = found.clauses.iter().map(region).collect();
        let open = found.open.into_iter();
        self.open.extend(open.map(|(set, reason)| (region(&set), reason)));
        (self.is_complete, self.stopped, self.tally) =
            (found.is_complete, found.stopped, found.tally);
        self.kept.extend(found.kept);
        Ok(())
    }

    /// Whether the text with some fences is a program.
    fn is_text_of(&self, program: &Program, changes: &[Change], request: &Request) -> bool {
        // Fences that a program has are not inserted.
        if !self.standing.is_empty() {
            return false;
        }
        let reading = reading(request, self.language);
        let read = load::program(&self.source.name, &self.text(changes), &reading);
        read.is_ok_and(|(read, _)| read.fingerprint() == program.fingerprint())
    }

    /// Keeps runs that no changes prevent: those of SC if there are any, else those of the program
    /// with all of them.
    pub(super) fn unrepaired(
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

    /// The text of the program with changes.
    ///
    /// # Panics
    /// If this is about the fences that a program has ([`redundant`](super::redundant)).
    pub fn text(&self, changes: &[Change]) -> String {
        let is_open = changes.is_empty() || self.standing.is_empty();
        assert!(is_open, "nothing can be inserted here");
        self.changed(changes).text
    }

    /// The program of the text with changes, with its places mapped to the text without
    /// them, which is the one that the user knows.
    pub fn as_written(&self, changes: &[Change], source: &Source) -> Source {
        let inserted = self.changed(changes);
        self.source.with_places_of(source, |at| inserted.before(at))
    }

    fn changed(&self, changes: &[Change]) -> Inserted {
        changed(&self.source.text, &self.sites, changes, self.language)
    }

    /// The changes of the text that make some changes, in the order of the text: what is replaced, and
    /// by what.
    pub fn edits(&self, changes: &[Change]) -> Vec<(Range<usize>, String)> {
        edits(&self.sites, changes, self.language)
    }

    /// What is at a place whose order may change: what has the order, and which it is.
    pub fn ordered(&self, place: usize) -> Option<(Access, Order)> {
        match &self.sites.get(place)? {
            Site::Order(tuned) => Some((tuned.place.access, tuned.place.now)),
            _ => None,
        }
    }

    /// The orders that may be at a place, weaker ones first; none if it is no place of an order.
    pub fn levels(&self, place: usize) -> &[Order] {
        match self.sites.get(place) {
            Some(Site::Order(tuned)) => &tuned.levels,
            _ => &[],
        }
    }

    /// A repair with one of its changes left out or one step weaker, in all ways. If weaker orders were looked for, a way for
    /// each order that could be one step weaker still.
    pub fn steps(&self, repair: &Repair) -> Vec<Less> {
        let mut steps = Vec::new();
        for &change in if self.is_weakened { &repair.kept } else { &repair.changes } {
            let others = repair.changes.iter().copied().filter(|other| match change.to {
                To::Order(_) => other.place != change.place,
                To::Fence(_) => *other != change,
            });
            let others: Vec<Change> = others.collect();
            match (change.to, self.sites.get(change.place)) {
                (To::Order(order), Some(Site::Order(tuned))) => {
                    for less in tuned.weaker(order) {
                        let instead = Change { place: change.place, to: To::Order(less) };
                        let mut changes = others.clone();
                        changes.extend((less != tuned.place.now).then_some(instead));
                        changes.sort_unstable();
                        steps.push(Less { change, instead: Some(less), changes });
                    }
                }
                _ => steps.push(Less { change, instead: None, changes: others }),
            }
        }
        steps
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

    /// How a fence is written, and what an order is called.
    pub fn word(&self, to: To) -> &'static str {
        match to {
            To::Fence(kind) => (self.language.fence)(kind).unwrap_or("fence"),
            To::Order(order) => order.name(),
        }
    }

    /// Reads the text of the program with changes, and checks it.
    ///
    /// # Errors
    /// If it cannot be read, or a run is rejected by its checker.
    pub fn check(
        &self,
        changes: &[Change],
        request: &Request,
        options: &SearchOptions,
    ) -> Result<Checked, Error> {
        let reading = reading(request, self.language);
        let loaded = match Loaded::read(&self.source.name, &self.text(changes), &reading) {
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
