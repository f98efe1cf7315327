//! `weir certify`

use std::path::Path;

use weir::certify::{Checked, certify, model};
use weir::load::read_evidence;
use weir::report::json::CertifyJson;
use weir::{Loaded, MemoryModel, Verdict};
use weir_check::shards::{Failure, Manifest, check, check_shard, discharge, join};
use weir_check::{Claims, Rejected};
use weir_model::limits::Stop;

use super::{Status, complain, fail, print, print_json, stopped};
use crate::cli::Certify;
use crate::cli::options::Format;
use crate::limits;
use crate::output::{ShardFolder, paint, plain};
use crate::terminal::style;

pub fn run(args: &Certify) -> Status {
    let file = &args.evidence;
    if Path::new(file).is_dir() {
        return shards(args);
    }
    if args.shard.is_some() || args.discharge.is_some() || args.join {
        return fail(&format!("`{file}` is no folder with shards"));
    }
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
    report(file, args.format, &args.expect, &checked)
}

/// Checks a set in shards, or a part of it.
fn shards(args: &Certify) -> Status {
    let file = &args.evidence;
    let budget = &limits::budget();
    let folder = ShardFolder::new(Path::new(file));
    let failed = |failure: Failure, manifest: Option<&Manifest>, loaded: Option<&Loaded>| match (
        failure, manifest,
    ) {
        (Failure::Rejected(reason), Some(manifest)) => {
            let claim = loaded.map(|l| manifest.claim(&l.system));
            let (what, reason) = (manifest.what(), Some(reason));
            report(file, args.format, &args.expect, &Checked { reason, what, claim })
        }
        (Failure::Rejected(reason), None) => {
            fail(&format!("`{file}` is no set in shards: {reason}"))
        }
        (Failure::Stopped(stop), _) => {
            let advice = match (stop, args.shard.or(args.discharge)) {
                (Stop::Memory(_), None) => "; `weir certify --shard` needs less",
                _ => "",
            };
            stopped(&format!("{stop}{advice}"))
        }
        (Failure::File(name, error), _) => {
            fail(&format!("`{}`: {}", folder.path(&name), plain(&error)))
        }
    };
    let signed = match Manifest::read(&folder) {
        Ok(signed) => signed,
        Err(failure) => return failed(failure, None, None),
    };
    let manifest = &signed.manifest;
    let model = manifest.model.parse::<MemoryModel>().ok();
    let loaded = match args.language.load(&args.file, model.as_slice()) {
        Ok(loaded) => loaded,
        Err(error) => return complain(&error),
    };
    let system = &loaded.system;
    let claim = manifest.claim(system);
    let receipt = match (args.shard, args.discharge) {
        (Some(shard), _) => check_shard(system, &signed, shard, &folder, budget),
        (_, Some(shard)) => discharge(system, &signed, shard, &folder, budget),
        _ if args.join => {
            return match join(system, &signed, &folder, budget) {
                Ok(()) => partly(args, &claim, "all receipts fit together", JOINED),
                Err(failure) => failed(failure, Some(manifest), Some(&loaded)),
            };
        }
        _ => {
            return match check(system, &signed, &folder, budget.threads(), budget) {
                Ok(()) => {
                    let (what, claim) = (manifest.what(), Some(claim));
                    let checked = Checked { reason: None, what, claim };
                    report(file, args.format, &args.expect, &checked)
                }
                Err(failure) => failed(failure, Some(manifest), Some(&loaded)),
            };
        }
    };
    match receipt {
        Ok(receipt) => partly(args, &claim, &receipt.what(), "the other shards were not checked"),
        Err(failure) => failed(failure, Some(manifest), Some(&loaded)),
    }
}

/// Why receipts that fit together accept nothing.
const JOINED: &str = "the shards were not checked again: whoever can write to the folder can write \
                      receipts. Without --join they are checked";

/// Says that a part of a set in shards was checked, which accepts nothing.
fn partly(args: &Certify, claim: &Claims, what: &str, reason: &str) -> Status {
    let checked = Checked { reason: None, what: what.to_owned(), claim: Some(claim.clone()) };
    match args.format {
        Format::Json => print_json(&CertifyJson::new(&checked, Some(what), Some(reason))),
        Format::Human => {
            print(&format!("checked in part {}: {what}; {reason}\n", args.evidence));
        }
    }
    Status::Unknown
}

/// Says what became of evidence, and whether it claims what is expected of it.
pub fn report(
    file: &str,
    format: Format,
    expected: &[(String, String)],
    checked: &Checked,
) -> Status {
    let says_otherwise = |(key, value): &&(String, String)| {
        checked.claim.as_ref().is_none_or(|claim| !claim.is_as_expected(key, value))
    };
    let unexpected = match &checked.reason {
        Some(_) => None,
        None => expected.iter().find(says_otherwise).map(|(key, value)| {
            let found = checked.claim.as_ref().map_or_else(Vec::new, |claim| claim.values(key));
            format!("it claims something else: {key} is {}, not {value}", found.join(", "))
        }),
    };
    let is_unchecked = checked.reason.as_ref().is_some_and(Rejected::is_unchecked);
    let reason = checked.reason.as_ref().map(ToString::to_string).or(unexpected);
    match format {
        Format::Json => print_json(&CertifyJson::new(checked, None, reason.as_deref())),
        Format::Human => print(&match &reason {
            None => {
                let claim = checked.claim.as_ref().map_or_else(String::new, ToString::to_string);
                let word = paint(style(Verdict::Holds), "accepted");
                format!("{word} {file}: {} shows that {claim}\n", checked.what)
            }
            Some(reason) if is_unchecked => {
                format!("{} {file}: {reason}\n", paint(style(Verdict::Unknown), "not checked"))
            }
            Some(reason) => {
                format!("{} {file}: {reason}\n", paint(style(Verdict::Violated), "rejected"))
            }
        }),
    }
    match reason {
        None => Status::Fine,
        Some(_) if is_unchecked => Status::Unknown,
        Some(_) => Status::Violated,
    }
}
