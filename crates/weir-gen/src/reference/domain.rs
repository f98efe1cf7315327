//! The values that reads may guess.

use std::collections::BTreeSet;

use weir_model::ids::{RegId, VarId};
use weir_model::program::{Code, Domain, Place, Process, Program, Rmw, Stmt, StmtKind};

/// Larger sets of values count as infinite.
const MAX_VALUES: usize = 12;

/// The domain of every variable: the declared one, if it is not a type of integers; otherwise the least set that contains
/// the initial values and is closed under every write of the code, whatever the control
/// flow. A register has every value that some statement of its process could give it, and
/// an expression every value for any combination of values of its registers.
///
/// `None` if some set is infinite or large.
pub fn domains(program: &Program) -> Option<Vec<BTreeSet<i128>>> {
    let mut values = Values { program, vars: vec![], registers: vec![], process: 0 };
    for decl in &program.vars {
        for init in &decl.init {
            values.vars.push(match decl.domain {
                Some(domain) if !matches!(domain, Domain::Int(_)) => {
                    program.values(domain).into_iter().collect()
                }
                _ => init.iter().copied().collect(),
            });
        }
    }
    let initial = |p: &Process| p.registers.iter().map(|r| BTreeSet::from([r.init])).collect();
    values.registers = program.processes.iter().map(initial).collect();
    loop {
        let before = (values.vars.clone(), values.registers.clone());
        for (p, process) in program.processes.iter().enumerate() {
            values.process = p;
            values.block(&process.body)?;
        }
        let sets = values.vars.iter().chain(values.registers.iter().flatten());
        if sets.into_iter().any(|set| set.len() > MAX_VALUES) {
            return None;
        }
        if before == (values.vars.clone(), values.registers.clone()) {
            return Some(values.vars);
        }
    }
}

/// What is stored of a value; `None` if storing it fails.
fn fitted(program: &Program, domain: Option<Domain>, value: i128) -> Option<i128> {
    match domain {
        Some(Domain::Int(int)) if !int.is_signed() => Some(value.rem_euclid(1 << int.bits())),
        Some(domain) => program.admits(domain, value).then_some(value),
        None => Some(value),
    }
}

struct Values<'p> {
    program: &'p Program,
    vars: Vec<BTreeSet<i128>>,
    registers: Vec<Vec<BTreeSet<i128>>>,
    /// Whose code it is.
    process: usize,
}

impl Values<'_> {
    /// Adds what the statements of a block can make.
    fn block(&mut self, block: &[Stmt]) -> Option<()> {
        for stmt in block {
            match &stmt.kind {
                StmtKind::Assign(reg, code) => self.set(*reg, &self.eval(code, None)?),
                StmtKind::Any(reg, values) => self.set(*reg, &values.iter().copied().collect()),
                StmtKind::Load(reg, place) => {
                    for x in self.elements(place)? {
                        self.set(*reg, &self.vars[x.index()].clone());
                    }
                }
                StmtKind::Store(place, code) => {
                    let values = self.eval(code, None)?;
                    for x in self.elements(place)? {
                        self.write(x, &values);
                    }
                }
                StmtKind::Rmw(reg, place, rmw) => {
                    for x in self.elements(place)? {
                        let old = self.vars[x.index()].clone();
                        let new = match rmw {
                            Rmw::Cas { new, .. } | Rmw::CasFlag { new, .. } | Rmw::Swap(new) => {
                                self.eval(new, None)?
                            }
                            Rmw::Fetch(op, code) => {
                                let operands = self.eval(code, None)?;
                                let pairs =
                                    old.iter().flat_map(|a| operands.iter().map(move |b| (*a, *b)));
                                pairs.filter_map(|(a, b)| op.apply(a, b).ok()).collect()
                            }
                            Rmw::Update { new, .. } => self.eval(new, Some((*reg, &old)))?,
                        };
                        self.write(x, &new);
                        match rmw {
                            Rmw::CasFlag { .. } => self.set(*reg, &BTreeSet::from([0, 1])),
                            _ => self.set(*reg, &self.vars[x.index()].clone()),
                        }
                    }
                }
                kind => kind.blocks().into_iter().try_for_each(|block| self.block(block))?,
            }
        }
        Some(())
    }

    /// A register only gets values of its domain: others are failures.
    fn set(&mut self, reg: RegId, values: &BTreeSet<i128>) {
        let domain = self.program.processes[self.process].registers[reg.index()].domain;
        let set = &mut self.registers[self.process][reg.index()];
        set.extend(values.iter().filter_map(|v| fitted(self.program, domain, *v)));
    }

    /// A declared domain is all that there is.
    fn write(&mut self, x: VarId, values: &BTreeSet<i128>) {
        let domain = self.program.decl(x).0.domain;
        if matches!(domain, None | Some(Domain::Int(_))) {
            let values = values.iter().filter_map(|v| fitted(self.program, domain, *v));
            self.vars[x.index()].extend(values);
        }
    }

    fn elements(&self, place: &Place) -> Option<Vec<VarId>> {
        let Some(index) = &place.index else { return Some(vec![place.first]) };
        let indices = self.eval(index, None)?.into_iter();
        let inside = indices.filter(|i| (0..i128::from(place.len)).contains(i));
        Some(inside.map(|i| VarId::new(place.first.index() + i as usize)).collect())
    }

    /// The values of an expression. In `standing`, a register stands for other values.
    fn eval(
        &self,
        code: &Code,
        standing: Option<(RegId, &BTreeSet<i128>)>,
    ) -> Option<BTreeSet<i128>> {
        let mut asked = BTreeSet::new();
        code.atoms(&mut |r| asked.extend([*r]));
        let mut combinations: Vec<Vec<(RegId, i128)>> = vec![vec![]];
        for reg in asked {
            let values = match standing {
                Some((r, values)) if r == reg => values,
                _ => &self.registers[self.process][reg.index()],
            };
            let each = combinations.into_iter();
            combinations = each
                .flat_map(|c| values.iter().map(move |v| [&c[..], &[(reg, *v)]].concat()))
                .collect();
            if combinations.len() > MAX_VALUES * MAX_VALUES * MAX_VALUES {
                return None;
            }
        }
        let value = |c: &Vec<(RegId, i128)>| {
            let of = |r: &RegId| c.iter().find(|(s, _)| s == r).expect("an atom of the code").1;
            super::value::value(code, &of).ok()
        };
        Some(combinations.iter().filter_map(value).collect())
    }
}
