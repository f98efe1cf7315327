//! Letters: memory states as a process sees them.
//!
//! Only the variables that a process can still read before its next full fence matter to
//! it. A *mask* is a set of variables, and a letter is a memory state with the other
//! variables blanked out. Letters are numbered as they are met.
//!
//! At level 1 of the abstraction the letters of a segment can be read repeatedly in any
//! order. Then it makes no difference which values occurred together in one memory state,
//! and a memory state enters a segment as its *pieces*: letters with one variable each.

use std::fmt;

use rustc_hash::FxHashMap;
use weir_model::ids::{Cell, ProcessId, StateId, ValueId, VarId};
use weir_model::limits::{Budget, Stop};
use weir_model::system::System;

use super::subwords::{Level, Subwords, single};
use crate::ahead::{ByPlace, readable};
use crate::graph::NoGraph;

/// The number of a letter.
pub(super) type Letter = u32;

/// The number of a mask.
pub(super) type MaskId = usize;

/// The value of a variable that a mask blanks out.
pub(super) const BLANK: u32 = u32::MAX;

/// Why a search cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Halt {
    /// There are more letters than numbers.
    TooManyLetters,
    /// A limit was reached.
    Stopped(Stop),
}

impl From<Stop> for Halt {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

impl From<Halt> for NoGraph {
    fn from(halt: Halt) -> Self {
        Self::Stopped(halt.to_string())
    }
}

impl fmt::Display for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyLetters => f.write_str("memory has too many states to be told apart"),
            Self::Stopped(stop) => stop.fmt(f),
        }
    }
}

/// All letters and masks of a search.
#[derive(Debug)]
pub(super) struct Letters<'s> {
    system: &'s System,
    vars: usize,
    cells: Vec<Cell>,
    ids: FxHashMap<Box<[Cell]>, Letter>,
    masks: Vec<Box<[bool]>>,
    /// For each process and place of its code, what it can still read; the last is for states
    /// at no known place.
    of_place: Vec<Vec<MaskId>>,
    /// For each mask, what it makes of the letters so far.
    masked: Vec<Vec<Option<Letter>>>,
    level: Level,
    /// Whether letters enter segments in pieces.
    pieces: bool,
    /// For each letter the words of one letter that it is in a segment.
    symbols: Vec<Subwords>,
    scratch: Vec<Cell>,
    /// How much time and memory there is.
    pub budget: Budget,
}

impl<'s> Letters<'s> {
    /// With `lookahead` off, every process reads the newest memory only.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn new(
        system: &'s System,
        lookahead: bool,
        level: Level,
        budget: &Budget,
    ) -> Result<Self, Stop> {
        let mut masks: Vec<Box<[bool]>> = Vec::new();
        let mut numbers: FxHashMap<Box<[bool]>, MaskId> = FxHashMap::default();
        let mut of_place = Vec::new();
        for p in system.process_ids() {
            let readable = match lookahead {
                true => readable(system, p, budget)?,
                false => ByPlace::nothing(system, p),
            };
            let mut ids = Vec::new();
            for mask in readable.rows() {
                budget.work(1 + system.vars.len() / 64)?;
                let id = *numbers.entry(mask).or_insert_with_key(|mask| {
                    masks.push(mask.clone());
                    masks.len() - 1
                });
                ids.push(id);
            }
            of_place.push(ids);
        }
        let masked = vec![vec![]; masks.len()];
        Ok(Self {
            system,
            vars: system.vars.len(),
            cells: vec![],
            ids: FxHashMap::default(),
            masks,
            of_place,
            masked,
            scratch: vec![],
            level,
            pieces: level.0 == 1,
            symbols: vec![],
            budget: budget.clone(),
        })
    }

    /// The level of the words that these letters make.
    pub fn level(&self) -> Level {
        self.level
    }

    /// The mask that keeps some variables.
    pub fn mask_for(&mut self, vars: &[VarId]) -> MaskId {
        let mask: Box<[bool]> = (0..self.vars).map(|x| vars.contains(&VarId::new(x))).collect();
        if let Some(known) = self.masks.iter().position(|m| *m == mask) {
            return known;
        }
        self.masks.push(mask);
        self.masked.push(vec![]);
        self.masks.len() - 1
    }

    /// What a process in a control state can still read.
    pub fn mask_of(&self, process: ProcessId, state: StateId) -> MaskId {
        let of_place = &self.of_place[process.index()];
        let place = self.system.state(process, state).place();
        of_place[place.unwrap_or(of_place.len() - 1)]
    }

    /// Whether a mask keeps a variable.
    pub fn keeps(&self, mask: MaskId, var: VarId) -> bool {
        self.masks[mask][var.index()]
    }

    /// Whether a mask blanks everything out.
    pub fn is_blind(&self, mask: MaskId) -> bool {
        !self.masks[mask].contains(&true)
    }

    /// The variables that a mask keeps.
    pub fn kept(&self, mask: MaskId) -> impl Iterator<Item = VarId> {
        self.masks[mask].iter().enumerate().filter(|(_, k)| **k).map(|(x, _)| VarId::new(x))
    }

    /// The value of a variable in a letter, if it is there.
    pub fn value(&self, letter: Letter, var: VarId) -> Option<ValueId> {
        let value = self.cells[(letter as usize) * self.vars + var.index()];
        (value != BLANK).then_some(ValueId(value))
    }

    /// All letters so far, blanks left out.
    pub fn all(&self) -> Vec<Vec<Option<ValueId>>> {
        let value = |&v: &u32| (v != BLANK).then_some(ValueId(v));
        self.cells.chunks(self.vars.max(1)).map(|l| l.iter().map(value).collect()).collect()
    }

    /// A memory state, nothing blanked out.
    pub fn see_all(&mut self, memory: &[Cell]) -> Result<Letter, Halt> {
        self.intern(memory)
    }

    /// A memory state through a mask.
    pub fn see(&mut self, memory: &[Cell], mask: MaskId) -> Result<Letter, Halt> {
        let blanked = memory.iter().zip(&self.masks[mask]);
        let blanked = blanked.map(|(&v, &kept)| if kept { v } else { BLANK });
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        scratch.extend(blanked);
        let letter = self.intern(&scratch);
        self.scratch = scratch;
        letter
    }

    /// What a letter is: a value for each variable, or [`BLANK`].
    pub fn cells(&self, letter: Letter) -> &[Cell] {
        &self.cells[letter as usize * self.vars..][..self.vars]
    }

    /// The number of a letter, new or known.
    pub fn intern(&mut self, blanked: &[Cell]) -> Result<Letter, Halt> {
        if let Some(&letter) = self.ids.get(blanked) {
            return Ok(letter);
        }
        let blanked: Box<[Cell]> = blanked.into();
        let letter = Letter::try_from(self.ids.len()).ok().filter(|&l| l < self.level.max_letter());
        let letter = letter.ok_or(Halt::TooManyLetters)?;
        if blanked.iter().any(|v| *v != BLANK && *v >= self.level.max_letter()) {
            return Err(Halt::TooManyLetters);
        }
        self.budget.work(1 + blanked.len() / 64)?;
        self.cells.extend_from_slice(&blanked);
        self.ids.insert(blanked.clone(), letter);
        self.symbols.push(vec![single(letter)]);
        let kept: Vec<usize> = (0..blanked.len()).filter(|&x| blanked[x] != BLANK).collect();
        if self.pieces && kept.len() != 1 {
            let mut pieces = Vec::new();
            for x in kept {
                let mut piece = vec![BLANK; blanked.len()];
                piece[x] = blanked[x];
                pieces.push(single(self.intern(&piece)?));
            }
            pieces.sort_unstable();
            self.symbols[letter as usize] = pieces;
        }
        Ok(letter)
    }

    /// What a letter is in a segment.
    pub fn symbols(&self, letter: Letter) -> &[u64] {
        &self.symbols[letter as usize]
    }

    /// What the mark of an own write to a variable is, if a letter is the memory state that it
    /// made: where letters are in pieces, only the value of the variable.
    pub fn mark(&self, letter: Letter, var: VarId) -> Letter {
        let mut symbols = self.level.letters(self.symbols(letter));
        let piece = symbols.find(|&l| self.value(l, var).is_some());
        piece.filter(|_| self.pieces).unwrap_or(letter)
    }

    /// Whether nothing is left of a letter.
    pub fn is_blank(&self, letter: Letter) -> bool {
        let start = letter as usize * self.vars;
        self.cells[start..start + self.vars].iter().all(|v| *v == BLANK)
    }

    /// A letter through a narrower mask.
    pub fn narrow(&mut self, letter: Letter, mask: MaskId) -> Result<Letter, Halt> {
        let known = self.masked[mask].get(letter as usize).copied().flatten();
        if let Some(known) = known {
            return Ok(known);
        }
        let start = letter as usize * self.vars;
        let cells = self.cells[start..start + self.vars].to_vec();
        let narrowed = self.see(&cells, mask)?;
        let row = &mut self.masked[mask];
        if row.len() <= letter as usize {
            row.resize(letter as usize + 1, None);
        }
        row[letter as usize] = Some(narrowed);
        Ok(narrowed)
    }
}
