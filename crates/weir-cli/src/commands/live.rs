//! `weir live`

use weir::question::InfiniteRuns;

use super::ask::Asking;
use super::{Status, complain};
use crate::cli::live::Live;

pub fn run(args: &Live) -> Status {
    let question = InfiniteRuns {
        progress: args.properties.iter().map(|property| (*property).into()).collect(),
        flush_fair: args.flush_fair,
    };
    let asking = Asking::new("live", args.format, &args.page.html);
    let mut asking = asking.with_evidence(&args.evidence);
    for file in &args.programs.files {
        let verifier = match args.language.verifier(file, args.models.models.clone()) {
            Ok(verifier) => verifier,
            Err(error) => return complain(&error),
        };
        let verifier = verifier
            .clients(args.clients.into())
            .bound(usize::from(args.bound))
            .proofs(args.evidence.needs_proof());
        asking.ask(&question, &verifier);
    }
    asking.end()
}
