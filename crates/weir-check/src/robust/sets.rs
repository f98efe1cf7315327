//! Files of closed sets that show that no run under TSO has a cycle in its trace, or that the
//! code alone shows that nothing is reordered. The format is in `docs/evidence.md`.
//!
//! The three sets are those of Bouajjani et al. 2013: if some run has a cycle, then
//! there is one in which a single process, the attacker, delays writes. The checker takes every
//! step from every element of the sets, and leaves none out:
//!
//! * the SC configurations contain the initial ones and are closed under the steps of SC;
//! * a process that can do a plain write in an SC configuration may begin to delay: the state in
//!   which this write is buffered is in the second set. This set is closed under the steps of the
//!   attacker, which reads its own buffered values, and passes no full fence and no atomic operation;
//! * when the attacker reads from memory, the others may go on: that state is in the third set,
//!   which is closed under the steps of the others that happen after this read. None of these steps
//!   may access the variable of the first delayed write.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use weir_model::answer::{AttackChain, AttackDelay, AttackMark, AttackSets};
use weir_model::ids::{ProcessId, QuestionId, StateId, ValueId, VarId};
use weir_model::memory_model::{MemoryModel, Relaxation};
use weir_model::program::FenceKind;
use weir_model::system::{Access, Op, Seen, System};

use super::NAME;
use super::sc::{Names, ScFile, ScSet, has_length, inside, sc_steps};
use crate::Rejected;
use crate::claim::{Claims, Settled};
use crate::evidence::{Evidence, Subject, counted, excluded};
use crate::header::Header;
use crate::truth::is_settled;

/// What `format` says in such a file.
pub const FORMAT: &str = "weir-robust-set";

/// The version of the format that is written.
pub const VERSION: u32 = 1;

/// What shows that a program is robust.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RobustSets {
    /// [`FORMAT`], [`VERSION`], and the program.
    #[serde(flatten)]
    pub header: Header,
    /// The memory model.
    pub model: String,
    /// The variables, in the order of memories.
    pub variables: Vec<String>,
    /// The sets; none if the shape of the code is enough.
    pub sets: Option<Sets>,
    /// The properties that it settles besides, by their place in the program, from 0: no SC
    /// configuration settles them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub properties: Vec<usize>,
}

/// The three sets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sets {
    /// The SC configurations.
    pub sc: ScFile,
    /// The states in which one process delays its writes.
    pub delays: Vec<Delay>,
    /// The states in which that process has stopped.
    pub chains: Vec<Chain>,
}

/// One process delays its writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delay {
    /// The process, by its place in the program, from 0.
    pub attacker: usize,
    /// The variable of the first delayed write, by its place among the variables, from 0.
    pub first: usize,
    /// The control states.
    pub states: Vec<usize>,
    /// Memory.
    pub memory: Vec<i128>,
    /// The last delayed value of each variable that has one.
    pub own: Vec<Option<i128>>,
}

/// The process that delays has stopped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chain {
    /// The process, by its place in the program, from 0.
    pub attacker: usize,
    /// The variable of the first delayed write, by its place among the variables, from 0.
    pub first: usize,
    /// The control states; none for the attacker.
    pub states: Vec<Option<usize>>,
    /// Memory.
    pub memory: Vec<i128>,
    /// Whether each process has done something after the read.
    pub infected: Vec<bool>,
    /// For each variable what was done to it: `-`, `r` or `w`.
    pub marks: String,
}

impl RobustSets {
    /// The file of a program whose shape is enough.
    pub fn of_shape(system: &System, model: MemoryModel) -> Self {
        Self {
            header: Header::new(FORMAT, VERSION, &system.program),
            model: model.to_string(),
            variables: system.vars.iter().map(|v| v.name.clone()).collect(),
            sets: None,
            properties: vec![],
        }
    }

    /// The file of three sets, which also settles some properties.
    pub fn new(system: &System, sets: &AttackSets, properties: Vec<QuestionId>) -> Self {
        let mut names = Names::new(system);
        let value = |(x, v): (usize, &ValueId)| system.value(VarId::new(x), *v);
        let memory = |all: &[ValueId]| all.iter().enumerate().map(value).collect::<Vec<_>>();
        let sc = sets.sc.iter().map(|(s, m)| (names.controls(s), memory(m))).collect();
        let delay = |d: &AttackDelay| Delay {
            attacker: d.attacker.index(),
            first: d.first.index(),
            states: names.controls(&d.controls),
            memory: memory(&d.memory),
            own: d.own.iter().enumerate().map(|(x, v)| v.as_ref().map(|v| value((x, v)))).collect(),
        };
        let delays = sets.delays.iter().map(delay).collect();
        let mark = |m: &AttackMark| match m {
            AttackMark::None => '-',
            AttackMark::Read => 'r',
            AttackMark::Written => 'w',
        };
        let chain = |c: &AttackChain| Chain {
            attacker: c.attacker.index(),
            first: c.first.index(),
            states: (c.controls.iter().enumerate())
                .map(|(p, s)| (p != c.attacker.index()).then(|| names.place(p, *s)))
                .collect(),
            memory: memory(&c.memory),
            infected: c.infected.clone(),
            marks: c.marks.iter().map(mark).collect(),
        };
        let chains = sets.chains.iter().map(chain).collect();
        let sc = ScFile { states: names.states, configurations: sc };
        let sets = Some(Sets { sc, delays, chains });
        Self {
            sets,
            properties: properties.into_iter().map(QuestionId::index).collect(),
            ..Self::of_shape(system, MemoryModel::TSO)
        }
    }
}

impl Evidence for RobustSets {
    type Subject = dyn Subject;
    const FORMATS: &'static [&'static str] = &[FORMAT];
    const VERSION: u32 = VERSION;

    fn check(&self, subject: &dyn Subject, _threads: usize) -> Result<(), Rejected> {
        check(subject.system(), self)
    }

    fn what(&self) -> String {
        match &self.sets {
            None => "a statement about the shape of the code".to_owned(),
            Some(sets) => format!(
                "a closed set of {} and {}",
                counted(sets.sc.configurations.len(), "SC configuration"),
                counted(sets.delays.len() + sets.chains.len(), "attack state"),
            ),
        }
    }

    fn claim(&self, subject: &dyn Subject) -> Claims {
        let answers = match self.properties.is_empty() {
            true => vec![Settled::holds(NAME, true)],
            false => excluded(subject.system(), self.properties.iter().copied()),
        };
        Claims::new(&self.header, &self.model, answers)
    }
}

/// Checks that a file shows that a program is robust.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn check(system: &System, file: &RobustSets) -> Result<(), Rejected> {
    file.header.check((FORMAT, VERSION), &system.program)?;
    let model: MemoryModel = file.model.parse().map_err(Rejected::no_model)?;
    if !file.variables.iter().eq(system.vars.iter().map(|v| &v.name)) {
        return Err(Rejected::malformed("the variables are not those of the program"));
    }
    match &file.sets {
        None if !file.properties.is_empty() => {
            Err(Rejected::malformed("without the SC configurations it settles no property"))
        }
        None => check_shape(system, model),
        Some(_) if model.normal() != MemoryModel::TSO => {
            Err(Rejected::Model { what: "robust sets", model: model.to_string() })
        }
        Some(sets) => {
            let closed = Closed::read(system, sets)?;
            closed.check()?;
            closed.check_properties(&file.properties)
        }
    }
}

/// Checks that no operation can overtake another one: walks through the code from every access.
fn check_shape(system: &System, model: MemoryModel) -> Result<(), Rejected> {
    let model = model.normal();
    let named = MemoryModel::NAMED.map(|(_, named)| named.normal());
    if !named.contains(&model) {
        return Err(Rejected::Model { what: "robust sets", model: model.to_string() });
    }
    let partial = model.has(Relaxation::Rwf);
    for p in system.process_ids() {
        let code: Vec<_> = system.code(p).collect();
        for first in &code {
            let (range, relaxations) = match &first.access {
                Access::Write(range) => (range, [Relaxation::WriteRead, Relaxation::WriteWrite]),
                Access::Read(range) => (range, [Relaxation::ReadRead, Relaxation::ReadWrite]),
                _ => continue,
            };
            for relaxation in relaxations.into_iter().filter(|r| model.has(*r)) {
                let mut work = vec![first.to];
                let mut seen = BTreeSet::from([first.to]);
                while let Some(place) = work.pop() {
                    for step in code.iter().filter(|step| step.from == place) {
                        let overtakes = match &step.access {
                            Access::Arw(_) | Access::Fence(FenceKind::Full) => continue,
                            Access::Fence(FenceKind::Write)
                                if partial && relaxation == Relaxation::WriteWrite =>
                            {
                                continue;
                            }
                            Access::Fence(FenceKind::Read)
                                if partial && relaxation == Relaxation::ReadRead =>
                            {
                                continue;
                            }
                            Access::Read(second) => {
                                let reads = [Relaxation::WriteRead, Relaxation::ReadRead];
                                reads.contains(&relaxation).then_some(second)
                            }
                            Access::Write(second) => {
                                let writes = [Relaxation::WriteWrite, Relaxation::ReadWrite];
                                writes.contains(&relaxation).then_some(second)
                            }
                            Access::Fence(_) | Access::Local => None,
                        };
                        let is_other = |second| range.len() > 1 || range != second;
                        if overtakes.is_some_and(is_other) {
                            let name = &system.processes[p.index()].name;
                            let why = format!("process `{name}`: an access may overtake another");
                            return Err(Rejected::SettlesNothing(why));
                        }
                        if seen.insert(step.to) {
                            work.push(step.to);
                        }
                    }
                }
            }
        }
    }
    Ok(())
}

/// The sets, with ids.
struct Closed<'s> {
    system: &'s System,
    sc: ScSet<'s>,
    delays: BTreeSet<AttackDelay>,
    chains: BTreeSet<AttackChain>,
}

/// What stands for the control state of the attacker when it has stopped.
const STOPPED: StateId = StateId(u32::MAX);

impl<'s> Closed<'s> {
    fn read(system: &'s System, sets: &Sets) -> Result<Self, Rejected> {
        let n = system.processes.len();
        let sc = ScSet::read(system, &sets.sc)?;
        let state = |p: usize, place: usize| sc.state(p, place);
        let controls = |places: &[usize]| sc.controls(places);
        let memory = |values: &[i128]| sc.memory(values);
        let value = |x: usize, d: i128| system.vars[x].id(d);
        let names = |attacker: usize, first: usize| match attacker < n && first < system.vars.len()
        {
            true => Ok((ProcessId::new(attacker), VarId::new(first))),
            false => Err(Rejected::malformed("there is no such process or variable")),
        };
        let mut delays = BTreeSet::new();
        for d in &sets.delays {
            let (attacker, first) = names(d.attacker, d.first)?;
            has_length(d.own.len(), system.vars.len())?;
            let own = d.own.iter().enumerate().map(|(x, v)| v.map(|v| value(x, v))).collect();
            let (controls, memory) = (controls(&d.states)?, memory(&d.memory)?);
            delays.insert(AttackDelay { attacker, first, controls, memory, own });
        }
        let mut chains = BTreeSet::new();
        for c in &sets.chains {
            let (attacker, first) = names(c.attacker, c.first)?;
            has_length(c.states.len(), n)?;
            has_length(c.infected.len(), n)?;
            let mut controls = Vec::new();
            for (p, place) in c.states.iter().enumerate() {
                controls.push(match place {
                    None if p == c.attacker => STOPPED,
                    Some(place) if p != c.attacker => state(p, *place)?,
                    _ => return Err(Rejected::malformed("the attacker alone has stopped")),
                });
            }
            let mark = |c: char| match c {
                '-' => Ok(AttackMark::None),
                'r' => Ok(AttackMark::Read),
                'w' => Ok(AttackMark::Written),
                _ => Err(Rejected::malformed("there is no such mark")),
            };
            let marks = c.marks.chars().map(mark).collect::<Result<Vec<_>, _>>()?;
            has_length(marks.len(), system.vars.len())?;
            let (memory, infected) = (memory(&c.memory)?, c.infected.clone());
            chains.insert(AttackChain { attacker, first, controls, memory, infected, marks });
        }
        Ok(Self { system, sc, delays, chains })
    }

    fn check(&self) -> Result<(), Rejected> {
        let system = self.system;
        self.sc.check()?;
        for (i, (controls, memory)) in self.sc.all.iter().enumerate() {
            for p in system.process_ids() {
                for (op, to, _) in sc_steps(system, p, controls, memory) {
                    let Op::Write(x, d) = op else { continue };
                    let mut own = vec![None; system.vars.len()];
                    own[x.index()] = Some(d);
                    let memory = memory.clone();
                    let delay = AttackDelay { attacker: p, first: x, controls: to, memory, own };
                    let place = || format!("SC configuration {i}");
                    inside(system, self.delays.contains(&delay), place, p, op)?;
                }
            }
        }
        for (i, delay) in self.delays.iter().enumerate() {
            self.check_delay(&format!("delay {i}"), delay)?;
        }
        for (i, chain) in self.chains.iter().enumerate() {
            self.check_chain(&format!("chain {i}"), chain)?;
        }
        Ok(())
    }

    /// Checks that traces determine some properties, and that no SC configuration settles them.
    fn check_properties(&self, properties: &[usize]) -> Result<(), Rejected> {
        for &property in properties {
            let question = self.system.questions.get(property).ok_or_else(Rejected::no_property)?;
            let name = question.name.clone();
            if !question.is_determined_by_traces() {
                let reason = format!("a trace does not determine `{name}`");
                return Err(Rejected::SettlesNothing(reason));
            }
            for (i, (controls, memory)) in self.sc.all.iter().enumerate() {
                if is_settled(self.system, question, controls, memory) {
                    let place = format!("SC configuration {i}");
                    return Err(Rejected::Settled { place, property: name });
                }
            }
        }
        Ok(())
    }

    fn check_delay(&self, place: &str, at: &AttackDelay) -> Result<(), Rejected> {
        let p = at.attacker;
        let read = |x: VarId| at.own[x.index()].unwrap_or(at.memory[x.index()]);
        let steps = self.system.steps(p, at.controls[p.index()], |x, _| Seen::One(read(x)));
        for (_, t) in steps {
            let mut next = at.clone();
            next.controls[p.index()] = t.to;
            match t.op {
                Op::Nop | Op::Fence(FenceKind::Read | FenceKind::Write) => {}
                Op::Write(x, d) => next.own[x.index()] = Some(d),
                Op::Read(x, d) if read(x) == d => {
                    if at.own[x.index()].is_none() {
                        let mut controls = at.controls.clone();
                        controls[p.index()] = STOPPED;
                        let mut marks = vec![AttackMark::None; at.memory.len()];
                        marks[x.index()] = AttackMark::Read;
                        let chain = AttackChain {
                            attacker: p,
                            first: at.first,
                            controls,
                            memory: at.memory.clone(),
                            infected: vec![false; at.controls.len()],
                            marks,
                        };
                        inside(
                            self.system,
                            self.chains.contains(&chain),
                            || place.to_owned(),
                            p,
                            t.op,
                        )?;
                    }
                }
                Op::Read(..) | Op::Arw(..) | Op::Fence(FenceKind::Full) => continue,
            }
            inside(self.system, self.delays.contains(&next), || place.to_owned(), p, t.op)?;
        }
        Ok(())
    }

    fn check_chain(&self, place: &str, at: &AttackChain) -> Result<(), Rejected> {
        for q in self.system.process_ids().filter(|q| *q != at.attacker) {
            let is_infected = at.infected[q.index()];
            for (op, controls, memory) in sc_steps(self.system, q, &at.controls, &at.memory) {
                let mut next = AttackChain { controls, memory, ..at.clone() };
                let accessed = match op {
                    Op::Nop | Op::Fence(_) => None,
                    Op::Read(v, _) => Some((v, false)),
                    Op::Write(v, _) => Some((v, true)),
                    Op::Arw(v, d, e) => Some((v, d != e)),
                };
                let happens_after = match accessed {
                    None => is_infected,
                    Some((v, writes)) => match at.marks[v.index()] {
                        AttackMark::Written => true,
                        AttackMark::Read => is_infected || writes,
                        AttackMark::None => is_infected,
                    },
                };
                if !happens_after {
                    continue;
                }
                if let Some((v, writes)) = accessed {
                    if v == at.first {
                        let property = NAME.to_owned();
                        return Err(Rejected::Settled { place: place.to_owned(), property });
                    }
                    next.infected[q.index()] = true;
                    let mark = &mut next.marks[v.index()];
                    *mark = match (*mark, writes) {
                        (AttackMark::Written, _) | (_, true) => AttackMark::Written,
                        _ => AttackMark::Read,
                    };
                }
                inside(self.system, self.chains.contains(&next), || place.to_owned(), q, op)?;
            }
        }
        Ok(())
    }
}
