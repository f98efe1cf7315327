//! The states that violate a property, with empty buffers.

use weir_model::ids::{StateId, ValueId, VarId};
use weir_model::limits::Budget;
use weir_model::program::{Atom, Formula, PropertyKind, Quantifier};
use weir_model::system::{Expanded, StateKind};

use super::state::{ANY, Buffers, State};

/// More states than these are not asked for.
const MOST: usize = 1 << 20;

/// The states that settle a property, or why they cannot be named.
pub(super) fn of(
    system: Expanded<'_>,
    kind: &PropertyKind,
    budget: &Budget,
) -> Result<Vec<State>, String> {
    let formulas: Vec<&Formula> = match kind {
        PropertyKind::Never(formula) => vec![formula],
        PropertyKind::Final(_, formula) => {
            [formula].into_iter().chain(&system.program.filter).collect()
        }
        PropertyKind::Assertions | PropertyKind::NoDeadlock => vec![],
    };
    let mut asked = vec![*kind == PropertyKind::NoDeadlock; system.vars.len()];
    for formula in formulas {
        formula.atoms(&mut |a| {
            if let Atom::Var(x) = a {
                asked[x.index()] = true;
            }
        });
    }
    if matches!(kind, PropertyKind::Never(_)) && asked.contains(&true) {
        return Err("backward search does not ask for memory while writes are under way".to_owned());
    }
    let mut targets = Vec::new();
    for memory in memories(system, &asked, budget)? {
        budget.tick().map_err(|stop| stop.to_string())?;
        let controls = controls(system, kind, &memory, budget)?;
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

/// All control states that settle a property with a memory.
fn controls(
    system: Expanded<'_>,
    kind: &PropertyKind,
    memory: &[u32],
    budget: &Budget,
) -> Result<Vec<Vec<u32>>, String> {
    let mut all: Vec<Vec<u32>> = vec![vec![]];
    for p in system.process_ids() {
        let fits = |s: &StateId| match kind {
            PropertyKind::Never(_) | PropertyKind::Assertions => true,
            PropertyKind::NoDeadlock => system.is_stuck(p, *s, memory),
            PropertyKind::Final(..) => system.state(p, *s).kind == StateKind::Ended,
        };
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
    all.retain(|controls| match kind {
        PropertyKind::Never(formula) => system.holds(formula, controls, &memory),
        PropertyKind::Assertions => system.failed(controls).is_some(),
        PropertyKind::NoDeadlock => system.is_deadlock(controls, &memory),
        PropertyKind::Final(quantifier, formula) => {
            let filter = system.program.filter.as_ref();
            filter.is_none_or(|f| system.holds(f, controls, &memory))
                && system.holds(formula, controls, &memory) == (*quantifier != Quantifier::Always)
        }
    });
    Ok(all)
}
