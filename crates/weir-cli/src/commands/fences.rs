//! `weir fences`

use std::path::Path;

use weir::question::{Exhibits, Repaired, side_by_side};
use weir::report::diff;
use weir::{Finding, Report, Verifier};

use super::ask::{Asking, heard, status_of};
use super::{Status, complain, fail, note, print, reject, write_whole};
use crate::cli::fences::Fences;
use crate::cli::options::Format;
use crate::findings::Findings;
use crate::output::{rewrite, write_backup};
use crate::report::{Printed, blocks};

pub fn run(args: &Fences) -> Status {
    let models_of = |file: &String| args.models.or(&[args.default_model(file)]);
    for model in args.programs.files.iter().flat_map(models_of) {
        if let Err(message) = args.question(model) {
            return fail(&message);
        }
    }
    if (args.write || args.patch) && args.models.models.len() > 1 {
        return fail("--patch and --write are for one memory model");
    }
    if args.write && args.programs.files.iter().any(|file| file == "-") {
        return fail("--write needs a file");
    }
    let mut asking = Asking::new("fences", args.format.into(), &args.page.html);
    asking.printed = Printed { full: args.full, ..asking.printed };
    for file in &args.programs.files {
        let models = models_of(file);
        let verifier = match args.language.verifier(file, models.clone()) {
            Ok(verifier) => verifier,
            Err(error) => {
                asking.status = asking.status.and(complain(&error));
                continue;
            }
        };
        let mut reports: Vec<Report> = Vec::new();
        for (number, model) in models.iter().enumerate() {
            if number > 0 && args.format == Format::Human {
                print("\n");
            }
            reports.extend(one(args, file, verifier.clone().model(*model), &mut asking));
        }
        let found: Vec<&Repaired> = reports.iter().filter_map(repaired).collect();
        if found.len() > 1 && args.format == Format::Human {
            print(&blocks(side_by_side(&found).into_iter()));
        }
    }
    asking.end()
}

fn repaired(report: &Report) -> Option<&Repaired> {
    report.findings.first().and_then(Finding::basis)
}

/// Answers about one program under one model, and does what else was asked for.
fn one(args: &Fences, file: &str, verifier: Verifier, asking: &mut Asking<'_>) -> Option<Report> {
    let question = match args.question(verifier.models()[0]) {
        Ok(question) => question,
        Err(message) => {
            asking.status = asking.status.and(fail(&message));
            return None;
        }
    };
    let text = verifier.text_of();
    let report = match args.patch {
        false => asking.ask(&question, &verifier)?,
        true => {
            let findings = Findings::begin(asking.status, |_, _| None, |_| None);
            match heard(&|tell| verifier.ask(&question, tell), &findings, &|_, _| {}) {
                Ok(report) => {
                    let _ = findings.end();
                    asking.status = asking.status.and(status_of(&report));
                    asking.show(&report, None, None);
                    report
                }
                Err(error) => {
                    drop(findings);
                    asking.status = asking.status.and(reject(file, &error));
                    return None;
                }
            }
        }
    };
    let known = repaired(&report)?;
    let new = known.text();
    if args.patch {
        match &new {
            Some(new) => print(&diff::unified(file, text, new)),
            None => {
                note(&format!("`{file}` under {}: {}", known.repairs.model, known.headline()));
            }
        }
    }
    if let Some(new) = new.filter(|_| args.write) {
        asking.status = asking.status.and(insert_into(file, text, &new));
    }
    if let Some(folder) = &args.evidence {
        asking.status = asking.status.and(write_evidence(known, folder, file));
    }
    Some(report)
}

/// Writes the programs with their sets and proofs, and the runs that come back.
fn write_evidence(known: &Repaired, folder: &Path, file: &str) -> Status {
    if let Err(error) = std::fs::create_dir_all(folder) {
        return fail(&format!("cannot write to `{}`: {error}", folder.display()));
    }
    let ending = Path::new(file).extension().map_or("weir".into(), |e| e.to_string_lossy());
    match known.files(&ending) {
        Ok(Exhibits { files, unshown }) => {
            unshown.iter().for_each(|what| note(what));
            let write = |(name, text): &(String, String)| write_whole(&folder.join(name), text);
            files.iter().map(write).fold(Status::Fine, Status::and)
        }
        Err(error) => reject(file, &error),
    }
}

/// Puts a new text in the place of the one that was read, which is kept beside it. A file that was
/// changed meanwhile stays as it is.
fn insert_into(file: &str, read: &str, new: &str) -> Status {
    match weir::load::read_text(file) {
        Ok(now) if now == read => {}
        Ok(_) => return fail(&format!("`{file}` was changed meanwhile, so it is not written")),
        Err(error) => return complain(&error),
    }
    let path = Path::new(file);
    match write_backup(path, read) {
        Ok(_) => rewrite(path, new),
        Err(status) => status,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_that_was_changed_meanwhile_stays() {
        let path = std::env::temp_dir().join(format!("weir-fences-{}.weir", std::process::id()));
        let file = path.to_str().unwrap();
        fs::write(&path, "changed").unwrap();
        assert_eq!(insert_into(file, "read", "new"), Status::Wrong);
        assert_eq!(fs::read_to_string(&path).unwrap(), "changed");
        assert!(!Path::new(&format!("{file}.orig")).exists());
        fs::remove_file(path).unwrap();
    }
}
