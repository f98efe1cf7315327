//! `weir certify`

use weir::Verdict;
use weir::certify::{certify, model};
use weir::load::read_evidence;

use super::{Status, complain, fail, print, print_json};
use crate::cli::Certify;
use crate::cli::options::Format;
use crate::limits;
use crate::output::paint;
use crate::terminal::style;

pub fn run(args: &Certify) -> Status {
    let file = &args.evidence;
    let text = match read_evidence(file, &limits::budget()) {
        Ok(text) => text,
        Err(error) => return complain(&error),
    };
    if text.trim().is_empty() {
        return fail(&format!("`{file}` is empty: it is neither a witness nor a certificate"));
    }
    let loaded = match args.language.load(&args.file, model(&text).as_slice()) {
        Ok(loaded) => loaded,
        Err(error) => return complain(&error),
    };
    let checked = match certify(&text, &loaded, limits::budget().threads()) {
        Ok(checked) => checked,
        Err(error) => {
            return fail(&format!("`{file}` is neither a witness nor a certificate: {error}"));
        }
    };
    let accepted = checked.reason.is_none();
    match args.format {
        Format::Json => print_json(&serde_json::json!({
            "accepted": accepted,
            "reason": checked.reason.as_ref().map(ToString::to_string),
            "model": checked.model,
            "properties": checked.properties,
        })),
        Format::Human => print(&match checked.reason {
            None => format!(
                "{} {file}: {} that settles {} under {}\n",
                paint(style(Verdict::Holds), "accepted"),
                checked.what,
                quoted(&checked.properties),
                checked.model,
            ),
            Some(reason) => {
                format!("{} {file}: {reason}\n", paint(style(Verdict::Violated), "rejected"))
            }
        }),
    }
    if accepted { Status::Fine } else { Status::Violated }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}
