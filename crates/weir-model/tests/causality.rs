//! No causal cycles in NSW (Atig et al. 2012, section 3.6, theorem 3).
//!
//! What a process does after a read may depend on the read: `dep` is program
//! order from a read to every later read, write or atomic read-write. `rf` leads
//! from a write to the reads that take its value. In no computation under NSW
//! does `dep ∪ rf` have a cycle.
//!
//! Here: random runs of random programs in which every write has a value of its
//! own, so that a read tells which write it took its value from, in each form
//! of NSW. Only what has happened counts: a run is looked at when nothing is
//! under way any more. Under `SC+r->w` the same check finds the cycle of the
//! program in the paper, so it can fail.
//!
//! `WEIR_SEED` and `WEIR_CASES` change where the random programs start and how
//! many there are.

use std::collections::HashMap;

use weir_gen::{Rng, Shape, program, setting, shrink};
use weir_model::ids::{ProcessId, ValueId, VarId};
use weir_model::memory_model::{MemoryModel, Relaxation};
use weir_model::program::Program;
use weir_model::semantics::{Form, Semantics, sufficient_bound};
use weir_model::system::{Op, System};

/// The operations of a run, in the order in which they were issued.
type Issued = Vec<(ProcessId, Op)>;

/// A random run until every process has ended and nothing is under way; `None`
/// if a wrong guess stands in the way.
fn walk(semantics: &dyn Semantics, rng: &mut Rng) -> Option<Issued> {
    let system = semantics.system();
    let mut config = rng.pick(&semantics.initial().collect::<Vec<_>>()).clone();
    let mut scratch = vec![];
    let mut issued = vec![];
    loop {
        let mut next = vec![];
        let complete = semantics.successors(&config, &mut scratch, &mut |step, after| {
            next.push((step, after.to_vec()));
        });
        assert!(complete, "the bound is sufficient");
        if next.is_empty() {
            let is_final = system.all_ended(semantics.controls(&config))
                && semantics.is_drained(&config)
                && semantics.is_settled(&config);
            return is_final.then_some(issued);
        }
        let (step, after) = next.swap_remove(rng.below(next.len()));
        if let Some(transition) = step.transition {
            let taken = system.transition(step.process, transition);
            issued.push((step.process, taken.op));
        }
        config = after;
    }
}

/// A cycle of `dep ∪ rf`, by the numbers of its operations.
fn cycle(issued: &Issued) -> Option<Vec<usize>> {
    let mut writers: HashMap<(VarId, ValueId), usize> = HashMap::new();
    for (i, (_, op)) in issued.iter().enumerate() {
        if let Op::Write(x, d) = op {
            let twice = writers.insert((*x, *d), i);
            assert!(twice.is_none(), "every write has a value of its own");
        }
    }
    let accesses = |op: Op| matches!(op, Op::Read(..) | Op::Write(..) | Op::Arw(..));
    let successors = |i: usize| -> Vec<usize> {
        let (p, op) = issued[i];
        match op {
            // dep
            Op::Read(..) => (i + 1..issued.len())
                .filter(|&j| issued[j].0 == p && accesses(issued[j].1))
                .collect(),
            // rf
            Op::Write(x, d) => {
                (0..issued.len()).filter(|&j| issued[j].1 == Op::Read(x, d)).collect()
            }
            _ => vec![],
        }
    };
    fn search(
        i: usize,
        successors: &dyn Fn(usize) -> Vec<usize>,
        done: &mut [bool],
        path: &mut Vec<usize>,
    ) -> bool {
        if let Some(start) = path.iter().position(|&j| j == i) {
            path.drain(..start);
            return true;
        }
        if done[i] {
            return false;
        }
        path.push(i);
        for next in successors(i) {
            if search(next, successors, done, path) {
                return true;
            }
        }
        path.pop();
        done[i] = true;
        false
    }
    let mut done = vec![false; issued.len()];
    let mut path = vec![];
    (0..issued.len()).any(|i| search(i, &successors, &mut done, &mut path)).then_some(path)
}

fn system(program: &Program) -> System {
    System::for_model(program.clone(), MemoryModel::GUESS).expect("random programs are finite")
}

fn shapes() -> Vec<Shape> {
    let unique = Shape { unique: true, atomics: false, statements: 4, ..Shape::default() };
    vec![
        unique.clone(),
        Shape { statements: 3, fences: false, ..unique.clone() },
        Shape { vars: 3, ..unique.clone() },
        Shape { processes: 3, statements: 3, ..unique },
    ]
}

/// The first causal cycle in some random runs, and how many runs there were.
fn first_cycle(
    system: &System,
    model: MemoryModel,
    form: Form,
    start: u64,
    tries: usize,
) -> (usize, Option<String>) {
    let mut rng = Rng::new(start);
    let bound = 2 * sufficient_bound(system).expect("loop-free");
    let semantics = form.semantics(system, model, bound);
    let mut runs = 0;
    for _ in 0..tries {
        let Some(issued) = walk(semantics.as_ref(), &mut rng) else { continue };
        runs += 1;
        if let Some(cycle) = cycle(&issued) {
            let show = |&i: &usize| {
                let (p, op) = issued[i];
                format!("{}: {}", system.processes[p.index()].name, system.show_op(op))
            };
            let shown: Vec<_> = cycle.iter().map(show).collect();
            return (runs, Some(format!("{model} ({}): {}", form.name(), shown.join(" -> "))));
        }
    }
    (runs, None)
}

/// Random runs of random programs under a model in a form; a cycle is shrunk.
fn no_cycles(model: MemoryModel, form: Form) {
    let seed = setting("WEIR_SEED", 1);
    let cases = setting("WEIR_CASES", 1000);
    let mut runs = 0;
    for case in 0..cases {
        let start = seed.wrapping_mul(1_000_003).wrapping_add(case);
        let mut rng = Rng::new(start);
        let shape = rng.pick(&shapes()).clone();
        let random = program(&mut rng, &shape);
        let (found, cycle) = first_cycle(&system(&random), model, form, start, 60);
        runs += found;
        if cycle.is_some() {
            let again = |p: &Program| first_cycle(&system(p), model, form, start, 60).1;
            let small = shrink(random, |p| again(p).is_some());
            let text = weir_front::weir::print(&small);
            let why = again(&small).unwrap_or_default();
            panic!("seed {seed}, case {case}: {why}\n{text}");
        }
    }
    assert!(runs as u64 >= 5 * cases, "only {runs} runs ended");
}

#[test]
fn two_level_buffers() {
    no_cycles(MemoryModel::NSW, Form::NswFifo);
}

#[test]
fn history_buffer() {
    no_cycles(MemoryModel::NSW, Form::NswHistory);
}

#[test]
fn event_structures() {
    no_cycles(MemoryModel::NSW, Form::NswEvents);
}

#[test]
fn relaxations() {
    no_cycles(MemoryModel::NSW, Form::Relaxations);
}

/// The program of Atig et al. 2012, section 3.6.
const CYCLIC: &str = "
    var x, y
    process p1 { reg r; r = x; y = 1 }
    process p2 { reg r; r = y; x = 1 }
";

#[test]
fn the_example_has_a_cycle_where_writes_overtake_reads() {
    let (program, _) = weir_front::read("cyclic.weir", CYCLIC, None).expect("it is a program");
    let system = system(&program);
    let loose = MemoryModel::SC.with(Relaxation::ReadWrite);
    let (_, cycle) = first_cycle(&system, loose, Form::Relaxations, 1, 2000);
    let cycle = cycle.expect("writes overtake reads");
    for op in ["p1: r(x,1)", "p1: w(y,1)", "p2: r(y,1)", "p2: w(x,1)"] {
        assert!(cycle.contains(op), "{cycle}");
    }
    for (name, model) in MemoryModel::NAMED {
        for form in Form::of(model) {
            let (runs, cycle) = first_cycle(&system, model, form, 1, 2000);
            assert_eq!(cycle, None, "{name}");
            assert!(runs > 100, "{name}: {runs}");
        }
    }
}

/// Random programs have cycles too once writes overtake reads: the search finds
/// them where they are.
#[test]
fn random_programs_have_cycles_where_writes_overtake_reads() {
    let model = MemoryModel::NSW.with(Relaxation::ReadWrite);
    let found = (0..400).filter(|&start| {
        let mut rng = Rng::new(start);
        let shape = rng.pick(&shapes()).clone();
        let random = program(&mut rng, &shape);
        first_cycle(&system(&random), model, Form::Relaxations, start, 60).1.is_some()
    });
    assert!(found.count() > 3);
}
