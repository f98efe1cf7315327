//! `weir check`

use weir::question::Properties;
use weir::{ENGINES, Verifier};
use weir_engine::store::{ConfigId, Store};
use weir_engine::{Engine as _, Explicit};

use super::ask::Asking;
use super::{Status, complain, fail};
use crate::cli::Check;
use crate::cluster;
use crate::output::{advise, plain};
use crate::report::Printed;

pub fn run(args: &Check) -> Status {
    let cluster = match cluster::of(args) {
        Ok(cluster) => cluster,
        Err(message) => return fail(&message),
    };
    if let Err(message) = spills(args) {
        return fail(&message);
    }
    let search = |verifier: Verifier| {
        let verifier = args.search.apply(verifier).proofs(args.evidence.needs_proof());
        let verifier = match &args.spill {
            Some(folder) => verifier.engine(&Explicit).spill(folder.clone()),
            None => verifier,
        };
        match &cluster {
            Some(cluster) => verifier.engine(cluster.engine()),
            None => verifier,
        }
    };
    for file in &args.programs.files {
        let model = args.search.language.model_of(file, args.models.one());
        if let Err(error) = search(Verifier::new("").model(model)).search(model) {
            return fail(&advise(&error));
        }
    }
    let question = Properties { names: args.search.asked.properties.clone() };
    let asking = Asking::new("check", args.format, &args.page.html);
    let mut asking = asking.with_evidence(&args.evidence);
    asking.printed = Printed { stats: args.stats, ..asking.printed };
    let verifier =
        |file: &str| args.search.language.verifier(file, args.models.models.clone()).map(search);
    match &cluster {
        None => asking.ask_each(&question, &args.programs.files, &verifier),
        Some(cluster) => {
            let verifier = match verifier(&args.programs.files[0]) {
                Ok(verifier) => verifier,
                Err(error) => return complain(&error),
            };
            if !cluster.ask(&mut asking, &question, &verifier) {
                return asking.status;
            }
        }
    }
    asking.end()
}

/// Whether closed levels can be kept where they are to be kept, if they are.
fn spills(args: &Check) -> Result<(), String> {
    let Some(folder) = &args.spill else { return Ok(()) };
    let name = args.search.engine.name();
    if name != ENGINES[0].name() && name != Explicit.name() {
        return Err("--spill is for --engine explicit".to_owned());
    }
    let opened = Store::<ConfigId>::default().spill_to(folder);
    opened.map_err(|e| format!("cannot keep levels in `{}`: {}", folder.display(), plain(&e)))
}
