//! What memory orders mean where a memory model knows none: fences.

use weir_model::program::{FenceKind, Order, Process, Program, Stmt, StmtKind};

/// The program without orders. Behind a load that acquires stands `rfence`, before a store that releases
/// `wfence`, and behind a store that is `seq_cst` also `fence`. The fence of the only load of an `await` stands
/// behind the `await`. Atomic read-writes need none.
pub(super) fn as_fences(program: &Program) -> Program {
    let process = |p: &Process| Process { body: block(&p.body, true), ..p.clone() };
    Program { processes: program.processes.iter().map(process).collect(), ..program.clone() }
}

fn block(stmts: &[Stmt], behind_loads: bool) -> Vec<Stmt> {
    let mut out = Vec::new();
    for stmt in stmts {
        let fence = |kind| Stmt::new(StmtKind::Fence(kind), stmt.span);
        let mut kept = stmt.clone();
        let (mut before, mut behind) = (vec![], vec![]);
        match &mut kept.kind {
            StmtKind::Load(_, place) => {
                if acquires(place.order.take()) && behind_loads {
                    behind.push(fence(FenceKind::Read));
                }
            }
            StmtKind::Store(place, _) => {
                let order = place.order.take();
                if matches!(order, Some(Order::Release | Order::AcquireRelease | Order::SeqCst)) {
                    before.push(fence(FenceKind::Write));
                }
                if order == Some(Order::SeqCst) {
                    behind.push(fence(FenceKind::Full));
                }
            }
            StmtKind::Rmw(_, place, _) => place.order = None,
            StmtKind::Await(loads, _) => {
                // With one load and nothing else to decide, the fence is passed once, when the wait is over.
                match &loads[..] {
                    [Stmt { kind: StmtKind::Load(_, place), .. }] => {
                        if acquires(place.order) {
                            behind.push(fence(FenceKind::Read));
                        }
                        *loads = block(loads, false);
                    }
                    _ => *loads = block(loads, true),
                }
            }
            kind => {
                for inner in kind.blocks_mut() {
                    *inner = block(inner, behind_loads);
                }
            }
        }
        out.append(&mut before);
        out.push(kept);
        out.append(&mut behind);
    }
    out
}

fn acquires(order: Option<Order>) -> bool {
    matches!(order, Some(Order::Acquire | Order::AcquireRelease | Order::SeqCst))
}
