//! The states that settle a question, with empty buffers.

use weir_model::ids::{StateId, ValueId, VarId};
use weir_model::limits::Budget;
use weir_model::question::Question;
use weir_model::system::Expanded;

use super::state::{ANY, Buffers, State};

/// More states than these are not asked for.
const MAX_TARGETS: usize = 1 << 20;

/// The states that settle a question, or why they cannot be named.
pub(super) fn of(
    system: Expanded<'_>,
    question: &Question,
    budget: &Budget,
) -> Result<Vec<State>, String> {
    if question.asks_for_memory_under_way() {
        return Err("backward search does not ask for memory while writes are under way".to_owned());
    }
    let vars = (0..system.vars.len()).map(VarId::new);
    let asked: Vec<bool> = vars.map(|x| question.asks_for(x)).collect();
    let mut targets = Vec::new();
    for memory in memories(system, &asked, budget)? {
        budget.tick().map_err(|stop| stop.to_string())?;
        let controls = controls(system, question, &memory, budget)?;
        if targets.len() + controls.len() > MAX_TARGETS {
            return Err(format!("there are more than {MAX_TARGETS} target states"));
        }
        targets.extend(controls.into_iter().map(|controls| State {
            controls: controls.into(),
            memory: memory.clone().into(),
            processes: vec![Buffers::default(); system.processes.len()].into(),
        }));
    }
    Ok(targets)
}

/// All memories, as far as they are asked for.
fn memories(
    system: Expanded<'_>,
    asked: &[bool],
    budget: &Budget,
) -> Result<Vec<Vec<ValueId>>, String> {
    let mut all: Vec<Vec<ValueId>> = vec![vec![]];
    for (x, asked) in asked.iter().enumerate() {
        let values: Vec<ValueId> = match asked {
            true => system.values(VarId::new(x)).to_vec(),
            false => vec![ANY],
        };
        if all.len() * values.len() > MAX_TARGETS {
            return Err("there are too many target memories".to_owned());
        }
        all = longer(&all, &values, budget)?;
    }
    Ok(all)
}

/// Every list with every one of some ids behind it.
fn longer<I: Copy>(all: &[Vec<I>], ids: &[I], budget: &Budget) -> Result<Vec<Vec<I>>, String> {
    let mut longer = Vec::new();
    for list in all {
        for id in ids {
            budget.tick().map_err(|stop| stop.to_string())?;
            longer.push(list.iter().copied().chain([*id]).collect());
        }
    }
    Ok(longer)
}

/// All control states that settle a question with a memory.
fn controls(
    system: Expanded<'_>,
    question: &Question,
    memory: &[ValueId],
    budget: &Budget,
) -> Result<Vec<Vec<StateId>>, String> {
    let mut all: Vec<Vec<StateId>> = vec![vec![]];
    for p in system.process_ids() {
        let fits = |s: &StateId| question.may_be_at_with(&system, (p, *s), memory);
        let states: Vec<StateId> = system.states(p).filter(fits).collect();
        if all.len() * states.len() > MAX_TARGETS {
            return Err(format!("there are more than {MAX_TARGETS} target states"));
        }
        all = longer(&all, &states, budget)?;
    }
    // The value of what is not asked for is never looked at.
    let known = |(x, v): (usize, &ValueId)| match *v {
        ANY => system.vars[x].initial.first().copied().unwrap_or(ValueId(0)),
        v => v,
    };
    let memory: Vec<ValueId> = memory.iter().enumerate().map(known).collect();
    all.retain(|controls| question.is_settled(&system, controls, &memory));
    Ok(all)
}
