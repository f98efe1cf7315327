//! Configurations as bytes, for workers that share a search.
//!
//! Each worker numbers letters and views by itself. Who sends a configuration sends the numbers of its
//! views, and with a number that it sends for the first time what it stands for: so a configuration
//! is a few bytes, and nothing is sent twice over one connection. An [`Outbox`] is what one worker has
//! told another, and an [`Inbox`] what one has heard.

use rustc_hash::FxHashMap;
use weir_model::ids::{Cell, ProcessId, TransitionId, ValueId, VarId};

use super::letters::{BLANK, Halt, Letter};
use super::space::{Action, Config, Space, Step};
use super::subwords::{Level, Subwords};
use super::table::ViewId;
use super::view::{Mark, Stores, View};
use crate::store::numbers::{number, number_as, push_number};

/// A set of small numbers.
#[derive(Clone, Debug, Default)]
struct Numbers(Vec<u64>);

impl Numbers {
    /// Adds a number; whether it was not there.
    fn add(&mut self, number: u32) -> bool {
        let (word, bit) = (number as usize / 64, 1_u64 << (number % 64));
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        let is_new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        is_new
    }

    fn bytes(&self) -> usize {
        self.0.capacity() * 8
    }
}

/// The letters and views that one worker has explained to another.
#[derive(Clone, Debug, Default)]
pub struct Outbox {
    letters: Numbers,
    views: Numbers,
}

impl Outbox {
    /// The bytes that it takes up.
    pub fn bytes(&self) -> usize {
        self.letters.bytes() + self.views.bytes()
    }
}

/// The letters and views that another worker has explained, by its numbers.
#[derive(Clone, Debug, Default)]
pub struct Inbox {
    letters: FxHashMap<u32, Letter>,
    views: FxHashMap<u32, ViewId>,
}

impl Inbox {
    /// About the bytes that it takes up.
    pub fn bytes(&self) -> usize {
        (self.letters.capacity() + self.views.capacity()) * 9
    }
}

/// Why something cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// It is nothing that another worker writes.
    Garbled,
    /// A limit was reached.
    Halted(String),
}

impl From<Halt> for Unread {
    fn from(halt: Halt) -> Self {
        Self::Halted(halt.to_string())
    }
}

fn small(bytes: &mut &[u8]) -> Result<u32, Unread> {
    number_as(bytes).ok_or(Unread::Garbled)
}

/// How many things follow. Each takes at least a byte, so nothing larger than the rest is believed.
fn count(bytes: &mut &[u8]) -> Result<usize, Unread> {
    let n = small(bytes)? as usize;
    if n > bytes.len() { Err(Unread::Garbled) } else { Ok(n) }
}

fn push_words(words: &[u64], bytes: &mut Vec<u8>) {
    push_number(words.len() as u64, bytes);
    for &word in words {
        push_number(word, bytes);
    }
}

fn words(level: Level, bytes: &mut &[u8]) -> Result<Subwords, Unread> {
    let n = count(bytes)?;
    let mut words = Vec::with_capacity(n);
    for _ in 0..n {
        words.push(number(bytes).ok_or(Unread::Garbled)?);
    }
    match words.is_sorted_by(|a, b| a < b) && words.iter().all(|&word| level.is_word(word)) {
        true => Ok(words),
        false => Err(Unread::Garbled),
    }
}

/// Appends a step.
pub(super) fn push_step(step: Step, bytes: &mut Vec<u8>) {
    push_number(u64::from(step.process.0), bytes);
    push_number(u64::from(step.place), bytes);
    bytes.push(step.fences);
    match step.action {
        Action::Take(TransitionId(id)) => {
            bytes.push(0);
            push_number(u64::from(id), bytes);
        }
        Action::Transfer(VarId(x), None) => {
            bytes.push(1);
            push_number(u64::from(x), bytes);
        }
        Action::Transfer(VarId(x), Some(ValueId(value))) => {
            bytes.push(2);
            push_number(u64::from(x), bytes);
            push_number(u64::from(value), bytes);
        }
    }
}

fn byte(bytes: &mut &[u8]) -> Result<u8, Unread> {
    let (&first, rest) = bytes.split_first().ok_or(Unread::Garbled)?;
    *bytes = rest;
    Ok(first)
}

impl Space<'_> {
    fn var(&self, bytes: &mut &[u8]) -> Result<VarId, Unread> {
        let x = small(bytes)? as usize;
        if x < self.system.vars.len() { Ok(VarId::new(x)) } else { Err(Unread::Garbled) }
    }

    /// Takes a step.
    pub(super) fn read_step(&self, bytes: &mut &[u8]) -> Result<Step, Unread> {
        let process = small(bytes)? as usize;
        if process >= self.system.processes.len() {
            return Err(Unread::Garbled);
        }
        let (place, fences) = (small(bytes)?, byte(bytes)?);
        let action = match byte(bytes)? {
            0 => Action::Take(TransitionId(small(bytes)?)),
            1 => Action::Transfer(self.var(bytes)?, None),
            2 => Action::Transfer(self.var(bytes)?, Some(ValueId(small(bytes)?))),
            _ => return Err(Unread::Garbled),
        };
        Ok(Step { process: ProcessId::new(process), place, action, fences })
    }

    /// Appends a configuration, for somebody who has been told what is in the outbox.
    pub(super) fn write(&self, config: &Config, outbox: &mut Outbox, bytes: &mut Vec<u8>) {
        let table = &self.table;
        let views: Vec<ViewId> =
            config.views.iter().copied().filter(|&view| outbox.views.add(view)).collect();
        let mut letters: Vec<Letter> = Vec::new();
        for view in views.iter().map(|&id| table.view(id)) {
            let spelled = view.segments.iter().flat_map(|s| table.level.spelled(s)).flatten();
            letters.extend(
                spelled
                    .chain(view.marks.iter().map(|m| m.letter))
                    .filter(|&l| outbox.letters.add(l)),
            );
        }
        push_number(letters.len() as u64, bytes);
        for letter in letters {
            push_number(u64::from(letter), bytes);
            for &cell in table.letters.cells(letter) {
                push_number(u64::from(cell.wrapping_add(1)), bytes);
            }
        }
        push_number(views.len() as u64, bytes);
        for id in views {
            push_number(u64::from(id), bytes);
            write_view(table.view(id), bytes);
        }
        for &cell in &config.state {
            push_number(u64::from(cell), bytes);
        }
        for &view in &config.views {
            push_number(u64::from(view), bytes);
        }
    }

    /// Takes a configuration, from somebody who has told what is in the inbox.
    pub(super) fn read(&mut self, inbox: &mut Inbox, bytes: &mut &[u8]) -> Result<Config, Unread> {
        let (processes, vars) = (self.system.processes.len(), self.system.vars.len());
        for _ in 0..count(bytes)? {
            let theirs = small(bytes)?;
            let mut cells: Vec<Cell> = Vec::with_capacity(vars);
            for _ in 0..vars {
                cells.push(small(bytes)?.wrapping_sub(1));
            }
            let ours = self.table.letters.intern(&cells)?;
            inbox.letters.insert(theirs, ours);
        }
        for _ in 0..count(bytes)? {
            let theirs = small(bytes)?;
            let view = self.read_view(inbox, bytes)?;
            let ours = self.table.intern(view).map_err(Halt::from)?;
            inbox.views.insert(theirs, ours);
        }
        let mut state: Vec<Cell> = Vec::with_capacity(processes + vars);
        for _ in 0..processes + vars {
            state.push(small(bytes)?);
        }
        let mut views: Vec<ViewId> = Vec::with_capacity(processes);
        for _ in 0..processes {
            views.push(*inbox.views.get(&small(bytes)?).ok_or(Unread::Garbled)?);
        }
        Ok(Config { state: state.into(), views: views.into() })
    }

    fn read_view(&self, inbox: &Inbox, bytes: &mut &[u8]) -> Result<View, Unread> {
        let known = |l: u32| inbox.letters.get(&l).copied().ok_or(Unread::Garbled);
        let mut view = View::default();
        for _ in 0..count(bytes)? {
            view.segments.push(self.table.level.map(&words(self.table.level, bytes)?, known)?);
        }
        for _ in 0..count(bytes)? {
            let var = self.var(bytes)?;
            view.marks.push(Mark { var, letter: known(small(bytes)?)? });
        }
        for _ in 0..count(bytes)? {
            view.past.push((self.var(bytes)?, words(self.table.level, bytes)?));
        }
        for _ in 0..count(bytes)? {
            let (var, older) = (self.var(bytes)?, words(self.table.level, bytes)?);
            view.stores.push(Stores { var, older, last: ValueId(small(bytes)?) });
        }
        match view.segments.len() == view.marks.len() + 1 {
            true => Ok(view),
            false => Err(Unread::Garbled),
        }
    }
}

fn write_view(view: &View, bytes: &mut Vec<u8>) {
    push_number(view.segments.len() as u64, bytes);
    view.segments.iter().for_each(|segment| push_words(segment, bytes));
    push_number(view.marks.len() as u64, bytes);
    for mark in &view.marks {
        push_number(u64::from(mark.var.0), bytes);
        push_number(u64::from(mark.letter), bytes);
    }
    push_number(view.past.len() as u64, bytes);
    for (var, values) in &view.past {
        push_number(u64::from(var.0), bytes);
        push_words(values, bytes);
    }
    push_number(view.stores.len() as u64, bytes);
    for Stores { var, older, last } in &view.stores {
        push_number(u64::from(var.0), bytes);
        push_words(older, bytes);
        push_number(u64::from(last.0), bytes);
    }
}

const _: () = assert!(BLANK == u32::MAX, "a blank is written as zero");
