//! Sets of relaxations that no other engine decides, through a larger set that `views` decides.
//!
//! Every relaxation but RWF allows more runs (Atig et al. 2012, section 3.3). So what no run under
//! TSO, PSO or NSW settles, no run settles under a set of relaxations inside it, if fences mean the
//! same in both:
//!
//! * Where the set has no RWF, partial fences order nothing. They are left out of the program.
//! * Under NSW a `wfence` before each write keeps writes in order. So a set without `w->w` is also
//!   inside NSW for the program with these fences, and TSO with `r->r` is exactly that.
//!
//! A run under the larger set proves nothing by itself. It bounds how long buffers have to be, and
//! the explicit search under the set itself looks for a run within that bound.

use std::time::Instant;

use weir_engine::{Engine, Explicit, Progress, SearchOptions, Stats, Task};
use weir_model::answer::{Answer, Evidence, Run};
use weir_model::ids::QuestionId;
use weir_model::limits::Budget;
use weir_model::memory_model::{MemoryModel, Relaxation};
use weir_model::program::{FenceKind, Program, Stmt, StmtKind};
use weir_model::question::Kind;
use weir_model::system::{System, Unbuilt};

use super::{Auto, SHORT, replace_unknown};

/// Whether a set of relaxations is inside NSW.
pub(super) fn is_inside(model: MemoryModel) -> bool {
    model != MemoryModel::C11
        && model.normal().relaxations().all(|relaxation| MemoryModel::NSW.has(relaxation))
}

/// A short explicit search, then the larger set, then the explicit search to its bound.
pub(super) fn search(task: Task<'_>, progress: Progress<'_>) -> (Vec<Answer>, Stats) {
    let options = task.options;
    let is_searched = is_inside(task.model) && options.form.is_none();
    if !is_searched {
        return Explicit.search(task, progress);
    }
    let began = Instant::now();
    let store = options.budget.store().unwrap_or(SHORT).min(SHORT);
    let short =
        SearchOptions { budget: options.budget.clone().with_store(store), ..options.clone() };
    let (mut answers, mut stats) = Explicit.search(task.within(&short), progress);
    let is_open = |answers: &[Answer]| {
        !answers.iter().all(Answer::is_known) && options.budget.check().is_ok()
    };
    if is_open(&answers) {
        let (found, last) = through_nsw(task, progress);
        replace_unknown(&mut answers, found);
        stats = last;
    }
    // The short search may have ended for want of memory alone.
    if is_open(&answers) && stats.stopped.is_some() {
        let (found, last) = Explicit.search(task, progress);
        replace_unknown(&mut answers, found);
        stats = last;
    }
    stats.elapsed = began.elapsed();
    (answers, stats)
}

/// What the strongest of TSO, PSO and NSW that includes the model shows.
pub(super) fn through_nsw(task: Task<'_>, progress: Progress<'_>) -> (Vec<Answer>, Stats) {
    let Task { system, questions, model, options, .. } = task;
    let options = &SearchOptions { certificate: false, form: None, ..options.clone() };
    let larger = larger(model);
    let built = fenced(system, model, larger, &options.budget);
    let changed = match built {
        Ok(changed) => changed,
        Err(unbuilt) => return (task.unknown(&unbuilt), Stats::default()),
    };
    let asked = changed.as_ref().unwrap_or(system);
    // What is found there is handed over only after it is known what it says of the model.
    let inside = Task { questions, ..Task::new(asked, larger, options) };
    let (found, mut stats) = Auto.search(inside, progress);
    let is_followed = asked.excess().is_none();
    let mut answers = Vec::new();
    for (i, answer) in found.into_iter().enumerate() {
        let id = QuestionId::new(i);
        // The numbers of control states are those of one system.
        let is_about_states = changed.is_some() && matches!(questions[i].kind, Kind::Within(_));
        answers.push(match &answer.evidence {
            _ if is_about_states => Answer::unknown(id, "it is about the states of one system"),
            Evidence::Run(run) => {
                let bound = longest_buffer(asked, run).max(options.bound.unwrap_or(1));
                let within = SearchOptions { bound: Some(bound), ..options.clone() };
                let one = &questions[i..=i];
                let task = Task { questions: one, ..Task::new(system, model, &within) };
                let (found, last) = Explicit.search(task, progress);
                stats.add(last);
                let found = found.into_iter().next().filter(Answer::has_run);
                let reason =
                    || format!("{larger} allows more and has a run that {model} has not shown");
                found.map_or_else(
                    || Answer::unknown(id, reason()),
                    |found| Answer { property: id, ..found },
                )
            }
            Evidence::Reason(_) => answer,
            _ if !is_followed => Answer::unknown(id, "a process is not followed to its end"),
            _ => Answer { evidence: Evidence::Exhausted, ..answer },
        });
    }
    (answers, stats)
}

/// The strongest model that includes another one and that `views` decides.
fn larger(model: MemoryModel) -> MemoryModel {
    let model = model.normal();
    match () {
        () if model.has(Relaxation::ReadRead) => MemoryModel::NSW,
        () if model.has(Relaxation::WriteWrite) => MemoryModel::PSO,
        () => MemoryModel::TSO,
    }
}

/// The system with partial fences as the larger model needs them; `None` if it has them already.
fn fenced(
    system: &System,
    model: MemoryModel,
    larger: MemoryModel,
    budget: &Budget,
) -> Result<Option<System>, Unbuilt> {
    let model = model.normal();
    let drops = !model.has(Relaxation::Rwf) && larger.has(Relaxation::Rwf);
    let orders_writes = larger.has(Relaxation::WriteWrite) && !model.has(Relaxation::WriteWrite);
    let mut program: Program = system.program.clone();
    let mut has_changed = false;
    for process in &mut program.processes {
        has_changed |= rewrite(&mut process.body, drops, orders_writes);
    }
    match has_changed {
        true => System::for_model_within(program, larger, budget).map(Some),
        false => Ok(None),
    }
}

/// Leaves out partial fences, and puts a write fence before each write. Whether there was anything
/// to do. Recursive: readers bound how deep statements nest.
fn rewrite(block: &mut Vec<Stmt>, drops: bool, orders_writes: bool) -> bool {
    let is_partial =
        |stmt: &Stmt| matches!(stmt.kind, StmtKind::Fence(FenceKind::Read | FenceKind::Write));
    let mut has_changed = false;
    for mut stmt in std::mem::take(block) {
        if drops && is_partial(&stmt) {
            // A fence is a step, also where it orders nothing.
            stmt.kind = StmtKind::Nop;
            has_changed = true;
        }
        if orders_writes && matches!(stmt.kind, StmtKind::Store(..)) {
            block.push(Stmt::new(StmtKind::Fence(FenceKind::Write), stmt.span));
            has_changed = true;
        }
        for inner in stmt.kind.blocks_mut() {
            has_changed |= rewrite(inner, drops, orders_writes);
        }
        block.push(stmt);
    }
    has_changed
}

/// The most that a process has under way in a run.
fn longest_buffer(system: &System, run: &Run) -> usize {
    let mut replay = run.replay(system);
    let mut longest = 0;
    loop {
        let lengths = replay.pending().into_iter().map(|pending| pending.len());
        longest = lengths.fold(longest, usize::max);
        if replay.advance().is_none() {
            return longest;
        }
    }
}
