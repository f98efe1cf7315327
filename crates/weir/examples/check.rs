//! Weir as a library: check a text under two memory models, and look at the run.

use weir::{MemoryModel, Verdict, Verifier};

const TEXT: &str = "
    var x, y
    process p { reg r   x = 1   r = y }
    process q { reg r   y = 1   r = x }
    one_sees: final never p.r == 0 and q.r == 0
";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for model in [MemoryModel::SC, MemoryModel::TSO] {
        let verifier = Verifier::new(TEXT).name("store-buffering.weir").model(model);
        for finding in &verifier.check()?.findings {
            println!("{}: {} under {model}", finding.name(), finding.word());
            if let Some(reason) = &finding.reason {
                println!("  because {reason}");
            }
            let Some(run) = finding.run() else { continue };
            assert_eq!(finding.verdict, Verdict::Violated);
            for step in &run.steps {
                let line = step.line.map_or(String::new(), |line| format!(" on line {line}"));
                println!("  {}: {}, {}{line}", step.process, step.rule, step.operation);
            }
            println!("  memory at the end: {:?}", run.end.memory);
            println!("\n{run}");
        }
    }
    Ok(())
}
