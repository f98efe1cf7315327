//! Memory orders as fences, for memory models that know no orders.
//!
//! | access | becomes |
//! | --- | --- |
//! | load acquire, `seq_cst` | the load; `rfence` |
//! | store release | `wfence`; the store |
//! | store `seq_cst` | `wfence`; the store; `fence` |
//! | atomic read-write | atomic, which is a full fence in every memory model |
//!
//! No decided memory model lets a write overtake an earlier read, so acquire and release need nothing for
//! that. A fence has the place of its access in the text. A process that waits for one load passes its `rfence`
//! when it has waited; of several loads, or one in a branch, each has its own.

use std::borrow::Cow;

use super::{FenceKind, Order, Program, Stmt, StmtKind};

impl Program {
    /// The program with fences in place of memory orders.
    pub fn fenced(&self) -> Cow<'_, Self> {
        let bodies = || self.processes.iter().map(|p| &p.body);
        let methods = self.object.iter().flat_map(|object| &object.methods).map(|m| &m.body);
        if !bodies().chain(methods).any(|body| has_orders(body)) {
            return Cow::Borrowed(self);
        }
        let mut program = self.clone();
        for process in &mut program.processes {
            fence(&mut process.body, true);
        }
        for method in program.object.iter_mut().flat_map(|object| &mut object.methods) {
            fence(&mut method.body, true);
        }
        Cow::Owned(program)
    }
}

/// Recursive: front ends bound how deep blocks nest.
fn has_orders(block: &[Stmt]) -> bool {
    block.iter().any(|stmt| match &stmt.kind {
        StmtKind::Load(_, place) | StmtKind::Store(place, _) | StmtKind::Rmw(_, place, _) => {
            place.order.is_some()
        }
        kind => kind.blocks().into_iter().any(|block| has_orders(block)),
    })
}

/// With `is_apart`, the fence of a load stands behind it; otherwise it is left to the `await` around.
fn fence(block: &mut Vec<Stmt>, is_apart: bool) {
    for mut stmt in std::mem::take(block) {
        let add = |block: &mut Vec<Stmt>, is_added: bool, kind: FenceKind| {
            if is_added {
                block.push(Stmt::new(StmtKind::Fence(kind), stmt.span));
            }
        };
        let (mut acquires, mut is_full) = (false, false);
        match &mut stmt.kind {
            StmtKind::Load(_, place) => {
                acquires = place.order.take().is_some_and(Order::acquires) && is_apart;
            }
            StmtKind::Store(place, _) => {
                let order = place.order.take();
                is_full = order.is_some_and(Order::is_seq_cst);
                add(block, order.is_some_and(Order::releases), FenceKind::Write);
            }
            StmtKind::Rmw(_, place, _) => place.order = None,
            StmtKind::Await(loads, _) => {
                let is_one = count_loads(loads) == 1 && loads.iter().any(is_load);
                acquires = is_one && loads.iter().any(acquires_by);
                fence(loads, !is_one);
            }
            kind => kind.blocks_mut().into_iter().for_each(|inner| fence(inner, is_apart)),
        }
        let span = stmt.span;
        block.push(stmt);
        let behind = [(acquires, FenceKind::Read), (is_full, FenceKind::Full)];
        for (_, kind) in behind.into_iter().filter(|(is_added, _)| *is_added) {
            block.push(Stmt::new(StmtKind::Fence(kind), span));
        }
    }
}

fn is_load(stmt: &Stmt) -> bool {
    matches!(stmt.kind, StmtKind::Load(..))
}

fn count_loads(block: &[Stmt]) -> usize {
    let inner = |stmt: &Stmt| stmt.kind.blocks().into_iter().map(|b| count_loads(b)).sum::<usize>();
    block.iter().map(|stmt| usize::from(is_load(stmt)) + inner(stmt)).sum()
}

fn acquires_by(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Load(_, place) => place.order.is_some_and(Order::acquires),
        _ => false,
    }
}
