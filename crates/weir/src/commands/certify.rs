//! `weir certify`

use weir::load::read_text;
use weir::{Loaded, Verdict, Witness};

use super::{Status, complain, fail, print, print_json};
use crate::cli::{Certify, Format};
use crate::terminal::{paint, style};

pub fn run(args: &Certify) -> Status {
    let text = match read_text(&args.witness) {
        Ok(text) => text,
        Err(error) => return complain(&error),
    };
    let witness: Witness = match serde_json::from_str(&text) {
        Ok(witness) => witness,
        Err(error) => return fail(&format!("`{}` is not a witness: {error}", args.witness)),
    };
    let loaded = match Loaded::from_file(&args.file, args.language.get()) {
        Ok(loaded) => loaded,
        Err(error) => return complain(&error),
    };
    let checked = weir_check::check(&loaded.system, &witness);
    let status = if checked.is_ok() { Status::Fine } else { Status::Violated };
    let reason = checked.err().map(|r| r.to_string());
    match args.format {
        Format::Json => print_json(&serde_json::json!({
            "accepted": reason.is_none(),
            "reason": reason,
            "model": witness.model,
            "property": witness.property_name,
        })),
        Format::Human => {
            let (file, steps) = (&args.witness, witness.steps.len());
            let about = format!("`{}` under {}", witness.property_name, witness.model);
            print(&match reason {
                None => format!(
                    "{} {file}: a run of {steps} steps that settles {about}\n",
                    paint(style(Verdict::Holds), "accepted")
                ),
                Some(reason) => {
                    format!("{} {file}: {reason}\n", paint(style(Verdict::Violated), "rejected"))
                }
            });
        }
    }
    status
}
