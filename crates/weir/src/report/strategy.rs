//! Strategies of games, as tables.

use std::collections::{BTreeMap, BTreeSet};

use weir_model::game::{Configuration, Message, Strategy, View};
use weir_model::ids::{ProcessId, StateId, TransitionId, ValueId, VarId};
use weir_model::system::StateKind;

use super::table::Table;
use crate::Loaded;

/// A strategy as the lines of a table, the first one its head. Strategies that say
/// nothing about positions have none.
pub fn lines(loaded: &Loaded, strategy: &Strategy) -> Vec<String> {
    let mut table = Table::default();
    let places = Places::new(loaded, strategy);
    let names = || loaded.system.processes.iter().map(|p| p.name.clone());
    match strategy {
        Strategy::Nothing | Strategy::NeverUpdate => return vec![],
        Strategy::Views { process, moves } => {
            let name = &loaded.system.processes[process.index()].name;
            table.row([name.as_str(), "reads", "may fence", "plays"]);
            for row in merged(moves) {
                let (view, fence, path) = row;
                table.row([
                    places.name(*process, view.state),
                    values(loaded, &view.values),
                    fence.to_owned(),
                    action(loaded, *process, path),
                ]);
            }
        }
        Strategy::Process(positions) => {
            table.row(head("turn", names(), ["memory", "plays", "then turn"]));
            for (number, position) in positions.iter().enumerate() {
                let (plays, next) = match &position.action {
                    Some((process, path)) => {
                        let name = &loaded.system.processes[process.index()].name;
                        (format!("{name}: {}", action(loaded, *process, path)), &position.next)
                    }
                    None => {
                        ("nothing: the update player has caused a deadlock".to_owned(), &vec![])
                    }
                };
                let next: Vec<String> = next.iter().map(usize::to_string).collect();
                let next = if next.is_empty() { "won".to_owned() } else { next.join(" ") };
                table.row(row(&places, number, &position.at, [plays, next]));
            }
        }
        Strategy::Update(positions) => {
            table.row(head("turn", names(), ["memory", "after this", "turn"]));
            for (number, position) in positions.iter().enumerate() {
                let mut first = true;
                if position.replies.is_empty() {
                    let won = ["whatever is left".to_owned(), "won".to_owned()];
                    table.row(row(&places, number, &position.at, won));
                }
                for (process, path, next) in &position.replies {
                    let name = &loaded.system.processes[process.index()].name;
                    let cells =
                        [format!("{name}: {}", action(loaded, *process, path)), next.to_string()];
                    let mut row = row(&places, number, &position.at, cells);
                    if !std::mem::replace(&mut first, false) {
                        let count = row.len();
                        row[..count - 2].iter_mut().for_each(String::clear);
                    }
                    table.row(row);
                }
            }
        }
    }
    table.lines("  ")
}

fn head<const N: usize>(
    first: &str,
    names: impl Iterator<Item = String>,
    rest: [&str; N],
) -> Vec<String> {
    std::iter::once(first.to_owned()).chain(names).chain(rest.map(str::to_owned)).collect()
}

fn row(places: &Places<'_>, number: usize, at: &Configuration, rest: [String; 2]) -> Vec<String> {
    let loaded = places.loaded;
    let mut cells = vec![format!("{number:>4}")];
    for (p, state) in loaded.system.process_ids().zip(&at.states) {
        let buffer = buffer(loaded, at, p);
        let place = places.name(p, *state);
        cells.push(if buffer.is_empty() { place } else { format!("{place} [{buffer}]") });
    }
    cells.push(values(loaded, &at.memory));
    cells.extend(rest);
    cells
}

/// A view, whether the process may fence, and what to play.
type Row<'m> = (&'m View, &'static str, &'m [TransitionId]);

/// Rows in which it does not matter whether the process may fence are one.
fn merged(moves: &[(View, Box<[TransitionId]>)]) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    for (view, path) in moves {
        match rows.last_mut() {
            Some((last, fence, same))
                if (last.state, &last.values) == (view.state, &view.values) && **same == **path =>
            {
                *fence = "either way";
            }
            _ => rows.push((view, if view.fence { "yes" } else { "no" }, path)),
        }
    }
    rows
}

/// What the places of a strategy are called. A line or a label may stand for several control
/// states: an `await` that reads two variables has one after the first read, and a register may
/// have several values. Then the control state is named as well, as `weir show --system` does.
struct Places<'l> {
    loaded: &'l Loaded,
    /// The control states of the strategy, by what a person reads.
    states: BTreeMap<(ProcessId, String), BTreeSet<StateId>>,
}

impl<'l> Places<'l> {
    fn new(loaded: &'l Loaded, strategy: &Strategy) -> Self {
        let mut places = Self { loaded, states: BTreeMap::new() };
        match strategy {
            Strategy::Nothing | Strategy::NeverUpdate => {}
            Strategy::Views { process, moves } => {
                moves.iter().for_each(|(view, _)| places.add(*process, view.state));
            }
            Strategy::Process(positions) => positions.iter().for_each(|p| places.add_all(&p.at)),
            Strategy::Update(positions) => positions.iter().for_each(|p| places.add_all(&p.at)),
        }
        places
    }

    fn add(&mut self, process: ProcessId, state: StateId) {
        let name = place(self.loaded, process, state);
        self.states.entry((process, name)).or_default().insert(state);
    }

    fn add_all(&mut self, at: &Configuration) {
        for (p, state) in self.loaded.system.process_ids().zip(&at.states) {
            self.add(p, *state);
        }
    }

    fn name(&self, process: ProcessId, state: StateId) -> String {
        let name = place(self.loaded, process, state);
        let is_one = |states: &BTreeSet<StateId>| states.len() == 1;
        match self.states.get(&(process, name.clone())).is_none_or(is_one) {
            true => name,
            false => format!("{name} ({})", self.loaded.system.state_name(process, state)),
        }
    }
}

/// Where a process stands, in a word or two.
pub fn place(loaded: &Loaded, process: ProcessId, state: StateId) -> String {
    let found = loaded.system.state(process, state);
    let labels = &loaded.system.program.processes[process.index()].labels;
    let label = found.labels.first().map(|l| format!("@{}", labels[l.index()].name));
    match (&found.kind, label) {
        (_, Some(label)) => label,
        (StateKind::Ended, None) => "ended".to_owned(),
        (StateKind::Failed(_), None) => "failed".to_owned(),
        (StateKind::Left(excess), None) => excess.to_string(),
        (StateKind::Inside, None) => format!("line {}", loaded.line(found.span)),
    }
}

/// The values of all variables.
pub fn values(loaded: &Loaded, values: &[ValueId]) -> String {
    let each = loaded.system.vars.iter().enumerate().zip(values);
    let shown: Vec<String> = each
        .map(|((x, var), d)| {
            format!("{}={}", var.name, loaded.system.show_value(VarId::new(x), *d))
        })
        .collect();
    shown.join(" ")
}

/// A message, `x=1`; a value on its way from memory is `x:1`.
pub fn message(loaded: &Loaded, message: &Message) -> String {
    let name = &loaded.system.vars[message.var.index()].name;
    let value = loaded.system.show_value(message.var, message.value);
    let more = if message.more { "+" } else { "" };
    format!("{name}{}{value}{more}", if message.own { '=' } else { ':' })
}

/// What is in the buffer of a process, oldest first. `…` stands for messages that are not
/// known; after it come the newest own ones among them.
pub fn buffer(loaded: &Loaded, at: &Configuration, process: ProcessId) -> String {
    let listed = at.buffers[process.index()].iter();
    let mut shown: Vec<String> = listed.map(|m| message(loaded, m)).collect();
    if let Some(newest) = &at.beyond[process.index()] {
        shown.push("…".to_owned());
        let own = |(x, value): (usize, &Option<ValueId>)| {
            Some(Message { var: VarId::new(x), value: (*value)?, own: true, more: false })
        };
        let newest = newest.iter().enumerate().filter_map(own);
        shown.extend(newest.map(|m| message(loaded, &m)));
    }
    shown.join(" ")
}

/// An instruction and its line.
pub fn action(loaded: &Loaded, process: ProcessId, path: &[TransitionId]) -> String {
    let Some(last) = path.last() else { return String::new() };
    let transition = loaded.system.transition(process, *last);
    let line = loaded.line(transition.span);
    format!("{} (line {line})", loaded.system.show_op(transition.op))
}
