//! Certificates that were tampered with are rejected.
//!
//! The stored configurations are incomparable, and each is there because it is
//! initial or a step leads to it that no other covers: without one of them, with
//! a smaller view, or with another letter, the set is not closed any more. So
//! none of these changes leaves an inductive set, and all have to be rejected.

use crate::common;

use common::{DOUBLING, FENCED, HANDOVER, system};
use weir_check::Rejected;
use weir_check::certificate::{self, Certificate, Configuration};
use weir_engine::{Engine, SearchOptions, Task, Views};
use weir_gen::{Rng, Shape, program};
use weir_model::answer::Evidence;
use weir_model::ids::{QuestionId, SpanId};
use weir_model::memory_model::MemoryModel;
use weir_model::program::{Expr, Property, PropertyKind};
use weir_model::system::System;

/// The result of the checker, which is the same for every number of threads.
fn check(system: &System, certificate: &Certificate) -> Result<(), Rejected> {
    let with = |n: usize| certificate::check(system, certificate, n);
    let alone = with(1);
    assert_eq!(with(3), alone);
    alone
}

fn certificate(system: &System, model: MemoryModel) -> Certificate {
    let options = SearchOptions { certificate: true, ..SearchOptions::default() };
    let (answers, _) = Views.search(Task::new(system, model, &options), &mut |_| {});
    let Evidence::Invariant(invariant) = &answers[0].evidence else {
        panic!("{model}: {:?}", answers[0].verdict)
    };
    Certificate::new(system, invariant, vec![QuestionId(0)])
}

#[test]
fn without_a_configuration() {
    let system = system(FENCED);
    for (_, model) in MemoryModel::NAMED {
        let whole = certificate(&system, model);
        assert_eq!(check(&system, &whole), Ok(()));
        for i in 0..whole.configurations.len() {
            let mut less = whole.clone();
            less.configurations.remove(i);
            let why = check(&system, &less).expect_err("a configuration is missing");
            assert!(
                matches!(why, Rejected::InitialOutside | Rejected::LeadsOut { .. }),
                "{model} without {i}: {why}"
            );
        }
    }
}

/// A process that goes round in a loop without statements stands at the head of the loop, which
/// is another place than where it began.
#[test]
fn an_empty_loop_is_a_place() {
    let system = system("var x process p { x = 1 loop { } } never x == 2");
    for (_, model) in MemoryModel::NAMED {
        assert_eq!(check(&system, &certificate(&system, model)), Ok(()), "{model}");
    }
}

/// Removes configurations at random from certificates of random programs: one, then several.
/// Without any of them the set is not closed, and for every number of threads the reason is
/// that of the first configuration with a step that leads out.
#[test]
fn without_a_configuration_of_a_random_program() {
    let plain = Shape { statements: 4, ..Shape::default() };
    let shapes = [
        plain.clone(),
        Shape { vars: 3, ..plain.clone() },
        Shape { processes: 3, vars: 3, ..plain.clone() },
        Shape { statements: 3, loops: true, ..plain },
    ];
    let (mut removed, mut large) = (0, 0);
    for seed in 0..160 {
        let mut rng = Rng::new(seed);
        let mut program = program(&mut rng, &shapes[seed as usize % shapes.len()]);
        let kind = PropertyKind::Never(Expr::Const(0));
        program.properties = vec![Property { name: None, kind, span: SpanId::NONE }];
        let system = System::new(program).unwrap();
        for (_, model) in MemoryModel::NAMED {
            let whole = certificate(&system, model);
            assert_eq!(check(&system, &whole), Ok(()), "seed {seed}, {model}");
            large += usize::from(whole.configurations.len() >= 50);
            let mut less = whole.clone();
            for count in 1..=4 {
                if count <= 2 {
                    less = whole.clone();
                }
                if less.configurations.is_empty() {
                    break;
                }
                let i = rng.below(less.configurations.len());
                less.configurations.remove(i);
                let why = check(&system, &less).expect_err("a configuration is missing");
                assert!(
                    matches!(why, Rejected::InitialOutside | Rejected::LeadsOut { .. }),
                    "seed {seed}, {model}, without {i}: {why}"
                );
                removed += 1;
            }
        }
    }
    assert!(removed > 500, "{removed} were removed");
    assert!(large > 10, "{large} certificates are checked by several threads");
}

/// Every way to take one word, letter or value away from a view.
fn smaller(configuration: &Configuration) -> Vec<Configuration> {
    let mut all = Vec::new();
    for p in 0..configuration.views.len() {
        let view = &configuration.views[p];
        for (s, segment) in view.segments.iter().enumerate() {
            for w in 0..segment.len() {
                let mut less = configuration.clone();
                less.views[p].segments[s].remove(w);
                all.push(less);
            }
        }
        for i in 0..view.past.len() {
            let mut less = configuration.clone();
            less.views[p].past.remove(i);
            all.push(less);
        }
        for i in 0..view.stores.len() {
            let mut less = configuration.clone();
            less.views[p].stores.remove(i);
            all.push(less);
        }
        if !view.marks.is_empty() {
            let mut less = configuration.clone();
            less.views[p].marks.clear();
            less.views[p].segments.truncate(1);
            all.push(less);
        }
    }
    all
}

#[test]
fn with_a_smaller_view() {
    let mut rejected = 0;
    let programs = [system(FENCED), system(HANDOVER)];
    for (system, (_, model)) in programs.iter().flat_map(|s| MemoryModel::NAMED.map(|m| (s, m))) {
        let whole = certificate(system, model);
        for i in 0..whole.configurations.len() {
            for less in smaller(&whole.configurations[i]) {
                let mut tampered = whole.clone();
                tampered.configurations[i] = less;
                assert!(check(system, &tampered).is_err(), "{model}, configuration {i}");
                rejected += 1;
            }
        }
    }
    assert!(rejected > 100, "{rejected} were tried");
}

#[test]
fn with_another_letter_or_memory() {
    let system = system(FENCED);
    for (_, model) in MemoryModel::NAMED {
        let whole = certificate(&system, model);
        for l in 0..whole.letters.len() {
            for x in 0..whole.variables.len() {
                if let Some(value) = whole.letters[l][x] {
                    let mut tampered = whole.clone();
                    tampered.letters[l][x] = Some(1 - value);
                    assert!(check(&system, &tampered).is_err(), "{model}: letter {l}");
                }
            }
        }
        for i in 0..whole.configurations.len() {
            let mut tampered = whole.clone();
            let value = tampered.configurations[i].memory[0];
            tampered.configurations[i].memory[0] = 1 - value;
            assert!(check(&system, &tampered).is_err(), "{model}: memory of {i}");
        }
    }
}

#[test]
fn for_something_else() {
    let fenced = system(FENCED);
    let whole = certificate(&fenced, MemoryModel::TSO);
    let unfenced = system(&FENCED.replace("            fence\n", "            nop\n"));
    let why = check(&unfenced, &whole).unwrap_err();
    assert_eq!(why, Rejected::Other { what: "program" });
    let mut relabeled = whole.clone();
    relabeled.header.fingerprint = unfenced.program.fingerprint();
    let why = check(&unfenced, &relabeled).unwrap_err();
    assert!(matches!(why, Rejected::LeadsOut { .. }), "{why}");

    let weaker = system(&FENCED.replace("wfence", "nop"));
    let tso = certificate(&weaker, MemoryModel::TSO);
    let relabeled = Certificate { model: "PSO".to_owned(), ..tso.clone() };
    assert!(check(&weaker, &relabeled).is_err(), "PSO is weaker than TSO");
    for (model, reason) in [("TSO+r->w", "no certificates"), ("x86", "neither a memory model")] {
        let relabeled = Certificate { model: model.to_owned(), ..tso.clone() };
        let why = check(&weaker, &relabeled).unwrap_err();
        assert!(why.to_string().contains(reason), "{why}");
    }
    let bad = |change: &dyn Fn(&mut Certificate), reason: &str| {
        let mut tampered = whole.clone();
        change(&mut tampered);
        let why = check(&fenced, &tampered).unwrap_err();
        assert!(why.to_string().contains(reason), "{reason}: {why}");
    };
    bad(&|c| c.header.format = "weir-witness".to_owned(), "not weir-certificate");
    bad(&|c| c.header.version = 1, "version 1");
    bad(&|c| c.level = 0, "level 0");
    bad(&|c| c.level = 99, "level 99");
    bad(&|c| c.properties = vec![7], "no such property");
    bad(&|c| c.variables.reverse(), "variables");
    bad(&|c| c.letters.truncate(1), "no letter");
    bad(&|c| c.letters[0].push(None), "a letter does not have");
    bad(&|c| drop(c.configurations[0].views.pop()), "processes");
    bad(&|c| c.configurations[0].memory.clear(), "a memory does not have");
    bad(&|c| c.configurations[0].memory[0] = 9, "an initial configuration");
    bad(&|c| c.configurations[0].states[0] = "999".to_owned(), "no control state 999");
    bad(&|c| drop(c.configurations[0].states.pop()), "one control state for each process");
    bad(&|c| c.configurations[0].views[0].segments.push(vec![]), "one more segment");
    bad(&|c| c.configurations.clear(), "an initial configuration");
    let bad_view = |c: &mut Certificate| {
        let views = c.configurations.iter_mut().flat_map(|c| &mut c.views);
        views.flat_map(|v| &mut v.segments).for_each(|s| s.push(vec![0, 0]));
    };
    bad(&bad_view, "lacks a subword");
}

/// A set that is closed under the steps of the system is none of the program where that goes
/// on otherwise.
#[test]
fn for_what_is_not_followed() {
    let doubling = system(DOUBLING);
    for model in [MemoryModel::SC, MemoryModel::TSO] {
        let why = check(&doubling, &certificate(&doubling, model)).unwrap_err();
        assert!(matches!(&why, Rejected::NotFollowed(_)), "{model}: {why}");
        assert!(why.to_string().contains("a value does not fit 128 bits"), "{model}: {why}");
    }
}

/// A certificate for a strong model is none for a weaker one under which the
/// property is violated.
#[test]
fn for_a_weaker_model() {
    let claims = [
        ("x = 1 r = y", "y = 1 r = x", "p.r == 0 and q.r == 0", "SC", "TSO"),
        ("x = 1 y = 1", "r = y s = x", "q.r == 1 and q.s == 0", "TSO", "PSO"),
        ("x = 1 wfence y = 1", "r = y s = x", "q.r == 1 and q.s == 0", "PSO", "NSW"),
    ];
    for (p, q, formula, strong, weak) in claims {
        let text = format!(
            "var x, y process p {{ reg r, s {p} }} process q {{ reg r, s {q} }} final never {formula}"
        );
        let system = system(&text);
        let mut claim = certificate(&system, strong.parse().unwrap());
        assert_eq!(check(&system, &claim), Ok(()), "{strong}");
        claim.model = weak.to_owned();
        assert!(check(&system, &claim).is_err(), "{strong} as {weak}");
    }
}
