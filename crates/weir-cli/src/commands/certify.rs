//! `weir certify`

use std::path::Path;

use weir::certify::{Checked, certify, model};
use weir::load::read_evidence;
use weir::{Loaded, MemoryModel, Verdict};
use weir_check::shards::{Failure, Manifest, check, check_shard, discharge, join};
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
    report(args, &checked)
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
            let properties = loaded.map_or_else(Vec::new, |l| manifest.settles(&l.system));
            let model = manifest.model.clone();
            let what = manifest.what();
            report(args, &Checked { reason: Some(reason), what, model, properties })
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
    let receipt = match (args.shard, args.discharge) {
        (Some(shard), _) => check_shard(system, &signed, shard, &folder, budget).map(Some),
        (_, Some(shard)) => discharge(system, &signed, shard, &folder, budget).map(Some),
        _ if args.join => join(system, &signed, &folder, budget).map(|()| None),
        _ => check(system, &signed, &folder, budget.threads(), budget).map(|()| None),
    };
    match receipt {
        Ok(None) => {
            let (what, model) = (manifest.what(), manifest.model.clone());
            let properties = manifest.settles(system);
            report(args, &Checked { reason: None, what, model, properties })
        }
        Ok(Some(receipt)) => {
            match args.format {
                Format::Json => print_json(&serde_json::json!({
                    "accepted": false,
                    "shard": receipt.shard,
                    "obligations": receipt.count(),
                    "reason": "a part was checked, which accepts nothing",
                    "model": manifest.model,
                    "properties": manifest.settles(system),
                })),
                Format::Human => print(&format!("checked {file}: {}\n", receipt.what())),
            }
            Status::Fine
        }
        Err(failure) => failed(failure, Some(manifest), Some(&loaded)),
    }
}

/// Says what became of evidence.
fn report(args: &Certify, checked: &Checked) -> Status {
    let file = &args.evidence;
    let accepted = checked.reason.is_none();
    match args.format {
        Format::Json => print_json(&serde_json::json!({
            "accepted": accepted,
            "reason": checked.reason.as_ref().map(ToString::to_string),
            "model": checked.model,
            "properties": checked.properties,
        })),
        Format::Human => print(&match &checked.reason {
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
