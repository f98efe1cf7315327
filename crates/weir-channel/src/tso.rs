//! TSO programs as lossy channel machines (Atig et al. 2010, section 5).
//!
//! Each process becomes a machine with one channel. A control state is `(p, d_c, d_g)`:
//! the control state of the process, the memory that it sees, and the memory after all
//! writes in its channel. The channel holds the memory states between the two, each with
//! the process and the variable of its write. The last own write to each variable is
//! strong (`#`). A machine *guesses* the writes of the other processes, and in the
//! product all machines agree on all writes.
//!
//! The rules are those of section 5.1, with these misprints corrected:
//!
//! * **Nop** leads to `p'`, not back to `p`.
//! * **Write to store** sends `(i, j, d'_g)`, the memory *after* the write: so do the
//!   guesses of the others, and Lemma 3 needs it.
//! * **Update** makes `d_c` the memory state that is received, all of it: letters
//!   before it may have been lost, and what they did is in it.
//! * `Θ`, what a channel may hold in which no own write to `x_j` waits, leaves out the
//!   strong letters `((i, j, d), #)`: the last own write is always one of these.
//!
//! In addition to the paper, a full fence requires that the channel is empty and `d_c =
//! d_g`, as an atomic read-write does. Partial fences have no effect under TSO. Only
//! control states that are reachable with some contents of the channel are built, and
//! only writes that some process can issue are guessed. If memory has several initial
//! states, all machines agree on one by a label.
//!
//! *Labels.* The paper also labels updates, `upd(k,x,d)`, and drops these labels to compose the
//! machines ([`Sync::Writes`]). Its proof goes by the machines that agree on updates instead, with
//! perfect channels ([`Sync::Updates`]): they reach what the program reaches (Proposition 5), and
//! the same as those that agree on writes (Proposition 6). An atomic read-write is both.
//!
//! The engine searches a smaller machine with the same meaning (`observed`).

mod observed;

use std::collections::{BTreeSet, HashMap};

use weir_model::ids::{
    ProcessId, StateId as ControlId, TransitionId as ProgramTransition, ValueId, VarId,
};
use weir_model::limits::Budget;
use weir_model::program::FenceKind;
use weir_model::system::{Expanded, Op as ProgramOp, System};

pub(crate) use observed::translation as observed;

use crate::product::Product;
use crate::translation::{Place, Translation, TranslationError, of_product};
use crate::{
    Builder, ChannelId, Class, LabelId, Machine, MachineError, MessageId, Op, Regex, StateId,
    Substitution, Transition, TransitionId,
};

/// A memory state.
type Memory = Vec<ValueId>;

/// A control state `(p, d_c, d_g)` of a machine.
type Control = (ControlId, Memory, Memory);

/// A write of a process to a variable.
type Write = (ProcessId, VarId, ValueId);

/// What the machines of a program agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// The writes, in the order in which they are issued: `w(k,x,d)`. Channels are lossy
    /// (Proposition 4) or perfect.
    Writes,
    /// The updates, in the order in which they reach memory: `upd(k,x,d)`. Channels are perfect
    /// (Proposition 5).
    Updates,
}

/// The machine of each process; their [`product`](crate::product()) does what the
/// program does under TSO.
///
/// # Errors
/// If a machine is too large, or a limit is reached.
pub fn tso(system: &System, sync: Sync, budget: &Budget) -> Result<Vec<Machine>, MachineError> {
    let system = system.expanded(budget)?;
    let machine = |p| Ok(Maker::new(system, p, sync, budget)?.make()?.machine);
    system.process_ids().map(machine).collect()
}

/// The product of these machines, and what it stands for.
pub(crate) fn translation(
    system: Expanded<'_>,
    sync: Sync,
    budget: &Budget,
) -> Result<Translation, TranslationError> {
    let parts: Result<Vec<Part>, MachineError> =
        system.process_ids().map(|p| Maker::new(system, p, sync, budget)?.make()).collect();
    let parts = parts?;
    let machines: Vec<&Machine> = parts.iter().map(|p| &p.machine).collect();
    let product = Product::new(&machines, budget)?;
    // With empty channels, all machines agree on memory.
    let place = |states: &[StateId]| {
        let controls = states.iter().zip(&parts).map(|(s, part)| part.controls.get(s));
        let controls = controls.collect::<Option<Vec<&Control>>>()?;
        let (_, memory, _) = controls.first()?;
        let agree =
            controls.iter().all(|(_, current, guessed)| current == memory && guessed == memory);
        agree.then(|| Place {
            controls: controls.iter().map(|(p, ..)| *p).collect(),
            memory: memory.clone(),
        })
    };
    let moves: Vec<_> = parts.iter().map(|p| p.moves.clone()).collect();
    Ok(of_product(product, place, &moves))
}

/// The machine of a process, and what it stands for.
struct Part {
    machine: Machine,
    controls: HashMap<StateId, Control>,
    moves: HashMap<TransitionId, ProgramTransition>,
}

/// The name of the control state `(p, d_c, d_g)` in the machine of a process, with the name that
/// the system has for `p` ([`System::state_name`]).
pub fn control_name(
    system: Expanded<'_>,
    process: ProcessId,
    control: ControlId,
    current: &[ValueId],
    guessed: &[ValueId],
) -> String {
    let [current, guessed] = [current, guessed].map(|m| memory_name(system, m));
    format!("{} {current} {guessed}", system.state_name(process, control))
}

fn memory_name(system: Expanded<'_>, memory: &[ValueId]) -> String {
    let values = memory.iter().enumerate().map(|(x, v)| system.value(VarId::new(x), *v));
    format!("[{}]", values.map(|v| v.to_string()).collect::<Vec<_>>().join(","))
}

struct Maker<'s> {
    system: Expanded<'s>,
    process: ProcessId,
    builder: Builder,
    channel: ChannelId,
    /// All writes that the program has.
    writes: BTreeSet<Write>,
    sync: Sync,
    /// The label of each write, or of its update.
    labels: HashMap<Write, LabelId>,
    /// The letters `(k, j, d)`, plain and strong.
    letters: HashMap<(ProcessId, VarId, Memory), [MessageId; 2]>,
    states: HashMap<Control, StateId>,
    work: Vec<Control>,
    /// The transitions of the process that were taken.
    moves: HashMap<TransitionId, ProgramTransition>,
}

impl<'s> Maker<'s> {
    fn new(
        system: Expanded<'s>,
        process: ProcessId,
        sync: Sync,
        budget: &Budget,
    ) -> Result<Self, MachineError> {
        let name = &system.processes[process.index()].name;
        let mut builder = Machine::builder(name.clone()).within(budget);
        let channel = builder.channel(format!("c{}", process.0))?;
        let writes = writes(system);
        let mut labels = HashMap::new();
        for &(k, x, d) in &writes {
            let var = &system.vars[x.index()].name;
            let what = match sync {
                Sync::Writes => "w",
                Sync::Updates => "upd",
            };
            let name = format!("{what}({},{var},{})", k.0, system.value(x, d));
            labels.insert((k, x, d), builder.label(name)?);
        }
        let (letters, states) = (HashMap::new(), HashMap::new());
        Ok(Self {
            system,
            process,
            builder,
            channel,
            writes,
            sync,
            labels,
            letters,
            states,
            work: vec![],
            moves: HashMap::new(),
        })
    }

    /// The letter of a memory state that a write made, plain or strong.
    fn letter(
        &mut self,
        k: ProcessId,
        j: VarId,
        memory: &Memory,
        strong: bool,
    ) -> Result<MessageId, MachineError> {
        let key = (k, j, memory.clone());
        if let Some(ids) = self.letters.get(&key) {
            return Ok(ids[usize::from(strong)]);
        }
        let name = format!(
            "({},{},{})",
            k.0,
            self.system.vars[j.index()].name,
            memory_name(self.system, memory)
        );
        let plain = self.builder.message(name.clone())?;
        // Only own writes are ever strong.
        let ids = match k == self.process {
            true => [plain, self.builder.message(format!("{name}#"))?],
            false => [plain, plain],
        };
        self.letters.insert(key, ids);
        Ok(ids[usize::from(strong)])
    }

    fn state(&mut self, control: Control) -> Result<StateId, MachineError> {
        if let Some(&id) = self.states.get(&control) {
            return Ok(id);
        }
        let id = self.builder.state(control_name(
            self.system,
            self.process,
            control.0,
            &control.1,
            &control.2,
        ))?;
        self.states.insert(control.clone(), id);
        self.work.push(control);
        Ok(id)
    }

    fn make(mut self) -> Result<Part, MachineError> {
        // Letters first: a guard speaks of all of them.
        let writes = self.writes.iter().map(|&(_, j, d)| (j, d)).collect();
        let memories = memories(self.system, &writes, self.builder.budget())?;
        for (k, j, d) in self.writes.clone() {
            self.builder.budget().work(memories.len() / 64)?;
            for memory in memories.iter().filter(|m| m[j.index()] == d) {
                self.letter(k, j, memory, false)?;
            }
        }
        let strong: Vec<MessageId> = self
            .letters
            .iter()
            .filter(|((k, ..), _)| *k == self.process)
            .map(|(_, ids)| ids[1])
            .collect();
        self.builder.strong(strong, self.system.vars.len())?;
        let start = self.builder.state("start")?;
        for memory in self.system.system().initial_memories() {
            let label =
                self.builder.label(format!("start {}", memory_name(self.system, &memory)))?;
            let initial = self.system.processes[self.process.index()].initial;
            let to = self.state((initial, memory.clone(), memory))?;
            self.builder.transition(Transition::new(start, to).label(label))?;
        }
        while let Some(control) = self.work.pop() {
            self.transitions(&control)?;
        }
        Ok(Part {
            machine: self.builder.build(start)?,
            controls: self.states.into_iter().map(|(control, id)| (id, control)).collect(),
            moves: self.moves,
        })
    }

    /// The strong letters of own writes to a variable: the memory and the letters.
    fn own(&self, j: VarId) -> Vec<(Memory, [MessageId; 2])> {
        let mut own: Vec<_> = self
            .letters
            .iter()
            .filter(|((k, x, _), _)| (*k, *x) == (self.process, j))
            .map(|((_, _, memory), ids)| (memory.clone(), *ids))
            .collect();
        own.sort();
        own
    }

    /// `c : Θ`: no own write to the variable waits.
    fn without_own(&self, j: VarId) -> Regex {
        Regex::class(Class::but(self.own(j).into_iter().map(|(_, ids)| ids[1]))).star()
    }

    /// Labels a write, or an update, if the machines agree on these.
    fn labeled(&self, of: Sync, transition: Transition, write: Write) -> Transition {
        match of == self.sync {
            true => transition.label(self.labels[&write]),
            false => transition,
        }
    }

    /// Adds what stands for a transition of the process.
    fn take(&mut self, id: ProgramTransition, taken: Transition) -> Result<(), MachineError> {
        let taken = self.builder.transition(taken)?;
        self.moves.entry(taken).or_insert(id);
        Ok(())
    }

    fn transitions(&mut self, control: &Control) -> Result<(), MachineError> {
        // All letters are gone through for each transition.
        let letters = self.letters.len();
        let (p, current, guessed) = control;
        let from = self.states[control];
        let (system, c) = (self.system, self.channel);
        for (id, t) in system.transitions(self.process, *p) {
            self.builder.budget().work(1 + letters / 64)?;
            match t.op {
                ProgramOp::Nop | ProgramOp::Fence(FenceKind::Write | FenceKind::Read) => {
                    let to = self.state((t.to, current.clone(), guessed.clone()))?;
                    self.take(id, Transition::new(from, to))?;
                }
                ProgramOp::Write(j, d) => {
                    let after = with(guessed, j, d);
                    let message = self.letter(self.process, j, &after, true)?;
                    let to = self.state((t.to, current.clone(), after))?;
                    let write = Transition::new(from, to);
                    let write = self.labeled(Sync::Writes, write, (self.process, j, d));
                    for (_, [plain, strong]) in self.own(j) {
                        let substitution = Substitution::identity().with(plain, strong);
                        let send = Op::Send { substitution, message };
                        let write = write.clone().guard(c, Regex::has(strong)).op(c, send);
                        self.take(id, write)?;
                    }
                    let write = write.guard(c, self.without_own(j)).op(c, Op::send(message));
                    self.take(id, write)?;
                }
                ProgramOp::Read(j, d) => {
                    let to = self.state((t.to, current.clone(), guessed.clone()))?;
                    let read = Transition::new(from, to);
                    for (memory, [_, strong]) in self.own(j) {
                        if memory[j.index()] == d {
                            let guard = Regex::has(strong);
                            self.take(id, read.clone().guard(c, guard))?;
                        }
                    }
                    if current[j.index()] == d {
                        self.take(id, read.guard(c, self.without_own(j)))?;
                    }
                }
                ProgramOp::Arw(j, d, e) if current == guessed && current[j.index()] == d => {
                    let label = self.labels[&(self.process, j, e)];
                    let after = with(current, j, e);
                    let to = self.state((t.to, after.clone(), after))?;
                    let arw = Transition::new(from, to).label(label);
                    self.take(id, arw.guard(c, Regex::epsilon()))?;
                }
                ProgramOp::Fence(FenceKind::Full) if current == guessed => {
                    let to = self.state((t.to, current.clone(), guessed.clone()))?;
                    self.take(id, Transition::new(from, to).guard(c, Regex::epsilon()))?;
                }
                ProgramOp::Arw(..) | ProgramOp::Fence(FenceKind::Full) => {}
            }
        }
        // Guess write.
        for (k, j, d) in self.writes.clone() {
            if k == self.process {
                continue;
            }
            let after = with(guessed, j, d);
            let message = self.letter(k, j, &after, false)?;
            let to = self.state((*p, current.clone(), after))?;
            let guess = self.labeled(Sync::Writes, Transition::new(from, to), (k, j, d));
            self.builder.transition(guess.op(c, Op::send(message)))?;
        }
        // Update.
        let mut letters: Vec<_> = self.letters.clone().into_iter().collect();
        letters.sort();
        for ((k, j, memory), ids) in letters {
            let write = (k, j, memory[j.index()]);
            let to = self.state((*p, memory, guessed.clone()))?;
            let update = self.labeled(Sync::Updates, Transition::new(from, to), write);
            for message in BTreeSet::from(ids) {
                self.builder.transition(update.clone().op(c, Op::Receive(message)))?;
            }
        }
        Ok(())
    }
}

/// All writes that a program has, atomic ones among them.
fn writes(system: Expanded<'_>) -> BTreeSet<Write> {
    let of = |k: ProcessId| {
        system.all_transitions(k).filter_map(move |t| match t.op {
            ProgramOp::Write(x, d) | ProgramOp::Arw(x, _, d) => Some((k, x, d)),
            _ => None,
        })
    };
    system.process_ids().flat_map(of).collect()
}

/// All memories that these writes can make of the initial ones.
fn memories(
    system: Expanded<'_>,
    writes: &BTreeSet<(VarId, ValueId)>,
    budget: &Budget,
) -> Result<BTreeSet<Memory>, MachineError> {
    let mut found: BTreeSet<Memory> = BTreeSet::new();
    for memory in system.initial_memories() {
        budget.tick()?;
        found.insert(memory);
    }
    let mut work: Vec<Memory> = found.iter().cloned().collect();
    while let Some(memory) = work.pop() {
        for &(j, d) in writes {
            budget.tick()?;
            let next = with(&memory, j, d);
            if found.insert(next.clone()) {
                work.push(next);
            }
        }
    }
    Ok(found)
}

fn with(memory: &Memory, j: VarId, d: ValueId) -> Memory {
    let mut memory = memory.clone();
    memory[j.index()] = d;
    memory
}
