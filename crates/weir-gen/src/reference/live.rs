//! Infinite runs, under SC.

use std::collections::HashMap;

use weir_model::program::{Formula, LiveKind, Program};

use super::locals::{self, LocalId, Next};
use super::orders::as_fences;
use super::{memories, truth};

/// The configurations of a program under SC and its steps.
struct Graph {
    /// Which formulas hold: here only one is asked.
    holds: Vec<bool>,
    /// For each configuration the steps: the process, and the configuration that the step leads to.
    steps: Vec<Vec<(usize, usize)>>,
    /// Whether the formula has no value in some configuration.
    faults: bool,
}

/// Whether what is asked about infinite runs is so under SC. A run is *fair* if each
/// process takes steps for ever or has none to take again and again.
///
/// * `exists f`: some cycle has a configuration with `f`; `never f`: none has.
/// * `always f`: there is no fair cycle without `f`.
/// * `terminates`: there is no fair cycle.
///
/// All of them are false if the formula has no value in some reachable configuration.
///
/// It is enough to look at strongly connected components, since with more of one no cycle
/// becomes less fair. `None` if there are more than `limit` configurations.
pub fn live(program: &Program, kind: &LiveKind, limit: usize) -> Option<bool> {
    let (formula, is_exists) = match kind {
        LiveKind::Exists(f) => (f.clone(), true),
        LiveKind::Never(f) | LiveKind::Always(f) => (f.clone(), false),
        LiveKind::Terminates => (Formula::Const(0), false),
        LiveKind::Ltl { runs, formula } => return super::ltl::ltl(program, formula, *runs, limit),
    };
    let graph = explore(program, &formula, limit)?;
    if graph.faults {
        return Some(false);
    }
    let found = match kind {
        LiveKind::Exists(_) | LiveKind::Never(_) => {
            components(&graph, |_| true).iter().any(|c| c.iter().any(|n| graph.holds[*n]))
        }
        LiveKind::Always(_) | LiveKind::Terminates | LiveKind::Ltl { .. } => {
            let cycles = components(&graph, |n| !graph.holds[n]);
            cycles.iter().any(|c| {
                (0..program.processes.len()).all(|p| {
                    let steps = |n: &usize| graph.steps[*n].iter().filter(|(q, _)| *q == p);
                    let is_idle = |n: &usize| steps(n).next().is_none();
                    c.iter().any(|n| is_idle(n) || steps(n).any(|(_, to)| c.contains(to)))
                })
            })
        }
    };
    Some(found == is_exists)
}

fn explore(program: &Program, formula: &Formula, limit: usize) -> Option<Graph> {
    let mut atoms = Vec::new();
    formula.atoms(&mut |a| atoms.push(*a));
    let program = &as_fences(program);
    let mut locals = locals::all(program);
    let mut graph = Graph { holds: vec![], steps: vec![], faults: false };
    let initial: Vec<LocalId> = locals.iter().map(|l| l.initial()).collect();
    let mut all: Vec<(Vec<LocalId>, Vec<i128>)> =
        memories(program).into_iter().map(|m| (initial.clone(), m)).collect();
    let mut ids: HashMap<_, usize> = all.iter().cloned().zip(0..).collect();
    while let Some((at, memory)) = all.get(graph.steps.len()).cloned() {
        if all.len() > limit {
            return None;
        }
        let values = locals::observe(&atoms, &locals, &at, &memory);
        let truth = truth(formula, &atoms, &values);
        graph.faults |= truth.is_none();
        graph.holds.push(truth == Some(true));
        let mut steps = Vec::new();
        for (p, local) in locals.iter_mut().enumerate() {
            let mut written = None;
            let to = match local.next(at[p]) {
                Next::None => vec![],
                Next::Silent(to) => to,
                Next::Fence(_, to) => vec![to],
                Next::Read(x) => vec![local.after_read(at[p], memory[x.index()])],
                Next::Write(x, value, to) => {
                    written = Some((x, value));
                    vec![to]
                }
                Next::Rmw(x) => match local.after_rmw(at[p], memory[x.index()]) {
                    Some((new, to)) => {
                        written = Some((x, new));
                        vec![to]
                    }
                    None => vec![],
                },
            };
            for to in to {
                let mut after = (at.clone(), memory.clone());
                after.0[p] = to;
                if let Some((x, value)) = written {
                    after.1[x.index()] = value;
                }
                let fresh = all.len();
                let id = *ids.entry(after.clone()).or_insert(fresh);
                if id == fresh {
                    all.push(after);
                }
                steps.push((p, id));
            }
        }
        graph.steps.push(steps);
    }
    Some(graph)
}

/// The strongly connected components with a cycle, among the configurations `within`: by
/// the order in which a search leaves them, and then backward.
fn components(graph: &Graph, within: impl Fn(usize) -> bool) -> Vec<Vec<usize>> {
    let count = graph.steps.len();
    let mut back = vec![vec![]; count];
    for (n, steps) in graph.steps.iter().enumerate() {
        for (_, to) in steps {
            back[*to].push(n);
        }
    }
    let mut order = Vec::new();
    let mut seen = vec![false; count];
    for start in (0..count).filter(|n| within(*n)) {
        let mut path = vec![(start, 0)];
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        while let Some((n, i)) = path.pop() {
            match graph.steps[n].get(i) {
                Some((_, to)) => {
                    path.push((n, i + 1));
                    if within(*to) && !std::mem::replace(&mut seen[*to], true) {
                        path.push((*to, 0));
                    }
                }
                None => order.push(n),
            }
        }
    }
    let mut found = Vec::new();
    let mut taken = vec![false; count];
    for start in order.into_iter().rev() {
        let mut component = Vec::new();
        let mut work = vec![start];
        while let Some(n) = work.pop() {
            if within(n) && !std::mem::replace(&mut taken[n], true) {
                component.push(n);
                work.extend(&back[n]);
            }
        }
        let goes_round = |n: &usize| graph.steps[*n].iter().any(|(_, to)| to == n);
        if component.len() > 1 || component.iter().any(goes_round) {
            found.push(component);
        }
    }
    found
}
