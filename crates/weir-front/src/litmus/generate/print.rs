//! Cycles as litmus tests.

use super::REGISTERS;
use super::cycle::{Cycle, Step};
use super::edge::{Access, Link};
use super::values::{self, Values};
use crate::columns::pad;

/// The names of locations, one for each edge that changes it.
const LOCATIONS: &[u8; super::MAX_EDGES] = b"xyzabcdefghijklmnopqrstuvw";

fn location(index: usize) -> char {
    char::from(LOCATIONS[index])
}

/// The columns of a test, and what its condition asks for.
#[derive(Default)]
struct Sheet {
    columns: Vec<Vec<String>>,
    condition: Vec<String>,
}

/// The text of a cycle's test.
pub(super) fn print(cycle: &Cycle) -> String {
    let values = values::of(cycle.steps());
    let mut sheet = Sheet::default();
    let mut first = 0;
    for run in cycle.runs() {
        sheet.thread(run, first, &values);
        first += run.len();
    }
    for (index, &writes) in values.writes.iter().enumerate() {
        sheet.order(location(index), writes);
    }
    let name = cycle.name();
    let init: String =
        (0..values.writes.len()).map(|index| format!("{}=0; ", location(index))).collect();
    let rows = sheet.rows();
    let condition = sheet.condition.join(" /\\ ");
    format!(
        "X86 {name}\n\"{cycle}\"\nGenerator=weir\nCycle={cycle}\n{{ {init}}}\n{rows}exists ({condition})\n"
    )
}

impl Sheet {
    /// Adds a thread. Its first access is number `first` of the cycle.
    fn thread(&mut self, run: &[Step], first: usize, values: &Values) {
        let thread = self.columns.len();
        let mut column = vec![format!("P{thread}")];
        let mut registers = REGISTERS.into_iter();
        let mut register = || registers.next().unwrap_or_default();
        for (step, i) in run.iter().zip(first..) {
            let (location, value) = (location(values.locations[i]), values.values[i]);
            match step.access {
                Access::Write => column.push(format!("MOV [{location}],${value}")),
                Access::Exchange => {
                    let register = register();
                    column.push(format!("MOV {register},${value}"));
                    column.push(format!("XCHG [{location}],{register}"));
                }
                Access::Read => {
                    let register = register();
                    column.push(format!("MOV {register},[{location}]"));
                    self.condition.push(format!("{thread}:{register}={value}"));
                }
            }
            if let Link::Program(barrier, _) = step.link {
                column.extend(barrier.instruction().map(str::to_owned));
            }
        }
        self.columns.push(column);
    }

    /// Asks for the order of the writes to a location. The last one remains. If
    /// there are more than two, a thread of its own sees the others go by.
    fn order(&mut self, location: char, writes: usize) {
        if writes > 2 {
            let thread = self.columns.len();
            let mut column = vec![format!("P{thread}")];
            for (value, register) in (1..writes).zip(REGISTERS) {
                column.push(format!("MOV {register},[{location}]"));
                self.condition.push(format!("{thread}:{register}={value}"));
            }
            self.columns.push(column);
        }
        if writes > 1 {
            self.condition.push(format!("{location}={writes}"));
        }
    }

    /// The columns side by side.
    fn rows(&self) -> String {
        let width = |column: &Vec<String>| {
            column.iter().map(|text| text.chars().count()).max().unwrap_or(0)
        };
        let height = self.columns.iter().map(Vec::len).max().unwrap_or(0);
        let mut rows = String::new();
        for row in 0..height {
            let cell = |column: &Vec<String>| {
                let text = column.get(row).map_or("", String::as_str);
                pad(text, width(column))
            };
            let cells: Vec<String> = self.columns.iter().map(cell).collect();
            rows += &format!(" {} ;\n", cells.join(" | "));
        }
        rows
    }
}
