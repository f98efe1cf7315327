//! Files that show what `weir fences` found.

use std::path::Path;

use weir::Loaded;
use weir::fences::{Checked, Fence};
use weir::report::json;
use weir_engine::SearchOptions;
use weir_model::answer::Answer;

use super::{Found, human, refuse};
use crate::commands::{Status, accepted_text, fail, note, write_whole};

/// Writes the programs with their sets and proofs, and the runs that come back.
pub fn write(known: &Found<'_>, folder: &Path, file: &str) -> Status {
    let found = known.repairs;
    if let Err(error) = std::fs::create_dir_all(folder) {
        return fail(&format!("cannot write to `{}`: {error}", folder.display()));
    }
    let ending = Path::new(file).extension().map_or("weir".into(), |e| e.to_string_lossy());
    let model = found.model.to_string().to_lowercase();
    let mut status = Status::Fine;
    for (number, repair) in found.sets.iter().enumerate() {
        let base = format!("{model}-set-{}", number + 1);
        let path = |rest: String| folder.join(format!("{base}{rest}"));
        status = status.and(write_whole(&path(format!(".{ending}")), &found.text(&repair.fences)));
        let options = SearchOptions { certificate: true, ..known.request.options.clone() };
        match found.check(&repair.fences, known.request, &options) {
            Ok(Checked::Repaired(loaded, answers)) => match json::certificate(&loaded, &answers) {
                Some(proof) => match accepted_text(proof, &loaded) {
                    Ok(text) => {
                        status = status.and(write_whole(&path(".certificate.json".into()), &text));
                    }
                    Err(wrong) => status = status.and(wrong),
                },
                None => note(&format!("set {} has no inductive set as a proof", number + 1)),
            },
            Ok(_) => note(&format!("set {} was not proved again within the limits", number + 1)),
            Err(error) => status = status.and(refuse(file, error)),
        }
        for (fence, back) in repair.fences.iter().zip(&known.back[number]) {
            let place = &found.places[fence.place];
            let kind = fence.kind.name();
            let rest: Vec<Fence> = repair.fences.iter().filter(|f| *f != fence).copied().collect();
            let column = match place.is_inline {
                true => format!("-{}", human::column(found, fence.place) + 1),
                false => String::new(),
            };
            let without = format!("-without-{kind}-{}{column}", place.line);
            status =
                status.and(write_whole(&path(format!("{without}.{ending}")), &found.text(&rest)));
            let Some(question) = back.broken.question else { continue };
            let asked = &back.loaded.system.questions[question];
            let answer = Answer::settled(question, asked, back.broken.run.clone());
            let loaded = Loaded { source: back.source.clone(), system: back.loaded.system.clone() };
            if let Some(witness) = json::witness(&loaded, &answer) {
                let target = path(format!("{without}.witness.json"));
                match accepted_text(witness, &loaded) {
                    Ok(text) => status = status.and(write_whole(&target, &text)),
                    Err(wrong) => status = status.and(wrong),
                }
            }
        }
    }
    status
}
