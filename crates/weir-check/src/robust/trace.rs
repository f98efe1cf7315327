//! The trace of a run: its accesses, and four relations between them (Shasha and Snir 1988).
//!
//! * *program order* `po`: two accesses of one process, in the order in which it did them;
//! * *write order* `co`: two writes to one variable, in the order in which they reached memory;
//! * *reads-from* `rf`: a write, and a read that returns its value;
//! * *from-reads* `fr`: a read, and a write that comes in `co` after the one that was read. A read
//!   of the initial value comes before every write to the variable.
//!
//! A run under SC takes its accesses in an order that contains all four, so its trace has no cycle.
//! If the trace of a run has no cycle, the accesses have an order that contains all four. In this
//! order they are a run under SC with the same trace.
//!
//! An atomic operation reads and writes; one that leaves its variable as it was only reads. All
//! writes of the run have to reach memory, the writes of a process to one variable in order.

use std::fmt;

use serde::{Deserialize, Serialize};
use weir_model::ids::{ProcessId, StateId, VarId};
use weir_model::system::{Op, System};

use crate::witness::WitnessStep;

/// A relation between accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Relation {
    /// Program order.
    Po,
    /// The order of writes to a variable.
    Co,
    /// A read returns the value of a write.
    Rf,
    /// A read returns an older value than that of a write.
    Fr,
}

impl Relation {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Po, Self::Co, Self::Rf, Self::Fr];
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Po => "po",
            Self::Co => "co",
            Self::Rf => "rf",
            Self::Fr => "fr",
        })
    }
}

/// An access of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// The step with which the process did it, from 1.
    pub step: usize,
    /// Whose access it is.
    pub process: ProcessId,
    /// The variable.
    pub var: VarId,
    /// The place of the write in the order of all writes of the run, if it writes.
    pub written: Option<usize>,
    /// What it reads, if it reads: the access that wrote the value, or the initial value.
    pub read: Option<Source>,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// It was there in the beginning.
    Initial,
    /// An access wrote it: the number of the access, from 0.
    Access(usize),
}

/// The trace of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The accesses, in the order in which they were done.
    pub accesses: Vec<Access>,
}

impl Trace {
    /// The trace of a run that its checker has accepted.
    ///
    /// # Errors
    /// Why it has none: a write does not reach memory, or a step has a rule that does not occur
    /// under SC, TSO and PSO.
    pub fn new(system: &System, steps: &[WitnessStep]) -> Result<Self, String> {
        let mut controls: Vec<StateId> = system.processes.iter().map(|p| p.initial).collect();
        let mut accesses: Vec<Access> = Vec::new();
        // For each variable the access whose value memory has.
        let mut memory = vec![Source::Initial; system.vars.len()];
        let mut writes = 0;
        for (i, step) in steps.iter().enumerate() {
            let wrong = |what: &str| format!("step {}: {what}", i + 1);
            let process = system.processes.iter().position(|p| p.name == step.process);
            let process = ProcessId::new(process.ok_or_else(|| wrong("there is no such process"))?);
            if step.transition.is_none() {
                if step.rule == "transfer write" {
                    continue;
                }
                let var = system.vars.iter().position(|v| Some(&v.name) == step.variable.as_ref());
                let waits = |a: &Access| {
                    let same = a.process == process && Some(a.var.index()) == var;
                    same && a.read.is_none() && a.written.is_none()
                };
                let first = accesses.iter().position(waits).filter(|_| step.rule == "update");
                let first = first.ok_or_else(|| wrong("no write reaches memory"))?;
                accesses[first].written = Some(writes);
                writes += 1;
                memory[accesses[first].var.index()] = Source::Access(first);
                continue;
            }
            let taken = step.taken(system, process, controls[process.index()]);
            let taken = taken.ok_or_else(|| wrong("there is no such transition"))?;
            controls[process.index()] = taken.to;
            let (var, writes_now, reads) = match (taken.op, step.rule.as_str()) {
                (Op::Nop | Op::Fence(_), _) => continue,
                (Op::Write(x, _), "write") => (x, false, None),
                (Op::Write(x, _), "write memory") => (x, true, None),
                (Op::Read(x, _), "read memory") => (x, false, Some(memory[x.index()])),
                (Op::Read(x, _), "read own write") => {
                    let own = |a: &Access| a.process == process && a.var == x && a.read.is_none();
                    let last = accesses.iter().rposition(own);
                    let last = last.ok_or_else(|| wrong("there is no own write"))?;
                    (x, false, Some(Source::Access(last)))
                }
                (Op::Arw(x, d, e), _) => (x, d != e, Some(memory[x.index()])),
                _ => return Err(wrong("traces do not have this rule")),
            };
            let written = writes_now.then_some(writes);
            if writes_now {
                writes += 1;
                memory[var.index()] = Source::Access(accesses.len());
            }
            accesses.push(Access { step: i + 1, process, var, written, read: reads });
        }
        if accesses.iter().any(|a| a.read.is_none() && a.written.is_none()) {
            return Err("a write does not reach memory".to_owned());
        }
        Ok(Self { accesses })
    }

    /// The access that a step does, by its number, if it does one.
    pub fn of_step(&self, step: usize) -> Option<usize> {
        self.accesses.iter().position(|a| a.step == step)
    }

    /// Whether two accesses, by their numbers, are in a relation.
    pub fn related(&self, from: usize, relation: Relation, to: usize) -> bool {
        let (a, b) = (&self.accesses[from], &self.accesses[to]);
        match relation {
            Relation::Po => a.process == b.process && from < to,
            Relation::Co => a.var == b.var && a.written.zip(b.written).is_some_and(|(a, b)| a < b),
            Relation::Rf => b.read == Some(Source::Access(from)),
            Relation::Fr => {
                let Some((source, written)) = a.read.zip(b.written) else { return false };
                let is_later = match source {
                    Source::Initial => true,
                    Source::Access(w) => self.accesses[w].written < Some(written),
                };
                a.var == b.var && from != to && is_later
            }
        }
    }
}
