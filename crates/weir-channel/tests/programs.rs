//! Programs and their machines reach the same states (Atig et al. 2010, Proposition 4): on
//! random programs, with and without loops, the product of the machines under the
//! lossy meaning, the smaller machine that the engine searches under TSO, and an engine that
//! knows nothing of channels.

use std::collections::BTreeSet;

use weir_channel::explicit::search;
use weir_channel::lossy::{Reach, reach_any};
use weir_channel::semantics::{Contents, Goal, Semantics};
use weir_channel::tso::{Sync, control_name, tso};
use weir_channel::{Machine, Place, SearchOptions, Translation, product, pso};
use weir_engine::explicit::outcomes;
use weir_engine::{Engine, Task, Views};
use weir_gen::{Rng, Shape, program, setting, shrink};
use weir_model::answer::Verdict;
use weir_model::ids::{ProcessId, SpanId, StateId, ValueId, VarId};
use weir_model::limits::Budget;
use weir_model::memory_model::MemoryModel;
use weir_model::program::{Atom, BinOp, Expr, Program, Property, PropertyKind, Quantifier};
use weir_model::system::{Expanded, StateKind, System};

/// A way to make a machine of a program, with what is asked of it.
type Translate = fn(&System) -> Option<Machine>;
type Goals = fn(Expanded<'_>, &Machine, &[ValueId]) -> Vec<Goal>;

fn by_tso(system: &System) -> Option<Machine> {
    let machines = tso(system, Sync::Writes, &Budget::new()).ok()?;
    product(&machines.iter().collect::<Vec<_>>(), &Budget::new()).ok()
}

fn by_pso(system: &System) -> Option<Machine> {
    pso::pso(system, &Budget::new()).ok()
}

fn by_observed(system: &System) -> Option<Machine> {
    let made = Translation::reduced(system, MemoryModel::TSO, None, &Budget::new());
    made.ok().map(|t| t.machine)
}

/// The control states in which a process has ended.
fn ended(system: Expanded<'_>, p: ProcessId) -> impl Iterator<Item = StateId> {
    system.states(p).filter(move |s| system.state(p, *s).kind == StateKind::Ended)
}

/// The control states of the machine of a PSO program in which all processes have
/// ended and memory is this.
fn pso_goals(system: Expanded<'_>, machine: &Machine, memory: &[ValueId]) -> Vec<Goal> {
    let mut all: Vec<Vec<StateId>> = vec![vec![]];
    for p in system.process_ids() {
        let ended: Vec<StateId> = ended(system, p).collect();
        let longer = |c: &Vec<StateId>| {
            let c = c.clone();
            ended.iter().map(move |e| c.iter().copied().chain([*e]).collect()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    let states = all.iter().filter_map(|c| machine.state(&pso::control_name(system, c, memory)));
    states.map(|state| Goal { state, contents: Contents::Empty }).collect()
}

/// The control states of the product in which all processes have ended and memory
/// is this, with nothing under way.
fn tso_goals(system: Expanded<'_>, machine: &Machine, memory: &[ValueId]) -> Vec<Goal> {
    let mut names: Vec<Vec<String>> = vec![vec![]];
    for p in system.process_ids() {
        let ended: Vec<String> =
            ended(system, p).map(|s| control_name(system, p, s, memory, memory)).collect();
        let longer = |n: &Vec<String>| {
            let n = n.clone();
            ended.iter().map(move |e| n.iter().chain([e]).cloned().collect()).collect::<Vec<_>>()
        };
        names = names.iter().flat_map(longer).collect();
    }
    let states = names.iter().filter_map(|n| machine.state(&format!("({})", n.join(", "))));
    states.map(|state| Goal { state, contents: Contents::Empty }).collect()
}

/// The control states of the smaller machine in which all processes have ended and the newest
/// memory is this, whatever each process sees.
fn observed_goals(system: Expanded<'_>, machine: &Machine, memory: &[ValueId]) -> Vec<Goal> {
    let value = |(x, v): (usize, &ValueId)| system.value(VarId::new(x), *v).to_string();
    let memory: Vec<String> = memory.iter().enumerate().map(value).collect();
    let newest = format!(" [{}]", memory.join(","));
    let mut all_ended: Vec<Vec<String>> = vec![vec![]];
    for p in system.process_ids() {
        let names: Vec<String> = ended(system, p).map(|s| system.state_name(p, s)).collect();
        let with =
            |all: &Vec<String>, name: &String| [&all[..], std::slice::from_ref(name)].concat();
        all_ended =
            all_ended.iter().flat_map(|all| names.iter().map(move |n| with(all, n))).collect();
    }
    let has_ended =
        |name: &str| all_ended.iter().any(|all| name.starts_with(&format!("({}) ", all.join(","))));
    let states = machine.states().filter(|s| {
        let name = machine.state_name(*s);
        name.ends_with(&newest) && has_ended(name)
    });
    states.map(|state| Goal { state, contents: Contents::Empty }).collect()
}

fn memories(system: Expanded<'_>) -> Vec<Vec<ValueId>> {
    (0..system.vars.len()).fold(vec![vec![]], |begun, x| {
        let values = system.values(VarId::new(x)).iter();
        let longer =
            |m: Vec<ValueId>| values.clone().map(move |v| m.iter().copied().chain([*v]).collect());
        begun.into_iter().flat_map(longer).collect()
    })
}

/// The memories that the program can end with, as some engine says: one question
/// for each.
fn asked(mut program: weir_model::program::Program, memory: &[i128]) -> System {
    let mut formula = Expr::Const(1);
    for (x, v) in memory.iter().enumerate() {
        let equal = Expr::binary(BinOp::Eq, Expr::Atom(Atom::Var(VarId::new(x))), Expr::Const(*v));
        formula = Expr::binary(BinOp::And, formula, equal);
    }
    let kind = PropertyKind::Final(Quantifier::Exists, formula);
    program.properties = vec![Property { name: None, kind, span: SpanId::NONE }];
    System::new(program).unwrap()
}

fn on_random_programs(
    cases: u64,
    shape: &Shape,
    model: MemoryModel,
    (translate, goals): (Translate, Goals),
) {
    let seed = setting("WEIR_SEED", 1);
    let mut reached = [0, 0];
    for case in 0..setting("WEIR_CASES", cases) {
        let mut rng = Rng::new(seed.wrapping_mul(1_000_003).wrapping_add(case));
        let random = program(&mut rng, shape);
        let system = System::new(random.clone()).unwrap();
        let Some(machine) = translate(&system) else { continue };
        let all = system.expanded(&Budget::new()).unwrap();
        for memory in memories(all) {
            let values: Vec<i128> =
                memory.iter().enumerate().map(|(x, v)| system.value(VarId::new(x), *v)).collect();
            let options = SearchOptions {
                budget: Budget::new().with_store(1 << 26),
                ..SearchOptions::default()
            };
            let goals = goals(all, &machine, &memory);
            let (answer, _) = reach_any(&machine, &goals, &options, &mut |_| {});
            let question = asked(random.clone(), &values);
            let (expected, _) =
                Views.check(Task::new(&question, model, &options), &mut |_| {}).unwrap();
            let text = || weir_front::weir::print(&question.program);
            match (answer, expected[0].verdict) {
                (Reach::Reached(_), Verdict::Holds) => reached[1] += 1,
                (Reach::NotReached(_), Verdict::Violated) => reached[0] += 1,
                (Reach::Unknown(_), _) | (_, Verdict::Unknown) => {}
                (answer, verdict) => {
                    panic!("seed {seed}, case {case}: {answer:?}, {}\n{}", verdict.name(), text())
                }
            }
        }
    }
    assert!(reached.iter().all(|r| *r > cases / 4), "both happen: {reached:?}");
}

const TSO: (Translate, Goals) = (by_tso, tso_goals);
const OBSERVED: (Translate, Goals) = (by_observed, observed_goals);
const PSO: (Translate, Goals) = (by_pso, pso_goals);

fn loop_free() -> Shape {
    Shape { statements: 2, ..Shape::default() }
}

fn looping() -> Shape {
    Shape { statements: 1, loops: true, ..Shape::default() }
}

#[test]
fn loop_free_programs_under_tso() {
    on_random_programs(60, &loop_free(), MemoryModel::TSO, TSO);
}

#[test]
fn looping_programs_under_tso() {
    on_random_programs(40, &looping(), MemoryModel::TSO, TSO);
}

#[test]
fn programs_under_tso_without_what_nobody_observes() {
    let shape = Shape { statements: 3, ..loop_free() };
    on_random_programs(60, &shape, MemoryModel::TSO, OBSERVED);
    on_random_programs(60, &looping(), MemoryModel::TSO, OBSERVED);
    let shape = Shape { statements: 2, ..looping() };
    on_random_programs(60, &shape, MemoryModel::TSO, OBSERVED);
}

/// The final states of a program, as the explicit engine finds them.
fn expected_ends(system: &System) -> BTreeSet<Vec<i128>> {
    let options = SearchOptions::default();
    let task = Task::new(system, MemoryModel::TSO, &options);
    let found = outcomes(task, &mut |_| {}).unwrap();
    assert!(found.stats.stopped.is_none() && found.stats.within_bound, "{:?}", found.stats);
    found.states.into_iter().map(|(values, _)| values).collect()
}

/// The final states of a program, as a forward search of the smaller machine finds them.
fn observed_ends(system: &System) -> Option<BTreeSet<Vec<i128>>> {
    let budget = Budget::new().with_store(1 << 24);
    let translation = Translation::reduced(system, MemoryModel::TSO, None, &budget).ok()?;
    let options = SearchOptions { bound: Some(16), budget, ..SearchOptions::default() };
    let found = search(&translation.machine, Semantics::Lossy, None, &options, &mut |_| {});
    let atoms = system.program.everything();
    let place = |s: &weir_channel::StateId| translation.places[s.index()].as_ref();
    let places = found.states.iter().filter_map(place);
    let ends = places.filter(|at| system.all_ended(&at.controls));
    let values = |at: &Place| {
        atoms.iter().map(|a| system.atom(*a, &at.controls, &at.memory)).collect::<Vec<_>>()
    };
    let is_exact = found.stats.stopped.is_none() && found.stats.within_bound;
    is_exact.then(|| ends.map(values).collect())
}

/// Exactly the final states, on programs with many reads and writes that tell them apart.
#[test]
fn final_states_under_tso() {
    let seed = setting("WEIR_SEED", 1);
    let cases = setting("WEIR_CASES", 150);
    let mut exact = [0; 3];
    for (shape, exact) in [
        Shape { statements: 6, values: 3, branches: false, ..Shape::default() },
        Shape { statements: 5, unique: true, branches: false, ..Shape::default() },
        Shape { processes: 3, statements: 3, locals: true, ..Shape::default() },
    ]
    .iter()
    .zip(&mut exact)
    {
        for case in 0..cases {
            let mut rng = Rng::new(seed.wrapping_mul(1_000_003).wrapping_add(case));
            let random = program(&mut rng, shape);
            let differs = |program: &Program| {
                let system = System::new(program.clone()).ok()?;
                let ends = observed_ends(&system)?;
                Some(ends != expected_ends(&system))
            };
            let found = differs(&random);
            *exact += u64::from(found.is_some());
            if found == Some(true) {
                let small = shrink(random, |p| differs(p) == Some(true));
                let system = System::new(small.clone()).unwrap();
                panic!(
                    "seed {seed}, case {case}: {:?}, expected {:?}\n{}",
                    observed_ends(&system),
                    expected_ends(&system),
                    weir_front::weir::print(&small)
                );
            }
        }
    }
    assert!(exact.iter().all(|n| *n > cases / 2), "{exact:?}");
}

#[test]
fn loop_free_programs_under_pso() {
    on_random_programs(60, &loop_free(), MemoryModel::PSO, PSO);
}

#[test]
fn looping_programs_under_pso() {
    on_random_programs(40, &looping(), MemoryModel::PSO, PSO);
}
