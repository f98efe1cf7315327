//! Loops that wait.
//!
//! A loop that only reads, and that changes nothing that a later round depends on, waits for another thread: it
//! becomes an `await`, in which going round is no progress. Such a loop is a point from which all ways that
//! come back to it have only loads, assignments and assertions. Those ways are gathered in one block; a way that leaves the loop sets a register
//! to its number, and goes on behind the `await`.

use std::collections::{BTreeSet, HashMap};

use weir_model::ids::{LabelId, RegId};
use weir_model::program::{BinOp, Expr, Stmt, StmtKind};

use super::finish::reads;
use super::number::{binary, number};
use super::{Home, Reader};

/// How many statements a loop that waits may have.
const MAX_SIZE: usize = 400;

/// How deep branches of such a loop nest.
const MAX_DEPTH: usize = 30;

/// The way around a loop.
struct Gathered {
    /// What leaves the loop: the statements behind it.
    exits: Vec<Vec<Stmt>>,
    /// What is set in the loop.
    set: BTreeSet<RegId>,
    /// What is read before it is set.
    exposed: BTreeSet<RegId>,
    size: usize,
    comes_back: bool,
    depth: usize,
}

impl Reader<'_> {
    /// Replaces the loops of a thread that wait.
    pub(super) fn find_waits(&mut self, thread: usize) {
        if self.threads[thread].name.is_empty() {
            return;
        }
        self.current = thread;
        let mut places: HashMap<LabelId, usize> = HashMap::new();
        for (number, code) in self.threads[thread].code.iter().enumerate() {
            if let Some(Stmt { kind: StmtKind::Label(label), .. }) = code.first() {
                places.insert(*label, number);
            }
        }
        let mut heads: Vec<(LabelId, usize)> = places.iter().map(|(l, n)| (*l, *n)).collect();
        heads.sort_by_key(|(_, number)| *number);
        for (head, number) in heads {
            if let Some(code) = self.waiting_code(thread, head, number, &places) {
                self.threads[thread].code[number] = code;
            }
        }
    }

    fn waiting_code(
        &mut self,
        thread: usize,
        head: LabelId,
        number_of: usize,
        places: &HashMap<LabelId, usize>,
    ) -> Option<Vec<Stmt>> {
        let code = self.threads[thread].code[number_of].clone();
        let first = code.first()?.clone();
        let span = code.get(1).map_or(first.span, |stmt| stmt.span);
        let mut found = Gathered {
            exits: Vec::new(),
            set: BTreeSet::new(),
            exposed: BTreeSet::new(),
            size: 0,
            comes_back: false,
            depth: 0,
        };
        // The ways that leave are numbered from 1.
        let way = self.register(Home::Temporary(9_999), String::new);
        let mut block = Vec::new();
        let all = &self.threads[thread].code;
        let mut open = vec![head];
        gather(
            &code[1..],
            head,
            all,
            places,
            way,
            &mut found,
            &mut open,
            &BTreeSet::new(),
            &mut block,
        )?;
        if !found.comes_back || found.set.intersection(&found.exposed).next().is_some() {
            return None;
        }
        let mut made = vec![first];
        match (&found.exits[..], &block[..]) {
            ([], _) => made.push(Stmt::new(StmtKind::Await(Vec::new(), number(0)), span)),
            // Loads and one test.
            ([exit], [loads @ .., Stmt { kind: StmtKind::If(test, then, other), .. }])
                if loads
                    .iter()
                    .all(|s| matches!(s.kind, StmtKind::Load(..) | StmtKind::Assign(..)))
                    && sets_only(then, way)
                    && sets_only(other, way) =>
            {
                let leaves = |block: &[Stmt]| {
                    matches!(block, [Stmt { kind: StmtKind::Assign(_, Expr::Const(1)), .. }])
                };
                let test = match (leaves(then), leaves(other)) {
                    (true, false) => test.clone(),
                    (false, true) => super::number::not(test.clone()),
                    _ => return None,
                };
                made.push(Stmt::new(StmtKind::Await(loads.to_vec(), test), span));
                made.extend(exit.iter().cloned());
            }
            (exits, _) => {
                let is_over = binary(BinOp::Ne, Expr::Atom(way), number(0));
                made.push(Stmt::new(StmtKind::Await(block.clone(), is_over), span));
                let last = exits.len();
                for (i, exit) in exits.iter().enumerate() {
                    if i + 1 == last {
                        made.extend(exit.iter().cloned());
                    } else {
                        let is_it = binary(BinOp::Eq, Expr::Atom(way), number(i as i128 + 1));
                        made.push(Stmt::new(StmtKind::If(is_it, exit.clone(), Vec::new()), span));
                    }
                }
            }
        }
        Some(made)
    }
}

fn sets_only(block: &[Stmt], way: RegId) -> bool {
    matches!(block, [Stmt { kind: StmtKind::Assign(register, Expr::Const(_)), .. }] if *register == way)
}

/// Whether some way through statements comes back to a label by loads, assignments and assertions only.
fn may_come_back(
    code: &[Stmt],
    head: LabelId,
    all: &[Vec<Stmt>],
    places: &HashMap<LabelId, usize>,
    open: &mut Vec<LabelId>,
    size: &mut usize,
) -> bool {
    for stmt in code {
        *size += 1;
        if *size > MAX_SIZE {
            return false;
        }
        match &stmt.kind {
            StmtKind::Assert(Expr::Const(0)) => return false,
            StmtKind::Load(..)
            | StmtKind::Assign(..)
            | StmtKind::Label(_)
            | StmtKind::Assert(_) => {}
            StmtKind::If(_, then, other) => {
                if may_come_back(then, head, all, places, open, size)
                    || may_come_back(other, head, all, places, open, size)
                {
                    return true;
                }
                if ends(then) && ends(other) {
                    return false;
                }
            }
            StmtKind::Goto(to) if *to == head => return true,
            StmtKind::Goto(to) => {
                let Some(&place) = places.get(to) else { return false };
                if open.contains(to) || open.len() > 20 {
                    return false;
                }
                open.push(*to);
                let found = may_come_back(&all[place][1..], head, all, places, open, size);
                open.pop();
                return found;
            }
            _ => return false,
        }
    }
    false
}

/// Whether nothing follows a block.
fn ends(block: &[Stmt]) -> bool {
    match block.last().map(|stmt| &stmt.kind) {
        Some(StmtKind::Goto(_) | StmtKind::Exit) => true,
        Some(StmtKind::Assert(Expr::Const(0)) | StmtKind::Assume(Expr::Const(0))) => true,
        Some(StmtKind::If(_, then, other)) => ends(then) && ends(other),
        _ => false,
    }
}

/// Gathers the ways of a loop into one block.
#[allow(clippy::too_many_arguments)]
fn gather(
    code: &[Stmt],
    head: LabelId,
    all: &[Vec<Stmt>],
    places: &HashMap<LabelId, usize>,
    way: RegId,
    found: &mut Gathered,
    open: &mut Vec<LabelId>,
    known: &BTreeSet<RegId>,
    out: &mut Vec<Stmt>,
) -> Option<()> {
    let mut known = known.clone();
    for (number_of, stmt) in code.iter().enumerate() {
        found.size += 1;
        if found.size > MAX_SIZE {
            return None;
        }
        let rest = &code[number_of..];
        let leave = |found: &mut Gathered, out: &mut Vec<Stmt>| {
            let same = found.exits.iter().position(|exit| exit == rest);
            let number_of = same.unwrap_or_else(|| {
                found.exits.push(rest.to_vec());
                found.exits.len() - 1
            });
            out.push(Stmt::new(StmtKind::Assign(way, number(number_of as i128 + 1)), stmt.span));
        };
        if !may_come_back(rest, head, all, places, &mut open.clone(), &mut 0) {
            leave(found, out);
            return Some(());
        }
        reads(&stmt.kind, &mut |register| {
            if !known.contains(&register) {
                found.exposed.insert(register);
            }
        });
        match &stmt.kind {
            StmtKind::Load(register, _) | StmtKind::Assign(register, _) => {
                found.set.insert(*register);
                known.insert(*register);
                out.push(stmt.clone());
            }
            StmtKind::Label(_) => {}
            StmtKind::If(test, then, other) => {
                // What follows the branch follows both of its ways.
                let tail = &rest[1..];
                found.depth += 1;
                if found.depth > MAX_DEPTH {
                    return None;
                }
                let mut blocks = Vec::new();
                for block in [then, other] {
                    let mut way_on: Vec<Stmt> = block.clone();
                    if !ends(block) {
                        way_on.extend(tail.iter().cloned());
                    }
                    let mut inner = Vec::new();
                    gather(&way_on, head, all, places, way, found, open, &known, &mut inner)?;
                    blocks.push(inner);
                }
                found.depth -= 1;
                let other = blocks.pop()?;
                let then = blocks.pop()?;
                out.push(Stmt::new(StmtKind::If(test.clone(), then, other), stmt.span));
                return Some(());
            }
            // A failure leaves the loop, and the assertion fails behind it.
            StmtKind::Assert(test) => {
                found.depth += 1;
                if found.depth > MAX_DEPTH {
                    return None;
                }
                let (mut on, mut failure) = (Vec::new(), Vec::new());
                gather(&rest[1..], head, all, places, way, found, open, &known, &mut on)?;
                leave(found, &mut failure);
                found.depth -= 1;
                out.push(Stmt::new(StmtKind::If(test.clone(), on, failure), stmt.span));
                return Some(());
            }
            StmtKind::Goto(to) if *to == head => {
                found.comes_back = true;
                out.push(Stmt::new(StmtKind::Assign(way, number(0)), stmt.span));
                return Some(());
            }
            StmtKind::Goto(to) => {
                let place = *places.get(to)?;
                open.push(*to);
                let done =
                    gather(&all[place][1..], head, all, places, way, found, open, &known, out);
                open.pop();
                return done;
            }
            _ => return None,
        }
    }
    None
}
