//! Labels and jumps at random places of a process.

use weir_model::ids::LabelId;
use weir_model::program::{Label, Process, Stmt, StmtKind};

use crate::{Maker, Rng, SPAN, Shape};

/// Adds labels, and jumps to places further on, to a process.
pub(crate) fn add(rng: &mut Rng, shape: &Shape, process: &mut Process) {
    let labels = if shape.labels == 0 { 0 } else { rng.below(shape.labels + 1) };
    for _ in 0..labels {
        let slot = rng.below(slots(&process.body));
        let label = new_label(process);
        insert(&mut process.body, slot, StmtKind::Label(label));
    }
    if shape.gotos && rng.once_in(3) {
        let count = slots(&process.body);
        let (one, other) = (rng.below(count), rng.below(count));
        if one != other {
            let label = new_label(process);
            // What comes later first: then the earlier slot keeps its number.
            insert(&mut process.body, one.max(other), StmtKind::Label(label));
            let jump = StmtKind::Goto(label);
            let names: Vec<String> = process.registers.iter().map(|r| r.name.clone()).collect();
            let jump = if names.is_empty() || rng.once_in(3) {
                jump
            } else {
                let mut maker =
                    Maker { rng, shape, next_value: 1, registers: names, in_block: false };
                StmtKind::If(maker.condition(), vec![Stmt::new(jump, SPAN)], vec![])
            };
            insert(&mut process.body, one.min(other), jump);
        }
    }
}

fn new_label(process: &mut Process) -> LabelId {
    let label = LabelId::new(process.labels.len());
    process.labels.push(Label { name: format!("l{}", label.0), span: SPAN });
    label
}

/// The blocks of a statement in which labels can stand.
fn blocks(kind: &StmtKind) -> Vec<&Vec<Stmt>> {
    if has_places(kind) { kind.blocks() } else { vec![] }
}

fn blocks_mut(kind: &mut StmtKind) -> Vec<&mut Vec<Stmt>> {
    if has_places(kind) { kind.blocks_mut() } else { vec![] }
}

fn has_places(kind: &StmtKind) -> bool {
    !matches!(kind, StmtKind::Await(..) | StmtKind::Atomic(..))
}

/// The number of slots of a block and of the blocks inside it: one before each statement and
/// one at the end.
fn slots(block: &[Stmt]) -> usize {
    let inner = block.iter().flat_map(|s| blocks(&s.kind)).map(|b| slots(b));
    block.len() + 1 + inner.sum::<usize>()
}

/// Inserts a statement into a slot; they are counted in the order of the text.
fn insert(block: &mut Vec<Stmt>, mut slot: usize, kind: StmtKind) {
    for i in 0..block.len() {
        if slot == 0 {
            return block.insert(i, Stmt::new(kind, SPAN));
        }
        slot -= 1;
        for inner in blocks_mut(&mut block[i].kind) {
            let count = slots(inner);
            if slot < count {
                return insert(inner, slot, kind);
            }
            slot -= count;
        }
    }
    block.push(Stmt::new(kind, SPAN));
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_model::program::Expr;

    #[test]
    fn slots_are_counted_in_the_order_of_the_text() {
        let nop = || Stmt::new(StmtKind::Nop, SPAN);
        let block = vec![nop(), Stmt::new(StmtKind::If(Expr::Const(1), vec![nop()], vec![]), SPAN)];
        assert_eq!(slots(&block), 6);
        let found: Vec<String> = (0..6)
            .map(|slot| {
                let mut block = block.clone();
                insert(&mut block, slot, StmtKind::Exit);
                let text = format!("{block:?}");
                text.split_inclusive("Exit").next().expect("inserted").matches("Nop").count()
            })
            .map(|nops| nops.to_string())
            .collect();
        assert_eq!(found.join(" "), "0 1 1 2 2 2");
    }
}
