//! Minimal sets of fences, against all subsets.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use weir::MemoryModel;
use weir::fences::{Change, Checked, Goal, Repair, Repairs, Request, To, redundant, repairs};
use weir::solver::outcomes;
use weir_engine::SearchOptions;
use weir_gen::tools::is_slow;
use weir_gen::{Rng, Shape, ask, program, setting};
use weir_model::ids::{RegId, SpanId, VarId};
use weir_model::limits::Budget;
use weir_model::program::{
    Atom, BinOp, Decl, Expr, FenceKind, Place, Process, Program, Property, PropertyKind,
    Quantifier, Register, Rmw, Stmt, StmtKind,
};
use weir_model::system::System;

const MODELS: [MemoryModel; 3] = [MemoryModel::TSO, MemoryModel::PSO, MemoryModel::NSW];

/// Whether a text with fences is repaired; `None` if it is not known.
fn repaired(found: &Repairs, fences: &[Change], request: &Request) -> Option<bool> {
    match found.check(fences, request, &request.options).unwrap() {
        Checked::Repaired(..) => Some(true),
        Checked::Broken(..) => Some(false),
        Checked::Open(_) => None,
    }
}

/// All minimal sets, by trying every subset in the order of their sizes.
fn brute_force(
    found: &Repairs,
    request: &Request,
    kinds: &[FenceKind],
) -> Option<BTreeSet<Vec<Change>>> {
    let fences: Vec<Change> = (0..found.places.len())
        .flat_map(|place| kinds.iter().map(move |&kind| Change { place, to: To::Fence(kind) }))
        .collect();
    let mut subsets: Vec<u32> = (0..1 << fences.len()).collect();
    subsets.sort_by_key(|bits: &u32| bits.count_ones());
    let set = |bits: u32| -> Vec<Change> {
        (0..fences.len()).filter(|e| bits >> e & 1 == 1).map(|e| fences[e]).collect()
    };
    let mut minimal: Vec<u32> = vec![];
    for bits in subsets {
        if minimal.iter().any(|m| m & bits == *m) {
            continue;
        }
        if repaired(found, &set(bits), request)? {
            minimal.push(bits);
        }
    }
    Some(minimal.into_iter().map(set).collect())
}

/// Compares with all subsets, if there are at most so many elements. Returns whether it did.
fn agrees(name: &str, text: &str, request: &Request, most: usize) -> bool {
    let model = request.reading.model;
    let language = weir_front::detect(name, text);
    let kinds = request.kinds_in(language).unwrap();
    let all = (language.gaps)(text).len() * kinds.len();
    if all > most {
        return false;
    }
    let found = match repairs(name, text, request, &|_| {}) {
        Ok(found) if found.open.is_empty() => found,
        Ok(_) | Err(weir::Error::Absence(_)) => return false,
        Err(error) => panic!("{name}: {error}\n{text}"),
    };
    let Some(expected) = brute_force(&found, request, &kinds) else { return false };
    let sets: BTreeSet<Vec<Change>> = found.sets.iter().map(|s| s.changes.clone()).collect();
    assert_eq!(sets, expected, "{name} under {model}, {all} fences:\n{text}");
    assert_eq!(found.beyond.is_some(), expected.is_empty(), "{name} under {model}:\n{text}");
    assert!(found.is_complete || found.beyond.is_some());
    assert!(found.sets.is_sorted_by_key(|set| set.cost));
    true
}

fn corpus() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "weir"));
    files.sort();
    files
}

#[test]
fn sets_of_small_programs_are_those_that_trying_all_subsets_finds() {
    let mut compared = 0;
    for path in corpus() {
        let (name, text) = (path.to_str().unwrap(), fs::read_to_string(&path).unwrap());
        for model in MODELS {
            let most = setting("WEIR_FENCES", 10) as usize;
            compared += usize::from(agrees(name, &text, &Request::new(model), most));
        }
    }
    println!("{compared} compared");
    assert!(compared > 10, "{compared}");
}

/// The fences of a text whose comments say that they are needed under a model, by their lines.
fn marked(text: &str, model: MemoryModel) -> BTreeSet<usize> {
    let name = model.to_string().to_lowercase();
    let needs = |line: &str| {
        let mark = line.split_once("needed:").map(|(_, models)| models);
        mark.is_some_and(|models| models.split_whitespace().any(|m| m == name))
    };
    (1..).zip(text.lines()).filter(|(_, line)| needs(line)).map(|(number, _)| number).collect()
}

/// Programs with marks for more than two processes that take long, with the models under which
/// they do.
const SLOW: [(&str, &[MemoryModel]); 8] = [
    ("aravind-3-", &MODELS),
    ("bakery-3-", &[MemoryModel::PSO, MemoryModel::NSW]),
    ("burns-4-", &[MemoryModel::NSW]),
    ("clh-3-", &[MemoryModel::NSW]),
    ("dijkstra-3-", &MODELS),
    ("filter-4-", &[MemoryModel::PSO, MemoryModel::NSW]),
    ("lamport-fast-3-", &[MemoryModel::PSO, MemoryModel::NSW]),
    ("peterson-tree-4-", &[MemoryModel::PSO, MemoryModel::NSW]),
];

/// Those of programs with two processes; of all with `WEIR_SLOW=1` or `WEIR_MARKS`.
#[test]
fn the_marks_of_the_corpus_are_minimal_sets() {
    let mut compared = 0;
    let mut wrong = Vec::new();
    // How many seconds to try those that take long.
    let seconds = setting("WEIR_MARKS", 0);
    for path in corpus() {
        let (name, text) = (path.to_str().unwrap(), fs::read_to_string(&path).unwrap());
        let is_wanted = seconds > 0 || is_slow() || name.contains("-2");
        if !text.contains("needed:") || !is_wanted {
            continue;
        }
        for model in MODELS {
            let is_slow = |(slow, models): &(&str, &[MemoryModel])| {
                name.contains(&format!("/{slow}")) && models.contains(&model)
            };
            let is_slow = SLOW.iter().any(is_slow);
            if is_slow && seconds == 0 {
                continue;
            }
            let mut request = Request::new(model);
            if is_slow {
                request.options.budget = Budget::new().with_time(Duration::from_secs(seconds));
            }
            let found = redundant(name, &text, &request, &|_| {}).unwrap();
            if is_slow && !found.is_complete && found.beyond.is_none() {
                println!("{name} under {model} is unknown");
                continue;
            }
            let lines = |set: &Repair| -> BTreeSet<usize> {
                set.changes.iter().map(|f| found.places[f.place].line).collect()
            };
            let sets: Vec<BTreeSet<usize>> = found.sets.iter().map(lines).collect();
            let marked = marked(&text, model);
            // With fences that are not enough nothing is marked.
            let is_right = match found.beyond.is_some() {
                true => marked.is_empty(),
                false => sets.contains(&marked),
            };
            if !is_right {
                wrong.push(format!("{name} under {model}: {marked:?}, not {sets:?}"));
            }
            compared += 1;
        }
    }
    println!("{compared} compared");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 100, "{compared}");
}

/// Asks that the final states of a model that SC does not have are not there; `None` if there
/// are none.
fn only_those_of_sc(mut program: Program, model: MemoryModel) -> Option<Program> {
    program.observed = Some(program.everything());
    let system = System::new(program.clone()).unwrap();
    let options = SearchOptions::default();
    let states = |model| outcomes(&system, model, &options, &mut |_| {}).unwrap();
    let (weak, strong) = (states(model), states(MemoryModel::SC));
    let weak: Vec<_> = weak.states.difference(&strong.states).map(|(values, _)| values).collect();
    let state = |values: &&Vec<i128>| {
        let equal = |(atom, value): (&Atom, &i128)| {
            Expr::binary(BinOp::Eq, Expr::Atom(*atom), Expr::Const(*value))
        };
        let parts = strong.atoms.iter().zip(values.iter()).map(equal);
        parts.reduce(|a, b| Expr::binary(BinOp::And, a, b))
    };
    let formula = weak.iter().take(5).filter_map(state);
    let formula = formula.reduce(|a, b| Expr::binary(BinOp::Or, a, b))?;
    let kind = PropertyKind::Final(Quantifier::Never, formula);
    program.properties = vec![Property { name: None, kind, span: SpanId::NONE }];
    Some(program)
}

/// A random program of two processes that write and read two variables, in the patterns of
/// litmus tests: a write and a read, two writes, or two reads of both variables.
fn racing(rng: &mut Rng, pairs: usize) -> Program {
    let vars: Vec<Decl> =
        ["x", "y"].into_iter().map(|x| Decl::scalar(x, 0, SpanId::NONE)).collect();
    let process = |rng: &mut Rng, name: &str| {
        let mut body = Vec::new();
        let mut registers = Vec::new();
        for _ in 0..pairs {
            let first = rng.below(2);
            let writes = [[true, false], [true, true], [false, false]][rng.below(3)];
            for (is_write, var) in writes.into_iter().zip([first, 1 - first]) {
                let place = Place::var(VarId::new(var));
                if is_write {
                    let value = Expr::Const(1 + rng.below(2) as i128);
                    body.push(Stmt::new(StmtKind::Store(place, value), SpanId::NONE));
                    continue;
                }
                let reg = RegId::new(registers.len());
                registers.push(Register {
                    name: format!("r{}", reg.0),
                    display: format!("{name}.r{}", reg.0),
                    domain: None,
                    init: 0,
                    temporary: false,
                    span: SpanId::NONE,
                });
                let kind = match rng.once_in(8) {
                    true => StmtKind::Rmw(reg, place, Rmw::Swap(Expr::Const(2))),
                    false => StmtKind::Load(reg, place),
                };
                body.push(Stmt::new(kind, SpanId::NONE));
            }
        }
        Process { name: name.to_owned(), registers, labels: vec![], body }
    };
    let processes = vec![process(rng, "p"), process(rng, "q")];
    Program { name: "racing".to_owned(), vars, processes, ..Program::default() }
}

#[test]
fn sets_of_random_programs_are_those_that_trying_all_subsets_finds() {
    let (seed, cases) = (setting("WEIR_SEED", 1), setting("WEIR_CASES", 40));
    let mut rng = Rng::new(seed);
    let (mut compared, mut weak) = (0, 0);
    for case in 0..cases {
        let model = MODELS[rng.below(3)];
        // Few enough positions for all subsets.
        let statements = if model == MemoryModel::TSO { 4 } else { 2 };
        let mut request = Request::new(model);
        if model == MemoryModel::NSW {
            let mut kinds = vec![FenceKind::Full, FenceKind::Write, FenceKind::Read];
            kinds.remove(rng.below(3));
            request.kinds = Some(kinds);
        }
        let mut made = match rng.once_in(3) {
            true => {
                let loops = rng.once_in(2);
                let shape =
                    Shape { statements, labels: 1, awaits: true, loops, ..Shape::default() };
                program(&mut rng, &shape)
            }
            false => racing(&mut rng, statements / 2),
        };
        match only_those_of_sc(made.clone(), model) {
            Some(asked) if !rng.once_in(8) => {
                weak += 1;
                made = asked;
            }
            _ => ask(&mut rng, &mut made, 2),
        }
        if model == MemoryModel::TSO && rng.once_in(3) {
            request.goal = Goal::Robust;
        }
        let name = format!("seed-{seed}-case-{case}.weir");
        compared += u64::from(agrees(&name, &weir_front::weir::print(&made), &request, 12));
    }
    println!("seed {seed}: {compared} of {cases} compared, {weak} weaker than SC");
    assert!(compared > cases / 3 && weak > cases / 12, "{compared} of {cases}, {weak} weak");
}

/// The examples in C and Rust with a fence wherever one can stand are what a compiler takes.
#[test]
fn sources_with_a_fence_in_every_gap_are_compiled() {
    use weir_model::program::FenceKind;
    if !weir_gen::tools::are_installed(&["clang-19"]) {
        return;
    }
    let mut all = 0;
    for folder in ["examples/c", "examples/rust"] {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        for file in files {
            let (name, text) = (file.to_str().unwrap(), std::fs::read_to_string(&file).unwrap());
            let language = weir_front::detect(name, &text);
            let gaps = (language.gaps)(&text);
            let fences: Vec<_> = (0..gaps.len()).map(|gap| (gap, FenceKind::Full)).collect();
            let word = |kind| (language.fence)(kind).unwrap();
            let fenced = weir_front::gaps::insert(&text, &gaps, &fences, word).text;
            let errors = crate::read::errors(name, &fenced);
            assert!(errors.is_empty(), "{name}: {errors:?}\n{fenced}");
            all += gaps.len();
        }
    }
    assert!(all > 300, "{all}");
}
