//! Files that are written while something goes wrong: the process is killed, another one writes the
//! same file, the disk is full, the input is changed meanwhile.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::common::{root, weir};

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("written").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn spawn(args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
    command.args(args).current_dir(root()).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// A command for each kind of file, with the file as its last word.
const KINDS: [&[&str]; 8] = [
    &["check", "examples/peterson.weir", "--witness"],
    &["check", "examples/peterson-fenced.weir", "--certificate"],
    &["check", "examples/peterson.weir", "--html"],
    &["check", "examples/peterson.weir", "--svg"],
    &["check", "examples/peterson.weir", "--tikz"],
    &["live", "examples/live.weir", "--model", "sc", "--witness"],
    &["game", "examples/games/figure-6.weir", "--fairness", "process", "--strategy"],
    &["graph", "examples/peterson.weir", "--most", "5000", "--output"],
];

#[test]
fn a_process_that_is_killed_leaves_a_whole_file_or_the_old_one() {
    let folder = folder("killed");
    for (number, kind) in KINDS.iter().enumerate() {
        let file = folder.join(format!("file-{number}.dot"));
        let args = [*kind, &[file.to_str().unwrap()]].concat();
        let run = weir(&args);
        assert!(run.status < 2, "{args:?}: {run:?}");
        let whole = fs::read(&file).unwrap();
        assert!(!whole.is_empty(), "{args:?}");
        // The report has the time that a search took; everything else is always the same.
        let is_timeless = {
            weir(&args);
            fs::read(&file).unwrap() == whole
        };
        let step = (run.elapsed / 6).max(Duration::from_millis(2));
        for kill in 1..=7 {
            fs::write(&file, "old").unwrap();
            let mut child = spawn(&args);
            thread::sleep(step * kill);
            child.kill().unwrap();
            child.wait().unwrap();
            let left = fs::read(&file).unwrap();
            let is_whole = if is_timeless { left == whole } else { left.len() + 64 > whole.len() };
            assert!(left == b"old" || is_whole, "{args:?}: {} bytes", left.len());
        }
        // The next run removes what was left behind.
        weir(&args);
    }
    let names = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
    let parts = names.filter(|name| name.to_string_lossy().ends_with(".tmp")).count();
    assert_eq!(parts, 0);
}

#[test]
fn a_log_of_a_killed_batch_is_resumed() {
    let folder = folder("log");
    let log = folder.join("log");
    let args = ["check", "examples/peterson.weir", "examples/dekker.weir", "-m", "sc", "-m", "tso"];
    let args = [&args[..], &["--resume", log.to_str().unwrap()]].concat();
    for wait in [5, 20, 60, 120, 250] {
        let mut child = spawn(&args);
        thread::sleep(Duration::from_millis(wait));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let run = weir(&args);
    assert_eq!(run.status, 1, "{run:?}");
    assert_eq!(fs::read_to_string(&log).unwrap().lines().count(), 5, "a heading and four results");
}

#[test]
fn two_writers_of_one_file_leave_one_whole_file() {
    let folder = folder("two");
    let file = folder.join("run.json");
    let name = file.to_str().unwrap();
    let args = ["check", "examples/peterson.weir", "--witness", name];
    weir(&args);
    let whole = fs::read(&file).unwrap();
    for _ in 0..5 {
        let mut children = [spawn(&args), spawn(&args), spawn(&args)];
        assert!(children.iter_mut().all(|child| child.wait().unwrap().code() == Some(1)));
        assert_eq!(fs::read(&file).unwrap(), whole);
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}

#[test]
fn a_full_disk_is_an_error_and_the_old_file_stays() {
    if Path::new("/dev/full").exists() {
        let run = weir(&["check", "examples/peterson.weir", "--witness", "/dev/full"]);
        assert!(run.status == 2 && run.err.contains("No space left on device"), "{run:?}");
    }
    let folder = folder("full");
    let mount = |args: &[&str]| {
        let mounted = Command::new("mount").args(args).arg(&folder).stderr(Stdio::null()).status();
        mounted.is_ok_and(|status| status.success())
    };
    if !mount(&["-t", "tmpfs", "-o", "size=16k", "tmpfs"]) {
        eprintln!("no small file system can be mounted: skipped");
        return;
    }
    let file = folder.join("page.html");
    fs::write(&file, "old").unwrap();
    let run = weir(&["check", "examples/peterson.weir", "--html", file.to_str().unwrap()]);
    let left = fs::read_to_string(&file).unwrap();
    let count = fs::read_dir(&folder).unwrap().count();
    Command::new("umount").arg(&folder).status().unwrap();
    assert!(run.status == 2 && run.err.contains("No space left on device"), "{run:?}");
    assert_eq!((left.as_str(), count), ("old", 1));
}

#[test]
fn a_log_has_the_text_that_was_read() {
    let folder = folder("changed");
    let (log, program) = (folder.join("log"), folder.join("p.weir"));
    // Many processes, so that the search is cut short, and one that fails at once.
    let slow = "var a: 0..99\nvar b: 0..99\nvar c: 0..99\nprocess w[i: 0..5] {\n    loop {\n        \
                a = (a + 1) % 100\n        b = (b + i) % 100\n        c = (c + 3) % 100\n    }\n}\n\
                claim: never a == 99 and b == 98 and c == 97\n";
    fs::write(&program, slow).unwrap();
    let log = log.to_str().unwrap();
    let args = ["check", program.to_str().unwrap(), "--resume", log, "--each", "2"];
    let mut child = spawn(&args);
    thread::sleep(Duration::from_millis(900));
    fs::write(&program, "var x\nprocess p { x = 1\nhere: nop }\nclaim: never p@here\n").unwrap();
    child.wait().unwrap();
    let run = weir(&args);
    assert!(run.status == 1 && run.out.contains("violated"), "{run:?}");
}

#[test]
fn a_file_that_is_no_log_is_not_cut() {
    let folder = folder("no-log");
    let file = folder.join("notes");
    for text in ["important", "{\"weir\":\"", "\n", "a\nb"] {
        fs::write(&file, text).unwrap();
        let name = file.to_str().unwrap();
        let run = weir(&["check", "examples/peterson.weir", "--resume", name]);
        let is_begun = text.starts_with('{');
        assert_eq!(run.status, if is_begun { 1 } else { 2 }, "{text:?}: {run:?}");
        if !is_begun {
            assert!(run.err.contains("is not a log of Weir"), "{run:?}");
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
        }
    }
}

#[test]
fn backups_are_numbered() {
    let folder = folder("backups");
    let program = folder.join("p.weir");
    let text = fs::read_to_string(root().join("examples/peterson.weir")).unwrap();
    for _ in 0..3 {
        fs::write(&program, &text).unwrap();
        let run = weir(&["fences", program.to_str().unwrap(), "--write"]);
        assert_eq!(run.status, 0, "{run:?}");
    }
    for name in ["p.weir.orig", "p.weir.orig.1", "p.weir.orig.2"] {
        assert_eq!(fs::read_to_string(folder.join(name)).unwrap(), text);
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 4);
}

#[cfg(unix)]
#[test]
fn a_name_that_is_not_utf_8_stops_no_batch() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = folder("names");
    fs::copy(root().join("examples/peterson-fenced.weir"), folder.join("a.weir")).unwrap();
    let odd = folder.join(OsStr::from_bytes(b"b\xff.weir"));
    if fs::copy(root().join("examples/peterson.weir"), odd).is_err() {
        eprintln!("the file system has no such names: skipped");
        return;
    }
    std::os::unix::fs::symlink(&folder, folder.join("loop")).unwrap();
    let run = weir(&["check", folder.to_str().unwrap()]);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.out.contains("1 result: 1 fine"), "{run:?}");
    assert!(run.err.contains("is not UTF-8, so the file is passed over"), "{run:?}");
}
