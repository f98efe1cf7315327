//! Branches, loops and jumps.
//!
//! Where two ways through the code meet, a local variable that does not hold the same known value
//! on both has to be in its register. After a branch both ways are known, and each is given the
//! assignments that it lacks. Any other place where ways meet is a *join*: the head of a loop, its
//! exit, the end of a function, a label. There, variables are assumed to hold the same value on
//! every way; those that do not are learned.

use weir_model::ids::LabelId;
use weir_model::program::{Code, Expr, FenceKind, Label, Stmt, StmtKind, UnOp};

use super::slots::Held;
use super::value::{Data, Value, unary};
use super::{Builder, Key};

/// A place of the code where several ways meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Join(usize);

impl Join {
    /// The end of the process.
    pub(super) const END: Self = Self(0);
}

/// The head and the exit of a loop.
#[derive(Clone, Copy, Debug)]
pub struct Loop {
    /// Where `continue` goes.
    pub head: Join,
    /// Where `break` goes.
    pub exit: Join,
}

/// A condition that is waited for and that is being evaluated.
#[derive(Debug)]
pub struct Wait {
    before: Option<Vec<Held>>,
    statements: usize,
    joins: usize,
    accesses: usize,
}

#[derive(Debug)]
pub(super) struct JoinState {
    key: Key,
    /// How many blocks were open where it stands.
    blocks: usize,
    /// How many slots are compared; known at the first way that gets here.
    slots: Option<usize>,
    /// What slots held on the first way.
    reference: Option<Vec<Held>>,
    label: Option<LabelId>,
    /// The loop that it is the head or the exit of.
    head_of: Option<usize>,
    exit_of: Option<usize>,
    /// The state of a way that gets here without any other code in between.
    straight: Option<Vec<Held>>,
    is_placed: bool,
    /// It was placed where nothing had reached it, and is not in the program.
    is_lost: bool,
}

#[derive(Debug)]
pub(super) struct Branch {
    condition: Code,
    before: Option<Vec<Held>>,
    then: Option<(Vec<Stmt>, Option<Vec<Held>>)>,
}

impl Builder {
    /// The condition of a branch: known, or the code that decides.
    ///
    /// # Errors
    /// The code, if it is not known.
    pub fn decide(&mut self, condition: &Value) -> Result<bool, Code> {
        match condition.is_true() {
            Some(known) => Ok(known),
            None => Err(self.to_code(&condition.data)),
        }
    }

    /// Begins what is executed if a condition holds.
    pub fn begin_if(&mut self, condition: Code) {
        self.share_all();
        let process = self.process_mut();
        let before = process.state.clone();
        process.branches.push(Branch { condition, before, then: None });
        process.blocks.push(Vec::new());
    }

    /// Ends it, and begins what is executed if the condition does not hold.
    pub fn begin_else(&mut self) {
        let process = self.process_mut();
        let block = process.blocks.pop().unwrap_or_default();
        let state = process.state.take();
        if let Some(branch) = process.branches.last_mut() {
            branch.then = Some((block, state));
            process.state = branch.before.clone();
            // What was declared in the first branch has slots, too.
            if let Some(state) = &mut process.state {
                state.resize(process.slots.len(), Held::Fixed(Data::Code(Expr::Const(0))));
            }
        }
        process.blocks.push(Vec::new());
    }

    /// Ends both.
    pub fn end_if(&mut self) {
        let process = self.process_mut();
        let mut other = process.blocks.pop().unwrap_or_default();
        let other_state = process.state.take();
        let Some(Branch { condition, before, then: Some((mut then, then_state)) }) =
            process.branches.pop()
        else {
            return;
        };
        let merged = match (then_state, other_state) {
            (Some(a), Some(b)) => {
                let mut merged = Vec::new();
                let shared = before.as_ref().map_or(0, Vec::len);
                for slot in 0..a.len().max(b.len()) {
                    let held = match (a.get(slot), b.get(slot)) {
                        (Some(a), Some(b)) if a == b => a.clone(),
                        (Some(a), Some(b)) if slot < shared => {
                            let (a, b) = (a.clone(), b.clone());
                            self.settle(slot, &a, &mut then);
                            self.settle(slot, &b, &mut other);
                            Held::Register
                        }
                        // Declared inside, so it is not used any more.
                        _ => Held::Fixed(Data::Code(Expr::Const(0))),
                    };
                    merged.push(held);
                }
                Some(merged)
            }
            (a, b) => a.or(b),
        };
        // A way that was left has slots that the other one does not have.
        let slots = self.process().slots.len();
        let merged = merged.map(|mut state| {
            state.resize(slots, Held::Fixed(Data::Code(Expr::Const(0))));
            state
        });
        self.process_mut().state = before;
        match (then.is_empty(), other.is_empty()) {
            (true, true) => {}
            (true, false) => {
                let condition = unary(UnOp::Not, condition);
                self.emit(StmtKind::If(condition, other, Vec::new()));
            }
            _ => self.emit(StmtKind::If(condition, then, other)),
        }
        self.process_mut().state = merged;
    }

    /// Adds to a block what brings a slot into its register.
    fn settle(&mut self, slot: usize, held: &Held, block: &mut Vec<Stmt>) {
        let Held::Fixed(data) = held else { return };
        let code = self.to_code(&data.clone());
        let register = self.slot_register(slot);
        block.push(Stmt::new(StmtKind::Assign(register, code), self.span));
    }

    /// A place that is jumped to and that is placed later or has been placed. `key` tells it from
    /// all others.
    pub fn join(&mut self, key: Key) -> Join {
        let process = self.process_mut();
        process.joins.push(JoinState {
            key,
            blocks: process.blocks.len(),
            slots: None,
            reference: None,
            label: None,
            head_of: None,
            exit_of: None,
            straight: None,
            is_placed: false,
            is_lost: false,
        });
        Join(process.joins.len() - 1)
    }

    /// A join that a `goto` may jump to from anywhere.
    pub fn label(&mut self, key: Key) -> Join {
        let join = self.join(key);
        self.process_mut().joins[join.0].blocks = usize::MAX;
        join
    }

    /// Whether a jump to a join depends on the run.
    pub fn has_left(&self, join: Join) -> bool {
        self.process().joins[join.0].label.is_some()
    }

    /// Goes to a join. What follows is not reached.
    pub fn jump(&mut self, join: Join) {
        if self.process().state.is_none() {
            return;
        }
        let (blocks, loops) = (self.process().blocks.len(), self.process().loops);
        let target = &self.process().joins[join.0];
        let is_straight = blocks == target.blocks
            && !target.is_placed
            && target.head_of.is_none()
            && target.exit_of.is_none();
        if is_straight {
            let process = self.process_mut();
            let state = process.state.take();
            process.joins[join.0].straight = state;
            process.straight = Some(join);
            return;
        }
        if target.is_lost {
            return self.error("this jumps back to a label that no code before it reaches");
        }
        self.arrive(join);
        let target = &self.process().joins[join.0];
        let jump = if target.exit_of == Some(loops) {
            StmtKind::Break
        } else if target.head_of == Some(loops) {
            StmtKind::Continue
        } else {
            StmtKind::Goto(self.label_of(join))
        };
        self.emit(jump);
        self.process_mut().state = None;
    }

    /// Brings local variables into the form that a join expects.
    fn arrive(&mut self, join: Join) {
        let Some(state) = self.process().state.clone() else { return };
        let target = &mut self.process_mut().joins[join.0];
        let (key, slots) = (target.key, *target.slots.get_or_insert(state.len()));
        let reference = target.reference.clone();
        let mut arrived = Vec::with_capacity(slots);
        for (slot, held) in state.iter().enumerate().take(slots) {
            let id = (key, self.process().slots[slot].key);
            if self.learned.varying.contains(&id) {
                if let Held::Fixed(data) = held {
                    let code = self.to_code(&data.clone());
                    let register = self.slot_register(slot);
                    self.emit(StmtKind::Assign(register, code));
                }
                arrived.push(Held::Register);
                continue;
            }
            if reference.as_ref().is_some_and(|all| all.get(slot) != Some(held)) {
                self.learned.varying.insert(id);
                self.learned.is_changed = true;
            }
            arrived.push(held.clone());
        }
        let target = &mut self.process_mut().joins[join.0];
        target.reference.get_or_insert(arrived);
    }

    /// The join is here: control gets here from all that jump to it, and from the code before.
    pub fn place(&mut self, join: Join) {
        let target = &mut self.process_mut().joins[join.0];
        target.is_placed = true;
        if let Some(straight) = target.straight.take() {
            let slots = self.process().slots.len();
            let process = self.process_mut();
            process.straight = None;
            let mut straight = straight;
            straight.resize(slots, Held::Fixed(Data::Code(Expr::Const(0))));
            process.state = Some(straight);
        }
        if self.process().joins[join.0].label.is_none() {
            return;
        }
        self.meet(join);
    }

    /// The join is here, and code that comes later jumps back to it.
    pub fn place_label(&mut self, join: Join) {
        if self.process().state.is_none() && self.process().joins[join.0].label.is_none() {
            let target = &mut self.process_mut().joins[join.0];
            (target.is_placed, target.is_lost) = (true, true);
            return;
        }
        self.share_all();
        self.process_mut().is_repeated = true;
        self.process_mut().joins[join.0].is_placed = true;
        self.label_of(join);
        self.meet(join);
    }

    /// Code follows that is reached from elsewhere: a path that was to continue behind it has to
    /// jump.
    fn jump_over(&mut self) {
        let process = self.process_mut();
        let Some(join) = process.straight.take() else { return };
        let slots = process.slots.len();
        let Some(mut state) = process.joins[join.0].straight.take() else { return };
        state.resize(slots, Held::Fixed(Data::Code(Expr::Const(0))));
        let other = process.state.replace(state);
        self.arrive(join);
        let label = self.label_of(join);
        self.emit(StmtKind::Goto(label));
        self.process_mut().state = other;
    }

    fn meet(&mut self, join: Join) {
        self.jump_over();
        self.share_all();
        if self.process().state.is_some() {
            self.arrive(join);
        }
        let merged = self.merged(join);
        if let Some(state) = merged {
            self.process_mut().state = Some(state);
            let label = self.label_of(join);
            self.emit(StmtKind::Label(label));
        }
    }

    /// What slots hold behind a join.
    fn merged(&self, join: Join) -> Option<Vec<Held>> {
        let process = self.process();
        let target = &process.joins[join.0];
        let mut state = target.reference.clone()?;
        for (slot, held) in state.iter_mut().enumerate() {
            if self.learned.varying.contains(&(target.key, process.slots[slot].key)) {
                *held = Held::Register;
            }
        }
        state.resize(process.slots.len(), Held::Fixed(Data::Code(Expr::Const(0))));
        Some(state)
    }

    fn label_of(&mut self, join: Join) -> LabelId {
        if let Some(label) = self.process().joins[join.0].label {
            return label;
        }
        let span = self.span;
        let process = self.process_mut();
        let label = LabelId::new(process.labels.len());
        let name = format!("l{}", process.labels.len() + 1);
        process.labels.push(Label { name, span });
        process.joins[join.0].label = Some(label);
        label
    }

    /// A label that only questions name.
    pub(super) fn mark(&mut self, name: &str) -> LabelId {
        let span = self.span;
        let process = self.process_mut();
        let label = LabelId::new(process.labels.len());
        let name = format!("{name}_{}", process.labels.len() + 1);
        process.labels.push(Label { name, span });
        self.emit(StmtKind::Label(label));
        label
    }

    /// Begins a loop.
    pub fn begin_loop(&mut self, key: Key) -> Loop {
        self.share_all();
        let head = self.join(super::hash(&(key, "head")));
        let exit = self.join(super::hash(&(key, "exit")));
        self.arrive(head);
        if self.process().state.is_some() {
            self.process_mut().state = self.merged(head);
        }
        let process = self.process_mut();
        process.loops += 1;
        process.joins[head.0].head_of = Some(process.loops);
        process.joins[head.0].is_placed = true;
        process.joins[exit.0].exit_of = Some(process.loops);
        process.blocks.push(Vec::new());
        Loop { head, exit }
    }

    /// Ends a loop: control goes back to its head.
    pub fn end_loop(&mut self, this: Loop) {
        if self.process().state.is_some() {
            self.arrive(this.head);
        }
        let process = self.process_mut();
        let body = process.blocks.pop().unwrap_or_default();
        process.loops -= 1;
        process.state = process.joins[this.head.0].reference.clone();
        if process.state.is_some() {
            self.emit(StmtKind::Loop(body));
        }
        let process = self.process_mut();
        process.joins[this.exit.0].is_placed = true;
        process.joins[this.exit.0].exit_of = None;
        let state = self.merged(this.exit);
        self.process_mut().state = state;
        if let Some(label) = self.process().joins[this.exit.0].label {
            self.emit(StmtKind::Label(label));
        }
    }

    /// Begins to wait: what follows evaluates a condition.
    pub fn begin_wait(&mut self) -> Wait {
        let process = self.process();
        let wait = Wait {
            before: process.state.clone(),
            statements: process.statements,
            joins: process.joins.len(),
            accesses: self.accesses.len(),
        };
        self.process_mut().blocks.push(Vec::new());
        wait
    }

    /// Waits until the condition holds, if it was evaluated by loads alone. Otherwise returns
    /// `false`, and nothing has been translated.
    pub fn end_wait(&mut self, wait: Wait, condition: &Value) -> bool {
        let mut block = self.process_mut().blocks.pop().unwrap_or_default();
        let Some(before) = wait.before else { return true };
        let read = FenceKind::Read;
        let ends_with_fence = block.last().is_some_and(|s| s.kind == StmtKind::Fence(read));
        if ends_with_fence {
            block.pop();
        }
        let is_simple =
            block.iter().all(|s| matches!(s.kind, StmtKind::Load(..) | StmtKind::Assign(..)));
        let process = self.process();
        let is_same = process.state.as_ref().is_some_and(|now| now.starts_with(&before));
        let has_no_joins = wait.joins == process.joins.len();
        let is_quiet = |s: &Stmt| {
            matches!(s.kind, StmtKind::Load(..) | StmtKind::Assign(..) | StmtKind::Fence(_))
        };
        if condition.is_true() == Some(false)
            && is_same
            && has_no_joins
            && block.iter().all(is_quiet)
        {
            // No process ever changes what it waits for.
            self.emit(StmtKind::Await(Vec::new(), Expr::Const(0)));
            self.process_mut().state = None;
            return true;
        }
        if !is_simple || !is_same || !has_no_joins || condition.is_true().is_some() {
            let process = self.process_mut();
            process.statements = wait.statements;
            process.slots.truncate(before.len());
            process.state = Some(before);
            self.accesses.truncate(wait.accesses);
            return false;
        }
        self.share_all();
        let code = self.to_code(&condition.data);
        self.emit(StmtKind::Await(block, code));
        if ends_with_fence {
            self.emit(StmtKind::Fence(read));
        }
        true
    }

    /// From here on others may see every cell: what is stored is not computed any more.
    pub(super) fn share_all(&mut self) {
        if self.knows_memory() && self.process().state.is_some() {
            self.make_live(0..self.cells.len());
        }
    }

    /// Fails unless a condition holds.
    pub fn assert(&mut self, condition: &Value) {
        match self.decide(condition) {
            Ok(true) => {}
            Ok(false) => self.fail(),
            Err(code) => self.emit(StmtKind::Assert(code)),
        }
    }

    /// Drops the run unless a condition holds.
    pub fn assume(&mut self, condition: &Value) {
        match self.decide(condition) {
            Ok(true) => {}
            Ok(false) => self.stop(),
            Err(code) => {
                self.has_assume = true;
                self.emit(StmtKind::Assume(code));
            }
        }
    }
}
