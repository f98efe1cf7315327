//! What the search for an attack found: the run of an attack, or the sets of a proof that there is
//! none.

use weir_model::answer::{AttackChain, AttackDelay, AttackMark, AttackSets, Run, Snapshot};
use weir_model::ids::{Cell, ProcessId, StateId, TransitionId, ValueId, VarId};
use weir_model::memory_model::MemoryModel;
use weir_model::program::FenceKind;
use weir_model::semantics::{Event, Form, Rule, Step};
use weir_model::system::{Op, System};

use super::{End, From, Memory, READ, Search, UNMARKED, chain, read_from_memory};
use crate::store::{ConfigId, Store};

/// The rule of an operation that takes effect at once; a read reads memory.
fn rule(op: Op) -> Rule {
    match op {
        Op::Nop => Rule::Nop,
        Op::Read(..) => Rule::ReadMemory,
        Op::Write(..) => Rule::Write,
        Op::Arw(..) => Rule::Arw,
        Op::Fence(FenceKind::Full) => Rule::Fence,
        Op::Fence(FenceKind::Read) => Rule::ReadFence,
        Op::Fence(FenceKind::Write) => Rule::WriteFence,
    }
}

/// The path to a state within its part, and the state of the part before that it begins from.
fn path_within(store: &Store<From>, end: ConfigId) -> (Vec<ConfigId>, ConfigId) {
    let mut path = vec![end];
    loop {
        match store.parent(path[path.len() - 1]).expect("B and C begin in another part") {
            From::Same(id) => path.push(id),
            From::Before(id) => {
                path.reverse();
                return (path, id);
            }
        }
    }
}

/// The steps of a run under TSO, and what the attacker has buffered.
struct Told<'s> {
    system: &'s System,
    steps: Vec<Step>,
    delayed: Vec<Event>,
}

impl Told<'_> {
    /// A process takes a step under SC: a write reaches memory at once.
    fn take(&mut self, p: ProcessId, id: TransitionId) {
        let t = self.system.transition(p, id);
        self.steps.push(Step::take(p, rule(t.op), id));
        if let Op::Write(..) = t.op {
            self.steps.extend(Event::waiting(t.op).map(|e| Step::memory(p, Rule::Update, e)));
        }
        self.rest(p, t.to, Memory::Sc);
    }

    /// The attacker takes a step: a write stays in its buffer.
    fn delay(&mut self, p: ProcessId, id: TransitionId) {
        let t = self.system.transition(p, id);
        let rule = match t.op {
            Op::Read(y, _) if self.delayed.iter().any(|e| e.var == y) => Rule::ReadOwnWrite,
            op => rule(op),
        };
        self.steps.push(Step::take(p, rule, id));
        if let Op::Write(..) = t.op {
            self.delayed.extend(Event::waiting(t.op));
        }
        self.rest(p, t.to, Memory::Buffered);
    }

    fn rest(&mut self, p: ProcessId, from: StateId, memory: Memory) {
        for (id, t) in chain(self.system, p, from, memory) {
            self.steps.push(Step::take(p, rule(t.op), id));
        }
    }
}

impl Search<'_> {
    /// The run of an attack: its three parts, and then the delayed writes reach memory.
    pub(super) fn run(&self, end: &End) -> Run {
        let system = self.system;
        let (c_path, last_b) = path_within(&self.c, end.chain);
        let (b_path, last_a) = path_within(&self.b, last_b);
        let mut a_path = vec![last_a];
        while let Some(id) = self.a.parent(a_path[a_path.len() - 1]) {
            a_path.push(id);
        }
        a_path.reverse();

        let mut told = Told { system, steps: vec![], delayed: vec![] };
        let begin = self.a.get(a_path[0]);
        if !self.whole {
            for p in system.process_ids() {
                told.rest(p, system.processes[p.index()].initial, Memory::Sc);
            }
        }
        for pair in a_path.windows(2) {
            let (config, wanted) = (self.a.get(pair[0]), self.a.get(pair[1]));
            let mut step = None;
            self.a_steps(&config, |p, id, next| {
                step = step.or((*next == wanted[..]).then_some((p, id)));
            });
            let (p, id) = step.expect("a step led there");
            told.take(p, id);
        }
        let (config, wanted) = (self.a.get(last_a), self.b.get(b_path[0]));
        let mut step = None;
        self.delays(&config, |p, id, next| {
            step = step.or((*next == wanted[..]).then_some((p, id)));
        });
        let (attacker, id) = step.expect("a step led there");
        told.delay(attacker, id);
        for pair in b_path.windows(2) {
            let (config, wanted) = (self.b.get(pair[0]), self.b.get(pair[1]));
            let mut step = None;
            self.b_steps(&config, |id, _, next| {
                step = step.or((*next == wanted[..]).then_some(id));
            });
            told.delay(attacker, step.expect("a step led there"));
        }
        let (config, wanted) = (self.b.get(last_b), self.c.get(c_path[0]));
        let mut step = None;
        self.b_steps(&config, |id, t, _| {
            let y = read_from_memory(t, &config[config.len() - self.vars..]);
            step = step.or(y.filter(|y| self.chain(&config, *y) == wanted).map(|_| id));
        });
        told.delay(attacker, step.expect("a read led there"));
        for pair in c_path.windows(2) {
            let (config, wanted) = (self.c.get(pair[0]), self.c.get(pair[1]));
            let mut step = None;
            self.c_steps(&config, |q, id, next| {
                step = step.or((next == Some(&wanted[..])).then_some((q, id)));
            });
            let (q, id) = step.expect("a step led there");
            told.take(q, id);
        }
        told.take(end.process, end.transition);
        let delayed = std::mem::take(&mut told.delayed);
        let bound = delayed.len();
        told.steps.extend(delayed.into_iter().map(|e| Step::memory(attacker, Rule::Update, e)));
        let start = Snapshot {
            controls: system.processes.iter().map(|p| p.initial).collect(),
            memory: begin[self.processes..].iter().map(|&v| ValueId(v)).collect(),
            pending: vec![vec![]; self.processes],
        };
        Run { model: MemoryModel::TSO, form: Form::Tso, bound, start, steps: told.steps }
    }

    /// The sets, decoded.
    pub(super) fn sets(&self) -> AttackSets {
        let (n, m) = (self.processes, self.vars);
        let states = |cells: &[Cell]| cells.iter().map(|&s| StateId(s)).collect::<Vec<_>>();
        let values = |cells: &[Cell]| cells.iter().map(|&v| ValueId(v)).collect::<Vec<_>>();
        let sc = self.a.all().map(|c| (states(&c[..n]), values(&c[n..]))).collect();
        let delay = |c: Vec<Cell>| AttackDelay {
            attacker: ProcessId::new(c[0] as usize),
            first: VarId::new(c[1] as usize),
            controls: states(&c[2..2 + n]),
            memory: values(&c[2 + n..2 + n + m]),
            own: c[2 + n + m..].iter().map(|v| v.checked_sub(1).map(ValueId)).collect(),
        };
        let mark = |cell: &Cell| match *cell {
            UNMARKED => AttackMark::None,
            READ => AttackMark::Read,
            _ => AttackMark::Written,
        };
        let chain = |c: Vec<Cell>| AttackChain {
            attacker: ProcessId::new(c[0] as usize),
            first: VarId::new(c[1] as usize),
            controls: states(&c[2..2 + n]),
            memory: values(&c[2 + n..2 + n + m]),
            infected: c[2 + n + m..2 + n + m + n].iter().map(|&cell| cell == 1).collect(),
            marks: c[2 + n + m + n..].iter().map(mark).collect(),
        };
        AttackSets {
            sc,
            delays: self.b.all().map(delay).collect(),
            chains: self.c.all().map(chain).collect(),
        }
    }
}
