//! Pages without a browser: their data is what `--format json` prints, and they are written as
//! other files are.

use crate::common;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use common::{root, weir};

/// A file for a test.
fn target(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages");
    fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

/// The data of a page.
fn data(page: &str) -> Value {
    let start = page.find("id=\"data\">").expect("a page has data") + "id=\"data\">".len();
    let end = start + page[start..].find("</script>").unwrap();
    serde_json::from_str(&page[start..end]).unwrap()
}

/// The same without what differs from one run to the next.
fn settled(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            for name in ["seconds", "peak"] {
                fields.remove(name);
            }
            fields.values_mut().for_each(|v| *v = settled(v.take()));
        }
        Value::Array(all) => all.iter_mut().for_each(|v| *v = settled(v.take())),
        _ => {}
    }
    value
}

#[test]
fn the_data_of_a_page_is_the_json_of_the_report() {
    let commands: [&[&str]; 9] = [
        &["check", "examples/peterson.weir", "examples/spinlock.weir"],
        &["check", "examples/peterson-fenced.weir", "--verify"],
        &["compare", "examples/peterson.weir", "litmus/SB.litmus"],
        &["outcomes", "litmus/SB.litmus", "--runs"],
        &["robust", "examples/peterson.weir", "--model", "tso", "--model", "pso"],
        &["fences", "examples/peterson.weir"],
        &["live", "examples/live.weir"],
        &["game", "examples/games/handshake.weir"],
        &["graph", "examples/store-buffering.weir"],
    ];
    for (number, words) in commands.into_iter().enumerate() {
        let path = target(&format!("data-{number}.html"));
        let page = weir(&[words, &["--html", path.to_str().unwrap()]].concat());
        let json = weir(&[words, &["--format", "json"]].concat());
        assert_eq!(page.status, json.status, "{words:?}: {}", page.err);
        let data = data(&fs::read_to_string(&path).unwrap());
        assert_eq!(
            (&data["weir"], &data["command"]),
            (&env!("CARGO_PKG_VERSION").into(), &words[0].into())
        );
        let printed: Vec<Value> =
            json.out.lines().map(|line| settled(serde_json::from_str(line).unwrap())).collect();
        assert_eq!(settled(data["reports"].clone()), Value::Array(printed.clone()), "{words:?}");
        assert!(printed.iter().all(|report| report["schema"].is_string()), "{words:?}");
    }
}

#[test]
fn a_page_does_not_replace_what_is_read_or_written() {
    let program = target("kept.weir");
    fs::copy(root().join("examples/peterson.weir"), &program).unwrap();
    let before = fs::read_to_string(&program).unwrap();
    let name = program.to_str().unwrap();
    for command in ["check", "compare", "outcomes", "robust", "fences", "graph"] {
        let output = weir(&[command, name, "--html", name]);
        assert_eq!(output.status, 2, "{command}: {}", output.err);
        assert_eq!(fs::read_to_string(&program).unwrap(), before, "{command}");
    }
    let both = target("both");
    let both = both.to_str().unwrap();
    let output = weir(&["check", name, "--html", both, "--witness", both]);
    assert_eq!(output.status, 2, "{}", output.err);
    let output = weir(&["check", name, "--html", "/no/such/folder/page.html"]);
    assert_eq!(output.status, 2, "{}", output.err);
    // A file called `-` is hardly meant.
    for option in ["--html", "--svg", "--tikz", "--witness"] {
        let output = weir(&["check", name, option, "-"]);
        assert_eq!((output.status, output.out.as_str()), (2, ""), "{option}");
        assert!(output.err.contains("`/dev/stdout` is standard output"), "{}", output.err);
        assert!(!root().join("-").exists(), "{option}");
    }
    // Where there is nothing to show, nothing is written.
    let wrong = target("wrong.weir");
    fs::write(&wrong, "process p { x = 1 }").unwrap();
    let page = target("wrong.html");
    let _ = fs::remove_file(&page);
    let output = weir(&["check", wrong.to_str().unwrap(), "--html", page.to_str().unwrap()]);
    assert_eq!(output.status, 2);
    assert!(output.err.contains("there is nothing to show"), "{}", output.err);
    assert!(!page.exists());
}

#[test]
fn the_same_page_is_written_again() {
    let pages: Vec<String> = ["first.html", "second.html"]
        .map(|name| {
            let path = target(name);
            weir(&["fences", "examples/peterson.weir", "--html", path.to_str().unwrap()]);
            fs::read_to_string(path).unwrap()
        })
        .into();
    assert_eq!(pages[0], pages[1]);
}
