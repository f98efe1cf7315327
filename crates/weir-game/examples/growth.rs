//! How the cost of plain games grows with the number of variables: the PSPACE side of
//! Spengler 2024, section 6.
//!
//! One process of 40 locations over Boolean variables; each location has a few
//! instructions that write, read, skip or fence and lead to random locations. There
//! are up to `40 · 2^n · 2` views, and nearly all of them come up.
//!
//! ```text
//! cargo run --release -p weir-game --example growth -- 16
//! ```

use std::fmt::Write as _;

use weir_engine::SearchOptions;
use weir_game::{Options, solve};
use weir_model::game::{Player, Strategy};
use weir_model::system::System;

/// A process of 40 locations over this many variables, as text.
pub fn program(variables: usize, objective: &str) -> String {
    // A small source of numbers, so that the program is always the same.
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut below = |n: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % n as u64) as usize
    };
    let mut text = format!("var x[{variables}]: bool\nprocess p {{\n");
    for location in 0..40 {
        let _ = writeln!(text, "l{location}:");
        let mut ways = Vec::new();
        for way in 0..3 {
            let mut pick = (below(variables), below(2), below(39), below(8));
            // The first way writes and leads on, so that every location and nearly
            // every memory comes up.
            if way == 0 {
                pick = (location / 2 % variables, location % 2, (location + 1) % 39, 0);
            }
            let (x, d, to, what) = pick;
            ways.push(match what {
                0..=3 => format!("{{ x[{x}] = {d}  goto l{to} }}"),
                4..=5 => format!("{{ await x[{x}] == {d}  goto l{to} }}"),
                6 => format!("{{ nop  goto l{to} }}"),
                _ => format!("{{ fence  goto l{to} }}"),
            });
        }
        // The target takes that every variable is 1.
        if location == 20 {
            let all: Vec<String> = (0..variables).map(|x| format!("await x[{x}] == 1")).collect();
            ways.push(format!("{{ {}  goto l39 }}", all.join("  ")));
        }
        let _ = writeln!(text, "    choose {}", ways.join(" or "));
    }
    let _ = writeln!(text, "}}\ngame {objective} p@l39");
    text
}

fn main() {
    let most = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(16);
    println!("variables  objective       views    seconds  winner   rows of the strategy");
    for variables in (2..=most).step_by(2) {
        for objective in ["reach", "avoid"] {
            let text = program(variables, objective);
            let (program, _) = weir_front::read("growth.weir", &text, None).expect("a program");
            let system = System::new(program).expect("a system");
            let options = Options::default();
            let outcome = solve(&system, 0, &options, &SearchOptions::default(), &mut |_| {});
            let outcome = outcome.expect("a game");
            let rows = match &outcome.strategy {
                Some(Strategy::Views { moves, .. }) => moves.len(),
                _ => 0,
            };
            println!(
                "{variables:>9}  {objective:9}  {:>10}  {:>9.3}  {:7}  {rows}",
                outcome.stats.stored,
                outcome.stats.elapsed.as_secs_f64(),
                outcome.winner.map_or("unknown", Player::name),
            );
        }
    }
}
