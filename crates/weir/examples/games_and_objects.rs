//! Who wins a game against the memory, which progress an object makes, and what a lossy channel
//! machine reaches.
//!
//! ```text
//! cargo run -p weir --example games_and_objects
//! ```

use weir::question::Solved;
use weir::{Error, Limits, Machine, MemoryModel, Player, Verdict, Verifier};

const GAME: &str = "var x  process p { x = 1  await x == 1  there: }  game reach p@there";

const LOCK: &str = "
    object lock {
        var held: bool
        method enter { while not cas(held, 0, 1) { }   held = 0 }
    }
";

const MACHINE: &str = "
    machine letters;
    messages hello, bye;
    channels wire;
    states idle, sent, lost;
    initial idle;
    idle -> sent do wire!hello;
    sent -> sent do wire!bye;
    sent -> lost do wire?bye;
";

fn main() -> Result<(), Error> {
    let report = Verifier::new(GAME).games()?;
    for game in &report.findings {
        println!("{}: {}, {}", game.name(), game.word(), game.remarks().join(", "));
        assert_eq!(game.basis::<Solved>().unwrap().outcome.winner, Some(Player::Process));
    }

    let report = Verifier::new(LOCK).model(MemoryModel::SC).clients(2).live()?;
    for finding in &report.findings {
        println!("{}: {}", finding.name(), finding.word());
        if let Some(run) = finding.run() {
            let cycle = run.cycle.map_or(0, |first| run.steps.len() - first);
            println!("  a run of {} steps, the last {cycle} again and again", run.steps.len());
        }
    }
    assert_eq!(report.finding("deadlock-free").map(|f| f.verdict), Some(Verdict::Holds));

    let lost = Machine::new(MACHINE)?.reaches("lost", &Limits::default())?;
    for step in Machine::run(&lost).into_iter().flatten() {
        println!("{} -> {} {:?}", step.transition, step.state, step.channels);
    }
    assert_eq!(lost.findings[0].word(), "reached");
    Ok(())
}
