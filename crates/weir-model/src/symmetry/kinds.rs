//! Finds out what has to be exchanged together with two processes.
//!
//! Constraints are collected by walking two codes at a time, and solved by unification: each
//! variable and each register has a *kind*, those between which values may flow have the same
//! kind, and a kind says which values are exchanged.

use std::collections::BTreeMap;

use super::Automorphism;
use super::permutation::Permutation;
use crate::flow::{Located, Node};
use crate::ids::{ProcessId, RegId, ValueId, VarId};
use crate::limits::{Budget, Stop};
use crate::program::{BinOp, Code, Domain, Expr, Place, Program, Rmw, UnOp};
use crate::system::System;

/// The values of a piece of code.
#[derive(Clone, Copy)]
enum Of {
    /// Those of a variable or register.
    Kind(usize),
    /// A constant in one process, and the one in the other.
    Const(i128, i128),
    /// None of them is exchanged.
    Plain,
}

/// The kinds of variables and registers, as far as they are known.
pub(super) struct Kinds<'s> {
    system: &'s System,
    /// The kind that one became part of; a root if it is itself.
    joined: Vec<usize>,
    /// Which values become which.
    values: Vec<BTreeMap<i128, i128>>,
    /// Which bits become which, where values are sets of bits.
    bits: Vec<Option<BTreeMap<u32, u32>>>,
    is_plain: Vec<bool>,
    /// Where the registers of each process begin; the variables come first.
    begins: Vec<usize>,
    vars: BTreeMap<VarId, VarId>,
    /// Arrays, of which the kind of an index says which elements are exchanged.
    indexed: Vec<(Place, Place, usize)>,
}

impl<'s> Kinds<'s> {
    pub fn new(system: &'s System) -> Self {
        let mut count = system.vars.len();
        let mut begins = Vec::new();
        for process in &system.program.processes {
            begins.push(count);
            count += process.registers.len();
        }
        Self {
            system,
            joined: (0..count).collect(),
            values: vec![BTreeMap::new(); count],
            bits: vec![None; count],
            is_plain: vec![false; count],
            begins,
            vars: BTreeMap::new(),
            indexed: vec![],
        }
    }

    fn root(&mut self, mut kind: usize) -> usize {
        while self.joined[kind] != kind {
            self.joined[kind] = self.joined[self.joined[kind]];
            kind = self.joined[kind];
        }
        kind
    }

    /// A value of a kind becomes another, and the other way round.
    fn exchange(&mut self, kind: usize, v: i128, w: i128) -> Option<()> {
        let kind = self.root(kind);
        let values = &mut self.values[kind];
        (*values.entry(v).or_insert(w) == w && *values.entry(w).or_insert(v) == v).then_some(())
    }

    /// A bit of the values of a kind becomes another, and the other way round.
    fn exchange_bits(&mut self, kind: usize, a: u32, b: u32) -> Option<()> {
        let kind = self.root(kind);
        let bits = self.bits[kind].get_or_insert_default();
        (*bits.entry(a).or_insert(b) == b && *bits.entry(b).or_insert(a) == a).then_some(())
    }

    /// The values are sets of bits.
    fn has_bits(&mut self, of: Of) {
        if let Of::Kind(kind) = of {
            let kind = self.root(kind);
            self.bits[kind].get_or_insert_default();
        }
    }

    /// Values may flow between the two, or are compared.
    fn join(&mut self, a: Of, b: Of) -> Option<()> {
        match (a, b) {
            (Of::Kind(a), Of::Kind(b)) => {
                let (a, b) = (self.root(a), self.root(b));
                if a != b {
                    self.joined[b] = a;
                    if self.bits[b].is_some() {
                        self.bits[a].get_or_insert_default();
                    }
                    self.is_plain[a] |= self.is_plain[b];
                    for (v, w) in std::mem::take(&mut self.values[b]) {
                        self.exchange(a, v, w)?;
                    }
                    for (i, j) in self.bits[b].take().into_iter().flatten() {
                        self.exchange_bits(a, i, j)?;
                    }
                }
                Some(())
            }
            (Of::Kind(kind), Of::Const(v, w)) | (Of::Const(v, w), Of::Kind(kind)) => {
                self.exchange(kind, v, w)
            }
            (Of::Kind(kind), Of::Plain) | (Of::Plain, Of::Kind(kind)) => {
                let kind = self.root(kind);
                self.is_plain[kind] = true;
                Some(())
            }
            (Of::Const(v, w), Of::Const(x, y)) => ((v == x) == (w == y)).then_some(()),
            (Of::Const(v, w), Of::Plain) | (Of::Plain, Of::Const(v, w)) => (v == w).then_some(()),
            (Of::Plain, Of::Plain) => Some(()),
        }
    }

    /// Whether it is 0 matters.
    fn is_tested(&mut self, of: Of) -> Option<()> {
        self.join(of, Of::Const(0, 0))
    }

    fn register(&self, process: ProcessId, reg: RegId) -> Of {
        Of::Kind(self.begins[process.index()] + reg.index())
    }

    /// The codes of two processes are alike.
    pub fn codes(
        &mut self,
        p: ProcessId,
        q: ProcessId,
        budget: &Budget,
    ) -> Result<Option<()>, Stop> {
        let flows = [p, q].map(|p| &self.system.processes[p.index()].flow);
        let declared = [p, q].map(|p| &self.system.program.processes[p.index()].registers);
        let alike = flows[0].nodes.len() == flows[1].nodes.len()
            && flows[0].entry == flows[1].entry
            && declared[0].len() == declared[1].len();
        if !alike {
            return Ok(None);
        }
        for (r, (one, other)) in declared[0].iter().zip(declared[1]).enumerate() {
            let r = RegId::new(r);
            let mut joined = self.join(self.register(p, r), self.register(q, r));
            if flows[0].live[flows[0].entry][r.index()] {
                joined = joined
                    .and_then(|()| self.join(self.register(p, r), Of::Const(one.init, other.init)));
            }
            if one.domain != other.domain || joined.is_none() {
                return Ok(None);
            }
        }
        for (node, (one, other)) in flows[0].nodes.iter().zip(&flows[1].nodes).enumerate() {
            budget.tick()?;
            let live = flows[0].live[node] == flows[1].live[node];
            if !live || !is_same_place(one, other) || self.nodes(p, one, other).is_none() {
                return Ok(None);
            }
        }
        Ok(Some(()))
    }

    /// What two nodes do is alike; registers are those of the first process, and of the same kind
    /// as those of the second.
    fn nodes(&mut self, p: ProcessId, a: &Located, b: &Located) -> Option<()> {
        (a.lock == b.lock && a.is_direct == b.is_direct).then_some(())?;
        let reg = |r: &RegId| self.register(p, *r);
        match (&a.node, &b.node) {
            (Node::End, Node::End) => Some(()),
            (Node::Jump(a), Node::Jump(b))
            | (Node::Goto(a), Node::Goto(b))
            | (Node::Nop(a), Node::Nop(b)) => (a == b).then_some(()),
            (Node::Fence(a, to), Node::Fence(b, other)) => (a == b && to == other).then_some(()),
            (Node::Choose(a), Node::Choose(b)) => (a == b).then_some(()),
            (Node::Assign(r, a, to), Node::Assign(s, b, other)) => {
                (r == s && to == other).then_some(())?;
                let (r, code) = (reg(r), self.code(p, a, b)?);
                self.join(r, code)
            }
            (Node::Any(r, a, to), Node::Any(s, b, other)) => {
                (r == s && to == other && a == b).then_some(())?;
                // Which values there are stays the same only if none is exchanged.
                self.join(reg(r), Of::Plain)
            }
            (Node::Load(r, a, to), Node::Load(s, b, other)) => {
                (r == s && to == other).then_some(())?;
                let (r, place) = (reg(r), self.place(p, a, b)?);
                self.join(r, place)
            }
            (Node::Store(place, a, to), Node::Store(there, b, other)) => {
                (to == other).then_some(())?;
                let (place, code) = (self.place(p, place, there)?, self.code(p, a, b)?);
                self.join(place, code)
            }
            (Node::Rmw(r, place, a, to), Node::Rmw(s, there, b, other)) => {
                (r == s && to == other).then_some(())?;
                let (r, place) = (reg(r), self.place(p, place, there)?);
                self.rmw(p, a, b, r, place)
            }
            (Node::Assume(a, to), Node::Assume(b, other))
            | (Node::Assert(a, to), Node::Assert(b, other)) => {
                (to == other).then_some(())?;
                let code = self.code(p, a, b)?;
                self.is_tested(code)
            }
            (Node::Branch(a, yes, no), Node::Branch(b, other_yes, other_no)) => {
                (yes == other_yes && no == other_no).then_some(())?;
                let code = self.code(p, a, b)?;
                self.is_tested(code)
            }
            _ => None,
        }
    }

    fn rmw(&mut self, p: ProcessId, a: &Rmw, b: &Rmw, reg: Of, place: Of) -> Option<()> {
        match (a, b) {
            (
                Rmw::Cas { expected, new, failure },
                Rmw::Cas { expected: there, new: other, failure: of_other },
            )
            | (
                Rmw::CasFlag { expected, new, failure },
                Rmw::CasFlag { expected: there, new: other, failure: of_other },
            ) => {
                (failure == of_other).then_some(())?;
                for (a, b) in [(expected, there), (new, other)] {
                    let code = self.code(p, a, b)?;
                    self.join(place, code)?;
                }
                let given = if matches!(a, Rmw::Cas { .. }) { place } else { Of::Plain };
                self.join(reg, given)
            }
            (Rmw::Swap(a), Rmw::Swap(b)) => {
                let code = self.code(p, a, b)?;
                self.join(place, code)?;
                self.join(reg, place)
            }
            (Rmw::Fetch(op, a), Rmw::Fetch(other, b)) => {
                (op == other).then_some(())?;
                let code = self.code(p, a, b)?;
                if matches!(op, BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor) {
                    self.has_bits(place);
                    self.join(place, code)?;
                    return self.join(reg, place);
                }
                [code, place, reg].into_iter().try_for_each(|of| self.join(of, Of::Plain))
            }
            (Rmw::Update { when, new }, Rmw::Update { when: there, new: other }) => {
                self.join(reg, place)?;
                let when = self.code(p, when, there)?;
                self.is_tested(when)?;
                let new = self.code(p, new, other)?;
                self.join(place, new)
            }
            _ => None,
        }
    }

    fn code(&mut self, p: ProcessId, a: &Code, b: &Code) -> Option<Of> {
        match (a, b) {
            (Expr::Const(a), Expr::Const(b)) => Some(Of::Const(*a, *b)),
            (Expr::Atom(r), Expr::Atom(s)) if r == s => Some(self.register(p, *r)),
            (Expr::Unary(op, a), Expr::Unary(other, b)) if op == other => {
                let of = self.code(p, a, b)?;
                match op {
                    UnOp::Not => self.is_tested(of)?,
                    UnOp::Neg | UnOp::Wrap(_) => self.join(of, Of::Plain)?,
                }
                Some(Of::Plain)
            }
            (Expr::Binary(op, a, b), Expr::Binary(other, c, d)) if op == other => {
                let bits = tested_bit(*op, a, b).zip(tested_bit(*op, c, d));
                if let Some(((a, i), (c, j))) = bits {
                    match self.code(p, a, c)? {
                        Of::Kind(kind) => self.exchange_bits(kind, i, j)?,
                        of => self.join(of, Of::Plain)?,
                    }
                    return Some(Of::Plain);
                }
                let (a, b) = (self.code(p, a, c)?, self.code(p, b, d)?);
                match op {
                    BinOp::Eq | BinOp::Ne => self.join(a, b)?,
                    BinOp::And | BinOp::Or => {
                        self.is_tested(a)?;
                        self.is_tested(b)?;
                    }
                    BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor => {
                        self.has_bits(a);
                        self.has_bits(b);
                        self.join(a, b)?;
                        return Some(if matches!(a, Of::Kind(_)) { a } else { b });
                    }
                    _ => {
                        self.join(a, Of::Plain)?;
                        self.join(b, Of::Plain)?;
                    }
                }
                Some(Of::Plain)
            }
            _ => None,
        }
    }

    /// The values of the variable at a place.
    fn place(&mut self, p: ProcessId, a: &Place, b: &Place) -> Option<Of> {
        (a.order == b.order).then_some(())?;
        match (&a.index, &b.index) {
            (None, None) => {
                self.exchange_vars(a.first, b.first)?;
                Some(Of::Kind(a.first.index()))
            }
            (Some(index), Some(there)) => {
                (a.len == b.len).then_some(())?;
                let index = self.code(p, index, there)?;
                for place in [a, b] {
                    for i in 0..place.len as usize {
                        let element = Of::Kind(place.first.index() + i);
                        self.join(Of::Kind(a.first.index()), element)?;
                    }
                }
                match index {
                    Of::Kind(kind) => self.indexed.push((a.clone(), b.clone(), kind)),
                    Of::Const(v, w) => {
                        let element = |place: &Place, i: i128| {
                            let i = usize::try_from(i).ok().filter(|i| *i < place.len as usize)?;
                            Some(VarId::new(place.first.index() + i))
                        };
                        self.exchange_vars(element(a, v)?, element(b, w)?)?;
                    }
                    Of::Plain => {
                        for i in 0..a.len as usize {
                            let [one, other] =
                                [a, b].map(|place| VarId::new(place.first.index() + i));
                            self.exchange_vars(one, other)?;
                        }
                    }
                }
                Some(Of::Kind(a.first.index()))
            }
            _ => None,
        }
    }

    fn exchange_vars(&mut self, x: VarId, y: VarId) -> Option<()> {
        let vars = &mut self.vars;
        (*vars.entry(x).or_insert(y) == y && *vars.entry(y).or_insert(x) == x).then_some(())?;
        self.join(Of::Kind(x.index()), Of::Kind(y.index()))
    }

    /// What becomes of the values of a kind; `None` if it is a contradiction.
    fn permutation(&self, root: usize) -> Option<Permutation> {
        let values = &self.values[root];
        let Some(mut bits) = self.bits[root].clone() else {
            return Some(Permutation::values(values.clone()));
        };
        for (v, w) in values.iter().filter(|(v, w)| v != w) {
            let bit = |v: i128| (v.count_ones() == 1).then(|| v.trailing_zeros());
            if let Some((a, b)) = bit(*v).zip(bit(*w)) {
                (*bits.entry(a).or_insert(b) == b).then_some(())?;
            }
        }
        let found = Permutation::bits(bits);
        values.iter().all(|(v, w)| found.image(*v) == *w).then_some(found)
    }

    /// What follows; `None` if it is a contradiction. The processes are still in their places.
    pub fn solve(mut self) -> Option<Automorphism> {
        // Elements of arrays say which indices are exchanged, and the other way round.
        loop {
            let before = (self.vars.len(), self.values.iter().map(BTreeMap::len).sum::<usize>());
            for (a, b, kind) in self.indexed.clone() {
                for i in 0..a.len as usize {
                    let root = self.root(kind);
                    let element = |place: &Place, i: usize| VarId::new(place.first.index() + i);
                    if let Some(image) = self.vars.get(&element(&a, i)) {
                        let j = image.index().checked_sub(b.first.index())?;
                        (j < b.len as usize).then_some(())?;
                        self.exchange(root, i as i128, j as i128)?;
                    } else if let Some(&j) = self.values[root].get(&(i as i128)) {
                        let j = usize::try_from(j).ok().filter(|j| *j < b.len as usize)?;
                        self.exchange_vars(element(&a, i), element(&b, j))?;
                    }
                }
            }
            let after = (self.vars.len(), self.values.iter().map(BTreeMap::len).sum::<usize>());
            if before == after {
                break;
            }
        }
        for (a, b, kind) in self.indexed.clone() {
            let root = self.root(kind);
            for i in 0..a.len as usize {
                let x = VarId::new(a.first.index() + i);
                let image = self.vars.get(&x).copied().unwrap_or(x);
                let j = self.values[root].get(&(i as i128)).copied().unwrap_or(i as i128);
                let expected = usize::try_from(j).ok().map(|j| VarId::new(b.first.index() + j))?;
                (image == expected).then_some(())?;
            }
        }
        let system = self.system;
        let of = |kinds: &mut Self, kind: usize, domain: Option<Domain>| {
            let root = kinds.root(kind);
            let found = kinds.permutation(root)?;
            let fits = |v: i128| {
                domain.is_none_or(|d| Program::fit(Some(d), v) == v && system.program.admits(d, v))
            };
            // Of sets of bits, all are in the domain up to the largest.
            let has_bits = |last: u32| match domain {
                None => true,
                Some(Domain::Range(0, high)) => high >= 1 << last && high & (high + 1) == 0,
                Some(Domain::Int(int)) => int.high() >= 1 << last,
                Some(_) => false,
            };
            let is_fine = found.is_identity()
                || !kinds.is_plain[root]
                    && found.moved().all(fits)
                    && found.largest_bit().is_none_or(has_bits);
            is_fine.then_some(found)
        };
        let mut found = Automorphism::identity(system);
        for (x, var) in system.vars.iter().enumerate() {
            let id = VarId::new(x);
            found.values[x] = of(&mut self, x, var.domain)?;
            let image = self.vars.get(&id).copied().unwrap_or(id);
            found.vars[x] = image;
            let there = &system.vars[image.index()];
            let number = |x: VarId, v: &ValueId| system.value(x, *v);
            let becomes = |v: i128| found.values[x].image(v);
            let mut initial: Vec<i128> =
                var.initial.iter().map(|v| becomes(number(id, v))).collect();
            let mut expected: Vec<i128> = there.initial.iter().map(|v| number(image, v)).collect();
            initial.sort_unstable();
            expected.sort_unstable();
            (initial == expected && var.domain == there.domain).then_some(())?;
        }
        for (p, process) in system.program.processes.iter().enumerate() {
            for (r, register) in process.registers.iter().enumerate() {
                let kind = self.begins[p] + r;
                found.registers[p][r] = of(&mut self, kind, register.domain)?;
            }
        }
        Some(found)
    }
}

/// `e` and `i`, if `a op b` is `e >> i & 1`.
fn tested_bit<'c>(op: BinOp, a: &'c Code, b: &Code) -> Option<(&'c Code, u32)> {
    match (op, a, b) {
        (BinOp::BitAnd, Expr::Binary(BinOp::Shr, e, i), Expr::Const(1)) => match **i {
            Expr::Const(i) => u32::try_from(i).ok().filter(|i| *i < 100).map(|i| (&**e, i)),
            _ => None,
        },
        _ => None,
    }
}

/// Whether two nodes are at the same place in the code.
fn is_same_place(a: &Located, b: &Located) -> bool {
    a.labels == b.labels
        && a.is_place == b.is_place
        && a.within == b.within
        && a.in_call == b.in_call
}
