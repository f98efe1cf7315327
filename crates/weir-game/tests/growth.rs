//! The PSPACE side: one process with 40 locations and 12 Boolean variables.

#[path = "../examples/growth.rs"]
#[allow(dead_code)]
mod example;

use crate::common;

use weir_check::strategy::{StrategyFile, check};
use weir_engine::SearchOptions;
use weir_game::{Options, solve};
use weir_model::game::{Buffers, Fairness};
use weir_model::limits::Budget;

#[test]
fn twelve_variables_and_forty_locations_are_solved() {
    for objective in ["reach", "avoid"] {
        let system = common::read(&example::program(12, objective));
        let outcome =
            solve(&system, 0, &Options::default(), &SearchOptions::default(), &mut |_| {}).unwrap();
        let winner = outcome.winner.expect("plain games are decided");
        // Each location with each memory, and whether it may fence.
        assert!(outcome.stats.stored > 200_000, "only {} views", outcome.stats.stored);
        let how = (Fairness::None, Buffers::Store);
        let file = StrategyFile::new(&system, 0, how, winner, &outcome.strategy.unwrap());
        check(&system, &file).unwrap();
    }
}

#[test]
fn a_time_limit_ends_in_unknown() {
    let system = common::read(&example::program(16, "avoid"));
    let budget = Budget::new().with_time(std::time::Duration::from_nanos(1));
    let search = SearchOptions { budget, ..SearchOptions::default() };
    let outcome = solve(&system, 0, &Options::default(), &search, &mut |_| {}).unwrap();
    assert_eq!(outcome.winner, None);
    assert!(outcome.argument.contains("time limit"), "{}", outcome.argument);
}
