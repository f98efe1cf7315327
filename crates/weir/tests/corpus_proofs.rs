//! What the views prove of the corpus, the checker believes: for every program
//! and model whose inductive set is not too large for a test, the certificate is
//! accepted, after a trip through JSON.

use std::path::Path;
use weir_engine::{Task, Views};

use weir::question::certificate;
use weir::{Loaded, MemoryModel};
use weir_check::Certificate;
use weir_engine::{Engine, SearchOptions};
use weir_model::limits::Budget;

/// Larger sets are left to `weir certify`: the checker is naive.
const MOST_CONFIGURATIONS: usize = 7_000;

/// The number of certificates that were checked of files with such names.
fn check(belongs: impl Fn(&str) -> bool) -> usize {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let mut checked = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file = path.to_str().unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap();
        if path.extension().is_none_or(|e| e != "weir") || !belongs(name) {
            continue;
        }
        let loaded =
            Loaded::from_file(file, None).unwrap_or_else(|e| panic!("{}", e.render(false)));
        for (_, model) in MemoryModel::NAMED {
            let options = SearchOptions {
                certificate: true,
                budget: Budget::new().with_store(32 << 20),
                ..SearchOptions::default()
            };
            let (answers, _) =
                Views.check(Task::new(&loaded.system, model, &options), &mut |_| {}).unwrap();
            let Some(found) = certificate(&loaded, &answers) else { continue };
            if found.configurations.len() > MOST_CONFIGURATIONS {
                continue;
            }
            let text = serde_json::to_string(&found).unwrap();
            let read: Certificate = serde_json::from_str(&text).unwrap();
            weir_check::certificate::check(&loaded.system, &read, 2)
                .unwrap_or_else(|e| panic!("{name} under {model}: {e}"));
            checked += 1;
        }
    }
    checked
}

#[test]
fn two_processes() {
    let checked = check(|name| name.contains("-2"));
    assert!(checked > 200, "{checked} certificates");
}

#[test]
fn three_processes_from_a_to_l() {
    let checked = check(|name| name.contains("-3") && name < "m");
    assert!(checked > 60, "{checked} certificates");
}

#[test]
fn three_processes_from_m_to_z() {
    let checked = check(|name| name.contains("-3") && name >= "m");
    assert!(checked > 40, "{checked} certificates");
}

#[test]
fn four_processes() {
    let checked = check(|name| name.contains("-4"));
    assert!(checked > 15, "{checked} certificates");
}
