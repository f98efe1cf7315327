//! Where the parts of a picture of a run are.
//!
//! From left to right: the arrow back of an infinite run, the numbers of steps and lines, the lanes, and
//! memory. A lane has a margin for arrows and the steps of its process. A row has the text of
//! a step, and below it the boxes of what its process has under way then.

use std::collections::BTreeMap;

use super::rows::{
    MAX_LABEL, Rail, Row, Tile, TileKind, lane, rails, rows, short, tile_width, visible,
};
use super::{Align, Color, Font, Picture, Shape};
use crate::report::counted;
use crate::report::scene::{Buffers, Scene, State};

/// Around everything.
const MARGIN: i32 = 14;
/// Between two columns.
const GAP: i32 = 18;
/// The height of a line of text with its box.
const LINE: i32 = 20;
/// The height of a row of boxes.
const BOXES: i32 = 22;
/// Between two rows.
const SPACE: i32 = 8;
/// Between two arrows of a lane.
const RAIL: i32 = 9;
/// Up to this width each variable has a column of its own.
const MAX_MEMORY: i32 = 360;
/// Longer texts are shortened.
const MAX_TEXT: usize = 40;

/// Where columns are.
struct Columns {
    /// The right end of the numbers of steps.
    step: i32,
    /// The right end of the numbers of lines.
    line: i32,
    /// The left end of the steps of each process.
    lanes: Vec<i32>,
    /// The left end of each lane.
    margins: Vec<i32>,
    /// The middle of the column of each variable, or none if there is one column for all.
    variables: Vec<i32>,
    memory: i32,
    end: i32,
}

pub fn picture(scene: &Scene, title: &str, full: bool) -> Picture {
    let visible = visible(scene, full);
    let (rows, last) = rows(scene, &visible);
    let rails = rails(scene, &visible);
    let title = short(title, 100);
    let columns = columns(scene, &rows, &rails);
    let mut drawing = Drawing { scene, columns, shapes: Vec::new(), tops: Vec::new() };
    let mut y = MARGIN + 14;
    drawing.text((MARGIN, y), &title, Font::Title, Color::Black, Align::Left);
    y += 16;
    y = drawing.header(y);
    let top = y;
    for row in &rows {
        y = drawing.row(row, y);
    }
    drawing.guides(top - 4, y);
    drawing.rails(&rails);
    drawing.cycle(y);
    y = drawing.ending(&last, y + 20);
    y = drawing.legend(&rows, !rails.is_empty(), y + 6);
    let width = drawing.columns.end.max(MARGIN + Font::Title.width(&title)) + MARGIN;
    let Drawing { shapes, .. } = drawing;
    Picture { title, width, height: y + MARGIN, shapes }
}

fn columns(scene: &Scene, rows: &[Row], rails: &[Rail<'_>]) -> Columns {
    let cycle = if scene.cycle.is_some() { 16 } else { 0 };
    let numbers = |largest: usize, title: &str| {
        Font::Plain.width(&largest.to_string()).max(Font::Plain.width(title))
    };
    let line = scene.steps.iter().filter_map(|step| step.line).max().unwrap_or(0);
    let step = MARGIN + cycle + numbers(scene.steps.len(), "step");
    let line = step + 10 + numbers(line, "line");
    let mut x = line + GAP;
    let (mut lanes, mut margins) = (Vec::new(), Vec::new());
    for (i, process) in scene.processes.iter().enumerate() {
        margins.push(x);
        let levels = rails.iter().filter(|r| r.lane == i).map(|r| r.level + 1).max();
        let label = Font::Small.width("w->r");
        x += levels.map_or(0, |n| label + 8 + RAIL * i32::try_from(n).unwrap_or(0));
        lanes.push(x);
        let mut width = Font::Strong.width(&short(&process.name, MAX_TEXT));
        for row in rows {
            let Row::Step { number, tiles, .. } = row else { continue };
            let step = &scene.steps[number - 1];
            if step.process != process.name {
                continue;
            }
            width = width.max(Font::Plain.width(&short(&step.text, MAX_TEXT)) + 12);
            let boxes = |tiles: &Vec<Tile>| tiles.iter().map(|t| tile_width(t) + 3).sum::<i32>();
            width = width.max(tiles.iter().map(boxes).max().unwrap_or(0));
        }
        x += width + GAP;
    }
    let memory = x;
    let mut variables = Vec::new();
    for (i, variable) in scene.variables.iter().enumerate() {
        let values = scene.steps.iter().filter_map(|step| step.memory.get(variable));
        let values = values.chain(scene.start.memory.get(variable));
        let width = values.map(|v| Font::Plain.width(&short(v, MAX_LABEL))).max().unwrap_or(0);
        let width = width.max(Font::Strong.width(&short(variable, MAX_LABEL))) + 8;
        variables.push(x + width / 2);
        x += width + if i + 1 == scene.variables.len() { 0 } else { 6 };
    }
    if x - memory > MAX_MEMORY {
        variables.clear();
        let changes = scene.steps.iter().flat_map(|step| &step.memory).chain(&scene.start.memory);
        let width = changes.map(|(x, d)| Font::Plain.width(&change(x, d))).max().unwrap_or(0);
        x = memory + width + 8;
    }
    Columns { step, line, lanes, margins, variables, memory, end: x }
}

/// A value of a variable, for pictures in which variables have no column.
fn change(variable: &str, value: &str) -> String {
    format!("{} = {}", short(variable, MAX_LABEL), short(value, MAX_LABEL))
}

struct Drawing<'s> {
    scene: &'s Scene,
    columns: Columns,
    shapes: Vec<Shape>,
    /// The steps that are drawn, with their tops.
    tops: Vec<(usize, i32)>,
}

impl Drawing<'_> {
    fn text(&mut self, at: (i32, i32), text: &str, font: Font, color: Color, align: Align) {
        self.shapes.push(Shape::Text { at, text: text.to_owned(), font, color, align });
    }

    fn rect(&mut self, at: [i32; 4], fill: Color, line: Color, is_dashed: bool) {
        self.shapes.push(Shape::Rect { at, fill, line, is_dashed });
    }

    fn line(&mut self, points: Vec<(i32, i32)>, color: Color, has_head: bool) {
        self.shapes.push(Shape::Line { points, color, has_head });
    }

    fn header(&mut self, y: i32) -> i32 {
        let base = y + 14;
        let Columns { step, line, memory, end, .. } = self.columns;
        self.text((step, base), "step", Font::Plain, Color::Gray, Align::Right);
        self.text((line, base), "line", Font::Plain, Color::Gray, Align::Right);
        for (i, process) in self.scene.processes.iter().enumerate() {
            let name = short(&process.name, MAX_TEXT);
            self.text(
                (self.columns.lanes[i], base),
                &name,
                Font::Strong,
                Color::Black,
                Align::Left,
            );
        }
        if self.columns.variables.is_empty() {
            self.text((memory, base), "memory", Font::Strong, Color::Black, Align::Left);
        }
        for (i, variable) in self.scene.variables.iter().enumerate() {
            let Some(&x) = self.columns.variables.get(i) else { break };
            let name = short(variable, MAX_LABEL);
            self.text((x, base), &name, Font::Strong, Color::Black, Align::Middle);
        }
        self.line(vec![(MARGIN, base + 6), (end, base + 6)], Color::Gray, false);
        base + 14
    }

    /// Draws a row at a height, and returns where the next one is.
    fn row(&mut self, row: &Row, y: i32) -> i32 {
        match row {
            Row::Start => {
                let memory = self.scene.start.memory.clone();
                y + self.memory(&memory, y, false) + SPACE
            }
            Row::Left(count) => {
                let text = format!("⋮  {} left out", counted(*count, "step"));
                let x = self.columns.line + GAP;
                self.text((x, y + 14), &text, Font::Plain, Color::Gray, Align::Left);
                y + LINE + SPACE
            }
            Row::Step { number, tiles, written } => {
                let step = &self.scene.steps[number - 1];
                let lines = self.memory(written, y, true);
                self.step(*number, written, y);
                let mut below = y + LINE + 3;
                for tiles in tiles {
                    self.tiles(tiles, self.columns.lanes[lane(self.scene, &step.process)], below);
                    below += BOXES - 3;
                }
                below.max(y + lines) + SPACE
            }
        }
    }

    /// Draws values of variables, and returns how high that is.
    fn memory(&mut self, values: &BTreeMap<String, String>, y: i32, is_new: bool) -> i32 {
        let scene = self.scene;
        let mut height = LINE;
        let mut next = y;
        for (i, variable) in scene.variables.iter().enumerate() {
            let Some(value) = values.get(variable) else { continue };
            let (x, text, align) = match self.columns.variables.get(i) {
                Some(&x) => (x, short(value, MAX_LABEL), Align::Middle),
                None => (self.columns.memory + 4, change(variable, value), Align::Left),
            };
            let width = Font::Plain.width(&text) + 8;
            let left = if align == Align::Left { x - 4 } else { x - width / 2 };
            if is_new {
                self.rect([left, next, width, LINE], Color::Yellow, Color::Gray, false);
            } else {
                self.rect([left, next, width, LINE], Color::White, Color::None, false);
            }
            self.text((x, next + 14), &text, Font::Plain, Color::Black, align);
            if align == Align::Left {
                next += LINE + 2;
                height = next - y;
            }
        }
        height
    }

    fn step(&mut self, number: usize, written: &BTreeMap<String, String>, y: i32) {
        let step = &self.scene.steps[number - 1];
        self.tops.push((number, y));
        let base = y + 14;
        let Columns { step: right, line, .. } = self.columns;
        self.text((right, base), &number.to_string(), Font::Plain, Color::Gray, Align::Right);
        if let Some(at) = step.line {
            self.text((line, base), &at.to_string(), Font::Plain, Color::Gray, Align::Right);
        }
        let x = self.columns.lanes[lane(self.scene, &step.process)];
        let text = short(&step.text, MAX_TEXT);
        let width = Font::Plain.width(&text) + 12;
        if let Some(target) = self.target(written) {
            self.line(vec![(x + width, y + 10), (target, y + 10)], Color::Gray, true);
        }
        let border = if step.overtakes.is_empty() { Color::Gray } else { Color::Red };
        // Steps of the memory are no statements.
        let fill = if step.line.is_some() { Color::White } else { Color::Shade };
        self.rect([x, y, width, LINE], fill, border, false);
        self.text((x + 6, base), &text, Font::Plain, Color::Black, Align::Left);
    }

    /// Where the arrow of a step that writes to memory ends.
    fn target(&self, written: &BTreeMap<String, String>) -> Option<i32> {
        let (variable, value) = written.iter().next()?;
        let index = self.scene.variables.iter().position(|x| x == variable)?;
        Some(match self.columns.variables.get(index) {
            Some(&x) => x - (Font::Plain.width(&short(value, MAX_LABEL)) + 8) / 2 - 1,
            None => self.columns.memory - 1,
        })
    }

    fn tiles(&mut self, tiles: &[Tile], mut x: i32, y: i32) {
        for tile in tiles {
            let width = tile_width(tile);
            let (fill, line, is_dashed, color) = match tile.kind {
                TileKind::Label => (Color::None, Color::None, false, Color::Gray),
                TileKind::Write => (Color::Sky, Color::Blue, false, Color::Black),
                TileKind::Waiting => (Color::White, Color::Blue, true, Color::Black),
                TileKind::Guess => (Color::Yellow, Color::Gray, true, Color::Black),
                TileKind::Fence => (Color::Shade, Color::Gray, false, Color::Black),
                TileKind::Past => (Color::Shade, Color::Gray, true, Color::Black),
                TileKind::Newest => (Color::White, Color::Gray, false, Color::Black),
            };
            if tile.kind != TileKind::Label {
                self.rect([x, y, width, BOXES - 6], fill, line, is_dashed);
            }
            let middle = (x + width / 2, y + 12);
            self.text(middle, &tile.text, Font::Small, color, Align::Middle);
            x += width + 3;
        }
    }

    /// Draws lines that guide the eye, behind everything else.
    fn guides(&mut self, top: i32, bottom: i32) {
        let mut behind = Vec::new();
        if let Some(first) = self.scene.cycle {
            let begin = self.tops.iter().find(|(n, _)| *n >= first).map(|(_, y)| y - 4);
            if let Some(begin) = begin {
                let at = [MARGIN + 12, begin, self.columns.end - MARGIN - 8, bottom - begin - 2];
                let (fill, line, is_dashed) = (Color::Shade, Color::None, false);
                behind.push(Shape::Rect { at, fill, line, is_dashed });
            }
        }
        let lanes = self.columns.margins.iter().map(|x| x - GAP / 2);
        let all = lanes.chain([self.columns.memory - GAP / 2]);
        for x in all.chain(self.columns.variables.iter().copied()) {
            let points = vec![(x, top), (x, bottom)];
            behind.push(Shape::Line { points, color: Color::Pale, has_head: false });
        }
        self.shapes.splice(0..0, behind);
    }

    fn top(&self, step: usize) -> Option<i32> {
        self.tops.iter().find(|(number, _)| *number == step).map(|(_, y)| *y)
    }

    fn rails(&mut self, rails: &[Rail<'_>]) {
        let mut labels = Vec::new();
        let mut above = (0, 0);
        for rail in rails {
            let left = self.columns.lanes[rail.lane];
            let x = left - 10 - RAIL * i32::try_from(rail.level).unwrap_or(0);
            let Some(from) = self.top(rail.from).map(|y| y + 10) else { continue };
            for step in &rail.to {
                let Some(to) = self.top(*step).map(|y| y + 10) else { continue };
                self.line(vec![(left, from), (x, from), (x, to), (left - 1, to)], Color::Red, true);
            }
            // Several of one step are above each other.
            above = (rail.from, if above.0 == rail.from { above.1 + 11 } else { 0 });
            labels.push(((x - 3, from - 4 - above.1), rail.relaxation));
        }
        // Labels are over the arrows that they cross.
        for ((x, y), relaxation) in labels {
            let width = Font::Small.width(relaxation);
            self.rect([x - width - 1, y - 9, width + 2, 11], Color::White, Color::None, false);
            self.text((x, y), relaxation, Font::Small, Color::Red, Align::Right);
        }
    }

    /// Draws the way back to the first step of a cycle.
    fn cycle(&mut self, bottom: i32) {
        let Some(first) = self.scene.cycle else { return };
        let Some(to) = self.tops.iter().find(|(n, _)| *n >= first).map(|(_, y)| y + 10) else {
            return;
        };
        let Some(from) = self.tops.last().map(|(_, y)| y + 10) else { return };
        let end = bottom.min(from);
        let points =
            vec![(MARGIN + 14, end), (MARGIN + 2, end), (MARGIN + 2, to), (MARGIN + 14, to)];
        self.line(points, Color::Black, true);
    }

    /// Where the processes are in the end.
    fn ending(&mut self, last: &State, mut y: i32) -> i32 {
        if let Some(first) = self.scene.cycle {
            let text = format!("and again from step {first}, for ever");
            self.text((MARGIN, y), &text, Font::Plain, Color::Black, Align::Left);
            return y + 18;
        }
        for (actor, process) in self.scene.processes.iter().zip(&last.processes) {
            let registers = actor.registers.iter().filter_map(|r| {
                let value = process.registers[r].as_ref()?;
                Some(format!("{} = {}", short(r, MAX_LABEL), short(value, MAX_LABEL)))
            });
            let parts: Vec<String> =
                [process.place.to_string()].into_iter().chain(registers).collect();
            let text = format!("{}: {}", short(&actor.name, MAX_TEXT), parts.join(", "));
            let text = short(&text, 100);
            self.text((MARGIN, y), &text, Font::Plain, Color::Black, Align::Left);
            y += 18;
        }
        y
    }

    /// What the parts of the picture mean that are there.
    fn legend(&mut self, rows: &[Row], has_rails: bool, mut y: i32) -> i32 {
        let has = |kind: TileKind| {
            let of = |row: &Row| match row {
                Row::Step { tiles, .. } => tiles.iter().flatten().any(|tile| tile.kind == kind),
                _ => false,
            };
            rows.iter().any(of)
        };
        let mut lines = Vec::new();
        if has(TileKind::Write) || has(TileKind::Waiting) {
            lines.push(match self.scene.buffers {
                Buffers::Load => {
                    "blue boxes: what is on its way to the process, the oldest at the right"
                }
                _ => "blue boxes: writes that have not reached memory, the oldest at the right",
            });
        }
        if has(TileKind::Waiting) {
            lines.push("dashed blue boxes: writes in the buffer of their variable");
        }
        if has(TileKind::Guess) {
            lines.push("yellow boxes: reads with a guessed value that memory still has to have");
        }
        if has(TileKind::Past) {
            lines.push("gray boxes: older values that the process may still read");
        }
        if has_rails {
            lines.push("red arrows: the step takes effect before the earlier one");
        }
        for line in lines {
            self.text((MARGIN, y), line, Font::Small, Color::Gray, Align::Left);
            let right = MARGIN + Font::Small.width(line);
            self.columns.end = self.columns.end.max(right);
            y += 14;
        }
        y
    }
}
