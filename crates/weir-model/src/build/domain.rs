//! The domain of each variable, for models in which a read may guess its value.
//!
//! With `r->w` or RRWE a process may read a value that is written only later, possibly as
//! a consequence of that read (Atig et al. 2010, section 8.1; Atig et al. 2012, section
//! 3.6). So the values that a read may return cannot be computed by following the
//! processes. A read may return any value of the variable's domain, and the model decides
//! which guesses are validated.
//!
//! A declared domain is used as it is, unless it is an integer type. Otherwise the domain
//! is the least set that contains the initial values and is closed under every write of
//! the code, regardless of control flow: each register may hold every value that some
//! statement assigns to it, and each store writes every value that its expression can
//! then have. Bounds that the user has set for a search restrict the sets. A set that
//! grows too large is given up: it may hold anything, which is an error only for a
//! variable.

use std::collections::BTreeSet;

use crate::flow::{Flow, Node};
use crate::ids::{ProcessId, RegId, VarId};
use crate::limits::{Budget, Stop};
use crate::program::{Code, Domain, Expr, Place, Program, Rmw};
use crate::system::{BuildError, Unbuilt};

/// A set with more values is given up.
const MAX_SET: usize = 2048;

/// A declared domain with more values is treated as none.
const MAX_DECLARED: u128 = 1 << 16;

/// The most combinations of register values that one expression is evaluated for.
const MAX_COMBINATIONS: usize = 1 << 16;

/// Possible values; `None` is anything.
pub(super) type Set = Option<BTreeSet<i128>>;

/// The values of each variable.
///
/// # Errors
/// If the domain of a variable is infinite or too large, or a limit is reached.
pub(super) fn domains(
    program: &Program,
    flows: &[Flow],
    budget: &Budget,
) -> Result<Vec<BTreeSet<i128>>, Unbuilt> {
    let sets = Sets::new(program).close(flows, budget)?;
    let known = |(x, set): (usize, Set)| {
        set.ok_or_else(|| {
            let var = VarId::new(x);
            let (decl, _) = program.decl(var);
            let (variable, declared) = (program.var_name(var), decl.name.clone());
            BuildError { variable, declared, span: decl.span }.into()
        })
    };
    sets.vars.into_iter().enumerate().map(known).collect()
}

/// Sets on their way to being closed.
struct Sets<'a> {
    program: &'a Program,
    vars: Vec<Set>,
    registers: Vec<Vec<Set>>,
}

impl<'a> Sets<'a> {
    fn new(program: &'a Program) -> Self {
        let mut vars = Vec::new();
        for decl in &program.vars {
            for init in &decl.init {
                let mut values: BTreeSet<i128> = init.iter().copied().collect();
                match range(decl.domain) {
                    Some(domain) => vars.push(whole(program, domain).map(|mut all| {
                        let bound = program.bounds.vars.get(&VarId::new(vars.len()));
                        all.retain(|v| bound.is_none_or(|b| (b.0..=b.1).contains(v)));
                        all.append(&mut values);
                        all
                    })),
                    None => vars.push(Some(values)),
                }
            }
        }
        let registers = program
            .processes
            .iter()
            .map(|p| p.registers.iter().map(|r| Some(BTreeSet::from([r.init]))).collect())
            .collect();
        Self { program, vars, registers }
    }

    fn close(mut self, flows: &[Flow], budget: &Budget) -> Result<Self, Stop> {
        // For each node, how many values there were when it was evaluated last.
        let mut seen: Vec<Vec<usize>> = flows.iter().map(|f| vec![0; f.nodes.len()]).collect();
        loop {
            let mut changed = false;
            for (p, flow) in flows.iter().enumerate() {
                for (n, located) in flow.nodes.iter().enumerate() {
                    let inputs = self.inputs(p, &located.node);
                    if seen[p][n] != inputs {
                        seen[p][n] = inputs;
                        changed = true;
                        budget.work(inputs.min(1 << 16) / 16 + 1)?;
                        self.node(ProcessId::new(p), &located.node);
                    }
                }
            }
            if !changed {
                return Ok(self);
            }
        }
    }

    /// One more than the number of values that a node is evaluated with. Sets only grow, so
    /// as long as this is the same nothing has changed.
    fn inputs(&self, p: usize, node: &Node) -> usize {
        let size = |set: &Set| set.as_ref().map_or(1 << 40, BTreeSet::len);
        let mut count = 1;
        node.uses(&mut |r| count += size(&self.registers[p][r.index()]));
        if let Node::Load(_, place, _) | Node::Rmw(_, place, _, _) = node {
            let first = place.first.index();
            let elements = &self.vars[first..first + place.len as usize];
            count += elements.iter().map(size).sum::<usize>();
        }
        count
    }

    /// Every value that code can have; `None` if it can have any. In `instead`, a register has
    /// other values.
    fn values(&self, p: ProcessId, code: &Code, instead: Option<(RegId, &BTreeSet<i128>)>) -> Set {
        let mut used = Vec::new();
        code.atoms(&mut |r| {
            if !used.contains(r) {
                used.push(*r);
            }
        });
        let mut sets: Vec<Vec<i128>> = Vec::new();
        let mut combinations = 1_usize;
        for r in &used {
            let values = match instead {
                Some((other, values)) if other == *r => values,
                _ => self.registers[p.index()][r.index()].as_ref()?,
            };
            combinations = combinations.checked_mul(values.len())?;
            sets.push(values.iter().copied().collect());
        }
        let mut found = BTreeSet::new();
        if combinations == 0 || combinations > MAX_COMBINATIONS {
            return (combinations == 0).then_some(found);
        }
        let mut chosen = vec![0; sets.len()];
        loop {
            let value = |r: &RegId| {
                let i = used.iter().position(|u| u == r).expect("it is used");
                sets[i][chosen[i]]
            };
            found.extend(code.eval(&mut |r| value(r)).ok());
            let Some(next) = (0..sets.len()).find(|&i| chosen[i] + 1 < sets[i].len()) else {
                return Some(found);
            };
            chosen[next] += 1;
            chosen[..next].fill(0);
        }
    }

    fn node(&mut self, p: ProcessId, node: &Node) {
        match node {
            Node::Assign(r, code, _) => {
                let values = self.values(p, code, None);
                self.set(p, *r, values);
            }
            Node::Any(r, values, _) => self.set(p, *r, Some(values.iter().copied().collect())),
            Node::Load(r, place, _) => {
                let read = self.read(p, place);
                self.set(p, *r, read);
            }
            Node::Store(place, code, _) => {
                let values = self.values(p, code, None);
                self.write(p, place, values);
            }
            Node::Rmw(r, place, rmw, _) => {
                let old = self.read(p, place);
                let written = match rmw {
                    Rmw::Cas { new, .. } | Rmw::CasFlag { new, .. } | Rmw::Swap(new) => {
                        self.values(p, new, None)
                    }
                    Rmw::Fetch(op, code) => {
                        self.values(p, code, None).zip(old.clone()).and_then(|(operands, old)| {
                            let pairs = operands.len().checked_mul(old.len());
                            pairs.filter(|n| *n <= MAX_COMBINATIONS)?;
                            let all = operands.iter().flat_map(|b| old.iter().map(move |a| (a, b)));
                            Some(all.filter_map(|(a, b)| op.apply(*a, *b).ok()).collect())
                        })
                    }
                    Rmw::Update { new, .. } => {
                        old.as_ref().and_then(|old| self.values(p, new, Some((*r, old))))
                    }
                };
                self.write(p, place, written);
                let given = match rmw {
                    Rmw::CasFlag { .. } => Some(BTreeSet::from([0, 1])),
                    _ => old,
                };
                self.set(p, *r, given);
            }
            Node::Call(ways) => {
                for (_, argument, _) in ways {
                    if let Some((r, values)) = argument {
                        self.set(p, *r, Some(values.iter().copied().collect()));
                    }
                }
            }
            _ => {}
        }
    }

    /// The variables that a place may be.
    fn elements(&self, p: ProcessId, place: &Place) -> Vec<VarId> {
        let index = place.index.clone().unwrap_or(Expr::Const(0));
        let all = 0..place.len as usize;
        let indices: Vec<usize> = match self.values(p, &index, None) {
            None => all.collect(),
            Some(values) => {
                let inside = values.into_iter().filter_map(|i| usize::try_from(i).ok());
                inside.filter(|i| all.contains(i)).collect()
            }
        };
        indices.into_iter().map(|i| VarId::new(place.first.index() + i)).collect()
    }

    fn read(&self, p: ProcessId, place: &Place) -> Set {
        let mut all = BTreeSet::new();
        for x in self.elements(p, place) {
            all.extend(self.vars[x.index()].as_ref()?);
        }
        Some(all)
    }

    fn write(&mut self, p: ProcessId, place: &Place, values: Set) {
        for x in self.elements(p, place) {
            let domain = self.program.decl(x).0.domain;
            if range(domain).is_some() {
                continue;
            }
            let bound = self.program.bounds.vars.get(&x).copied();
            extend(self.program, &mut self.vars[x.index()], values.as_ref(), domain, bound);
        }
    }

    fn set(&mut self, p: ProcessId, r: RegId, values: Set) {
        let domain = self.program.processes[p.index()].registers[r.index()].domain;
        let bound = self.program.bounds.registers.get(&(p, r)).copied();
        let set = &mut self.registers[p.index()][r.index()];
        extend(self.program, set, values.as_ref(), domain, bound);
    }
}

/// A declared domain from which reads may be guessed as a whole. A type says how wide a variable
/// is, not which values it is meant to have.
fn range(domain: Option<Domain>) -> Option<Domain> {
    domain.filter(|d| !matches!(d, Domain::Int(_)))
}

/// Adds values to a set. Those outside the domain or the bound never get there.
fn extend(
    program: &Program,
    set: &mut Set,
    values: Option<&BTreeSet<i128>>,
    domain: Option<Domain>,
    bound: Option<(i128, i128)>,
) {
    let Some(known) = set else { return };
    let inside = |v: &i128| {
        domain.is_none_or(|d| program.admits(d, *v))
            && bound.is_none_or(|b| (b.0..=b.1).contains(v))
    };
    if let Some(values) = values {
        known.extend(values.iter().map(|v| Program::fit(domain, *v)).filter(inside));
        if known.len() <= MAX_SET {
            return;
        }
    }
    let bound = bound.filter(|b| b.1.abs_diff(b.0) < MAX_DECLARED).map(|b| (b.0..=b.1).collect());
    let initial = std::mem::take(known);
    *set = domain.and_then(|d| whole(program, d)).or(bound).map(|mut all: BTreeSet<i128>| {
        all.extend(initial);
        all
    });
}

/// All values of a domain, if they are not too many.
fn whole(program: &Program, domain: Domain) -> Set {
    (program.size(domain) <= MAX_DECLARED).then(|| program.values(domain).into_iter().collect())
}
