//! From the states and values that were found to automata, numbered and sorted.

use std::collections::{BTreeMap, HashMap};

use super::{Builder, Key, RawOp, Stop};
use crate::flow::{Flow, Node};
use crate::ids::{LabelId, SpanId, StateId, ValueId, VarId};
use crate::system::{
    Automaton, BuildError, MAX_CELLS, Op, State, StateKind, Transition, Unbuilt, Variable,
};

impl Builder<'_> {
    pub(super) fn finish(self) -> Result<(Vec<Variable>, Vec<Automaton>), Unbuilt> {
        let cells: usize = self.values.iter().map(BTreeMap::len).sum();
        if cells > MAX_CELLS {
            let span = self.program.vars.first().map_or(SpanId::NONE, |d| d.span);
            return Err(BuildError {
                message: format!(
                    "the variables take {cells} values in all; the limit is {MAX_CELLS}"
                ),
                span,
                help: "give the variables smaller domains".to_owned(),
                unbounded: None,
            }
            .into());
        }
        let ranks: Vec<HashMap<i64, ValueId>> = self
            .values
            .iter()
            .map(|vs| vs.keys().enumerate().map(|(i, &v)| (v, ValueId::new(i))).collect())
            .collect();
        let rank = |x: VarId, v: i64| ranks[x.index()][&v];
        let mut vars = Vec::new();
        for decl in &self.program.vars {
            for init in &decl.init {
                let var = VarId::new(vars.len());
                let mut initial: Vec<_> = init.iter().map(|&v| rank(var, v)).collect();
                initial.sort_unstable();
                initial.dedup();
                vars.push(Variable {
                    name: self.program.var_name(var),
                    domain: decl.domain,
                    values: self.values[var.index()].keys().copied().collect(),
                    initial,
                });
            }
        }
        let op = |op: RawOp| match op {
            RawOp::Nop => Op::Nop,
            RawOp::Read(x, d) => Op::Read(x, rank(x, d)),
            RawOp::Write(x, d) => Op::Write(x, rank(x, d)),
            RawOp::Arw(x, d, e) => Op::Arw(x, rank(x, d), rank(x, e)),
            RawOp::Fence(kind) => Op::Fence(kind),
        };
        let processes = self
            .automata
            .into_iter()
            .zip(&self.program.processes)
            .zip(self.flows)
            .map(|((raw, process), flow)| {
                self.budget.check()?;
                let left = LabelId::new(process.labels.len());
                let states =
                    raw.keys.into_iter().map(|key| finish_state(key, flow, left)).collect();
                let outgoing = raw
                    .outgoing
                    .into_iter()
                    .map(|(from, list)| {
                        let mut list: Vec<_> = list
                            .into_iter()
                            .map(|(o, to, waits, mark, span)| Transition {
                                from,
                                op: op(o),
                                to,
                                waits,
                                mark,
                                span,
                            })
                            .collect();
                        list.sort_by_key(|t| (t.op, t.to, t.mark));
                        (from, list)
                    })
                    .collect();
                Ok(Automaton::new(process.name.clone(), StateId(0), states, outgoing))
            })
            .collect::<Result<_, Unbuilt>>()?;
        Ok((vars, processes))
    }
}

/// `left` is the label of what has left a bound.
fn finish_state(key: Key, flow: &Flow<'_>, left: LabelId) -> State {
    let located = &flow.nodes[key.node];
    let mut labels = located.labels.clone();
    let kind = match key.stop {
        Some(Stop::Failed(failure)) => StateKind::Failed(failure),
        Some(Stop::Left(excess)) => {
            labels = vec![left];
            StateKind::Left(excess)
        }
        None if matches!(located.node, Node::End) => StateKind::Ended,
        None => StateKind::Inside,
    };
    let is_choice =
        kind == StateKind::Inside && matches!(located.node, Node::Choose(_) | Node::Any(..));
    State::new(kind, key.registers.into(), labels.into(), is_choice, located.span)
}
