//! Who wins a game against the memory, which progress an object makes, and what a lossy channel
//! machine reaches.
//!
//! ```text
//! cargo run -p weir --example games_and_objects
//! ```

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
    for game in Verifier::new(GAME).games()? {
        println!("{}: {:?} wins, {}", game.name, game.winner, game.argument);
        game.table.iter().for_each(|line| println!("  {line}"));
        assert_eq!(game.winner, Some(Player::Process));
    }

    let report = Verifier::new(LOCK).model(MemoryModel::SC).clients(2).live()?;
    for answer in &report.answers {
        println!("{}: {}", answer.name, answer.verdict.name());
        if let Some(run) = &answer.run {
            let cycle = run.cycle.map_or(0, |first| run.steps.len() - first);
            println!("  a run of {} steps, the last {cycle} again and again", run.steps.len());
        }
    }
    assert_eq!(report.answer("deadlock-free").map(|a| a.verdict), Some(Verdict::Holds));

    let lost = Machine::new(MACHINE)?.reaches("lost", &Limits::default())?;
    for step in lost.run.iter().flatten() {
        println!("{} -> {} {:?}", step.transition, step.state, step.channels);
    }
    assert_eq!(lost.reached, Some(true));
    Ok(())
}
