//! `weir robust`

use weir::MemoryModel;
use weir::question::Robustness;

use super::Status;
use super::ask::Asking;
use crate::cli::Robust;
use crate::report::Printed;

pub fn run(args: &Robust) -> Status {
    let models = args.models.or(&[MemoryModel::TSO]);
    let asking = Asking::new("robust", args.format, &args.page.html);
    let mut asking = asking.with_evidence(&args.evidence);
    asking.printed = Printed { stats: args.stats, ..asking.printed };
    let files = &args.programs.files;
    let verifier = |file: &str| {
        let verifier = args.language.verifier(file, models.clone())?;
        Ok(verifier.proofs(args.evidence.needs_proof()))
    };
    match files.len() == 1 && models.len() == 1 {
        true => asking.ask_each(&Robustness, files, &verifier),
        false => asking.compare(&Robustness, files, &verifier),
    }
    asking.end()
}
