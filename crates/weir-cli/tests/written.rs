//! Files that are written while something goes wrong: the process is killed, another one writes the
//! same file, the disk is full, the input is changed meanwhile.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use weir_gen::tools::skip;

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

/// What happens when a file becomes larger than a limit.
#[cfg(unix)]
#[derive(Clone, Copy, PartialEq)]
enum Beyond {
    /// The process is killed while it writes.
    Killed,
    /// It is told, as when a disk is full.
    Refused,
}

/// Runs `weir` with files of at most so many blocks of 512 bytes: its status, if it was not killed,
/// and what it said.
#[cfg(unix)]
fn limited(blocks: usize, beyond: Beyond, args: &[&str]) -> (Option<i32>, String) {
    let ignored = if beyond == Beyond::Refused { "trap '' XFSZ; " } else { "" };
    let script = format!("ulimit -c 0; {ignored}ulimit -f {blocks} && exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_weir")]).args(args).current_dir(root());
    let ended = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(!said.contains("panicked") && !said.contains("ulimit"), "{args:?}: {said}");
    (ended.status.code(), said)
}

/// How many files are left that were begun and have no name yet.
#[cfg(unix)]
fn parts(folder: &Path) -> usize {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().ends_with(".tmp")).count()
}

/// In the middle of a file a process is killed, or the disk is full: the old file stays.
#[cfg(unix)]
#[test]
fn half_a_file_never_replaces_the_old_one() {
    let folder = folder("half");
    for (number, kind) in KINDS.iter().enumerate() {
        let file = folder.join(format!("file-{number}.dot"));
        let args = [*kind, &[file.to_str().unwrap()]].concat();
        weir(&args);
        let half = usize::try_from(fs::metadata(&file).unwrap().len()).unwrap() / 1024;
        for blocks in [0, half] {
            fs::write(&file, "old").unwrap();
            let (status, said) = limited(blocks, Beyond::Killed, &args);
            assert_eq!(status, None, "{args:?} was not killed: {said}");
            assert_eq!(fs::read(&file).unwrap(), b"old", "{args:?}");
            assert_eq!(parts(&folder), 1, "{args:?}");
            let (status, said) = limited(blocks, Beyond::Refused, &args);
            assert!(status == Some(2) && said.contains("cannot write"), "{args:?}: {said}");
            assert_eq!(fs::read(&file).unwrap(), b"old", "{args:?}");
            // What the killed process left behind is gone as well.
            assert_eq!(parts(&folder), 0, "{args:?}");
        }
    }
}

/// The same for a program into which fences are written: it stays as it was, and so does its backup.
#[cfg(unix)]
#[test]
fn half_a_program_never_replaces_the_old_one() {
    let text = fs::read_to_string(root().join("examples/peterson.weir")).unwrap();
    // As it is, it fills so many blocks; with a fence it needs one more.
    let blocks = text.len() / 512 + 2;
    let text = format!("{text}//{}\n", "x".repeat(blocks * 512 - text.len() - 3));
    assert_eq!(text.len(), blocks * 512);
    for beyond in [Beyond::Killed, Beyond::Refused] {
        for (limit, backups) in [(0, 0), (blocks / 2, 0), (blocks, 1)] {
            let folder = folder("half-program");
            let (program, backup) = (folder.join("p.weir"), folder.join("p.weir.orig"));
            fs::write(&program, &text).unwrap();
            let args = ["fences", program.to_str().unwrap(), "--write"];
            let (status, said) = limited(limit, beyond, &args);
            match beyond {
                Beyond::Killed => assert_eq!(status, None, "{limit}: {said}"),
                Beyond::Refused => {
                    assert!(status == Some(2) && said.contains("cannot write"), "{limit}: {said}");
                    assert_eq!(parts(&folder), 0);
                }
            }
            assert_eq!(fs::read_to_string(&program).unwrap(), text, "{limit}");
            assert_eq!(usize::from(backup.exists()), backups, "{limit}");
            if backup.exists() {
                assert_eq!(fs::read_to_string(&backup).unwrap(), text, "{limit}");
            }
            // Without a limit it is written, and what was left is removed.
            let run = weir(&args);
            assert_eq!(run.status, 0, "{run:?}");
            assert!(fs::read_to_string(&program).unwrap().contains("fence"));
            assert_eq!(fs::read_to_string(&backup).unwrap(), text);
            assert_eq!(fs::read_dir(&folder).unwrap().count(), 2 + backups);
        }
    }
}

/// A batch whose log ends in the middle of a line goes on from there.
#[cfg(unix)]
#[test]
fn half_a_line_of_a_log_is_written_again() {
    let folder = folder("half-log");
    let log = folder.join("log");
    let args = ["check", "examples/peterson.weir", "examples/dekker.weir", "-m", "sc", "-m", "tso"];
    let args = [&args[..], &["--threads", "1", "--resume", log.to_str().unwrap()]].concat();
    weir(&args);
    let whole = fs::read_to_string(&log).unwrap();
    let results = |text: &str| text.lines().filter(|line| line.starts_with('{')).count();
    assert_eq!(results(&whole), 5);
    for beyond in [Beyond::Killed, Beyond::Refused] {
        for part in [0, 1, 2, 3] {
            fs::remove_file(&log).unwrap();
            let (status, said) = limited(whole.len() * part / 4 / 512, beyond, &args);
            match beyond {
                Beyond::Killed => assert_eq!(status, None, "{said}"),
                Beyond::Refused => {
                    assert!(
                        status == Some(2) && said.contains("cannot write"),
                        "{status:?} {said}"
                    );
                }
            }
            let left = fs::read_to_string(&log).unwrap();
            let kept = left.rfind('\n').map_or(0, |end| end + 1);
            let run = weir(&args);
            assert_eq!(run.status, 1, "{run:?}");
            let now = fs::read_to_string(&log).unwrap();
            assert!(now.starts_with(&left[..kept]), "{left}\n{now}");
            assert_eq!(results(&now), 5, "{now}");
        }
    }
}

/// The kinds of files, each written by several processes at once.
#[test]
fn two_writers_of_one_file_leave_one_whole_file() {
    let folder = folder("two");
    for (number, kind) in KINDS.iter().enumerate() {
        let file = folder.join(format!("file-{number}.dot"));
        let args = [*kind, &[file.to_str().unwrap()]].concat();
        let status = weir(&args).status;
        let whole = fs::read(&file).unwrap();
        weir(&args);
        let is_timeless = fs::read(&file).unwrap() == whole;
        for _ in 0..rounds() {
            let mut children = [spawn(&args), spawn(&args), spawn(&args)];
            let is_right = |child: &mut Child| child.wait().unwrap().code() == Some(status);
            assert!(children.iter_mut().all(is_right), "{args:?}");
            let left = fs::read(&file).unwrap();
            let is_whole = if is_timeless { left == whole } else { is_alike(&left, &whole) };
            assert!(is_whole, "{args:?}: {} bytes", left.len());
        }
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), KINDS.len());
}

/// How often what may go wrong by chance is tried.
fn rounds() -> usize {
    std::env::var("WEIR_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(2)
}

/// Whether two pages differ only in the time that a search took.
fn is_alike(a: &[u8], b: &[u8]) -> bool {
    let ends = |text: &[u8]| (text.get(..64).map(<[u8]>::to_vec), text[text.len() - 8..].to_vec());
    a.len().abs_diff(b.len()) < 64 && a.len() > 64 && ends(a) == ends(b)
}

/// Two processes that write fences into one program: one does, and the other one does or sees that
/// the program was changed. Each backup is whole.
#[test]
fn two_writers_of_one_program_leave_one_whole_program() {
    let text = fs::read_to_string(root().join("examples/peterson.weir")).unwrap();
    let folder = folder("two-programs");
    let program = folder.join("p.weir");
    let args = ["fences", program.to_str().unwrap(), "--write"];
    fs::write(&program, &text).unwrap();
    weir(&args);
    let whole = fs::read_to_string(&program).unwrap();
    assert_ne!(whole, text);
    for _ in 0..2 * rounds() {
        fs::write(&program, &text).unwrap();
        let mut children = [spawn(&args), spawn(&args), spawn(&args)];
        let codes = children.each_mut().map(|child| child.wait().unwrap().code().unwrap());
        assert!(codes.contains(&0) && codes.iter().all(|code| [0, 2].contains(code)), "{codes:?}");
        assert_eq!(fs::read_to_string(&program).unwrap(), whole);
    }
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let left = fs::read_to_string(&path).unwrap();
        assert!(path == program || left == text, "{}", path.display());
    }
}

/// Two batches with one log: no result is lost or torn.
#[test]
fn two_writers_of_one_log_lose_nothing() {
    let folder = folder("two-logs");
    let log = folder.join("log");
    let args = ["check", "examples/peterson.weir", "examples/dekker.weir", "-m", "sc", "-m", "tso"];
    let args = [&args[..], &["--resume", log.to_str().unwrap()]].concat();
    for _ in 0..12 * rounds() {
        let _ = fs::remove_file(&log);
        let mut children = [spawn(&args), spawn(&args), spawn(&args)];
        assert!(children.iter_mut().all(|child| child.wait().unwrap().code() == Some(1)));
        let text = fs::read_to_string(&log).unwrap();
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
        assert!(lines[0]["weir"].is_string(), "{text}");
        let key = |line: &Value| format!("{} {}", line["file"], line["model"]);
        let results: BTreeSet<String> =
            lines.iter().filter(|line| line["file"].is_string()).map(key).collect();
        assert_eq!(results.len(), 4, "{text}");
    }
}

/// A file system with room for so little that no page fits in it.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_the_old_file_stays() {
    let run = weir(&["check", "examples/peterson.weir", "--witness", "/dev/full"]);
    assert!(run.status == 2 && run.err.contains("No space left on device"), "{run:?}");
    let folder = folder("full");
    let mount = |args: &[&str]| {
        let mounted = Command::new("mount").args(args).arg(&folder).stderr(Stdio::null()).status();
        mounted.is_ok_and(|status| status.success())
    };
    if !mount(&["-t", "tmpfs", "-o", "size=16k", "tmpfs"]) {
        skip("a file system that is full: it cannot be mounted");
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
        skip("names that are not UTF-8: the file system has none");
        return;
    }
    std::os::unix::fs::symlink(&folder, folder.join("loop")).unwrap();
    let run = weir(&["check", folder.to_str().unwrap()]);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.out.contains("1 result: 1 fine"), "{run:?}");
    assert!(run.err.contains("is not UTF-8, so the file is passed over"), "{run:?}");
}
