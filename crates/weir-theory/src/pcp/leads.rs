//! A search for solutions letter by letter, and the run of the program for one.
//!
//! *Idea.* After some pairs one word is a prefix of the other, or there is no solution that
//! begins like this. What the longer word has more is the *lead*. Which pairs can follow
//! depends only on the lead, so each lead is visited once, breadth-first. A sequence of pairs
//! that leads back to the empty lead is a shortest solution.
//!
//! *Run.* A solution determines the transitions of both processes. Each variable is written by
//! one process and read by the other, and no value may be overwritten before it is read. So a
//! write reaches memory only when all earlier values of its variable have been read, and a
//! guessed read is validated as soon as possible. Such steps do not disable one another, so
//! taking the first one always leads to the end. This needs no search.
//!
//! *Limits.* Leads longer than a limit, and more than so many together, are left out ([`Limits`]).
//! Then a solution may be missed, and an unsuccessful search proves nothing. If nothing was left
//! out there are finitely many leads, and there is no solution.

use std::collections::HashSet;

use weir_model::answer::{Run, Snapshot};
use weir_model::ids::{Cell, ProcessId, StateId, TransitionId};
use weir_model::limits::{Budget, Stop};
use weir_model::memory_model::MemoryModel;
use weir_model::semantics::{Form, Rule, Step};
use weir_model::system::{Expanded, Op, StateKind, System};

use super::{Access, Instance, accesses};

/// What one word has more than the other: whose it is, and the letters.
type Lead = (usize, Vec<u8>);

/// The lead after one more pair; `None` if the words differ.
fn extended((side, lead): &Lead, pair: &[String; 2]) -> Option<Lead> {
    let other = 1 - side;
    let long = [lead.as_slice(), pair[*side].as_bytes()].concat();
    let short = pair[other].as_bytes();
    let common = long.len().min(short.len());
    (long[..common] == short[..common]).then(|| match long.len() >= short.len() {
        true => (*side, long[common..].to_vec()),
        false => (other, short[common..].to_vec()),
    })
}

/// What a search letter by letter has found.
pub(super) enum Letters {
    /// A shortest solution among those with leads within the limits, by indices from 1.
    Solution(Vec<usize>),
    /// All leads were visited, and none leads back to the empty one: there is no solution.
    Nothing,
    /// Leads were left out because of the limits.
    Cut,
}

/// How far a search letter by letter goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The most letters of a lead.
    pub lead: usize,
    /// The most letters of all leads.
    pub total: usize,
}

impl Limits {
    /// Enough for most solutions, and quick.
    pub const FIRST: Self = Self { lead: 1 << 10, total: 1 << 22 };

    /// Further.
    pub fn more(self) -> Self {
        Self { lead: self.lead * 4, total: self.total * 4 }
    }
}

/// A search for a solution, and how many leads were visited.
pub(super) fn search(
    instance: &Instance,
    limits: Limits,
    budget: &Budget,
) -> Result<(Letters, usize), Stop> {
    // The empty lead has no side. It is not visited again: to return to it is a solution.
    let mut leads: Vec<(Lead, Option<(usize, usize)>)> = vec![((0, vec![]), None)];
    let mut known: HashSet<Lead> = HashSet::new();
    let mut total = 0;
    let mut is_cut = false;
    let mut number = 0;
    while number < leads.len() {
        let lead = leads[number].0.clone();
        for (i, pair) in instance.pairs.iter().enumerate() {
            budget.work(1 + lead.1.len() / 64)?;
            let Some(next) = extended(&lead, pair) else { continue };
            if next.1.is_empty() {
                let mut indices = vec![i + 1];
                let mut at = number;
                while let Some((before, index)) = leads[at].1 {
                    indices.push(index);
                    at = before;
                }
                indices.reverse();
                return Ok((Letters::Solution(indices), leads.len()));
            }
            if known.contains(&next) {
                continue;
            }
            total += next.1.len();
            if next.1.len() > limits.lead || total > limits.total {
                is_cut = true;
                continue;
            }
            budget.check_growth(known.len(), known.capacity(), 2 * size_of::<Lead>())?;
            if total > Limits::FIRST.total {
                budget.check_store(2 * (total + leads.len() * size_of::<Lead>()))?;
            }
            known.insert(next.clone());
            leads.push((next, Some((number, i + 1))));
        }
        number += 1;
    }
    let found = match is_cut {
        true => Letters::Cut,
        false if is_closed(instance, &known) => Letters::Nothing,
        false => Letters::Cut,
    };
    Ok((found, leads.len()))
}

/// Whether pairs lead from the empty lead and from each of some leads to some of them only, and so
/// never back to the empty one. By the definition of a lead, and not as [`search`] extends them.
fn is_closed(instance: &Instance, leads: &HashSet<Lead>) -> bool {
    let empty = (0, Vec::new());
    leads.iter().chain([&empty]).all(|(side, lead)| {
        instance.pairs.iter().all(|pair| {
            let mut words = [pair[0].clone().into_bytes(), pair[1].clone().into_bytes()];
            words[*side].splice(0..0, lead.iter().copied());
            let [u, v] = &words;
            match (u.strip_prefix(&v[..]), v.strip_prefix(&u[..])) {
                (Some([]), _) => false,
                (Some(rest), _) => leads.contains(&(0, rest.to_vec())),
                (_, Some(rest)) => leads.contains(&(1, rest.to_vec())),
                (None, None) => true,
            }
        })
    })
}

/// The transitions of a process that make these accesses and then end it, if there are any.
fn transitions(
    system: Expanded<'_>,
    process: ProcessId,
    accesses: &[Access],
    budget: &Budget,
) -> Result<Option<Vec<TransitionId>>, Stop> {
    // A control state with the number of accesses made, and how it was reached.
    type Node = (StateId, usize);
    let start = (system.processes[process.index()].initial, 0);
    let mut nodes: Vec<(Node, Option<(usize, TransitionId)>)> = vec![(start, None)];
    let mut known: HashSet<Node> = HashSet::from([start]);
    let mut number = 0;
    while number < nodes.len() {
        let (state, done) = nodes[number].0;
        if done == accesses.len() && system.state(process, state).kind == StateKind::Ended {
            let mut taken = Vec::new();
            let mut at = number;
            while let Some((before, id)) = nodes[at].1 {
                taken.push(id);
                at = before;
            }
            taken.reverse();
            return Ok(Some(taken));
        }
        for (id, t) in system.transitions(process, state) {
            budget.tick()?;
            let made = match t.op {
                Op::Nop => Some(0),
                Op::Write(x, d) => {
                    (accesses.get(done) == Some(&Access::Write(x, system.value(x, d)))).then_some(1)
                }
                Op::Read(x, d) => {
                    (accesses.get(done) == Some(&Access::Read(x, system.value(x, d)))).then_some(1)
                }
                Op::Arw(..) | Op::Fence(_) => None,
            };
            let next = made.map(|made| (t.to, done + made));
            if let Some(next) = next.filter(|next| known.insert(*next)) {
                nodes.push((next, Some((number, id))));
            }
        }
        number += 1;
    }
    Ok(None)
}

/// The run of the program of an instance for a solution, by indices from 1.
pub(super) fn run(
    instance: &Instance,
    indices: &[usize],
    system: &System,
    model: MemoryModel,
    budget: &Budget,
) -> Result<Option<Run>, Stop> {
    let expanded = system.expanded(budget)?;
    let mut taken = Vec::new();
    for (side, process) in system.process_ids().enumerate() {
        let accesses = accesses(instance, side, indices);
        match transitions(expanded, process, &accesses, budget)? {
            Some(found) => taken.push(found),
            None => return Ok(None),
        }
    }
    let form = Form::of(model)[0];
    let bound = taken.iter().map(Vec::len).max().unwrap_or(0) + 1;
    let semantics = form.semantics(system, model, bound);
    let Some(mut config) = semantics.initial().next() else { return Ok(None) };
    let start = Snapshot::new(semantics.as_ref(), &config);
    let mut steps = Vec::new();
    let mut done = vec![0; taken.len()];
    // For each variable, how many of the values that it had have not been read.
    let mut unread = vec![0; system.vars.len()];
    let mut scratch = Vec::new();
    loop {
        budget.work(1 + config.len() / 16)?;
        // The steps of memory come first, and then those of the process that has done less.
        let mut best: Option<((bool, usize), Step, Vec<Cell>)> = None;
        let _ = semantics.successors(&config, &mut scratch, &mut |step, next| {
            let p = step.process.index();
            let fits = match (step.transition, step.rule, step.event) {
                (Some(id), ..) => taken[p].get(done[p]) == Some(&id),
                (None, Rule::Update, Some(event)) => unread[event.var.index()] == 0,
                _ => true,
            };
            let order = (step.transition.is_some(), done[p]);
            if fits && best.as_ref().is_none_or(|(known, ..)| order < *known) {
                best = Some((order, step, next.to_vec()));
            }
        });
        let Some((_, step, next)) = best else { break };
        match (step.transition, step.rule, step.event) {
            (Some(_), ..) => done[step.process.index()] += 1,
            (None, Rule::Update, Some(event)) => unread[event.var.index()] += 1,
            (None, Rule::Validate, Some(event)) => unread[event.var.index()] -= 1,
            _ => {}
        }
        steps.push(step);
        config = next;
    }
    let is_done = done.iter().zip(&taken).all(|(done, all)| *done == all.len());
    let is_end = is_done && semantics.is_drained(&config);
    Ok(is_end.then_some(Run { model, form, bound, start, steps }))
}
