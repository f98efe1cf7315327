//! Two layouts of the steps of a run: a column for each process, with memory at the
//! right, where that fits; otherwise one line per step that names its process.

use weir_front::columns::{pad, spaces};
use weir_model::system::System;

use super::{Item, Layout};
use crate::Hints;
use crate::report::counted;
use crate::report::table::{Table, wrap};

/// Between two columns.
const GAP: &str = "  ";

/// The items of a run as lines, no wider than the layout says where that can be.
pub fn lines(system: &System, items: &[Item], layout: Layout) -> Vec<String> {
    let columns = if layout.lanes { columns(system, items, layout) } else { None };
    columns.unwrap_or_else(|| list(system, items, layout))
}

/// A line across all columns.
fn across(text: &str, width: usize) -> String {
    let title = format!("── {text} ");
    let rest = width.saturating_sub(title.chars().count());
    format!("{title}{}", "─".repeat(rest))
}

/// A line for steps that are not shown.
fn left_out(count: usize, hints: Hints) -> Line {
    let them = if count == 1 { "it" } else { "them" };
    let hint = hints.full.map(|option| format!(" (`{option}` shows {them})")).unwrap_or_default();
    let (what, gap) = (counted(count, "step"), " ".repeat(4 + GAP.len() + 4));
    Line::Text(format!("   ⋮{}{GAP}{what} left out{hint}", &gap[4..]))
}

/// A header, a rule below it, and what comes then, in which lines across all columns
/// stand between rows.
fn with_rule(table: &Table, between: &[(usize, Line)]) -> Vec<String> {
    let width = table.width(GAP);
    let mut rows = table.lines(GAP).into_iter();
    let mut lines: Vec<String> = rows.next().into_iter().collect();
    lines.push("─".repeat(width));
    let mut between = between.iter().peekable();
    for number in 0.. {
        while let Some((_, line)) = between.next_if(|(at, _)| *at == number) {
            lines.push(match line {
                Line::Across(text) => across(text, width),
                Line::Text(text) => text.clone(),
            });
        }
        match rows.next() {
            Some(row) => lines.push(row),
            None => break,
        }
    }
    lines
}

/// A line that is no row.
enum Line {
    Across(String),
    Text(String),
}

fn number(n: usize) -> String {
    format!("{n:>4}")
}

/// A line, aligned like a number.
fn place(line: &str) -> String {
    format!("{line:>4}")
}

/// A column for each process; `None` if that is too wide.
fn columns(system: &System, items: &[Item], layout: Layout) -> Option<Vec<String>> {
    let mut table = Table::default();
    let names = system.processes.iter().map(|p| p.name.as_str());
    table.row(["step", "line"].into_iter().chain(names).chain(["memory"]));
    let mut between = Vec::new();
    let mut rows = 0;
    for item in items {
        let mut cells = vec![String::new(); 2];
        match item {
            Item::Start { memory } => {
                cells.extend(system.processes.iter().map(|_| "·".to_owned()));
                cells.push(memory.clone());
            }
            Item::Step { step, line, process, action, buffer, memory } => {
                cells = vec![number(*step), line.as_deref().map_or(String::new(), place)];
                cells.extend(system.process_ids().map(|p| match p == *process {
                    false => "·".to_owned(),
                    true if buffer.is_empty() => action.clone(),
                    true => format!("{action}  {buffer}"),
                }));
                cells.push(memory.clone().unwrap_or_default());
            }
            Item::Left { count, .. } => {
                between.push((rows, left_out(*count, layout.hints)));
                continue;
            }
            Item::Across(text) => {
                between.push((rows, Line::Across(text.clone())));
                continue;
            }
        }
        table.row(cells);
        rows += 1;
    }
    (table.width(GAP) <= layout.width).then(|| with_rule(&table, &between))
}

/// One line for each step, without a column for memory: the steps that change it say
/// what they write. Memory is shown whole in the beginning, where steps are left out,
/// and in the end.
fn list(system: &System, items: &[Item], layout: Layout) -> Vec<String> {
    let mut list = List::new(system, items, layout.width);
    let mut shown = "";
    let mut newest = "";
    for item in items {
        match item {
            Item::Start { memory } => {
                list.memory(memory);
                (shown, newest) = (memory, memory);
            }
            Item::Step { step, line, process, action, buffer, memory } => {
                let line = line.as_deref().map_or(String::new(), place);
                let name = list.names[process.index()];
                list.row([&number(*step), &line], [name, action, buffer]);
                newest = memory.as_deref().unwrap_or(newest);
            }
            Item::Left { count, memory } => {
                list.between(left_out(*count, layout.hints));
                newest = memory;
                if newest != shown {
                    list.memory(memory);
                    shown = memory;
                }
            }
            Item::Across(text) => {
                if newest != shown {
                    list.memory(newest);
                    shown = newest;
                }
                list.between(Line::Across(text.clone()));
            }
        }
    }
    if newest != shown {
        list.memory(newest);
    }
    with_rule(&list.table, &list.between)
}

/// A list of steps while it is made.
struct List<'a> {
    table: Table,
    rows: usize,
    between: Vec<(usize, Line)>,
    names: Vec<&'a str>,
    /// The width of each column but the last.
    widths: [usize; 4],
    width: usize,
}

impl<'a> List<'a> {
    fn new(system: &'a System, items: &[Item], width: usize) -> Self {
        let names: Vec<&str> = system.processes.iter().map(|p| p.name.as_str()).collect();
        let header = ["step", "line", "process", "action", "under way"];
        let mut widths = [0, 1, 2, 3].map(|column: usize| header[column].len());
        let mut buffers = 0;
        for item in items {
            if let Item::Step { process, action, buffer, .. } = item {
                widths[2] = widths[2].max(names[process.index()].chars().count());
                widths[3] = widths[3].max(action.chars().count());
                buffers = buffers.max(buffer.chars().count());
            }
        }
        // Whatever the names are, there is room for the columns behind.
        widths[2] = widths[2].min(header[2].len().max(width / 5));
        let start: usize = widths[..3].iter().map(|w| w + GAP.len()).sum();
        let has_buffers = buffers > 0;
        let rest = match has_buffers {
            true => buffers.min(width / 3).max(header[4].len()) + GAP.len(),
            false => 0,
        };
        widths[3] = widths[3].min(width.saturating_sub(start + rest).max(header[3].len()));
        let mut table = Table::default();
        table.row(header.into_iter().take(if has_buffers { 5 } else { 4 }));
        Self { table, rows: 0, between: vec![], names, widths, width }
    }

    /// Where a column begins.
    fn start(&self, column: usize) -> usize {
        self.widths[..column].iter().map(|w| w + GAP.len()).sum()
    }

    /// Adds a row. What does not fit into its last three cells goes on in more rows.
    fn row(&mut self, numbers: [&str; 2], [name, action, buffer]: [&str; 3]) {
        let names = wrap(name, self.widths[2]);
        let actions = wrap(action, self.widths[3]);
        // Behind the bracket.
        let buffers = wrap(buffer, self.width.saturating_sub(self.start(4) + 1));
        let count = names.len().max(actions.len()).max(buffers.len());
        let part = |parts: &[String], i: usize| parts.get(i).cloned().unwrap_or_default();
        for i in 0..count {
            let buffer = part(&buffers, i);
            let gap = if i > 0 && !buffer.is_empty() { " " } else { "" };
            let numbers = numbers.map(|n| if i == 0 { n.to_owned() } else { String::new() });
            let cells = [part(&names, i), part(&actions, i), format!("{gap}{buffer}")];
            self.table.row(numbers.into_iter().chain(cells));
            self.rows += 1;
        }
    }

    fn between(&mut self, line: Line) {
        self.between.push((self.rows, line));
    }

    fn memory(&mut self, memory: &str) {
        let (name, text) = (self.start(2), self.start(3));
        for (i, part) in wrap(memory, self.width.saturating_sub(text)).into_iter().enumerate() {
            let title = if i == 0 { "memory" } else { "" };
            let gap = text - name;
            self.between(Line::Text(format!("{}{}{part}", spaces(name), pad(title, gap))));
        }
    }
}
