//! The domain of each variable, for models in which a read may guess its value.
//!
//! With `r->w` or RRWE a process may read a value that is written only later, perhaps
//! because of that very read (Atig et al. 2010, section 8.1; Atig et al. 2012, section
//! 3.6). So what a read may return cannot be worked out by following what processes do:
//! it is any value of the variable's domain, and the model says which guesses come true.
//!
//! A declared domain is the domain. Without one it is the least set that has the initial
//! values and is closed under every write of the code, whatever the control flow: each
//! register may hold whatever some statement puts there, and each store writes every value that
//! its expression can have then. Bounds that a person has set for a search cut the sets.

use std::collections::BTreeSet;

use super::unbounded;
use crate::flow::{Flow, Node};
use crate::ids::{ProcessId, RegId, SpanId, VarId};
use crate::limits::Budget;
use crate::program::{Code, Expr, Place, Program, Rmw};
use crate::system::{BuildError, MAX_VALUES, Unbuilt};

/// The most combinations of register values that one expression is evaluated for.
const MAX_COMBINATIONS: usize = 1 << 18;

/// The values of each variable.
pub(super) fn domains(
    program: &Program,
    flows: &[Flow<'_>],
    budget: &Budget,
) -> Result<Vec<BTreeSet<i64>>, Unbuilt> {
    let mut sets = Sets::new(program, budget)?;
    // For each node, how many values there were when it was evaluated last.
    let mut seen: Vec<Vec<usize>> = flows.iter().map(|f| vec![0; f.nodes.len()]).collect();
    loop {
        let mut changed = false;
        for (p, flow) in flows.iter().enumerate() {
            for (n, located) in flow.nodes.iter().enumerate() {
                budget.tick()?;
                let inputs = sets.inputs(p, &located.node);
                if seen[p][n] != inputs {
                    seen[p][n] = inputs;
                    changed = true;
                    sets.node(ProcessId::new(p), &located.node, located.span)?;
                }
            }
        }
        if !changed {
            return Ok(sets.vars);
        }
    }
}

struct Sets<'a> {
    program: &'a Program,
    budget: &'a Budget,
    /// Whether the domain of the variable was declared.
    declared: Vec<bool>,
    vars: Vec<BTreeSet<i64>>,
    registers: Vec<Vec<BTreeSet<i64>>>,
}

impl<'a> Sets<'a> {
    fn new(program: &'a Program, budget: &'a Budget) -> Result<Self, Unbuilt> {
        let mut vars = Vec::new();
        let mut declared = Vec::new();
        for decl in &program.vars {
            for init in &decl.init {
                let var = VarId::new(vars.len());
                if let Some(domain) = decl.domain
                    && program.size(domain) > MAX_VALUES as u64
                {
                    return Err(too_large(program, var, decl.span).into());
                }
                declared.push(decl.domain.is_some());
                let bound = program.bounds.vars.get(&var);
                let inside = |v: &i64| bound.is_none_or(|b| (b.0..=b.1).contains(v));
                let values = decl.domain.map_or_else(Vec::new, |d| program.values(d));
                let values = values.into_iter().filter(inside);
                vars.push(values.chain(init.iter().copied()).collect());
            }
        }
        let registers = program
            .processes
            .iter()
            .map(|p| p.registers.iter().map(|r| BTreeSet::from([r.init])).collect())
            .collect();
        Ok(Self { program, budget, declared, vars, registers })
    }

    /// One more than the number of values that a node is evaluated with. Sets only grow, so
    /// as long as this is the same nothing has changed.
    fn inputs(&self, p: usize, node: &Node<'_>) -> usize {
        let mut count = 1;
        node.uses(&mut |r| count += self.registers[p][r.index()].len());
        if let Node::Load(_, place, _) | Node::Rmw(_, place, _, _) = node {
            let first = place.first.index();
            count += self.vars[first..first + place.len as usize]
                .iter()
                .map(BTreeSet::len)
                .sum::<usize>();
        }
        count
    }

    fn node(&mut self, p: ProcessId, node: &Node<'_>, span: SpanId) -> Result<(), Unbuilt> {
        match node {
            Node::Assign(r, code, _) => {
                let values = self.values(p, code, None, span)?;
                self.set(p, *r, values, span)
            }
            Node::Any(r, values, _) => self.set(p, *r, values.iter().copied().collect(), span),
            Node::Load(r, place, _) => {
                let read = self.read(p, place, span)?;
                self.set(p, *r, read, span)
            }
            Node::Store(place, code, _) => {
                let values = self.values(p, code, None, span)?;
                self.write(p, place, &values, span)
            }
            Node::Rmw(r, place, rmw, _) => {
                let old = self.read(p, place, span)?;
                let written = match rmw {
                    Rmw::Cas { new, .. } | Rmw::CasFlag { new, .. } | Rmw::Swap(new) => {
                        self.values(p, new, None, span)?
                    }
                    Rmw::Fetch(op, code) => {
                        let mut values = BTreeSet::new();
                        for operand in self.values(p, code, None, span)? {
                            values.extend(old.iter().filter_map(|o| op.apply(*o, operand).ok()));
                        }
                        values
                    }
                    Rmw::Update { new, .. } => self.values(p, new, Some((*r, &old)), span)?,
                };
                self.write(p, place, &written, span)?;
                let given = match rmw {
                    Rmw::CasFlag { .. } => BTreeSet::from([0, 1]),
                    _ => old,
                };
                self.set(p, *r, given, span)
            }
            Node::Call(ways) => {
                for (_, argument, _) in ways {
                    if let Some((r, values)) = argument {
                        self.set(p, *r, values.iter().copied().collect(), span)?;
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Every value that code can have. In `instead`, a register has other values.
    fn values(
        &self,
        p: ProcessId,
        code: &Code,
        instead: Option<(RegId, &BTreeSet<i64>)>,
        span: SpanId,
    ) -> Result<BTreeSet<i64>, Unbuilt> {
        let mut used = Vec::new();
        code.atoms(&mut |r| {
            if !used.contains(r) {
                used.push(*r);
            }
        });
        let of = |r: &RegId| match instead {
            Some((other, values)) if other == *r => values,
            _ => &self.registers[p.index()][r.index()],
        };
        let sets: Vec<Vec<i64>> = used.iter().map(|r| of(r).iter().copied().collect()).collect();
        let combinations = sets.iter().try_fold(1_usize, |n, s| n.checked_mul(s.len()));
        if combinations.is_none_or(|n| n > MAX_COMBINATIONS) {
            return Err(BuildError {
                message: "this expression has too many possible values to guess what is read"
                    .to_owned(),
                span,
                help: "where reads are guessed, give variables and registers a domain".to_owned(),
                unbounded: None,
            }
            .into());
        }
        let mut found = BTreeSet::new();
        let mut chosen = vec![0; sets.len()];
        loop {
            self.budget.tick()?;
            let value = |r: &RegId| {
                let i = used.iter().position(|u| u == r).expect("it is used");
                sets[i][chosen[i]]
            };
            if sets.iter().all(|s| !s.is_empty()) {
                found.extend(code.eval(&mut |r| value(r)).ok());
            }
            let Some(next) = (0..sets.len()).find(|&i| chosen[i] + 1 < sets[i].len()) else {
                return Ok(found);
            };
            chosen[next] += 1;
            chosen[..next].fill(0);
        }
    }

    /// The variables that a place may be.
    fn elements(&self, p: ProcessId, place: &Place, span: SpanId) -> Result<Vec<VarId>, Unbuilt> {
        let index = place.index.clone().unwrap_or(Expr::Const(0));
        let indices = self.values(p, &index, None, span)?;
        let inside = indices.into_iter().filter_map(|i| usize::try_from(i).ok());
        let inside = inside.filter(|i| *i < place.len as usize);
        Ok(inside.map(|i| VarId::new(place.first.index() + i)).collect())
    }

    fn read(&self, p: ProcessId, place: &Place, span: SpanId) -> Result<BTreeSet<i64>, Unbuilt> {
        let elements = self.elements(p, place, span)?;
        Ok(elements.into_iter().flat_map(|x| &self.vars[x.index()]).copied().collect())
    }

    fn write(
        &mut self,
        p: ProcessId,
        place: &Place,
        values: &BTreeSet<i64>,
        span: SpanId,
    ) -> Result<(), Unbuilt> {
        for x in self.elements(p, place, span)? {
            if self.declared[x.index()] {
                continue;
            }
            let bound = self.program.bounds.vars.get(&x);
            let inside = |v: &&i64| bound.is_none_or(|b| (b.0..=b.1).contains(*v));
            self.vars[x.index()].extend(values.iter().filter(inside));
            if self.vars[x.index()].len() > MAX_VALUES {
                return Err(too_large(self.program, x, span).into());
            }
        }
        Ok(())
    }

    fn set(
        &mut self,
        p: ProcessId,
        r: RegId,
        values: BTreeSet<i64>,
        span: SpanId,
    ) -> Result<(), Unbuilt> {
        let program = self.program;
        let declared = &program.processes[p.index()].registers[r.index()];
        let bound = program.bounds.registers.get(&(p, r));
        let inside = |v: &i64| {
            declared.domain.is_none_or(|d| program.admits(d, *v))
                && bound.is_none_or(|b| (b.0..=b.1).contains(v))
        };
        let known = &mut self.registers[p.index()][r.index()];
        known.extend(values.into_iter().filter(inside));
        if known.len() > MAX_VALUES {
            return Err(
                unbounded("register", &declared.display, "reg", &declared.name, span).into()
            );
        }
        Ok(())
    }
}

fn too_large(program: &Program, var: VarId, span: SpanId) -> BuildError {
    unbounded("variable", &program.var_name(var), "var", &program.decl(var).0.name, span)
}
