//! What `docs/howto-public.md` shows of public code is printed, where that code can be had.
//!
//! `WEIR_SLOW=1` fetches the crate of the page, which needs the network. The header is looked for in the folder that `WEIR_SPSC` names, which is
//! `include` of <https://github.com/rigtorp/SPSCQueue>: continuous integration has no access to it, so there that part is skipped.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use weir_gen::tools::{are_installed, is_slow, skip};

use crate::docs::{blocks, lines, matches, page};

const PAGE: &str = "docs/howto-public.md";

/// A folder without anything in it.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// The blocks of the page in a language.
fn texts(language: &str) -> Vec<String> {
    let all = blocks(&page(PAGE)).into_iter().filter(|block| block.0 == language);
    all.map(|block| block.1).collect()
}

/// Runs the commands that begin with some words, one after the other, and compares what they print. Before each, something is done.
fn run(folder: &Path, begin: &str, mut before: impl FnMut(usize)) {
    let begin = format!("$ {begin}");
    let shown = texts("text").into_iter().filter(|text| text.starts_with(&begin));
    let mut commands = 0;
    for (number, text) in shown.enumerate() {
        before(number);
        let (command, shown) = text.strip_prefix("$ weir ").unwrap().split_once('\n').unwrap();
        let mut weir = Command::new(env!("CARGO_BIN_EXE_weir"));
        let output = weir
            .args(command.split(' '))
            .current_dir(folder)
            .env_remove("COLUMNS")
            .output()
            .unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(
            matches(&lines(shown), &lines(&printed)),
            "`{command}` is shown as\n{shown}\nand prints\n{printed}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        commands += 1;
    }
    assert!(commands > 1, "{commands} commands begin with `{begin}`");
}

/// Runs cargo, which must succeed.
fn cargo(folder: &Path, arguments: &[&str]) {
    let run = Command::new("cargo").args(arguments).current_dir(folder).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}

#[test]
fn the_crate_of_the_page_is_checked() {
    if !is_slow() || !are_installed(&["cargo", "rustc"]) {
        return;
    }
    let around = folder("public-crate");
    let package = around.join("try-rtrb");
    let manifest = "[package]\nname = \"try-rtrb\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
        [dependencies]\nrtrb = \"=0.4.1\"\n[workspace]\n";
    fs::create_dir_all(package.join("src")).unwrap();
    fs::create_dir_all(package.join("tests")).unwrap();
    fs::write(package.join("Cargo.toml"), manifest).unwrap();
    fs::write(package.join("src/lib.rs"), "").unwrap();
    fs::write(package.join("tests/queue.rs"), &texts("rust")[0]).unwrap();
    run(&package, "weir check .", |number| {
        if number == 1 {
            cargo(&package, &["vendor", "vendor"]);
            fs::rename(package.join("vendor/rtrb"), around.join("rtrb-weak")).unwrap();
            let file = around.join("rtrb-weak/src/lib.rs");
            let text = fs::read_to_string(&file).unwrap();
            let store = "self.buffer.tail.store(tail, Ordering::Release);";
            assert_eq!(text.lines().nth(350).map(str::trim), Some(store));
            fs::write(&file, text.replacen(store, &store.replace("Release", "Relaxed"), 1))
                .unwrap();
            let patch = &texts("toml")[0];
            fs::write(package.join("Cargo.toml"), format!("{manifest}{patch}")).unwrap();
        }
    });
}

#[test]
fn the_header_of_the_page_is_checked() {
    if !are_installed(&["clang-19"]) {
        return;
    }
    let Some(header) = std::env::var_os("WEIR_SPSC") else {
        return skip("the header of a page: `WEIR_SPSC` names no folder");
    };
    let folder = folder("public-header");
    let header = fs::read_to_string(Path::new(&header).join("rigtorp/SPSCQueue.h")).unwrap();
    let store = "writeIdx_.store(nextWriteIdx, std::memory_order_release);";
    let weak = header.replacen(store, &store.replace("release", "relaxed"), 1);
    assert_ne!(header, weak);
    for (include, text) in [("SPSCQueue/include", &header), ("weak", &weak)] {
        let include = folder.join(include).join("rigtorp");
        fs::create_dir_all(&include).unwrap();
        fs::write(include.join("SPSCQueue.h"), text).unwrap();
    }
    let program = &texts("cpp")[0];
    run(&folder, "weir check queue.cpp", |number| {
        let text = match number {
            2 => program.replace("        while (!queue.front()) {}\n", ""),
            _ => program.clone(),
        };
        fs::write(folder.join("queue.cpp"), text).unwrap();
    });
}
