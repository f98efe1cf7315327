//! `weir serve`, by raw requests: whom it answers, what it refuses, and that requests end.

use crate::common;
use crate::server;

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use common::root;
use server::Served;

const SMALL: &str = "var x\nprocess p { x = 1 }\nbad: never x == 1\n";

/// A program whose states nobody can list.
const ENDLESS: &str = "var a: 0..999, b: 0..999, c: 0..999\n\
    process p[i: 0..2] { reg r: 0..999\n loop { choose { r = a  a = (r + 1) % 1000 } or \
    { r = b  b = (r + 7) % 1000 } or { r = c  c = (r + 3) % 1000 } } }\n\
    far: never a == 999 and b == 998 and c == 997\n";

#[test]
fn a_program_is_checked() {
    let served = Served::start(&["examples/peterson.weir"]);
    let page = served.get("/");
    assert_eq!(page.status, 200);
    for header in ["x-frame-options: deny", "x-content-type-options: nosniff", "no-store"] {
        assert!(page.head.contains(header), "{header}: {}", page.head);
    }
    // The file comes first, then what is embedded.
    let text = fs::read_to_string(root().join("examples/peterson.weir")).unwrap();
    assert_eq!(served.get("/text/0").json()["text"], text);
    assert_eq!(served.get("/text/1").status, 200);
    let ended = served.end(served.begin("check", &text));
    assert_eq!(ended["status"], 1, "{ended}");
    let report: Value = serde_json::from_str(ended["out"].as_str().unwrap()).unwrap();
    assert_eq!(report["findings"][0]["verdict"], "violated");
    assert_eq!(report["file"], "a.weir");
    for command in ["compare", "fences", "outcomes", "robust", "graph"] {
        let ended = served.end(served.begin(command, SMALL));
        let out = ended["out"].as_str().unwrap();
        assert!(out.starts_with("{\"schema\":\"weir-"), "{command}: {ended}");
    }
    // Errors are reports of their own.
    let ended = served.end(served.begin("check", "var x\nprocess p { y = 1 }\n"));
    assert_eq!(ended["status"], 2);
    assert!(ended["out"].as_str().unwrap().contains("\"line\":2"), "{ended}");
}

#[test]
fn a_report_is_saved_as_one_file() {
    let served = Served::start(&[]);
    let job = served.begin("check", SMALL);
    served.end(job);
    let saved = served.get(&format!("/job/{job}/page"));
    assert_eq!(saved.status, 200);
    assert!(saved.head.contains("attachment; filename=\"a-check.html\""), "{}", saved.head);
    assert!(saved.body.starts_with("<!doctype html>") && saved.body.ends_with("</html>\n"));
    assert_eq!(served.get("/job/77/page").status, 404);
    // What is no program has no report.
    let job = served.begin("check", "nothing");
    served.end(job);
    assert_eq!(served.get(&format!("/job/{job}/page")).status, 404);
}

#[test]
fn errors_are_found_while_a_text_is_written() {
    let served = Served::start(&[]);
    let errors =
        |text: &str| served.post("/errors", &json!({ "text": text, "name": "a.weir" })).json();
    assert_eq!(errors(SMALL), json!([]));
    let found = errors("var x\nprocess p { y = 1 }\n");
    assert_eq!(found[0]["error"]["line"], 2, "{found}");
}

#[test]
fn only_its_own_page_is_answered() {
    let served = Served::start(&[]);
    let port = served.port;
    let get = |headers: &str| served.request("GET", "/", headers, "").status;
    assert_eq!(get(""), 200);
    assert_eq!(get(&format!("Host: localhost:{port}\r\n")), 200);
    for host in [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        "127.0.0.1".to_owned(),
        format!("127.0.0.1:{}", port ^ 1),
        format!("127.0.0.1:{port}.evil.example"),
        format!("[::1]:{port}"),
        String::new(),
    ] {
        assert_eq!(get(&format!("Host: {host}\r\n")), 403, "{host}");
    }
    assert_eq!(get(&format!("Host: 127.0.0.1:{port}\r\nHost: evil.example\r\n")), 403);
    assert_eq!(served.send(b"GET / HTTP/1.0\r\n\r\n").status, 403, "no Host");

    let ask = json!({ "text": SMALL, "name": "a.weir" }).to_string();
    let post = |headers: &str| served.request("POST", "/errors", headers, &ask).status;
    assert_eq!(post(&format!("Origin: http://127.0.0.1:{port}\r\n")), 200);
    assert_eq!(post(&format!("Origin: http://localhost:{port}\r\n")), 200);
    for origin in [
        "".to_owned(),
        "Origin: null\r\n".to_owned(),
        "Origin: http://evil.example\r\n".to_owned(),
        format!("Origin: https://127.0.0.1:{port}\r\n"),
        format!("Origin: http://127.0.0.1:{port}.evil.example\r\n"),
        format!("Origin: http://127.0.0.1:{port}\r\nOrigin: http://evil.example\r\n"),
    ] {
        assert_eq!(post(&origin), 403, "{origin}");
    }
    // Nor does another page read what this one has.
    assert_eq!(served.request("GET", "/text/0", "Origin: http://evil.example\r\n", "").status, 403);
}

#[test]
fn who_does_not_know_the_token_is_not_answered() {
    let served = Served::start(&["examples"]);
    let job = served.begin("check", SMALL);
    served.end(job);
    let wrong = served.token.replace(|c: char| c != '7', "7");
    let origin = format!("Origin: http://127.0.0.1:{}\r\n", served.port);
    for token in ["", "/", "/0", "/..", &format!("/{wrong}"), &format!("/{}0", served.token)] {
        for path in ["/", "/text/0", &format!("/job/{job}"), "/job/0/page", ""] {
            let path = format!("{token}{path}");
            assert_eq!(served.without_token("GET", &path, "", "").status, 403, "{path}");
        }
        let ask = json!({ "text": SMALL, "name": "a.weir" }).to_string();
        let path = format!("{token}/errors");
        assert_eq!(served.without_token("POST", &path, &origin, &ask).status, 403, "{path}");
    }
}

#[test]
fn only_files_of_the_folder_are_included() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("serve-include");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("served/inner")).unwrap();
    fs::write(folder.join("secret.h"), "this_is_secret;\n").unwrap();
    fs::write(folder.join("served/inner/open.h"), "int x;\n").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.join("secret.h"), folder.join("served/inner/link.h"))
        .unwrap();
    let served = Served::start(&[folder.join("served").to_str().unwrap()]);
    let nothing = Served::start(&[]);
    let check = |served: &Served, file: &str| {
        let text = format!("#include \"{file}\"\nactive proctype p() {{ skip }}\n");
        let name = "inner/a.pml";
        let errors = served.post("/errors", &json!({ "text": text, "name": name })).body;
        let ask = json!({ "command": "check", "text": text, "name": name, "model": "TSO", "engine": "auto" });
        let job = served.post("/run", &ask).json()["job"].as_u64().unwrap();
        errors + &served.end(job).to_string()
    };
    assert!(!check(&served, "open.h").contains("is not found"));
    let secret = folder.join("secret.h");
    for file in ["../../secret.h", "link.h", secret.to_str().unwrap(), "/etc/passwd", "/etc/shadow"]
    {
        let said = check(&served, file);
        assert_eq!(said.matches("is not found").count(), 2, "{file}: {said}");
        assert!(!said.contains("this_is_secret") && !said.contains("root:"), "{file}: {said}");
    }
    assert_eq!(check(&nothing, "open.h").matches("is not found").count(), 2);
    assert_eq!(check(&nothing, secret.to_str().unwrap()).matches("is not found").count(), 2);
}

/// A compiler could read any file, so there is none: the page offers no programs that need one, and says so of a text that does.
#[test]
fn no_compiler_is_run() {
    let served = Served::start(&["examples"]);
    let page = served.get("/").body;
    assert!(page.contains("peterson.weir"), "{page}");
    for name in ["mailbox.c", "mailbox.rs", "spsc.cpp"] {
        assert!(!page.contains(name), "{name}");
    }
    for (name, text, language) in [
        ("a.c", "#include \"/etc/passwd\"\nint main() { return 0; }\n", "C"),
        ("a.cpp", "#include \"/etc/passwd\"\nint main() { return 0; }\n", "C++"),
        ("a.rs", "fn main() { include!(\"/etc/passwd\"); }\n", "Rust"),
    ] {
        let said = served.post("/errors", &json!({ "text": text, "name": name })).body;
        let why = format!("a text in {language} is read through a compiler");
        assert!(said.contains(&why) && !said.contains("root:"), "{said}");
        let ask = json!({ "command": "check", "text": text, "name": name, "model": "TSO", "engine": "auto" });
        let job = served.post("/run", &ask).json()["job"].as_u64().unwrap();
        let said = served.end(job).to_string();
        assert!(said.contains(&why) && !said.contains("root:"), "{said}");
    }
    let refused = crate::common::weir(&["serve", "examples/c/mailbox.c", "--no-open"]);
    assert_eq!(refused.status, 2, "{refused:?}");
    assert!(refused.err.contains("a text in C is read through a compiler"), "{refused:?}");
    assert!(refused.err.contains("--html"), "{refused:?}");
}

#[test]
fn requests_that_do_not_arrive_hold_nobody_up() {
    use std::io::{Read, Write};
    let served = Served::start(&[]);
    let origin = format!("Host: 127.0.0.1:{0}\r\nOrigin: http://127.0.0.1:{0}\r\n", served.port);
    let begin =
        format!("POST /{}/errors HTTP/1.1\r\n{origin}Content-Length: 5000\r\n\r\n", served.token);
    let mut held: Vec<std::net::TcpStream> = (0..12)
        .map(|i| {
            let mut stream = std::net::TcpStream::connect(("127.0.0.1", served.port)).unwrap();
            stream.write_all(if i % 2 == 0 { begin.as_bytes() } else { b"GET" }).unwrap();
            stream
        })
        .collect();
    let began = Instant::now();
    assert_eq!(served.get("/").status, 200);
    assert!(began.elapsed() < Duration::from_secs(4), "it was held up for {:?}", began.elapsed());
    // They are told.
    let mut answer = String::new();
    held[0].read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_text_that_takes_any_memory_is_read_in_a_process_with_limits() {
    let served = Served::start(&["--memory", "20", "--timeout", "5"]);
    let found = served.post("/errors", &json!({ "text": large(), "name": "a.weir" })).json();
    let message = found[0]["error"]["message"].as_str().unwrap_or_default().to_owned();
    assert!(message.contains("limit"), "{found}");
    let status = fs::read_to_string(format!("/proc/{}/status", served.process())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kib: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(kib < 200 << 10, "the server took {kib} KiB");
}

/// A program that takes more than 20 MiB to read.
pub fn large() -> String {
    format!("var x process p {{ {} }}", "x=1;".repeat(250_000))
}

#[test]
fn what_makes_no_sense_is_refused() {
    let served = Served::start(&["examples"]);
    for path in [
        "/../Cargo.toml",
        "/text/../../Cargo.toml",
        "/text/%2e%2e%2fCargo.toml",
        "/text/-1",
        "/text/99999",
        "/text/184467440737095516160",
        "/text/",
        "//etc/passwd",
        "/job/0",
        "/job/x",
        "/run",
    ] {
        let answer = served.get(path);
        assert_eq!(answer.status, 404, "{path}: {answer:?}");
    }
    assert_eq!(
        served
            .request("DELETE", "/", &format!("Origin: http://127.0.0.1:{}\r\n", served.port), "")
            .status,
        405
    );
    let good = json!({ "command": "check", "text": SMALL, "name": "a.weir", "model": "TSO", "engine": "auto" });
    let with = |field: &str, value: Value| {
        let mut ask = good.clone();
        ask[field] = value;
        served.post("/run", &ask).status
    };
    assert_eq!(with("command", "certify".into()), 400);
    assert_eq!(with("command", "--help".into()), 400);
    assert_eq!(with("model", "tso --witness /tmp/x".into()), 400);
    assert_eq!(with("engine", "../engine".into()), 400);
    assert_eq!(with("name", "n".repeat(300).into()), 400);
    assert_eq!(with("file", "/etc/passwd".into()), 400);
    assert_eq!(with("text", 7.into()), 400);
    // A name is a name, also one that looks like an option or a path.
    let mut ask = good.clone();
    ask["name"] = "--html=/tmp/weir-serve-test.html".into();
    let job = served.post("/run", &ask).json()["job"].as_u64().unwrap();
    assert_eq!(served.end(job)["status"], 1);
    assert!(!std::path::Path::new("/tmp/weir-serve-test.html").exists());
    // Too large, said or not.
    let large = json!({ "text": "x".repeat(2 << 20), "name": "a.weir" });
    assert_eq!(served.post("/errors", &large).status, 413);
    // The server is still there.
    assert_eq!(served.get("/").status, 200);
}

#[test]
fn what_keeps_it_from_serving_is_said() {
    let output = common::weir(&["serve", "--no-open", "no/such/file.weir"]);
    assert_eq!(output.status, 2);
    assert_eq!(output.err, "error: cannot read `no/such/file.weir`: there is no such file\n");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let output = common::weir(&["serve", "--no-open", "--port", &port]);
    assert_eq!(output.status, 2);
    assert_eq!(
        output.err,
        format!(
            "error: cannot listen on port {port}: another program uses it; without `--port`, Weir picks one that is free\n"
        )
    );
}

#[test]
fn the_programs_of_a_directory_are_listed() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("serve-folder");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("inner")).unwrap();
    fs::write(folder.join("a.weir"), "a").unwrap();
    fs::write(folder.join("inner/b.pml"), "b").unwrap();
    fs::write(folder.join("secret.key"), "key").unwrap();
    fs::write(folder.join(".hidden.weir"), "hidden").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(root().join("examples/peterson.weir"), folder.join("link.weir"))
        .unwrap();
    let served = Served::start(&[folder.to_str().unwrap()]);
    assert_eq!(served.get("/text/0").json()["text"], "a");
    assert_eq!(served.get("/text/1").json()["text"], "b");
    let page = served.get("/").body;
    for absent in ["secret.key", ".hidden", "link.weir"] {
        assert!(!page.contains(absent), "{absent}");
    }
    let output = common::weir(&["serve", "--no-open", "no-such-file.weir"]);
    assert_eq!((output.status, output.out.as_str()), (2, ""));
    assert!(output.err.contains("no-such-file.weir"), "{}", output.err);
}

/// Waits until something is so.
fn until(what: &str, done: &dyn Fn() -> bool) {
    let began = Instant::now();
    while !done() {
        assert!(began.elapsed() < Duration::from_secs(60), "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// The processes that a process has begun.
fn children(of: u32) -> Vec<u32> {
    let stat =
        |process: &u32| fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let parent = |process: &u32| {
        let stat = stat(process);
        let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest).to_owned();
        rest.split_whitespace().nth(1).and_then(|p| p.parse::<u32>().ok())
    };
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let all = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    all.filter(|process| parent(process) == Some(of)).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn requests_end() {
    // At a limit.
    let served = Served::start(&["--timeout", "0.5"]);
    let ended = served.end(served.begin("check", ENDLESS));
    assert_eq!(ended["status"], 3, "{ended}");
    assert!(ended["out"].as_str().unwrap().contains("time limit of 0.5 s"), "{ended}");

    let served = Served::start(&[]);
    let process = served.process();
    // When somebody says so.
    let job = served.begin("check", ENDLESS);
    until("it runs", &|| served.get(&format!("/job/{job}")).json()["state"] == "running");
    assert_eq!(children(process).len(), 1);
    served.post(&format!("/job/{job}/cancel"), &json!({}));
    until("it was cancelled", &|| children(process).is_empty());
    assert_eq!(served.end(job)["status"], Value::Null);
    // When nobody asks any more.
    served.begin("check", ENDLESS);
    until("it runs", &|| children(process).len() == 1);
    until("nobody asks", &|| children(process).is_empty());
    // And with the server.
    let job = served.begin("check", ENDLESS);
    until("it runs", &|| served.get(&format!("/job/{job}")).json()["state"] == "running");
    let left = children(process);
    let killed = std::process::Command::new("kill").args(["-INT", &process.to_string()]).status();
    assert!(killed.unwrap().success());
    let is_gone = |p: &u32| !std::path::Path::new(&format!("/proc/{p}")).exists();
    until("the server ended", &|| left.iter().all(is_gone));
}

#[test]
fn many_requests_wait_in_line() {
    let served = Served::start(&[]);
    let slots = thread::available_parallelism().map_or(1, |n| n.get());
    let jobs: Vec<u64> = (0..slots + 2).map(|_| served.begin("check", ENDLESS)).collect();
    let states = || -> Vec<Value> {
        let state = |job: &u64| served.get(&format!("/job/{job}")).json()["state"].clone();
        jobs.iter().map(state).collect()
    };
    // First come, first served.
    until("the first ones run", &|| states()[..slots].iter().all(|s| s == "running"));
    assert!(states()[slots..].iter().all(|s| s == "waiting"), "{:?}", states());
    // Other things are answered meanwhile, and too many requests are refused.
    assert_eq!(served.get("/").status, 200);
    let ask = json!({ "command": "check", "text": ENDLESS, "name": "a.weir", "model": "TSO", "engine": "auto" });
    let refused = (0..64).map(|_| served.post("/run", &ask).status).find(|status| *status != 200);
    assert_eq!(refused, Some(503));
}
