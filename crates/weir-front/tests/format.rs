//! `weir fmt`: all programs of the repository have the usual form, and a text without it gets it.

use std::fs;
use std::path::{Path, PathBuf};

use weir_front::weir::{format, read};

fn programs() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut open: Vec<PathBuf> =
        ["corpus", "examples", "crates"].iter().map(|f| root.join(f)).collect();
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "weir") {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    assert!(found.len() > 200, "{}", found.len());
    found
}

#[test]
fn programs_of_the_repository_have_the_usual_form() {
    let mut changed = Vec::new();
    for (path, text) in programs() {
        // Some examples are wrong on purpose.
        let Ok(formatted) = format(&text) else { continue };
        if formatted != text {
            let differs = text.lines().zip(formatted.lines()).find(|(a, b)| a != b);
            changed.push(format!("{}: {differs:?}", path.display()));
        }
    }
    assert!(changed.is_empty(), "{}\n{}", changed.len(), changed.join("\n"));
}

/// A text that has lost its blanks, or has too many, means the same after formatting; and what
/// has been formatted does not change.
#[test]
fn what_is_formatted_stays() {
    let mut state = 1_u64;
    // A linear congruential generator is random enough for blanks.
    let mut below = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from((state >> 33) % n).unwrap()
    };
    for (path, text) in programs() {
        if read("", &text).is_err() {
            continue;
        }
        for _ in 0..3 {
            let mut other = String::new();
            for line in text.lines() {
                let code = line.split("//").next().unwrap_or_default();
                if code != line || line.contains("*") {
                    other.push_str(line);
                } else {
                    let blanks = " ".repeat(below(9));
                    let wider = [" ", "  "][below(2)];
                    other.push_str(&blanks);
                    other.push_str(&line.trim().replace(' ', wider).replace(" = ", "="));
                }
                other.push_str(["\n", "\n", "\n\n\n"][below(3)]);
            }
            let once = format(&other).unwrap_or_else(|e| panic!("{}: {e:?}", path.display()));
            assert_eq!(format(&once).as_ref(), Ok(&once), "{}", path.display());
            let before = read("", &text).unwrap().0.fingerprint();
            assert_eq!(read("", &once).unwrap().0.fingerprint(), before, "{}", path.display());
        }
    }
}

#[test]
fn what_is_wrong_is_not_formatted() {
    assert!(format("process p { x = 1 }").is_err());
}

#[test]
fn colons_and_fields() {
    let text = "record R {\nnext: 0..3\nvalue\n}\nvar r: R\nprocess p {\nreg a\na = r.next ? 1:2\nl:\na+=r.value.load(acquire)\nassert a>0,\"a  b\"\n}\nnever exists i in 0..2:p.a==i\n";
    let wanted = "record R {
    next: 0..3
    value
}
var r: R
process p {
    reg a
    a = r.next ? 1 : 2
l:
    a += r.value.load(acquire)
    assert a > 0, \"a  b\"
}
never exists i in 0..2: p.a == i
";
    assert_eq!(format(text).unwrap(), wanted);
    assert_eq!(format(wanted).unwrap(), wanted);
}
