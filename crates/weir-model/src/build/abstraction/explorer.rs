//! Follows one process: its abstract states and the steps between them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use super::values::Value;
use super::{Abstraction, Access, CodeStep, MAX_READ, Much, Registers};
use crate::build::domain::Set;
use crate::build::local::forget;
use crate::flow::{Flow, Node, NodeId};
use crate::ids::ProcessId;
use crate::limits::Budget;
use crate::program::Program;

/// A process that is being followed.
pub(super) struct Explorer<'a> {
    pub(super) program: &'a Program,
    pub(super) flow: &'a Flow,
    pub(super) p: ProcessId,
    /// The values that variables may have.
    pub(super) sets: &'a RefCell<Vec<Set>>,
    /// Whether what is written is added to the sets.
    pub(super) follows_writes: bool,
    /// The most states.
    pub(super) most: usize,
    /// How many values were read.
    pub(super) read: usize,
    pub(super) states: Vec<(NodeId, Registers)>,
    /// For each state how many values there were to read when it was left last.
    pub(super) left: Vec<usize>,
    /// Steps of states that may be left more than once.
    pub(super) seen: FxHashSet<(usize, usize)>,
    pub(super) found: Abstraction,
}

impl<'a> Explorer<'a> {
    pub(super) fn new(
        program: &'a Program,
        flow: &'a Flow,
        p: ProcessId,
        sets: &'a RefCell<Vec<Set>>,
        tracked: &[bool],
    ) -> Self {
        let declared = &program.processes[p.index()].registers;
        let initial: Registers =
            declared.iter().zip(tracked).map(|(r, t)| t.then_some(r.init)).collect();
        let found = Abstraction {
            tracked: tracked.to_vec(),
            ids: FxHashMap::default(),
            steps: vec![],
            last_reads: vec![],
            labels: BTreeSet::new(),
            fails: None,
            leaves: None,
            awaits: BTreeMap::new(),
        };
        let mut explorer = Self {
            program,
            flow,
            p,
            sets,
            follows_writes: false,
            most: 1,
            read: 0,
            states: vec![],
            left: vec![],
            seen: FxHashSet::default(),
            found,
        };
        // There is room for one.
        let _ = explorer.state(flow.entry, initial);
        explorer
    }

    /// Follows the process from all states from which it was not followed, or which read
    /// more than before.
    pub(super) fn go_on(&mut self, budget: &Budget) -> Result<(), Much> {
        let mut next = 0;
        while next < self.states.len() {
            let values = self.values_to_read(next);
            let is_new = next == self.left.len();
            if is_new {
                self.left.push(values);
            }
            if is_new || self.left[next] != values {
                self.left[next] = values;
                self.read += values;
                budget.tick()?;
                if self.read > MAX_READ && self.most != usize::MAX {
                    return Err(Much::States);
                }
                self.expand(next)?;
            }
            next += 1;
        }
        Ok(())
    }

    /// How many values a state may read.
    fn values_to_read(&self, state: usize) -> usize {
        match &self.flow.nodes[self.states[state].0].node {
            Node::Load(_, place, _) | Node::Rmw(_, place, _, _) => {
                let first = place.first.index();
                let elements = &self.sets.borrow()[first..first + place.len as usize];
                elements.iter().flatten().map(BTreeSet::len).sum()
            }
            _ => 0,
        }
    }

    /// The next node at which a process may stand; a loop that has none stays as it is.
    fn past_structure(&self, node: NodeId) -> NodeId {
        let mut next = node;
        for _ in 0..self.flow.nodes.len() {
            if !self.flow.is_transparent(next) {
                return next;
            }
            next = self.flow.nodes[next].node.successors()[0];
        }
        node
    }

    fn state(&mut self, node: NodeId, mut registers: Registers) -> Result<usize, Much> {
        let node = self.past_structure(node);
        let (tracked, live) = (&self.found.tracked, &self.flow.live[node]);
        let none = |r: usize| tracked[r].then_some(0);
        if (0..registers.len()).any(|r| !live[r] && registers[r] != none(r)) {
            let mut kept = registers.to_vec();
            forget(self.flow, node, &mut kept, none);
            registers = kept.into();
        }
        let key = (node, registers);
        if let Some(&id) = self.found.ids.get(&key) {
            return Ok(id);
        }
        let id = self.states.len();
        if id >= self.most {
            return Err(Much::States);
        }
        self.found.labels.extend(&self.flow.nodes[node].labels);
        self.found.ids.insert(key.clone(), id);
        self.states.push(key);
        Ok(id)
    }

    fn expand(&mut self, from: usize) -> Result<(), Much> {
        let (node, registers) = self.states[from].clone();
        let flow = self.flow;
        let located = &flow.nodes[node];
        let span = located.span;
        let is_direct = located.is_direct;
        let reads = matches!(located.node, Node::Load(..) | Node::Rmw(..));
        let go = |this: &mut Self, access, to, registers| {
            let to = this.state(to, registers)?;
            if let Some(test) = located.within {
                let is_left = flow.nodes[this.states[to].0].within != Some(test);
                *this.found.awaits.entry(test).or_default() |= is_left;
            }
            if !reads || this.seen.insert((from, to)) {
                this.found.steps.push(CodeStep { from, access, to });
            }
            Ok::<(), Much>(())
        };
        match &located.node {
            Node::End => {}
            Node::Jump(next) | Node::Goto(next) | Node::Nop(next) => {
                go(self, Access::Local, *next, registers)?;
            }
            Node::Fence(kind, next) => go(self, Access::Fence(*kind), *next, registers)?,
            Node::Choose(nexts) => {
                for next in nexts {
                    go(self, Access::Local, *next, registers.clone())?;
                }
            }
            Node::Any(r, values, next) => {
                for &value in values {
                    for registers in self.set(&registers, *r, &Value::Known(value), span)? {
                        go(self, Access::Local, *next, registers)?;
                    }
                }
            }
            Node::Call(ways) => {
                for (_, argument, next) in ways {
                    let Some((r, values)) = argument else {
                        go(self, Access::Local, *next, registers.clone())?;
                        continue;
                    };
                    for &value in values {
                        for registers in self.set(&registers, *r, &Value::Known(value), span)? {
                            go(self, Access::Local, *next, registers)?;
                        }
                    }
                }
            }
            Node::Return(_, code, next) => {
                if let Some(code) = code {
                    self.value(code, &registers, None, span);
                }
                go(self, Access::Local, *next, registers)?;
            }
            Node::Assign(r, code, next) => {
                let value = self.value(code, &registers, None, span);
                for registers in self.set(&registers, *r, &value, span)? {
                    go(self, Access::Local, *next, registers)?;
                }
            }
            Node::Branch(code, yes, no) => {
                let value = self.value(code, &registers, None, span);
                if !value.all(|v| v == 0) {
                    go(self, Access::Local, *yes, registers.clone())?;
                }
                if !value.all(|v| v != 0) {
                    go(self, Access::Local, *no, registers)?;
                }
            }
            Node::Assume(code, next) | Node::Assert(code, next) => {
                let value = self.value(code, &registers, None, span);
                if matches!(located.node, Node::Assert(..)) && !value.all(|v| v != 0) {
                    self.found.fails.get_or_insert(span);
                }
                if !value.all(|v| v == 0) {
                    go(self, Access::Local, *next, registers)?;
                }
            }
            Node::Store(place, code, next) => {
                let Some(elements) = self.elements(place, &registers, span) else {
                    return Ok(());
                };
                let value = self.value(code, &registers, None, span);
                if self.write(&elements, &value, span)? {
                    let access = match is_direct {
                        true => Access::Arw(elements),
                        false => Access::Write(elements),
                    };
                    go(self, access, *next, registers)?;
                }
            }
            Node::Load(r, place, next) => {
                let Some(elements) = self.elements(place, &registers, span) else {
                    return Ok(());
                };
                let read = self.read(&elements);
                let access = match is_direct {
                    true => Access::Arw(elements),
                    false => Access::Read(elements),
                };
                let all = self.set(&registers, *r, &read, span)?;
                if all.is_empty() {
                    self.found.last_reads.push((from, access.clone()));
                }
                for registers in all {
                    go(self, access.clone(), *next, registers)?;
                }
            }
            Node::Rmw(r, place, rmw, next) => {
                let Some(elements) = self.elements(place, &registers, span) else {
                    return Ok(());
                };
                let given = self.given(*r, rmw, &elements, &registers, span)?;
                let all = self.set(&registers, *r, &given, span)?;
                if all.is_empty() {
                    self.found.last_reads.push((from, Access::Arw(elements.clone())));
                }
                for registers in all {
                    go(self, Access::Arw(elements.clone()), *next, registers)?;
                }
            }
        }
        Ok(())
    }
}
