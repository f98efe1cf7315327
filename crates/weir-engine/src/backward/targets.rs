//! The states that settle a question, with empty buffers.

use weir_model::ids::{StateId, ValueId, VarId};
use weir_model::limits::Budget;
use weir_model::question::Question;
use weir_model::system::Expanded;

use super::state::{ANY, Buffers, State};

/// More states than these are not asked for.
const MOST: usize = 1 << 20;

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
        if targets.len() + controls.len() > MOST {
            return Err(format!("there are more than {MOST} target states"));
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
) -> Result<Vec<Vec<u32>>, String> {
    let mut all: Vec<Vec<u32>> = vec![vec![]];
    for (x, asked) in asked.iter().enumerate() {
        let values: Vec<u32> = match asked {
            true => system.values(VarId::new(x)).iter().map(|v| v.0).collect(),
            false => vec![ANY],
        };
        if all.len() * values.len() > MOST {
            return Err("there are too many target memories".to_owned());
        }
        all = longer(&all, &values, budget)?;
    }
    Ok(all)
}

/// Every list with every one of some cells behind it.
fn longer(all: &[Vec<u32>], cells: &[u32], budget: &Budget) -> Result<Vec<Vec<u32>>, String> {
    let mut longer = Vec::new();
    for list in all {
        for cell in cells {
            budget.tick().map_err(|stop| stop.to_string())?;
            longer.push(list.iter().copied().chain([*cell]).collect());
        }
    }
    Ok(longer)
}

/// All control states that settle a question with a memory.
fn controls(
    system: Expanded<'_>,
    question: &Question,
    memory: &[u32],
    budget: &Budget,
) -> Result<Vec<Vec<u32>>, String> {
    let mut all: Vec<Vec<u32>> = vec![vec![]];
    for p in system.process_ids() {
        let fits = |s: &StateId| question.may_be_at_with(&system, (p, *s), memory);
        let states = system.states(p);
        let states: Vec<u32> = states.filter(fits).map(|s| s.0).collect();
        if all.len() * states.len() > MOST {
            return Err(format!("there are more than {MOST} target states"));
        }
        all = longer(&all, &states, budget)?;
    }
    // The value of what is not asked for is never looked at.
    let known = |(x, v): (usize, &u32)| match *v {
        ANY => system.vars[x].initial.first().map_or(0, |v: &ValueId| v.0),
        v => v,
    };
    let memory: Vec<u32> = memory.iter().enumerate().map(known).collect();
    all.retain(|controls| question.is_settled(&system, controls, &memory));
    Ok(all)
}
