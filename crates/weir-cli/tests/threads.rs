//! With any number of threads the program prints the same, and writes the same files.

use crate::common;

use std::fs;
use std::path::PathBuf;

use common::weir;

/// Programs whose searches are long enough to be divided among threads, and options.
const SEARCHES: [(&str, &str); 6] = [
    ("check", "corpus/bakery-3-fenced.weir --model pso --engine explicit"),
    ("check", "corpus/filter-3.weir --model tso --engine explicit"),
    ("check", "corpus/szymanski-3-fenced.weir --model tso --engine explicit --certificate"),
    ("check", "corpus/mcs-3.weir --model nsw"),
    ("check", "corpus/dekker-2-fenced.weir --model tso --engine views --certificate"),
    ("outcomes", "corpus/filter-3.weir --model tso"),
];

/// What a search prints, without times and what the machine measures, and the file that it writes.
fn report(command: &str, options: &str, threads: usize) -> (String, Vec<u8>) {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("threads-{threads}.json"));
    let (file, threads) = (file.to_str().unwrap(), threads.to_string());
    let mut args = vec![command, "--format", "json", "--threads", &threads];
    args.extend(options.split(' '));
    if options.ends_with("--certificate") {
        args.push(file);
    }
    let output = weir(&args);
    assert!(matches!(output.status, 0 | 1 | 3), "{args:?}: {}", output.err);
    let mut report: serde_json::Value = serde_json::from_str(&output.out).unwrap();
    for finding in report["findings"].as_array_mut().unwrap() {
        let stats = finding["statistics"].as_object_mut().unwrap();
        assert!(stats.remove("seconds").is_some() && stats.remove("peak").is_some());
    }
    let written = match options.ends_with("--certificate") {
        true => fs::read(file).unwrap(),
        false => vec![],
    };
    (report.to_string(), written)
}

#[test]
fn reports_and_certificates_are_the_same() {
    for (command, options) in SEARCHES {
        let one = report(command, options, 1);
        for threads in [2, 5] {
            let several = report(command, options, threads);
            assert_eq!(one.0, several.0, "{command} {options}, {threads} threads");
            assert!(one.1 == several.1, "{command} {options}, {threads} threads: the files differ");
        }
    }
}

#[test]
fn certificates_are_accepted_and_rejected_for_the_same_reason() {
    let program = "corpus/szymanski-3-fenced.weir";
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("threads-certified.json");
    let file = file.to_str().unwrap();
    let options = ["check", program, "--model", "tso", "--engine", "views", "--certificate", file];
    assert_eq!(weir(&options).status, 0);
    let certify = |threads| {
        let output = weir(&["certify", file, program, "--threads", threads]);
        (output.status, output.out, output.err)
    };
    let accepted = certify("1");
    assert_eq!(accepted.0, 0, "{}", accepted.2);
    assert_eq!((&accepted, &accepted), (&certify("2"), &certify("5")));

    let mut set: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let configurations = set["configurations"].as_array_mut().unwrap();
    configurations.remove(configurations.len() / 2);
    fs::write(file, set.to_string()).unwrap();
    let rejected = certify("1");
    assert_eq!(rejected.0, 1, "{}", rejected.2);
    assert_eq!((&rejected, &rejected), (&certify("2"), &certify("5")));
}

/// What goes together is said.
#[test]
fn hosts_need_a_process_and_a_secret() {
    let output = weir(&["check", "examples/peterson.weir", "--hosts", "hosts"]);
    assert_eq!(output.status, 2);
    assert!(output.err.contains("--process") && output.err.contains("--secret"), "{}", output.err);
}
