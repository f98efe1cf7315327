//! From a stored state back to a run of the store-buffer semantics.
//!
//! Every step of the search is exact, so a configuration of a state has exactly one
//! predecessor. If a cycle was accelerated, a content that was not there before is a
//! content from the beginning of the cycle, followed by words of cycles: these cycles are
//! taken one after another.

use weir_model::answer::{Run, Snapshot};
use weir_model::ids::ValueId;
use weir_model::limits::{Budget, Stop};
use weir_model::memory_model::MemoryModel;
use weir_model::program::FenceKind;
use weir_model::question::Question;
use weir_model::semantics::{Form, Step};
use weir_model::system::Op;

use super::cycle::Cycle;
use super::language::{Dfa, Letter};
use super::operations::{Action, Space};
use super::search::{NodeId, Search};

/// Buffer contents of each process.
type Words = Vec<Vec<Letter>>;

/// Longer runs are not shown.
const LONGEST: usize = 50_000;

/// A run to a configuration of a stored state that settles a question, if the state
/// stands for one that can be reached as the cycles say.
pub fn run(
    search: &Search<'_>,
    model: MemoryModel,
    node: NodeId,
    question: &Question,
    budget: &Budget,
) -> Result<Option<Run>, Stop> {
    let words = wanted(search, node, question);
    let Some((start, actions)) = path(search, node, words, budget)? else { return Ok(None) };
    let start = search.space.memory(&search.nodes[start as usize].state);
    let start: Vec<ValueId> = start.iter().map(|&v| v.into()).collect();
    replay(&search.space, model, &start, &actions, budget)
}

/// Buffer contents with which a state settles a question, as short as possible and
/// without a folded cycle if that will do.
fn wanted(search: &Search<'_>, node: NodeId, question: &Question) -> Words {
    let node = &search.nodes[node as usize];
    let mut buffers = node.state.buffers.clone();
    if let Some((fold, _)) = &node.fold {
        buffers[fold.process.index()] = fold.before;
    }
    let word = |id| match question.is_about_rest() {
        true => vec![],
        false => search.space.languages.get(id).shortest().unwrap_or_default(),
    };
    buffers.iter().map(|id| word(*id)).collect()
}

/// What leads to a configuration of a state, and the initial state where that begins.
fn path(
    search: &Search<'_>,
    node: NodeId,
    mut words: Words,
    budget: &Budget,
) -> Result<Option<(NodeId, Vec<Action>)>, Stop> {
    let space = &search.space;
    let mut at = node;
    let mut back = Vec::new();
    loop {
        let node = &search.nodes[at as usize];
        if let Some((fold, from)) = &node.fold
            && !space.languages.get(fold.before).accepts(&words[fold.process.index()])
        {
            let p = fold.process.index();
            let start = &search.nodes[*from as usize].state;
            let first = space.languages.get(start.buffers[p]);
            let Some(cycles) = split(&words[p], first, &fold.cycles, budget)? else {
                return Ok(None);
            };
            for cycle in cycles.into_iter().rev() {
                for action in cycle.path.iter().rev() {
                    budget.tick()?;
                    if undo(space, &mut words, *action).is_none() {
                        return Ok(None);
                    }
                    back.push(*action);
                }
            }
            at = *from;
        } else if let Some((parent, action)) = node.parent {
            budget.tick()?;
            if undo(space, &mut words, action).is_none() {
                return Ok(None);
            }
            back.push(action);
            at = parent;
        } else {
            break;
        }
        if back.len() > LONGEST {
            return Ok(None);
        }
    }
    back.reverse();
    Ok(words.iter().all(Vec::is_empty).then_some((at, back)))
}

/// The cycles whose words follow a content of `first` in a content, as few as possible.
fn split<'c>(
    word: &[Letter],
    first: &Dfa,
    cycles: &'c [Cycle],
    budget: &Budget,
) -> Result<Option<Vec<&'c Cycle>>, Stop> {
    // For each place, the cycle that comes next on the way to the end.
    let mut next: Vec<Option<Option<&Cycle>>> = vec![None; word.len() + 1];
    next[word.len()] = Some(None);
    for place in (0..=word.len()).rev() {
        budget.work(1 + word.len() / 64)?;
        if next[place].is_none() {
            let fits = |c: &&Cycle| {
                word[place..].starts_with(&c.word) && next[place + c.word.len()].is_some()
            };
            next[place] = cycles.iter().find(fits).map(Some);
        }
        if next[place].is_some() && first.accepts(&word[..place]) {
            let mut found = Vec::new();
            let mut at = place;
            while let Some(Some(cycle)) = next[at] {
                found.push(cycle);
                at += cycle.word.len();
            }
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The contents before an action.
fn undo(space: &Space<'_>, words: &mut Words, action: Action) -> Option<()> {
    let word = &mut words[action.process().index()];
    match action {
        Action::Commit(_, letter) => word.insert(0, letter),
        Action::Take(p, id) => match space.system.transition(p, id).op {
            Op::Write(x, d) => {
                word.pop().filter(|last| *last == space.letter(x, d))?;
            }
            Op::Arw(..) | Op::Fence(FenceKind::Full) => word.is_empty().then_some(())?,
            Op::Nop | Op::Read(..) | Op::Fence(_) => {}
        },
    }
    Some(())
}

/// Does all that on the store-buffer semantics, which decides whether it is a run.
fn replay(
    space: &Space<'_>,
    model: MemoryModel,
    start: &[ValueId],
    actions: &[Action],
    budget: &Budget,
) -> Result<Option<Run>, Stop> {
    let form = Form::of(model)[0];
    let bound = actions.len() + 1;
    let semantics = form.semantics(space.system.system(), model, bound);
    let mut config = semantics.initial_with(start);
    let first = Snapshot::new(semantics.as_ref(), &config);
    let mut steps = Vec::new();
    for action in actions {
        budget.check()?;
        let is_it = |step: &Step| match *action {
            Action::Take(p, id) => step.process == p && step.transition == Some(id),
            Action::Commit(p, letter) => {
                let store = step.event.map(|e| (e.var, e.value));
                step.process == p && store == Some(space.store_of(letter))
            }
        };
        let Some(step) = semantics.take(&mut config, &is_it) else { return Ok(None) };
        steps.push(step);
    }
    Ok(Some(Run { model, form, bound, start: first, steps }))
}
