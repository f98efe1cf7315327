//! Checks the files that `weir channel check` writes.

use weir::load::read_evidence;
use weir_channel::evidence::KINDS;
use weir_check::evidence::certify_as;

use super::with;
use crate::cli::channel::ChannelCertify;
use crate::commands::certify::report;
use crate::commands::{Status, complain, fail};
use crate::limits;

pub fn run(args: &ChannelCertify) -> Status {
    let file = &args.evidence;
    let text = match read_evidence(file, &limits::budget()) {
        Ok(text) => text,
        Err(error) => return complain(&error),
    };
    with(&args.file, |machine| {
        let checked = match certify_as(&KINDS, &text, machine, limits::budget().threads()) {
            Ok(checked) => checked,
            Err(error) => {
                return fail(&format!("`{file}` is neither a run nor a set of a machine: {error}"));
            }
        };
        report(file, args.format, &[], &checked)
    })
}
