//! Cancels a search from another thread: what is open is unknown, with the reason.
//!
//! ```text
//! cargo run -p weir --example cancel
//! ```

use std::thread;
use std::time::Duration;

use weir::{Error, Limits, Verdict, Verifier};

/// A counter without a bound: the search alone would not end.
const COUNTER: &str = "
    var x
    process p { loop { x = x + 1 } }
    never x == -1
";

fn main() -> Result<(), Error> {
    let limits = Limits::none();
    let cancellation = limits.cancellation();
    let timer = thread::spawn(move || {
        thread::sleep(Duration::from_millis(200));
        cancellation.cancel();
    });
    let report = Verifier::new(COUNTER).limits(limits).check()?;
    let finding = &report.findings[0];
    assert_eq!(finding.verdict, Verdict::Unknown);
    println!("{}: {}", finding.name(), finding.reason.as_deref().unwrap_or_default());
    let _ = timer.join();
    Ok(())
}
