//! What is known of a function before it is executed: which stack slots are variables, where ways
//! meet, and which values are still needed where.
//!
//! A *variable* is an `alloca` of one scalar whose address is used by loads and stores of this scalar
//! only. It is treated as a local value that can be set several times, so code that was compiled without
//! optimization has as few registers as optimized code.

use std::collections::{BTreeMap, BTreeSet};

use weir_llvm::{
    Block, BlockId, Body, Function, Kind, Layout, LocalId, Module, Op, Ordering, Type, TypeId,
    Value,
};

/// What is known of a function.
#[derive(Debug, Default)]
pub(super) struct Info {
    /// Stack slots that are variables, with the type of what they hold.
    pub variables: BTreeMap<u32, TypeId>,
    /// For each block from how many places control gets there.
    pub ways_in: Vec<usize>,
    /// For each block the values that are needed at its end.
    /// The ways on which a loop goes back to its beginning.
    pub rounds: BTreeSet<(u32, u32)>,
    live_out: Vec<BTreeSet<u32>>,
}

/// The operands of an operation.
pub(super) fn operands(op: &Op) -> Vec<&Value> {
    match op {
        Op::Binary { a, b, .. } | Op::Compare(_, _, a, b) | Op::Shuffle(_, a, b, ..) => vec![a, b],
        Op::Float(_, _, values) => values.iter().collect(),
        Op::Cast { value, .. } | Op::Extract(_, value, _) | Op::Freeze(_, value) => vec![value],
        Op::Select(_, c, _, a, b) => vec![c, a, b],
        Op::Element { pointer, indices, .. } => {
            std::iter::once(pointer).chain(indices.iter().map(|(_, v)| v)).collect()
        }
        Op::Insert(_, a, _, b, _) => vec![a, b],
        Op::ExtractElement(_, a, _, b) => vec![a, b],
        Op::InsertElement(_, a, (_, b), (_, c)) => vec![a, b, c],
    }
}

/// The values that an instruction uses, except those of a `phi`.
fn used(kind: &Kind) -> Vec<&Value> {
    match kind {
        Kind::Op(op) => operands(op),
        Kind::Alloca(_, Some((_, count)), _) => vec![count],
        Kind::Load { pointer, .. } => vec![pointer],
        Kind::Store { value, pointer, .. } => vec![value, pointer],
        Kind::Rmw(_, pointer, _, value, _) => vec![pointer, value],
        Kind::CompareExchange { pointer, expected, new, .. } => vec![pointer, expected, new],
        Kind::Call(call) | Kind::Invoke(call, ..) => {
            std::iter::once(&call.callee).chain(call.arguments.iter().map(|(_, v)| v)).collect()
        }
        Kind::Resume(_, value)
        | Kind::Return(Some((_, value)))
        | Kind::Branch(value, ..)
        | Kind::Switch(_, value, ..) => vec![value],
        _ => vec![],
    }
}

/// The local values that a value is or is made of.
fn locals(value: &Value, visit: &mut impl FnMut(u32)) {
    match value {
        Value::Local(LocalId(id)) => visit(*id),
        Value::Aggregate(elements) => elements.iter().for_each(|(_, v)| locals(v, visit)),
        Value::Expr(op) => operands(op).into_iter().for_each(|v| locals(v, visit)),
        _ => {}
    }
}

/// Where a block goes.
pub(super) fn successors(block: &Block) -> Vec<BlockId> {
    match block.instructions.last().map(|last| &last.kind) {
        Some(Kind::Jump(to)) => vec![*to],
        Some(Kind::Branch(_, a, b) | Kind::Invoke(_, a, b)) => vec![*a, *b],
        Some(Kind::Switch(_, _, default, cases)) => {
            std::iter::once(*default).chain(cases.iter().map(|(_, to)| *to)).collect()
        }
        _ => vec![],
    }
}

/// The ways on which a loop goes back to its beginning.
fn rounds(blocks: &[Block]) -> BTreeSet<(u32, u32)> {
    #[derive(Clone, Copy, PartialEq)]
    enum Visit {
        Not,
        Open,
        Done,
    }
    let mut visits = vec![Visit::Not; blocks.len()];
    let mut found = BTreeSet::new();
    let mut open = vec![(0_usize, 0_usize)];
    visits[0] = Visit::Open;
    while let Some((block, next)) = open.pop() {
        let Some(BlockId(to)) = successors(&blocks[block]).get(next).copied() else {
            visits[block] = Visit::Done;
            continue;
        };
        open.push((block, next + 1));
        match visits[to as usize] {
            Visit::Not => {
                visits[to as usize] = Visit::Open;
                open.push((to as usize, 0));
            }
            Visit::Open => drop(found.insert((block as u32, to))),
            Visit::Done => {}
        }
    }
    found
}

/// Whether calls of a function do nothing and use nothing.
pub(super) fn is_nothing(name: &str) -> bool {
    name.starts_with("llvm.lifetime.")
        || name.starts_with("llvm.dbg.")
        || name.starts_with("llvm.invariant.")
        || name.starts_with("llvm.experimental.noalias")
}

impl Info {
    pub fn new(module: &Module, function: &Function) -> Self {
        let Body::Blocks(blocks) = &function.body else { return Self::default() };
        let variables = variables(module, blocks);
        let mut ways_in = vec![0; blocks.len()];
        ways_in[0] = 1;
        for block in blocks {
            for BlockId(to) in successors(block) {
                ways_in[to as usize] += 1;
            }
        }
        let live_out = vec![BTreeSet::new(); blocks.len()];
        let mut this = Self { variables, ways_in, live_out, rounds: rounds(blocks) };
        let mut predecessors = vec![Vec::new(); blocks.len()];
        for (from, block) in blocks.iter().enumerate() {
            for BlockId(to) in successors(block) {
                predecessors[to as usize].push(from);
            }
        }
        let mut work: Vec<usize> = (0..blocks.len()).collect();
        while let Some(number) = work.pop() {
            let live_in = this.live_at(module, blocks, number, 0);
            for &from in &predecessors[number] {
                let mut added = false;
                for &local in &live_in {
                    added |= this.live_out[from].insert(local);
                }
                for instruction in &blocks[number].instructions {
                    let Kind::Phi(_, ways) = &instruction.kind else { break };
                    for (value, BlockId(of)) in ways {
                        if *of as usize == from {
                            locals(value, &mut |id| added |= this.live_out[from].insert(id));
                        }
                    }
                }
                if added {
                    work.push(from);
                }
            }
        }
        this
    }

    /// The values that are needed before an instruction of a block. The results of a `phi` count as
    /// set before the block.
    pub fn live_at(
        &self,
        module: &Module,
        blocks: &[Block],
        block: usize,
        at: usize,
    ) -> BTreeSet<u32> {
        let mut live = self.live_out[block].clone();
        for (number, instruction) in blocks[block].instructions.iter().enumerate().rev() {
            if number < at {
                break;
            }
            let is_phi = matches!(instruction.kind, Kind::Phi(..));
            if let Some(LocalId(result)) = instruction.result
                && (!is_phi || at == 0)
            {
                live.remove(&result);
            }
            match &instruction.kind {
                Kind::Phi(..) => {}
                // The slot is set, and what it held is not needed.
                Kind::Store { value, pointer: Value::Local(LocalId(slot)), .. }
                    if self.variables.contains_key(slot) =>
                {
                    live.remove(slot);
                    locals(value, &mut |id| {
                        live.insert(id);
                    });
                }
                Kind::Alloca(..) => {}
                Kind::Call(call) if matches!(&call.callee, Value::Global(s) if is_nothing(module.symbol(*s))) =>
                    {}
                kind => {
                    for value in used(kind) {
                        locals(value, &mut |id| {
                            live.insert(id);
                        });
                    }
                }
            }
        }
        live
    }
}

/// The stack slots that are variables.
fn variables(module: &Module, blocks: &[Block]) -> BTreeMap<u32, TypeId> {
    let layout = Layout::new(module);
    let scalar = |ty: TypeId| match module.ty(ty) {
        Type::Int(_) | Type::Ptr | Type::Float(_) => layout.size(ty).map(|(size, _)| size),
        _ => None,
    };
    let bits = |ty: TypeId| match module.ty(ty) {
        Type::Int(bits) => u64::from(*bits),
        _ => layout.size(ty).map_or(0, |(size, _)| size * 8),
    };
    // What a slot holds, as the first access says.
    let mut held: BTreeMap<u32, Option<TypeId>> = BTreeMap::new();
    let mut sizes: BTreeMap<u32, u64> = BTreeMap::new();
    for instruction in blocks.iter().flat_map(|block| &block.instructions) {
        if let (Kind::Alloca(ty, count, _), Some(LocalId(id))) =
            (&instruction.kind, instruction.result)
            && matches!(count, None | Some((_, Value::Int(1))))
            && let Some((size, _)) = layout.size(*ty)
        {
            held.insert(id, None);
            sizes.insert(id, size);
        }
    }
    let mut lost = BTreeSet::new();
    for instruction in blocks.iter().flat_map(|block| &block.instructions) {
        let mut access = |slot: u32, ty: TypeId| {
            let Some(before) = held.get_mut(&slot) else { return };
            let fits = scalar(ty).is_some_and(|size| sizes.get(&slot) == Some(&size));
            match before {
                _ if !fits => {
                    lost.insert(slot);
                }
                None => *before = Some(ty),
                Some(before) if bits(*before) == bits(ty) => {}
                Some(_) => {
                    lost.insert(slot);
                }
            }
        };
        match &instruction.kind {
            Kind::Load { ty, pointer: Value::Local(slot), order: Ordering::NotAtomic, .. } => {
                access(slot.0, *ty)
            }
            Kind::Store {
                ty,
                value,
                pointer: Value::Local(slot),
                order: Ordering::NotAtomic,
                ..
            } => {
                access(slot.0, *ty);
                locals(value, &mut |id| {
                    lost.insert(id);
                });
            }
            Kind::Call(call) if matches!(&call.callee, Value::Global(s) if is_nothing(module.symbol(*s))) =>
                {}
            Kind::Phi(_, ways) => {
                ways.iter().for_each(|(value, _)| {
                    locals(value, &mut |id| {
                        lost.insert(id);
                    })
                });
            }
            kind => {
                for value in used(kind) {
                    locals(value, &mut |id| {
                        lost.insert(id);
                    });
                }
            }
        }
    }
    held.into_iter()
        .filter(|(id, _)| !lost.contains(id))
        .filter_map(|(id, ty)| Some((id, ty?)))
        .collect()
}
