//! What is in a picture of a run: the steps that are drawn, what stands below each, and the arrows
//! between them.

use std::collections::{BTreeMap, BTreeSet};

use super::Font;
use crate::report::run::{EDGE, MOST_REORDERINGS, shown_of};
use crate::report::scene::{Entry, Process, Scene, State, Step};

/// Rows of boxes are broken at this width.
const MAX_BOXES: i32 = 300;
/// Longer names and values in boxes are shortened.
pub const MAX_LABEL: usize = 18;
/// More boxes in a queue are shortened to the newest and the oldest ones.
const MAX_QUEUE: usize = 6;

/// A box in a row of boxes: its text and how it is drawn.
pub struct Tile {
    pub text: String,
    pub kind: TileKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TileKind {
    /// A write, or a message.
    Write,
    /// A guess that has to come true.
    Guess,
    /// A fence that is stored.
    Fence,
    /// A write that waits in the queue of its variable.
    Waiting,
    /// A value of the past that can still be read.
    Past,
    /// The newest value, where older ones can still be read.
    Newest,
    /// A text without a box.
    Label,
}

/// A row of a picture.
pub enum Row {
    Start,
    Step {
        number: usize,
        tiles: Vec<Vec<Tile>>,
        /// What it writes to memory.
        written: BTreeMap<String, String>,
    },
    Left(usize),
}

/// An arrow at the left of a lane: from a step to those that it overtakes.
pub struct Rail<'s> {
    pub lane: usize,
    pub from: usize,
    pub to: Vec<usize>,
    pub relaxation: &'s str,
    pub level: usize,
}

/// Which steps are drawn: the same as in the text.
pub fn visible(scene: &Scene, full: bool) -> Vec<bool> {
    let mut named = BTreeSet::new();
    let overtaking = (1..).zip(&scene.steps).filter(|(_, step)| !step.overtakes.is_empty());
    for (number, step) in overtaking.take(MOST_REORDERINGS) {
        named.insert(number);
        named.extend(step.overtakes.iter().map(|o| o.step));
    }
    if let Some(first) = scene.cycle {
        named.extend(first.saturating_sub(EDGE)..first + EDGE);
    }
    shown_of(scene.steps.len(), &named, full)
}

pub fn rows(scene: &Scene, visible: &[bool]) -> (Vec<Row>, State) {
    let mut rows = vec![Row::Start];
    let mut state = scene.start.clone();
    for (number, (step, is_visible)) in (1..).zip(scene.steps.iter().zip(visible)) {
        state.apply(scene, step);
        match rows.last_mut() {
            _ if *is_visible => {
                let lane = lane(scene, &step.process);
                let tiles = tiles(scene, step, &state, &state.processes[lane]);
                let written = written(step, &state);
                rows.push(Row::Step { number, tiles: broken(tiles), written });
            }
            Some(Row::Left(count)) => *count += 1,
            _ => rows.push(Row::Left(1)),
        }
    }
    (rows, state)
}

/// What a step writes to memory, also if that was there before.
fn written(step: &Step, after: &State) -> BTreeMap<String, String> {
    let mut written = step.memory.clone();
    if matches!(step.rule.as_str(), "update" | "write memory")
        && let Some((variable, value)) =
            step.variable.as_ref().and_then(|x| after.memory.get_key_value(x))
    {
        written.insert(variable.clone(), value.clone());
    }
    written
}

pub fn lane(scene: &Scene, process: &str) -> usize {
    scene.processes.iter().position(|p| p.name == process).unwrap_or(0)
}

/// What is drawn below a step, in the order in which it is drawn.
fn tiles(scene: &Scene, step: &Step, state: &State, process: &Process) -> Vec<Tile> {
    let mut tiles = Vec::new();
    for variable in scene.variables.iter().filter(|x| process.waiting.contains_key(*x)) {
        tiles.extend(queue(&process.waiting[variable], |_| TileKind::Waiting));
    }
    if !tiles.is_empty() && !process.buffer.is_empty() {
        tiles.push(Tile { text: "→".to_owned(), kind: TileKind::Label });
    }
    tiles.extend(queue(&process.buffer, |entry| match entry.kind.as_str() {
        "read" => TileKind::Guess,
        "write fence" | "read fence" => TileKind::Fence,
        _ => TileKind::Write,
    }));
    // A step of the memory reads nothing.
    if scene.buffers.has_history() && step.line.is_some() {
        for (variable, position) in &process.positions {
            let values = &state.history[variable];
            let past = &values[*position..];
            if past.len() < 2 {
                continue;
            }
            let text = format!("{} may be", short(variable, MAX_LABEL));
            tiles.push(Tile { text, kind: TileKind::Label });
            let skipped = past.len().saturating_sub(MAX_QUEUE);
            for (i, value) in past.iter().enumerate().filter(|(i, _)| *i == 0 || *i > skipped) {
                let is_newest = i + 1 == past.len();
                let kind = if is_newest { TileKind::Newest } else { TileKind::Past };
                tiles.push(Tile { text: short(value, MAX_LABEL), kind });
                if i == 0 && skipped > 0 {
                    tiles.push(Tile { text: "…".to_owned(), kind: TileKind::Label });
                }
            }
        }
    }
    tiles
}

/// A queue, the oldest entry last: next to memory.
fn queue(entries: &[Entry], kind: impl Fn(&Entry) -> TileKind) -> Vec<Tile> {
    let tile = |entry: &Entry| {
        let text = match (&entry.variable, &entry.value) {
            (Some(x), Some(d)) => format!("{}={}", short(x, MAX_LABEL), short(d, MAX_LABEL)),
            _ => entry.kind.clone(),
        };
        Tile { text, kind: kind(entry) }
    };
    if entries.len() <= MAX_QUEUE {
        return entries.iter().rev().map(tile).collect();
    }
    let (oldest, newest) = (&entries[..MAX_QUEUE / 2], &entries[entries.len() - 2..]);
    let left = entries.len() - oldest.len() - newest.len();
    let more = Tile { text: format!("{left} more"), kind: TileKind::Label };
    newest.iter().rev().map(tile).chain([more]).chain(oldest.iter().rev().map(tile)).collect()
}

pub fn tile_width(tile: &Tile) -> i32 {
    Font::Small.width(&tile.text) + if tile.kind == TileKind::Label { 4 } else { 8 }
}

/// Tiles in rows that are not too wide.
fn broken(tiles: Vec<Tile>) -> Vec<Vec<Tile>> {
    let mut rows: Vec<Vec<Tile>> = Vec::new();
    let mut width = MAX_BOXES;
    for tile in tiles {
        let wide = tile_width(&tile) + 3;
        if width + wide > MAX_BOXES {
            rows.push(Vec::new());
            width = 0;
        }
        width += wide;
        rows.last_mut().expect("there is one").push(tile);
    }
    rows
}

/// The arrows of all lanes. Those of one lane that are at the same height have different levels.
pub fn rails<'s>(scene: &'s Scene, visible: &[bool]) -> Vec<Rail<'s>> {
    let mut rails: Vec<Rail<'s>> = Vec::new();
    for (from, step) in (1..).zip(&scene.steps).filter(|(n, _)| visible[n - 1]) {
        let lane = lane(scene, &step.process);
        let names: BTreeSet<&str> = step.overtakes.iter().map(|o| o.relaxation.as_str()).collect();
        for relaxation in names {
            let to = step.overtakes.iter().filter(|o| o.relaxation == relaxation).map(|o| o.step);
            let to: Vec<usize> = to.filter(|step| visible[step - 1]).collect();
            let Some(&top) = to.iter().min() else { continue };
            let meets = |rail: &&Rail<'_>| rail.lane == lane && top <= rail.from;
            let taken: BTreeSet<usize> = rails.iter().filter(meets).map(|r| r.level).collect();
            let level = (0..).find(|level| !taken.contains(level)).unwrap_or(0);
            rails.push(Rail { lane, from, to, relaxation, level });
        }
    }
    rails
}

/// A text of at most so many characters.
pub fn short(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most - 1).chain(['…']).collect(),
        false => text.to_owned(),
    }
}
