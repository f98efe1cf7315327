//! Files of configurations: a line of JSON for each.
//!
//! The first line is an object that says what the file is. A line `{"process":p,"state":"name"}`
//! gives the next number, from 0, to a control state of a process. A line `[states, memory,
//! buffers]` is a configuration: the numbers of control states, the values of variables, and for
//! each process the writes in its buffer, oldest first, each `[variable, value]`.

use std::io::{self, BufRead, BufReader, Read, Write};

use rustc_hash::FxHashMap;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use weir_model::answer::{Buffered, StoreBuffer};
use weir_model::ids::{ProcessId, StateId, ValueId, VarId};
use weir_model::limits::Budget;
use weir_model::system::System;

use super::{Failure, Folder, Listed, malformed, parse};
use crate::Rejected;
use crate::sha256::Sha256;
use crate::witness::is_followed;

/// The most bytes of a line.
const MAX_LINE: usize = 16 << 20;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Named<'t> {
    process: usize,
    #[serde(borrow)]
    state: std::borrow::Cow<'t, str>,
}

/// A configuration as a line has it.
type Line = (Vec<u32>, Vec<i128>, Vec<Vec<(usize, i128)>>);

/// Writes a file of configurations.
pub(super) struct Lines<'s, W> {
    system: &'s System,
    out: W,
    digest: Sha256,
    count: u64,
    /// For each process the numbers of its control states in the file, and how many there are.
    numbers: Vec<(FxHashMap<StateId, u32>, u32)>,
    line: Vec<u8>,
}

impl<'s, W: Write> Lines<'s, W> {
    pub fn new(system: &'s System, out: W, head: &impl Serialize) -> io::Result<Self> {
        let numbers = system.processes.iter().map(|_| Default::default()).collect();
        let digest = Sha256::default();
        let mut lines = Self { system, out, digest, count: 0, numbers, line: vec![] };
        serde_json::to_writer(&mut lines.line, head)?;
        lines.line.push(b'\n');
        lines.write()?;
        Ok(lines)
    }

    fn write(&mut self) -> io::Result<()> {
        self.digest.add(&self.line);
        self.out.write_all(&self.line)?;
        self.line.clear();
        Ok(())
    }

    pub fn add(&mut self, config: &Buffered) -> io::Result<()> {
        let Buffered { controls, memory, buffers } = config;
        let Self { system, numbers, line, .. } = self;
        let mut states = Vec::with_capacity(controls.len());
        for ((p, state), (known, count)) in controls.iter().enumerate().zip(numbers) {
            let number = *known.entry(*state).or_insert(*count);
            if number == *count {
                *count += 1;
                let name = system.state_name(ProcessId::new(p), *state);
                serde_json::to_writer(&mut *line, &Named { process: p, state: name.into() })?;
                line.push(b'\n');
            }
            states.push(number);
        }
        let value = |x: usize, value: ValueId| system.value(VarId::new(x), value);
        let memory = memory.iter().enumerate().map(|(x, d)| value(x, *d)).collect();
        let writes = |buffer: &StoreBuffer| {
            buffer.oldest.iter().map(|(x, d)| (x.index(), value(x.index(), *d))).collect()
        };
        let config: Line = (states, memory, buffers.iter().map(writes).collect());
        serde_json::to_writer(&mut *line, &config)?;
        line.push(b'\n');
        self.count += 1;
        self.write()
    }

    /// What was written, and where to.
    pub fn finish(self) -> (W, Listed) {
        let Self { out, digest, count: configurations, .. } = self;
        let bytes = digest.len();
        (out, Listed { configurations, bytes, digest: digest.digits() })
    }
}

/// Reads a file of configurations.
pub(super) struct Reader<'s> {
    system: &'s System,
    name: String,
    input: BufReader<Box<dyn Read + Send>>,
    /// The most bytes that it may have.
    most: u64,
    digest: Sha256,
    count: u64,
    states: Vec<Vec<StateId>>,
    values: Vec<FxHashMap<i128, ValueId>>,
    line: Vec<u8>,
}

impl<'s> Reader<'s> {
    /// Opens a file of at most so many bytes.
    pub fn open(
        system: &'s System,
        folder: &dyn Folder,
        name: &str,
        most: u64,
    ) -> Result<Self, Failure> {
        let file = folder.open(name).map_err(|error| Failure::File(name.to_owned(), error))?;
        Ok(Self {
            system,
            name: name.to_owned(),
            input: BufReader::with_capacity(1 << 16, file),
            most,
            digest: Sha256::default(),
            count: 0,
            states: vec![vec![]; system.processes.len()],
            values: vec![FxHashMap::default(); system.vars.len()],
            line: vec![],
        })
    }

    /// The first line, which has to be this.
    pub fn head<T: DeserializeOwned + PartialEq>(
        &mut self,
        expected: &T,
        budget: &Budget,
    ) -> Result<(), Failure> {
        let is_there = self.read_line(budget)?;
        match is_there && parse::<T>(&self.line, &self.name)? == *expected {
            true => Ok(()),
            false => malformed(format!("`{}` is about something else", self.name)),
        }
    }

    /// Reads a line; whether there is one.
    fn read_line(&mut self, budget: &Budget) -> Result<bool, Failure> {
        self.line.clear();
        loop {
            let failed = |error| Failure::File(self.name.clone(), error);
            let bytes = match self.input.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read.map_err(failed)?,
            };
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let taken = &bytes[..end.map_or(bytes.len(), |end| end + 1)];
            if taken.is_empty() {
                return Ok(!self.line.is_empty());
            }
            self.line.extend_from_slice(taken);
            self.digest.add(taken);
            let taken = taken.len();
            self.input.consume(taken);
            if self.digest.len() > self.most {
                return malformed(format!("`{}` has more than {} bytes", self.name, self.most));
            }
            if self.line.len() > MAX_LINE {
                return malformed(format!("`{}` has a line that is too long", self.name));
            }
            if end.is_some() {
                budget.tick()?;
                return Ok(true);
            }
            budget.check()?;
        }
    }

    /// The next configuration, if there is one.
    pub fn next(&mut self, budget: &Budget) -> Result<Option<Buffered>, Failure> {
        while self.read_line(budget)? {
            if self.line.first() != Some(&b'{') {
                let line: Line = parse(&self.line, &self.name)?;
                self.count += 1;
                return self.configuration(&line).map(Some);
            }
            let Named { process, state } = parse(&self.line, &self.name)?;
            let Some(states) = self.states.get_mut(process) else {
                return malformed(format!("there is no process {process}"));
            };
            let p = ProcessId::new(process);
            let found = self.system.find_state(p, &state).ok_or_else(|| {
                Rejected::Malformed(format!("process {process} has no control state {state}"))
            })?;
            is_followed(self.system, p, found)?;
            states.push(found);
        }
        Ok(None)
    }

    fn configuration(&mut self, (states, memory, buffers): &Line) -> Result<Buffered, Failure> {
        let n = self.system.processes.len();
        if states.len() != n || buffers.len() != n {
            return malformed("a configuration does not have the processes of the program");
        }
        if memory.len() != self.system.vars.len() {
            return malformed("a memory does not have the variables of the program");
        }
        let state = |(numbers, state): (&Vec<StateId>, &u32)| numbers.get(*state as usize).copied();
        let controls = self.states.iter().zip(states).map(state).collect::<Option<Vec<_>>>();
        let Some(controls) = controls else {
            return malformed("a control state has no name");
        };
        let memory = memory.iter().enumerate();
        let memory = memory.map(|(x, d)| self.value(x, *d)).collect::<Result<Vec<_>, _>>()?;
        let mut all = Vec::with_capacity(n);
        for writes in buffers {
            let mut write = |&(x, d): &(usize, i128)| {
                let value = self.value(x, d)?;
                Ok((VarId::new(x), value))
            };
            let oldest = writes.iter().map(&mut write).collect::<Result<Vec<_>, Failure>>()?;
            all.push(StoreBuffer { oldest, tail: None });
        }
        Ok(Buffered { controls, memory, buffers: all })
    }

    fn value(&mut self, x: usize, number: i128) -> Result<ValueId, Failure> {
        let Some(var) = self.system.vars.get(x) else {
            return malformed(format!("there is no variable {x}"));
        };
        if let Some(known) = self.values[x].get(&number) {
            return Ok(*known);
        }
        let Some(value) = var.try_id(number, self.system.vars.len()) else {
            return Err(Rejected::TooLarge("there are too many values".to_owned()).into());
        };
        self.values[x].insert(number, value);
        Ok(value)
    }

    /// What the file is, after reading what is left of it.
    pub fn listed(&mut self, budget: &Budget) -> Result<Listed, Failure> {
        while self.read_line(budget)? {}
        let Self { digest, count: configurations, .. } = self;
        let (bytes, digest) = (digest.len(), digest.clone().digits());
        Ok(Listed { configurations: *configurations, bytes, digest })
    }
}
