//! `weir outcomes`

use weir::question::{FinalStates, Listed};
use weir::report::herd;

use super::ask::{Asking, heard, status_of};
use super::{Status, complain, fail, print, reject};
use crate::cli::batch::ReportFormat;
use crate::cli::{Outcomes as Args, OutcomesFormat};
use crate::findings::Findings;

pub fn run(args: &Args) -> Status {
    let condition = match args.search.asked.properties.as_slice() {
        [] => None,
        [name] => Some(name.clone()),
        _ => return fail("`weir outcomes` takes one --property"),
    };
    let format = match args.format {
        OutcomesFormat::Human | OutcomesFormat::Herd => ReportFormat::Human,
        OutcomesFormat::Json | OutcomesFormat::Jsonl | OutcomesFormat::Csv => ReportFormat::Json,
    };
    let question = FinalStates { condition, runs: args.runs || args.page.html.is_some() };
    let mut asking = Asking::new("outcomes", format, &args.page.html);
    for (i, file) in args.programs.files.iter().enumerate() {
        let verifier = match args.search.verifier(file, args.models.models.clone()) {
            Ok(verifier) => verifier,
            Err(error) => {
                asking.status = asking.status.and(complain(&error));
                continue;
            }
        };
        if args.format != OutcomesFormat::Herd {
            if i > 0 && args.format == OutcomesFormat::Human {
                print("\n");
            }
            asking.ask(&question, &verifier);
            continue;
        }
        let findings = Findings::begin(asking.status, |_, _| None, |_| None);
        match heard(&|tell| verifier.ask(&question, tell), &findings, &|_, _| {}) {
            Ok(report) => {
                let _ = findings.end();
                let listed = report.findings.iter().filter_map(|f| f.basis::<Listed>());
                for listed in listed {
                    print(&(herd::block(listed) + "\n"));
                }
                asking.status = asking.status.and(status_of(&report));
                asking.show(&report, None, None);
            }
            Err(error) => {
                drop(findings);
                asking.status = asking.status.and(reject(file, &error));
            }
        }
    }
    asking.end()
}
