//! Cycles, their names and their tests.

use std::collections::BTreeMap;

use weir_front::litmus::generate::{Cycle, Edge, Filling, GenerateError, MAX_EDGES, family};

fn cycle(text: &str) -> Cycle {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// The condition of a cycle's test.
fn condition(text: &str) -> String {
    let text = cycle(text).text();
    text.lines().last().unwrap_or_default().to_owned()
}

#[test]
fn edges_have_the_names_that_they_are_read_by() {
    let all: Vec<Edge> = Edge::all().collect();
    assert_eq!(all.len(), 88);
    for edge in all {
        assert_eq!(edge.to_string().parse(), Ok(edge));
    }
    for (old, new) in [("Wse", "Coe"), ("Wsi", "Coi"), ("WseAP", "CoeAP")] {
        assert_eq!(old.parse::<Edge>().unwrap().to_string(), new);
    }
}

#[test]
fn classic_shapes_have_their_names() {
    for (edges, name) in [
        ("PodWW Rfe PodRR Fre", "MP"),
        ("PodWR Fre PodWR Fre", "SB"),
        ("PodRW Rfe PodRW Rfe", "LB"),
        ("PodWW Rfe PodRW Coe", "S"),
        ("PodWW Coe PodWR Fre", "R"),
        ("PodWW Coe PodWW Coe", "2+2W"),
        ("Rfe PodRW Rfe PodRR Fre", "WRC"),
        ("Rfe PodRW Rfe PodRW Coe", "WWC"),
        ("Rfe PodRR Fre PodWR Fre", "RWC"),
        ("Rfe PodRW Coe PodWR Fre", "WRW+WR"),
        ("Rfe PodRR Fre PodWW Coe", "WRR+2W"),
        ("Rfe PodRW Coe PodWW Coe", "WRW+2W"),
        ("PodWW Rfe PodRW Rfe PodRR Fre", "ISA2"),
        ("PodWW Rfe PodRR Fre PodWR Fre", "W+RWC"),
        ("PodWW Rfe PodRW Coe PodWR Fre", "Z6.0"),
        ("PodWW Coe PodWW Rfe PodRW Coe", "Z6.1"),
        ("PodWW Rfe PodRW Rfe PodRW Coe", "Z6.2"),
        ("PodWW Coe PodWW Rfe PodRR Fre", "Z6.3"),
        ("PodWW Coe PodWR Fre PodWR Fre", "Z6.4"),
        ("PodWW Coe PodWW Coe PodWR Fre", "Z6.5"),
        ("Rfe PodRR Fre Rfe PodRR Fre", "IRIW"),
        ("Rfe PodRR Fre Rfe PodRW Coe", "IRRWIW"),
        ("Rfe PodRW Coe Rfe PodRW Coe", "IRWIW"),
        ("Rfe PosRR Fre", "CoRR"),
        ("Rfe PosRW Coe", "CoRW2"),
        ("PosWR Fre Coe", "CoWR"),
        ("PodWR Fre PodWR Fre PodWR Fre", "3.SB"),
        ("PodWW Rfe PodRW Rfe PodRW Rfe PodRR Fre", "WW+RW+RW+RR"),
    ] {
        assert_eq!(cycle(edges).name(), name, "{edges}");
    }
}

#[test]
fn names_say_what_is_in_the_threads() {
    for (edges, name) in [
        ("PodWR Fre MFencedWR Fre", "SB+mfence+po"),
        ("MFencedWR Fre MFencedWR Fre", "SB+mfences"),
        ("PodWRAP Fre PodWRAP Fre", "SB+xchgs"),
        ("SFencedWW Rfe LFencedRR Fre", "MP+sfence+lfence"),
        ("PodWWPA Rfe PodRR Fre", "MP+po-xchg+po"),
        ("PodWWAA Rfe PodRR Fre", "MP+xchg-xchg+po"),
        ("MFencedWWAA Rfe PodRR Fre", "MP+xchg-mfence-xchg+po"),
        ("Rfi PodRR Fre Rfi PodRR Fre", "SB+rfi-pos"),
        ("PosWW Rfe PosRR Fre", "MP+po-locs"),
        ("Rfe MFencesRR Fre", "CoRR+mfence-loc"),
        ("PodWW PodWR Fre PodWR Fre", "SB+po+po-w-po"),
        ("PodWR PodRR Fre PodWR Fre", "SB+po+po-r-po"),
        ("RfeAP PodRW Rfe PodRR Fre", "WRC+xchg+po+po"),
    ] {
        assert_eq!(cycle(edges).name(), name, "{edges}");
    }
}

#[test]
fn it_is_enough_if_one_edge_says_that_a_write_is_atomic() {
    let expected = cycle("PodWWPA RfeAP PodRR Fre");
    assert_eq!(cycle("PodWWPA Rfe PodRR Fre"), expected);
    assert_eq!(cycle("PodWW RfeAP PodRR Fre"), expected);
    assert_eq!(expected.to_string(), "PodWWPA RfeAP PodRR Fre");
}

#[test]
fn conditions_ask_for_the_cycle() {
    assert_eq!(condition("PodWW Rfe PodRR Fre"), "exists (1:EAX=1 /\\ 1:EBX=0)");
    assert_eq!(condition("PodWW Coe PodWW Coe"), "exists (x=2 /\\ y=2)");
    assert_eq!(condition("Rfe PosRR Fre"), "exists (1:EAX=1 /\\ 1:EBX=0)");
    assert_eq!(condition("Rfe PosRW Coe"), "exists (1:EAX=2 /\\ x=2)");
    // Three writes to a location: another thread sees their order.
    let text = cycle("PodWW Coe Coe PodWW Coe").text();
    let expected = "\
{ x=0; y=0; }
 P0         | P1         | P2         | P3          ;
 MOV [x],$2 | MOV [x],$3 | MOV [y],$2 | MOV EAX,[x] ;
            | MOV [y],$1 | MOV [x],$1 | MOV EBX,[x] ;
exists (3:EAX=1 /\\ 3:EBX=2 /\\ x=3 /\\ y=2)
";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn what_no_test_can_show_is_refused() {
    let error = |text: String| text.parse::<Cycle>().unwrap_err();
    assert_eq!(error(String::new()), GenerateError::OneThread);
    assert_eq!(error("PodWR ".repeat(MAX_EDGES + 1)), GenerateError::TooLong(MAX_EDGES + 1));
    let reads = format!("PodWR {}Fre PodWR Fre", "PodRR ".repeat(6));
    assert_eq!(error(reads), GenerateError::TooManyRegisters(7));
    let writes = format!("PodWW {}Coe PodWW Coe", "PosWW ".repeat(6));
    assert_eq!(error(writes), GenerateError::TooManyWrites(8));
}

/// All cycles of up to so many of these edges.
fn short_cycles(edges: &[Edge], length: usize) -> Vec<Cycle> {
    let mut found = vec![];
    let mut begun: Vec<Vec<Edge>> = vec![vec![]];
    for _ in 0..length {
        let mut longer = vec![];
        for start in &begun {
            for &edge in edges {
                let fits = |last: &Edge| last.target().direction() == edge.source().direction();
                if start.last().is_none_or(fits) {
                    longer.push(start.iter().copied().chain([edge]).collect());
                }
            }
        }
        found.extend(longer.iter().filter_map(|edges: &Vec<Edge>| Cycle::new(edges).ok()));
        begun = longer;
    }
    found
}

#[test]
fn rotations_are_one_cycle_and_names_tell_cycles_apart() {
    let mut names: BTreeMap<String, Cycle> = BTreeMap::new();
    let all: Vec<Edge> = Edge::all().collect();
    let plain: Vec<Edge> = all.iter().copied().filter(|e| e.to_string().len() <= 5).collect();
    let cycles = short_cycles(&all, 3).into_iter().chain(short_cycles(&plain, 5));
    for cycle in cycles {
        let other = names.entry(cycle.name()).or_insert_with(|| cycle.clone());
        assert_eq!(*other, cycle, "{}", cycle.name());
        let mut edges: Vec<Edge> = cycle.edges().collect();
        for _ in 0..edges.len() {
            edges.rotate_left(1);
            assert_eq!(Cycle::new(&edges).as_ref(), Ok(&cycle));
        }
    }
    assert!(names.len() > 1000, "only {} cycles", names.len());
}

#[test]
fn every_test_can_be_read() {
    for cycle in
        family(2..=4, &[Filling::Plain]).into_iter().chain(family(2..=3, &Filling::CRITICAL))
    {
        let (program, _) = weir_front::litmus::read("test.litmus", &cycle.text())
            .unwrap_or_else(|e| panic!("{}: {:?}", cycle.name(), e[0].message));
        assert_eq!(program.name, cycle.name());
        assert_eq!(program.processes.len(), cycle.threads());
    }
}
