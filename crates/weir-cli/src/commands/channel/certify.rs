//! Checks the files that `weir channel check` writes.

use weir::Verdict;
use weir::load::read_evidence;
use weir_channel::evidence::KINDS;
use weir_check::evidence::certify_as;

use super::with;
use crate::cli::channel::ChannelCertify;
use crate::cli::options::Format;
use crate::commands::{Status, complain, fail, print, print_json};
use crate::limits;
use crate::output::paint;
use crate::terminal::style;

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
        let accepted = checked.reason.is_none();
        match args.format {
            Format::Json => print_json(&serde_json::json!({
                "accepted": accepted,
                "reason": checked.reason.as_ref().map(ToString::to_string),
                "machine": machine.name(),
                "state": checked.properties.first(),
            })),
            Format::Human => print(&match checked.reason {
                None => format!(
                    "{} {file}: {}\n",
                    paint(style(Verdict::Holds), "accepted"),
                    checked.what
                ),
                Some(reason) => {
                    format!("{} {file}: {reason}\n", paint(style(Verdict::Violated), "rejected"))
                }
            }),
        }
        if accepted { Status::Fine } else { Status::Violated }
    })
}
