//! Weir as a library: check a text under two memory models, look at the run, and check it again.

use std::time::Duration;

use weir::{Budget, Evidence, Limits, Loaded, MemoryModel, Verdict, Witness};

const TEXT: &str = "
    var x, y
    process p { reg r   x = 1   r = y }
    process q { reg r   y = 1   r = x }
    one_sees: final never p.r == 0 and q.r == 0
";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let loaded = Loaded::from_text("store-buffering.weir", TEXT, None)
        .map_err(|errors| errors.render(false))?;
    let limits =
        Limits { budget: Budget::new().with_time(Duration::from_secs(10)), ..Limits::default() };

    for model in [MemoryModel::SC, MemoryModel::TSO] {
        let (answers, stats) = weir::check(&loaded.system, model, &limits)?;
        for answer in &answers {
            let property = &loaded.system.program.properties[answer.property];
            println!("{model}: {:?} {:?}", property.name, answer.verdict);
            match &answer.evidence {
                Evidence::Run(run) => {
                    let line = |span| loaded.line(span);
                    let witness = Witness::new(&loaded.system, run, answer.property, &line);
                    weir_check::check(&loaded.system, &witness)?;
                    println!("{} steps, checked again", witness.steps.len());
                }
                Evidence::Reason(reason) => println!("unknown: {reason}"),
                _ => assert_eq!(answer.verdict, Verdict::Holds),
            }
        }
        println!("{} configurations stored", stats.stored);
    }
    Ok(())
}
