//! Uses Weir from outside: checks a text, cancels a search, plays a game, and asks for the
//! progress of an object. It prints what it finds; `crates/weir/tests/external.rs` reads that.

use std::thread;
use std::time::Duration;

use weir::{Limits, MemoryModel, Verifier};

const STORE_BUFFERING: &str = "
var x, y
process p { reg r   x = 1   r = y }
process q { reg r   y = 1   r = x }
both: final never p.r == 0 and q.r == 0
";

const ENDLESS: &str = "var x   process p { loop { x = x + 1 } }   never x == -1";

const GAME: &str = "var x   process p { x = 1  await x == 1  there: }   game reach p@there";

const SPIN_LOCK: &str = "
object lock {
    var held: bool
    method enter { while not cas(held, 0, 1) { }   held = 0 }
}
";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let report = Verifier::new(STORE_BUFFERING).model(MemoryModel::TSO).check()?;
    let both = report.finding("both").ok_or("there is no such property")?;
    println!("{}: {}", both.name(), both.verdict.name());
    let run = both.run().ok_or("there is no run")?;
    for step in &run.steps {
        println!("{} {} {:?} {:?}", step.process, step.operation, step.value, step.line);
    }
    print!("{run}");
    let witness = both.file().ok_or("there is no witness")?;
    let checked = Verifier::new(STORE_BUFFERING).certify(&witness)?;
    println!("accepted: {}", checked.reason.is_none());

    let limits = Limits::none();
    let cancellation = limits.cancellation();
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(100));
        cancellation.cancel();
    });
    let report = Verifier::new(ENDLESS).limits(limits).check()?;
    println!("{:?}: {:?}", report.findings[0].verdict, report.findings[0].reason);

    for game in &Verifier::new(GAME).games()?.findings {
        println!("{}: {}", game.name(), game.word());
    }

    let report = Verifier::new(SPIN_LOCK).model(MemoryModel::SC).clients(2).live()?;
    for finding in &report.findings {
        println!("{}: {}", finding.name(), finding.verdict.name());
    }

    match Verifier::new("process p { y = 1 }").check() {
        Ok(_) => Err("a wrong text was checked")?,
        Err(error) => println!("wrong: {}", error.diagnostics()[0]),
    }
    Ok(())
}
