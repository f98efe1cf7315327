//! One process, statement by statement.

use std::collections::{BTreeSet, HashMap};

use weir_model::ids::{LabelId, RegId, VarId};
use weir_model::program::{
    AtomicKind, BinOp, Code, Domain, FenceKind, IntType, Order, Place, Process, Program, Rmw, Stmt,
    StmtKind,
};

use super::value::{NoValue, value};

/// A statement: its block and its index there.
type Address = (usize, usize);

/// A block of statements and the statement that it belongs to; the body of the
/// process belongs to none.
struct Block<'p> {
    stmts: &'p [Stmt],
    owner: Option<Address>,
}

/// Where a process stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum At {
    /// This statement is next.
    Statement(Address),
    /// The condition of this `await` is next.
    Test(Address),
    /// At a label at the end of this block.
    End(usize),
    /// At the head of this loop, which is a place of its own.
    Head(Address),
    /// The process has ended.
    Ended,
}

/// The local state of a process: its position, the labels that hold there, all
/// its registers, and whether it has failed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Local {
    at: At,
    pub labels: BTreeSet<LabelId>,
    pub registers: Vec<i128>,
    pub failed: bool,
}

impl Local {
    pub fn has_ended(&self) -> bool {
        self.at == At::Ended
    }
}

/// What a process does next.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Nothing: it has ended, has failed, or an `assume` does not hold.
    None,
    /// A step that touches its registers only, to one of these states.
    Silent(Vec<Local>),
    /// A read; [`Process::after_read`] says where it leads.
    Read(VarId),
    /// A write.
    Write(VarId, i128, Local),
    /// An atomic read-write; [`Process::after_rmw`] says where it leads.
    Rmw(VarId),
    /// A fence.
    Fence(FenceKind, Local),
}

/// Why a process fails.
struct Fails;

/// The code of one process.
pub(super) struct Automaton<'p> {
    program: &'p Program,
    process: &'p Process,
    blocks: Vec<Block<'p>>,
    /// The blocks of each statement that has some.
    children: HashMap<Address, Vec<usize>>,
    labels: HashMap<LabelId, Address>,
    /// The domain of each variable that has one.
    domains: Vec<Option<Domain>>,
}

impl<'p> Automaton<'p> {
    pub fn new(program: &'p Program, process: &'p Process) -> Self {
        let elements = |d: &'p weir_model::program::Decl| d.init.iter().map(|_| d.domain);
        let mut this = Self {
            program,
            process,
            blocks: vec![],
            children: HashMap::new(),
            labels: HashMap::new(),
            domains: program.vars.iter().flat_map(elements).collect(),
        };
        this.add(&process.body, None);
        this
    }

    /// Numbers a block and all blocks inside it.
    fn add(&mut self, stmts: &'p [Stmt], owner: Option<Address>) -> usize {
        let id = self.blocks.len();
        self.blocks.push(Block { stmts, owner });
        for (i, stmt) in stmts.iter().enumerate() {
            let inner: Vec<&'p [Stmt]> = match &stmt.kind {
                StmtKind::Label(label) => {
                    self.labels.insert(*label, (id, i));
                    continue;
                }
                StmtKind::If(_, then, other) => vec![then, other],
                StmtKind::Loop(body) | StmtKind::Await(body, _) | StmtKind::Atomic(_, body) => {
                    vec![body]
                }
                StmtKind::Choose(blocks) => blocks.iter().map(|b| &b[..]).collect(),
                StmtKind::Call(_) | StmtKind::Return(_) => panic!("objects have no reference"),
                _ => continue,
            };
            let blocks = inner.into_iter().map(|b| self.add(b, Some((id, i)))).collect();
            self.children.insert((id, i), blocks);
        }
        id
    }

    fn stmt(&self, (block, index): Address) -> Option<&'p StmtKind> {
        self.blocks[block].stmts.get(index).map(|s| &s.kind)
    }

    pub fn initial(&self) -> Local {
        let registers = self.process.registers.iter().map(|r| r.init).collect();
        self.arrive((0, 0), BTreeSet::new(), registers)
    }

    /// The state of a process that comes to a statement, or to the end of a block.
    /// `labels` are those of loops whose head it has just passed, and inside an
    /// `await` those of the `await`.
    fn arrive(
        &self,
        (block, index): Address,
        mut labels: BTreeSet<LabelId>,
        registers: Vec<i128>,
    ) -> Local {
        let stmts = self.blocks[block].stmts;
        let is_label = |i: usize| match stmts.get(i).map(|s| &s.kind) {
            Some(StmtKind::Label(label)) => Some(*label),
            _ => None,
        };
        // Labels that directly follow each other all hold, whichever of them a `goto` names.
        let first = (0..index).rev().take_while(|i| is_label(*i).is_some()).last();
        let first = first.unwrap_or(index);
        let here: Vec<LabelId> = (first..).map_while(is_label).collect();
        let next = first + here.len();
        let is_named = !here.is_empty();
        labels.extend(here);
        let at = match self.stmt((block, next)) {
            Some(StmtKind::Loop(body)) => match body.first().map(|s| &s.kind) {
                None => At::Head((block, next)),
                Some(StmtKind::Label(_) | StmtKind::Loop(_)) if is_named => At::Head((block, next)),
                Some(_) => {
                    let body = self.children[&(block, next)][0];
                    return self.arrive((body, 0), labels, registers);
                }
            },
            Some(StmtKind::Await(..)) => {
                let body = self.children[&(block, next)][0];
                return self.arrive((body, 0), labels, registers);
            }
            Some(StmtKind::Atomic(_, body)) if begins_with_access(body) => {
                let body = self.children[&(block, next)][0];
                return self.arrive((body, 0), labels, registers);
            }
            Some(_) => At::Statement((block, next)),
            None => match self.blocks[block].owner {
                None => At::Ended,
                Some(_) if is_named => At::End(block),
                Some(_) => return self.leave(block, labels, registers),
            },
        };
        let failed = self.cannot_stand(&at, &registers);
        Local { at, labels, registers, failed }
    }

    /// The state of a process that goes on behind the end of a block.
    fn leave(&self, block: usize, labels: BTreeSet<LabelId>, registers: Vec<i128>) -> Local {
        let owner = self.blocks[block].owner.expect("the body of a process is not left");
        match self.stmt(owner) {
            // Back to the head.
            Some(StmtKind::Loop(_)) => self.arrive(owner, BTreeSet::new(), registers),
            Some(StmtKind::Await(..)) => {
                Local { at: At::Test(owner), labels, registers, failed: false }
            }
            _ => self.arrive((owner.0, owner.1 + 1), labels, registers),
        }
    }

    /// The innermost statement of some kind around a block.
    fn around(&self, block: usize, is: impl Fn(&StmtKind) -> bool) -> Option<Address> {
        let owner = self.blocks[block].owner?;
        match self.stmt(owner) {
            Some(kind) if is(kind) => Some(owner),
            _ => self.around(owner.0, is),
        }
    }

    /// The `await` that a process is in.
    fn awaits(&self, at: &At) -> Option<Address> {
        match at {
            At::Test(address) => Some(*address),
            At::Statement((block, _)) | At::End(block) | At::Head((block, _)) => {
                self.around(*block, |s| matches!(s, StmtKind::Await(..)))
            }
            At::Ended => None,
        }
    }

    fn eval(code: &Code, registers: &[i128]) -> Result<i128, Fails> {
        match value(code, &|r| registers[r.index()]) {
            Ok(value) => Ok(value),
            Err(NoValue::Undefined) => Err(Fails),
            Err(NoValue::TooLarge) => panic!("random programs compute with small numbers"),
        }
    }

    /// The variable that a place stands for.
    fn var(place: &Place, registers: &[i128]) -> Result<VarId, Fails> {
        let Some(index) = &place.index else { return Ok(place.first) };
        let index = Self::eval(index, registers)?;
        match (0..i128::from(place.len)).contains(&index) {
            true => Ok(VarId::new(place.first.index() + index as usize)),
            false => Err(Fails),
        }
    }

    /// What a variable holds after a value was written to it.
    fn stored(&self, var: VarId, value: i128) -> Result<i128, Fails> {
        self.fitted(self.domains[var.index()], value)
    }

    /// A value that is stored where a domain was declared.
    fn fitted(&self, domain: Option<Domain>, value: i128) -> Result<i128, Fails> {
        let exactly = |fits: bool| if fits { Ok(value) } else { Err(Fails) };
        match domain {
            None => Ok(value),
            Some(Domain::Int(int)) => match int {
                IntType::U8 => Ok(i128::from(value as u8)),
                IntType::U16 => Ok(i128::from(value as u16)),
                IntType::U32 => Ok(i128::from(value as u32)),
                IntType::U64 => Ok(i128::from(value as u64)),
                IntType::I8 => exactly(i8::try_from(value).is_ok()),
                IntType::I16 => exactly(i16::try_from(value).is_ok()),
                IntType::I32 => exactly(i32::try_from(value).is_ok()),
                IntType::I64 => exactly(i64::try_from(value).is_ok()),
            },
            Some(domain) => exactly(self.program.admits(domain, value)),
        }
    }

    /// Whether a process fails as soon as it comes to a statement: the place does
    /// not exist, or the value to write has none or does not belong to its domain.
    fn cannot_stand(&self, at: &At, registers: &[i128]) -> bool {
        let At::Statement(address) = at else { return false };
        match self.stmt(*address) {
            Some(StmtKind::Load(_, place) | StmtKind::Rmw(_, place, _)) => {
                Self::var(place, registers).is_err()
            }
            Some(StmtKind::Store(place, code)) => Self::var(place, registers)
                .and_then(|var| self.stored(var, Self::eval(code, registers)?))
                .is_err(),
            _ => false,
        }
    }

    /// A process that has failed stays where it is.
    fn failed(local: &Local) -> Local {
        Local { failed: true, ..local.clone() }
    }

    /// The state behind the statement at which the process stands.
    fn after(&self, local: &Local, address: Address, registers: Vec<i128>) -> Local {
        // An `await` is one statement: inside it, the labels before it hold all the time.
        let labels = match self.awaits(&local.at) {
            Some(_) => local.labels.clone(),
            None => BTreeSet::new(),
        };
        self.arrive((address.0, address.1 + 1), labels, registers)
    }

    /// The state after the statement has given a register its value.
    fn assign(&self, local: &Local, address: Address, reg: RegId, value: i128) -> Local {
        let domain = self.process.registers[reg.index()].domain;
        let Ok(value) = self.fitted(domain, value) else { return Self::failed(local) };
        let mut registers = local.registers.clone();
        registers[reg.index()] = value;
        self.after(local, address, registers)
    }

    /// What the process does next.
    pub fn step(&self, local: &Local) -> Step {
        if local.failed {
            return Step::None;
        }
        let registers = &local.registers;
        let one = |to: Local| Step::Silent(vec![to]);
        let address = match &local.at {
            At::Ended => return Step::None,
            At::End(block) => {
                return one(self.leave(*block, BTreeSet::new(), registers.clone()));
            }
            At::Head(address) => {
                let body = self.children[address][0];
                let is_empty = self.blocks[body].stmts.is_empty();
                let to = if is_empty { *address } else { (body, 0) };
                return one(self.arrive(to, BTreeSet::new(), registers.clone()));
            }
            At::Test(address) => {
                let Some(StmtKind::Await(_, code)) = self.stmt(*address) else { unreachable!() };
                return one(match Self::eval(code, registers) {
                    Err(Fails) => Self::failed(local),
                    Ok(0) => {
                        let body = self.children[address][0];
                        self.arrive((body, 0), local.labels.clone(), registers.clone())
                    }
                    Ok(_) => {
                        self.arrive((address.0, address.1 + 1), BTreeSet::new(), registers.clone())
                    }
                });
            }
            At::Statement(address) => *address,
        };
        let after = || self.after(local, address, registers.clone());
        let enter = |child: usize| {
            let labels = match self.awaits(&local.at) {
                Some(_) => local.labels.clone(),
                None => BTreeSet::new(),
            };
            self.arrive((self.children[&address][child], 0), labels, registers.clone())
        };
        let jump = |to: Address| self.arrive(to, BTreeSet::new(), registers.clone());
        let the_loop = || {
            let found = self.around(address.0, |s| matches!(s, StmtKind::Loop(_)));
            found.expect("`break` and `continue` stand in loops")
        };
        match self.stmt(address).expect("a statement is next") {
            StmtKind::Label(_) | StmtKind::Loop(_) | StmtKind::Await(..) => {
                unreachable!("a process does not stand before one")
            }
            StmtKind::Call(_) | StmtKind::Return(_) => unreachable!("objects have no reference"),
            StmtKind::Nop => one(after()),
            StmtKind::Assign(reg, code) => one(match Self::eval(code, registers) {
                Ok(value) => self.assign(local, address, *reg, value),
                Err(Fails) => Self::failed(local),
            }),
            StmtKind::Any(reg, values) => {
                let ways = values.iter().map(|v| self.assign(local, address, *reg, *v));
                Step::Silent(ways.collect())
            }
            StmtKind::Load(_, place) => match Self::var(place, registers) {
                Ok(var) => Step::Read(var),
                Err(Fails) => unreachable!("checked on arrival"),
            },
            StmtKind::Store(place, code) => {
                let stored = Self::var(place, registers)
                    .and_then(|var| Ok((var, self.stored(var, Self::eval(code, registers)?)?)));
                match stored {
                    Ok((var, value)) => Step::Write(var, value, after()),
                    Err(Fails) => unreachable!("checked on arrival"),
                }
            }
            StmtKind::Rmw(_, place, _) => match Self::var(place, registers) {
                Ok(var) => Step::Rmw(var),
                Err(Fails) => unreachable!("checked on arrival"),
            },
            StmtKind::Fence(kind) => Step::Fence(*kind, after()),
            StmtKind::Assume(code) => match Self::eval(code, registers) {
                Ok(0) => Step::None,
                Ok(_) => one(after()),
                Err(Fails) => one(Self::failed(local)),
            },
            StmtKind::Assert(code) => one(match Self::eval(code, registers) {
                Ok(0) | Err(Fails) => Self::failed(local),
                Ok(_) => after(),
            }),
            StmtKind::If(code, ..) => one(match Self::eval(code, registers) {
                Ok(0) => enter(1),
                Ok(_) => enter(0),
                Err(Fails) => Self::failed(local),
            }),
            StmtKind::Atomic(..) => one(enter(0)),
            StmtKind::Choose(blocks) => Step::Silent((0..blocks.len()).map(enter).collect()),
            StmtKind::Break => {
                let (block, index) = the_loop();
                one(jump((block, index + 1)))
            }
            StmtKind::Continue => one(jump(the_loop())),
            StmtKind::Goto(label) => one(jump(self.labels[label])),
            StmtKind::Exit => one(Local {
                at: At::Ended,
                labels: BTreeSet::new(),
                registers: registers.clone(),
                failed: false,
            }),
        }
    }

    /// The atomic block that a process is in or comes to next.
    pub fn block(&self, local: &Local) -> Option<(AtomicKind, Address)> {
        let kind = |address: Address| match self.stmt(address) {
            Some(StmtKind::Atomic(kind, _)) => Some((*kind, address)),
            _ => None,
        };
        let block = match local.at {
            At::Ended => return None,
            At::Statement(address) if kind(address).is_some() => return kind(address),
            At::Statement((block, _)) | At::Test((block, _)) | At::Head((block, _)) => block,
            At::End(block) => block,
        };
        kind(self.around(block, |s| matches!(s, StmtKind::Atomic(..)))?)
    }

    /// Whether a process that was in a block, and has taken a step of it, is seen: the block is
    /// over, or it waits.
    pub fn is_seen(&self, before: &Local, after: &Local) -> bool {
        let is_start = match after.at {
            At::Statement(address) if matches!(self.stmt(address), Some(StmtKind::Atomic(..))) => {
                true
            }
            At::Statement((block, 0)) => {
                let around = self.blocks[block].owner.and_then(|owner| match self.stmt(owner) {
                    Some(StmtKind::Await(..)) if owner.1 == 0 => self.blocks[owner.0].owner,
                    _ => Some(owner),
                });
                around.is_some_and(|owner| {
                    matches!(self.stmt(owner), Some(StmtKind::Atomic(_, body))
                        if begins_with_access(body))
                })
            }
            _ => false,
        };
        let is_left = self.block(after).map(|b| b.1) != self.block(before).map(|b| b.1);
        after.failed || is_start || self.waits(before) || is_left
    }

    /// Whether the next step stays inside an `await`.
    pub fn waits(&self, local: &Local) -> bool {
        matches!(local.at, At::Test(_)) && !self.succeeds(local)
    }

    /// Whether the next step leaves an `await`.
    pub fn passes(&self, local: &Local) -> bool {
        matches!(local.at, At::Test(_)) && self.succeeds(local)
    }

    /// The beginning of the block, if the process stands before a guard of a full block that does
    /// not hold: an `assume` before which the block writes nothing.
    pub fn back(&self, local: &Local) -> Option<Local> {
        let At::Statement(mut address) = local.at else { return None };
        matches!(self.stmt(address), Some(StmtKind::Assume(_))).then_some(())?;
        loop {
            if self.blocks[address.0].stmts[..address.1].iter().any(writes) {
                return None;
            }
            let owner = self.blocks[address.0].owner?;
            match self.stmt(owner) {
                Some(StmtKind::Atomic(AtomicKind::Full, _)) => {
                    return Some(self.arrive(owner, BTreeSet::new(), local.registers.clone()));
                }
                Some(StmtKind::Atomic(..) | StmtKind::Loop(_)) => return None,
                _ => address = owner,
            }
        }
    }

    /// Whether two local states are at the same place.
    pub fn is_same_place(&self, one: &Local, other: &Local) -> bool {
        one.at == other.at
    }

    /// Whether two local states are in the same `await`.
    pub fn waits_at(&self, one: &Local, other: &Local) -> bool {
        let (one, other) = (self.awaits(&one.at), self.awaits(&other.at));
        one.is_some() && one == other
    }

    /// The state after a read that returned `value`.
    pub fn after_read(&self, local: &Local, value: i128) -> Local {
        let At::Statement(address) = local.at else { unreachable!() };
        let Some(StmtKind::Load(reg, _)) = self.stmt(address) else { unreachable!() };
        self.assign(local, address, *reg, value)
    }

    /// What an atomic read-write that reads `old` writes, and the state after it;
    /// `None` if it waits for another value.
    pub fn after_rmw(&self, local: &Local, old: i128) -> Option<(i128, Local)> {
        let At::Statement(address) = local.at else { unreachable!() };
        let Some(StmtKind::Rmw(reg, place, rmw)) = self.stmt(address) else { unreachable!() };
        let registers = &local.registers;
        let mut given = old;
        let mut written = || -> Result<Option<i128>, Fails> {
            let new = match rmw {
                Rmw::Cas { expected, new, .. } | Rmw::CasFlag { expected, new, .. } => {
                    let succeeds = Self::eval(expected, registers)? == old;
                    if matches!(rmw, Rmw::CasFlag { .. }) {
                        given = i128::from(succeeds);
                    }
                    if succeeds { Self::eval(new, registers)? } else { old }
                }
                Rmw::Swap(new) => Self::eval(new, registers)?,
                Rmw::Fetch(op, code) => apply(*op, old, Self::eval(code, registers)?)?,
                Rmw::Update { when, new } => {
                    let mut registers = registers.clone();
                    registers[reg.index()] = old;
                    if Self::eval(when, &registers)? == 0 {
                        return Ok(None);
                    }
                    Self::eval(new, &registers)?
                }
            };
            Ok(Some(self.stored(Self::var(place, registers)?, new)?))
        };
        match written() {
            // The read happens, and what cannot be written is not.
            Err(Fails) => Some((old, Self::failed(local))),
            Ok(None) => None,
            Ok(Some(new)) => Some((new, self.assign(local, address, *reg, given))),
        }
    }

    /// The memory order of the access that comes next, for an atomic read-write that of reading `old`.
    pub fn order(&self, local: &Local, old: Option<i128>) -> Order {
        let At::Statement(address) = local.at else { unreachable!() };
        match self.stmt(address) {
            Some(StmtKind::Load(_, place) | StmtKind::Store(place, _)) => {
                place.order.unwrap_or(Order::Relaxed)
            }
            Some(StmtKind::Rmw(_, place, rmw)) => {
                let fails = old.is_some_and(|old| self.is_failure(local, old));
                match (rmw, place.order) {
                    (Rmw::Cas { failure: Some(order), .. }, _)
                    | (Rmw::CasFlag { failure: Some(order), .. }, _)
                        if fails =>
                    {
                        *order
                    }
                    (_, None) => Order::Fenced,
                    // A read that fails releases nothing.
                    (_, Some(Order::AcquireRelease)) if fails => Order::Acquire,
                    (_, Some(Order::Release)) if fails => Order::Relaxed,
                    (_, Some(order)) => order,
                }
            }
            _ => unreachable!(),
        }
    }

    /// Whether the compare-and-swap that comes next fails if it reads `old`.
    pub fn is_failure(&self, local: &Local, old: i128) -> bool {
        let At::Statement(address) = local.at else { unreachable!() };
        let Some(StmtKind::Rmw(_, _, rmw)) = self.stmt(address) else { unreachable!() };
        match rmw {
            Rmw::Cas { expected, .. } | Rmw::CasFlag { expected, .. } => {
                Self::eval(expected, &local.registers).is_ok_and(|expected| expected != old)
            }
            Rmw::Swap(_) | Rmw::Fetch(..) | Rmw::Update { .. } => false,
        }
    }

    /// Whether a process is blocked on a memory that no longer changes: it has
    /// no step, or its steps lead round in an `await` whose test does not succeed.
    pub fn is_stuck(&self, local: &Local, memory: &[i128]) -> bool {
        let mut seen = vec![local.clone()];
        let mut next = 0;
        while let Some(local) = seen.get(next).cloned() {
            next += 1;
            let to = match self.step(&local) {
                Step::None => vec![],
                Step::Silent(to) => to,
                Step::Write(..) | Step::Fence(..) => return false,
                Step::Rmw(var) => match self.after_rmw(&local, memory[var.index()]) {
                    Some(_) => return false,
                    None => vec![],
                },
                Step::Read(var) => vec![self.after_read(&local, memory[var.index()])],
            };
            for to in to {
                if to.failed || self.awaits(&local.at).is_none() || self.succeeds(&local) {
                    return false;
                }
                if !seen.contains(&to) {
                    seen.push(to);
                }
            }
        }
        true
    }

    /// Whether the next step leaves an `await`.
    fn succeeds(&self, local: &Local) -> bool {
        let At::Test(address) = local.at else { return false };
        let Some(StmtKind::Await(_, code)) = self.stmt(address) else { unreachable!() };
        !matches!(Self::eval(code, &local.registers), Ok(0))
    }
}

/// Whether a statement may write something, or control may come back to it.
fn writes(stmt: &Stmt) -> bool {
    use StmtKind::{Label, Loop, Rmw, Store};
    matches!(stmt.kind, Store(..) | Rmw(..) | Label(_) | Loop(_))
        || stmt.kind.blocks().into_iter().flatten().any(writes)
}

/// Whether a process that comes to an atomic block stands at its first access; otherwise it
/// stands before the block.
fn begins_with_access(block: &[Stmt]) -> bool {
    match block.first().map(|s| &s.kind) {
        Some(StmtKind::Load(..) | StmtKind::Store(..) | StmtKind::Rmw(..)) => true,
        Some(StmtKind::Await(loads, _)) => begins_with_access(loads),
        _ => false,
    }
}

fn apply(op: BinOp, a: i128, b: i128) -> Result<i128, Fails> {
    Automaton::eval(&Code::binary(op, Code::Const(a), Code::Const(b)), &[])
}
