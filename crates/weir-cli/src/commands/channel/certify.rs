//! Checks the files that `weir channel check` writes.

use weir::Verdict;
use weir::load::read_evidence;
use weir_channel::evidence::{Evidence, check};

use super::with;
use crate::cli::channel::ChannelCertify;
use crate::cli::options::Format;
use crate::commands::{Status, complain, fail, print, print_json};
use crate::limits;
use crate::output::paint;
use crate::progress::counted;
use crate::terminal::style;

pub fn run(args: &ChannelCertify) -> Status {
    let file = &args.evidence;
    let text = match read_evidence(file, &limits::budget()) {
        Ok(text) => text,
        Err(error) => return complain(&error),
    };
    let evidence: Evidence = match serde_json::from_str(&text) {
        Ok(evidence) => evidence,
        Err(error) => {
            return fail(&format!("`{file}` is neither a run nor a set of a machine: {error}"));
        }
    };
    with(&args.file, |machine| {
        let reason = check(machine, &evidence).err();
        let accepted = reason.is_none();
        match args.format {
            Format::Json => print_json(&serde_json::json!({
                "accepted": accepted,
                "reason": reason,
                "machine": evidence.machine,
                "state": evidence.state,
            })),
            Format::Human => print(&match reason {
                None => format!(
                    "{} {file}: {}\n",
                    paint(style(Verdict::Holds), "accepted"),
                    shown(&evidence)
                ),
                Some(reason) => {
                    format!("{} {file}: {reason}\n", paint(style(Verdict::Violated), "rejected"))
                }
            }),
        }
        if accepted { Status::Fine } else { Status::Violated }
    })
}

/// What a file shows.
fn shown(evidence: &Evidence) -> String {
    let state = &evidence.state;
    match (&evidence.steps, &evidence.configurations) {
        (Some(steps), _) => {
            format!("a run of {} that reaches `{state}`", counted(steps.len(), "step"))
        }
        (None, set) => format!(
            "a closed set of {} from which alone `{state}` can be reached",
            counted(set.as_ref().map_or(0, Vec::len), "minimal configuration")
        ),
    }
}
