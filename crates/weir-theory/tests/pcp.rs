//! Post's correspondence problem through programs (Atig et al. 2010, section 9.1):
//! solutions are read off runs that `weir-check` accepts, and no search says that there
//! is none.

use std::fs;

use weir_check::{Witness, check};
use weir_engine::{Engine, Explicit, SearchOptions, Task};
use weir_gen::{Rng, setting};
use weir_model::answer::Verdict;
use weir_model::ids::QuestionId;
use weir_model::limits::Budget;
use weir_model::memory_model::MemoryModel;
use weir_model::system::System;
use weir_theory::pcp::{Instance, MAX_LETTERS, MAX_PAIRS, Solved, program, read, solve};

/// The shortest solutions, by trying all sequences of up to so many indices.
fn shortest(instance: &Instance, most: usize) -> Vec<Vec<usize>> {
    let mut sequences: Vec<Vec<usize>> = vec![vec![]];
    for _ in 0..most {
        let longer = |s: &Vec<usize>| {
            let s = s.clone();
            (1..=instance.pairs().count()).map(move |i| [s.as_slice(), &[i]].concat())
        };
        sequences = sequences.iter().flat_map(longer).collect();
        let spelt = |s: &Vec<usize>, side: fn((&str, &str)) -> String| -> String {
            s.iter().map(|i| side(instance.pairs().nth(i - 1).unwrap())).collect()
        };
        let solves =
            |s: &&Vec<usize>| spelt(s, |(u, _)| u.to_owned()) == spelt(s, |(_, v)| v.to_owned());
        let found: Vec<Vec<usize>> = sequences.iter().filter(solves).cloned().collect();
        if !found.is_empty() {
            return found;
        }
    }
    vec![]
}

/// The system of the program of an instance, printed and read again.
fn system(instance: &Instance) -> System {
    let printed = weir_front::weir::print(&program(instance));
    let (again, _) = weir_front::read("pcp.weir", &printed, None)
        .unwrap_or_else(|e| panic!("{}", e[0].render("pcp.weir", &printed, false)));
    assert_eq!(weir_front::weir::print(&again), printed);
    System::for_model(again, MemoryModel::GUESS).unwrap()
}

fn solved(instance: &Instance, system: &System, model: MemoryModel, bound: usize) -> Solved {
    let options = SearchOptions { bound: Some(bound), ..SearchOptions::default() };
    solve(instance, system, model, &options, &mut |_| {}).0
}

/// What is found is a shortest solution, and its run is accepted.
fn has_solution(text: &str, model: MemoryModel, bound: usize) {
    let instance = read(text).unwrap();
    let system = system(&instance);
    let Solved::Solution(indices, run) = solved(&instance, &system, model, bound) else {
        panic!("nothing found for\n{text}")
    };
    assert!(instance.spell(&indices).is_some());
    let expected = shortest(&instance, 5);
    assert!(expected.contains(&indices), "{indices:?} is none of {expected:?}");
    let witness = Witness::new(&system, &run, QuestionId(0), &|_| 1);
    check(&system, &witness).unwrap();
    // One step less is no run to an end.
    let mut shorter = run.clone();
    shorter.steps.pop();
    assert!(check(&system, &Witness::new(&system, &shorter, QuestionId(0), &|_| 1)).is_err());
}

#[test]
fn solutions_are_found() {
    let hopcroft_ullman = "1 111\n10111 10\n10 0";
    for text in ["a a", "ab a\nc bc", "a aa\naa a", "a baa\nab aa\nbba bb", hopcroft_ullman] {
        for model in [MemoryModel::GUESS_WW, MemoryModel::GUESS] {
            has_solution(text, model, 1);
        }
    }
}

/// Solutions with many pairs: of this instance the shortest one has 66.
#[test]
fn a_long_solution_is_found() {
    let instance = read("001 0\n01 011\n01 101\n10 001").unwrap();
    let system = system(&instance);
    let found = solved(&instance, &system, MemoryModel::GUESS_WW, 1);
    let Solved::Solution(indices, run) = found else { panic!("{found:?}") };
    assert_eq!(indices.len(), 66);
    check(&system, &Witness::new(&system, &run, QuestionId(0), &|_| 1)).unwrap();
}

/// Letter by letter a solution is found if and only if there is one: random instances, against
/// all sequences of up to five pairs.
#[test]
fn random_instances() {
    let seed = setting("WEIR_SEED", 1);
    let mut counts = [0; 2];
    for case in 0..setting("WEIR_CASES", 100) {
        let mut rng = Rng::new(seed.wrapping_mul(1_000_003).wrapping_add(case));
        let mut word = || -> String {
            (0..1 + rng.below(3)).map(|_| if rng.once_in(2) { 'a' } else { 'b' }).collect()
        };
        let lines: Vec<String> = (0..3).map(|_| format!("{} {}", word(), word())).collect();
        let text = lines.join("\n");
        let instance = read(&text).unwrap();
        let expected = shortest(&instance, 5);
        counts[usize::from(!expected.is_empty())] += 1;
        if !expected.is_empty() {
            let model = [MemoryModel::GUESS_WW, MemoryModel::GUESS][case as usize % 2];
            has_solution(&text, model, 1);
            continue;
        }
        let system = system(&instance);
        match solved(&instance, &system, MemoryModel::GUESS_WW, 1) {
            Solved::Solution(indices, _) => assert!(indices.len() > 5, "{text}: {indices:?}"),
            Solved::Nothing(leads) => assert!(leads > 0),
            Solved::Unknown(reason) => assert!(reason.contains("buffers of up to 1"), "{reason}"),
        }
    }
    assert!(counts.iter().all(|n| *n > 20), "both happen: {counts:?}");
}

/// The explicit engine finds the solution among all runs of the program, too.
#[test]
fn all_runs_are_searched() {
    let instance = read("ab a\nc bc").unwrap();
    let system = system(&instance);
    let options = SearchOptions { bound: Some(4), ..SearchOptions::default() };
    let task = Task::new(&system, MemoryModel::GUESS_WW, &options);
    let (answers, _) = Explicit.check(task, &mut |_| {}).unwrap();
    assert_eq!(answers[0].verdict, Verdict::Holds);
}

/// Short solutions that need large buffers are found by default.
#[test]
fn short_solutions_are_found() {
    for (text, pairs) in [("aaa ab\nb abb\nbba b", 4), ("b bb\naa a\nbbb a", 5)] {
        let instance = read(text).unwrap();
        for model in [MemoryModel::GUESS, MemoryModel::GUESS_WW] {
            let options = SearchOptions::default();
            let found = solve(&instance, &system(&instance), model, &options, &mut |_| {}).0;
            let Solved::Solution(indices, _) = found else { panic!("{text}: {found:?}") };
            assert_eq!(indices.len(), pairs, "{text}");
        }
    }
}

/// That there is none is an answer only if there are finitely many leads.
#[test]
fn instances_without_solution() {
    // Different letters; different ends; leads that come back; and leads that grow for ever.
    for (text, is_known) in
        [("a b", true), ("ab a\nb ba", true), ("10 101\n011 11\n101 011", true), ("aa a", false)]
    {
        let instance = read(text).unwrap();
        assert_eq!(shortest(&instance, 5), Vec::<Vec<usize>>::new());
        for model in [MemoryModel::GUESS, MemoryModel::GUESS_WW] {
            match solved(&instance, &system(&instance), model, 3) {
                Solved::Nothing(_) => assert!(is_known, "{text}"),
                Solved::Unknown(reason) => {
                    assert_eq!(reason, "there is no solution with buffers of up to 3");
                    assert!(!is_known, "{text}");
                }
                Solved::Solution(indices, _) => panic!("{text}: {indices:?}"),
            }
        }
    }
}

#[test]
fn limits_end_a_search() {
    let instance = read("aa a\nab b").unwrap();
    let options = SearchOptions {
        bound: Some(20),
        budget: Budget::new().with_store(1 << 22),
        ..SearchOptions::default()
    };
    let found =
        solve(&instance, &system(&instance), MemoryModel::GUESS_WW, &options, &mut |_| {}).0;
    let Solved::Unknown(reason) = found else { panic!("{found:?}") };
    assert!(reason.starts_with("the memory limit of 4 MiB was reached; there is no"), "{reason}");
}

#[test]
fn what_is_wrong_has_a_place() {
    let many = "a b\n".repeat(MAX_PAIRS + 1);
    let long = format!("{} a", "a".repeat(MAX_LETTERS + 1));
    for (text, message, place) in [
        ("", "there are no pairs here", 0..0),
        ("# nothing\n\n", "there are no pairs here", 0..0),
        ("a b\n  ab # b\n", "there is only one word here, and no word may be empty", 6..8),
        ("a b\nab ε", "no word may be empty", 7..9),
        ("a -", "no word may be empty", 2..3),
        ("\"\" a", "no word may be empty", 0..2),
        ("a b c", "a pair has two words, and this is a third one", 4..5),
        ("a, b", "',' in `a,` is not a letter; letters are a to z, A to Z and 0 to 9", 0..2),
        (&long, "a word has more than 100 letters", 0..101),
        (&many, "there are more than 100 pairs", 400..401),
    ] {
        let errors = read(text).unwrap_err();
        assert_eq!((errors[0].message.as_str(), errors[0].range.clone()), (message, place));
    }
    assert_eq!(read("a\nb\nc").unwrap_err().len(), 3);
    let most = "a b\n".repeat(MAX_PAIRS);
    assert_eq!(read(&most).unwrap().pairs().count(), MAX_PAIRS);
    system(&read(&most).unwrap());
}

/// Every example says what it is.
#[test]
fn examples() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let mut seen = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "pcp") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let instance = read(&text).unwrap();
        let promised = text.lines().filter_map(|l| l.strip_prefix("# solution: "));
        for line in promised {
            let indices: Vec<usize> = line.split(' ').map(|i| i.parse().unwrap()).collect();
            assert!(instance.spell(&indices).is_some(), "{path:?}");
            assert!(shortest(&instance, 5).contains(&indices), "{path:?}");
            seen += 1;
        }
    }
    assert!(seen >= 3, "only {seen} solutions");
}
