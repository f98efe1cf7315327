//! Slices: what of the code cannot influence the answer to some questions.
//!
//! A node of a slice stands where it stood, so that the processes have the same places; what
//! it did is left out:
//!
//! * a load into a register that nothing relevant uses, and a store to a variable that nothing
//!   relevant reads, become `nop`; an atomic read-write that is both becomes a full fence, unless
//!   it waits;
//! * an assignment to such a register gives it its initial value, and `any` chooses one value;
//! * where no question asks whether something fails, assertions hold.
//!
//! *Relevant* are the variables and registers that a question asks for, that a condition
//! (`if`, `assume`, `await`) looks at, and all from which a relevant one gets its value. For
//! registers this is known node by node, since the registers that front ends make are used again
//! and again.
//!
//! *Why no answer is lost.* Take a run under SC, TSO, PSO or NSW, and let every process do at
//! each step what the slice has there. Nothing relevant changes: a load only sets its register
//! (under NSW it may also move the process on in the history of its variable, which only leaves
//! it less to read), a store only fills a buffer, from which it leaves without being read, and
//! an atomic read-write is a full fence that also reads and writes. A process that fails goes no
//! further; in the slice it may stand still. So every state of the system is, as far as it is
//! asked for, a state of the slice, with all buffers empty if they were. A process that is stuck
//! is stuck in the slice: what it waits for is relevant. Therefore *a question that no state of
//! the slice settles is settled by no state of the system*. The converse is false: behind a
//! failure that was left out the slice goes on.

use crate::flow::{Flow, Located, Node, NodeId};
use crate::ids::{RegId, VarId};
use crate::limits::{Budget, Stop};
use crate::program::{Atom, Code, Expr, FenceKind, Place, Program, Rmw};
use crate::question::{Kind, Question};

/// Leaves out of the control flows what is not relevant to the questions. `false` if all of it is.
pub(super) fn cut(
    program: &Program,
    flows: &mut [Flow],
    questions: &[Question],
    budget: &Budget,
) -> Result<bool, Stop> {
    let mut relevant = Relevant {
        program,
        vars: vec![false; program.var_count()],
        observed: program.processes.iter().map(|p| vec![false; p.registers.len()]).collect(),
        asks_for_failures: questions.iter().any(|q| q.kind == Kind::Assertions),
    };
    for atom in questions.iter().flat_map(Question::atoms) {
        match atom {
            Atom::Var(x) => relevant.vars[x.index()] = true,
            Atom::Reg(p, r) => relevant.observed[p.index()][r.index()] = true,
            Atom::At(..) => {}
        }
    }
    // What is relevant grows until every process has been looked at with all of it.
    let mut used = vec![vec![]; flows.len()];
    loop {
        let before = relevant.vars.clone();
        for (p, flow) in flows.iter().enumerate() {
            used[p] = relevant.used(p, flow, budget)?;
        }
        if relevant.vars == before {
            break;
        }
    }
    let mut left_out = false;
    for ((p, flow), used) in flows.iter_mut().enumerate().zip(used) {
        for id in 0..flow.nodes.len() {
            if !relevant.keeps(p, flow, id, &used) {
                left_out |= relevant.cut(p, &mut flow.nodes[id]);
            }
        }
        flow.live = used;
    }
    Ok(left_out)
}

/// What can influence an answer, as far as it is known.
struct Relevant<'p> {
    program: &'p Program,
    vars: Vec<bool>,
    /// The registers of each process that a question asks for.
    observed: Vec<Vec<bool>>,
    asks_for_failures: bool,
}

impl Relevant<'_> {
    /// For each node the registers that something relevant may still use from there on. Marks the
    /// variables that something relevant reads.
    fn used(&mut self, p: usize, flow: &Flow, budget: &Budget) -> Result<Vec<Vec<bool>>, Stop> {
        let mut used = vec![self.observed[p].clone(); flow.nodes.len()];
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for id in (0..flow.nodes.len()).rev() {
                budget.tick()?;
                let node = &flow.nodes[id].node;
                let mut now = self.observed[p].clone();
                for (i, next) in node.successors().into_iter().enumerate() {
                    let set = node.sets(i);
                    for (r, is_used) in used[next].iter().enumerate() {
                        now[r] |= is_used & (set != Some(RegId::new(r)));
                    }
                }
                if self.keeps(p, flow, id, &used) {
                    node.uses(&mut |r| now[r.index()] = true);
                    if let Node::Load(_, place, _) | Node::Rmw(_, place, _, _) = node {
                        self.vars[elements(place)].fill(true);
                    }
                }
                has_changed |= now != used[id];
                used[id] = now;
            }
        }
        Ok(used)
    }

    /// Whether a node does something relevant, or may fail where that is asked.
    fn keeps(&self, p: usize, flow: &Flow, id: NodeId, used: &[Vec<bool>]) -> bool {
        let registers = &self.program.processes[p].registers;
        let fits = |r: &RegId| registers[r.index()].domain.is_none();
        let is_plain = |code: &Code| matches!(code, Expr::Const(_) | Expr::Atom(_));
        let is_used =
            |r: &RegId, next: &NodeId| used[*next][r.index()] || self.observed[p][r.index()];
        let is_read = |place: &Place| self.vars[elements(place)].contains(&true);
        let (is_relevant, is_safe) = match &flow.nodes[id].node {
            // In an `await` all is kept, so that a process waits as before.
            _ if flow.nodes[id].within.is_some() => (true, true),
            Node::Assign(r, code, next) => (is_used(r, next), fits(r) && is_plain(code)),
            Node::Any(r, _, next) => (is_used(r, next), fits(r)),
            Node::Load(r, place, next) => (is_used(r, next), fits(r) && place.index.is_none()),
            Node::Store(place, code, _) => {
                let domain = self.program.decl(place.first).0.domain;
                (is_read(place), domain.is_none() && place.index.is_none() && is_plain(code))
            }
            Node::Rmw(_, _, Rmw::Update { .. }, _) => (true, true),
            Node::Rmw(r, place, _, next) => (is_used(r, next) || is_read(place), false),
            Node::Assert(..) => (false, false),
            _ => (true, true),
        };
        is_relevant || self.asks_for_failures && !is_safe
    }

    /// Leaves out what a node does. Whether that makes a difference.
    fn cut(&self, p: usize, located: &mut Located) -> bool {
        let is_direct = located.is_direct;
        let node = &mut located.node;
        match node {
            Node::Load(_, _, next) | Node::Store(_, _, next) if is_direct => {
                *node = Node::Fence(FenceKind::Full, *next);
            }
            Node::Load(_, _, next) | Node::Store(_, _, next) => *node = Node::Nop(*next),
            Node::Rmw(_, _, _, next) => *node = Node::Fence(FenceKind::Full, *next),
            Node::Assign(r, code, _) => {
                *code = Expr::Const(self.program.processes[p].registers[r.index()].init);
                return false;
            }
            Node::Any(_, values, _) => *values = values[..1].into(),
            Node::Assert(code, _) => {
                let is_new = !matches!(code, Expr::Const(1));
                *code = Expr::Const(1);
                return is_new;
            }
            _ => return false,
        }
        true
    }
}

/// The variables that a place may be.
fn elements(place: &Place) -> std::ops::Range<usize> {
    let VarId(first) = place.first;
    first as usize..first as usize + place.len as usize
}
