//! `weir serve`: a page on which programs are written and checked, for this machine alone.
//!
//! * Every request has the token of the server in its path: random, printed with the address, and
//!   known to the page. Other users of the machine do not know it.
//! * The server listens on the loopback address, and answers only requests whose `Host` is that
//!   address: a page of another site cannot reach it under a name of its own (DNS rebinding).
//! * A request that does something needs the `Origin` of the page itself, so that no other page
//!   can make one.
//! * Programs are asked for by number. A text includes only files of the folder that is served.
//! * A request has to arrive in a few seconds.
//! * Texts are read, and what takes time is done, by other processes, with limits: see [`jobs`].
//!
//! [`App::answer`] turns the bytes of a request into those of its answer.

mod gallery;
mod http;
mod jobs;

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::json;
use weir::report::json::line;
use weir::report::page::{self, Page};
use weir::{ENGINES, MemoryModel};

use super::{Status, complain, fail, print};
use crate::cli::options::model;
use crate::cli::{LimitArgs, Serve};
use crate::output;
use crate::process;
use crate::{files, limits};

use gallery::Gallery;
use http::Request;
use jobs::{Jobs, Order, Progress};

const STYLE: &str = include_str!("serve/serve.css");
const SCRIPT: &str = include_str!("serve/serve.js");

/// The limits of a request by default.
const TIME: Duration = Duration::from_secs(60);
const MEMORY: u32 = 1024;

/// The longest name of a program.
const MOST_NAME: usize = 200;

/// The most connections at a time. None of them does anything that takes long.
const MOST_CONNECTIONS: usize = 64;

/// How long a request may take to arrive, and an answer to be read.
const ARRIVAL: Duration = Duration::from_secs(5);

/// The time and memory for finding errors in a text, by default: the page asks while it is written.
const READ_TIME: Duration = Duration::from_secs(10);

/// How often a thread that waits looks whether it should end.
const POLL: Duration = Duration::from_millis(20);

/// The commands that the page has, in the order of its buttons.
const COMMANDS: [&str; 8] =
    ["check", "compare", "fences", "outcomes", "robust", "live", "game", "graph"];

pub fn run(args: &Serve, limits: LimitArgs) -> Status {
    let gallery = match Gallery::new(args.target.as_deref()) {
        Ok(gallery) => gallery,
        Err(error) => return complain(&error),
    };
    let listening = TcpListener::bind(("127.0.0.1", args.port)).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok((listener.local_addr()?.port(), listener))
    });
    let (port, listener) = match listening {
        Ok(listening) => listening,
        Err(error) => {
            let why = match error.kind() {
                io::ErrorKind::AddrInUse => {
                    "another program uses it; without `--port`, Weir picks one that is free"
                        .to_owned()
                }
                _ => output::plain(&error),
            };
            return fail(&format!("cannot listen on port {}: {why}", args.port));
        }
    };
    let token = match random() {
        Ok(token) => token,
        Err(error) => return fail(&format!("there are no random numbers: {error}")),
    };
    let address = format!("http://127.0.0.1:{port}/{token}/");
    print(&format!("Weir is at {address}; an interrupt ends it\n"));
    if output::finish(Status::Fine) != Status::Fine {
        return Status::Wrong;
    }
    let door = if args.no_open { None } else { open(&address) };
    let jobs = Arc::new(Jobs::new());
    let folder = args.target.as_deref().map(folder);
    let is_directory = args.target.as_deref().is_some_and(Path::is_dir);
    let runs_in = folder.clone().filter(|_| is_directory);
    let (hosts, own) = (hosts(port), jobs.clone());
    let app = App { hosts, token, gallery, folder, runs_in, jobs: own, limits };
    let open = AtomicUsize::new(0);
    thread::scope(|scope| {
        while limits::budget().check().is_ok() {
            let Ok((stream, _)) = listener.accept() else {
                thread::sleep(POLL);
                continue;
            };
            if open.load(Ordering::Relaxed) >= MOST_CONNECTIONS {
                continue;
            }
            open.fetch_add(1, Ordering::Relaxed);
            let (app, open) = (&app, &open);
            scope.spawn(move || {
                // The client may be gone when the answer is sent.
                let _ = app.converse(stream);
                open.fetch_sub(1, Ordering::Relaxed);
            });
        }
    });
    jobs.close();
    if let Some(door) = door {
        let _ = fs::remove_file(door);
    }
    Status::Fine
}

/// 128 random bits that nobody can guess, in hexadecimal digits.
fn random() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The folder whose files may be included: the one that is served, or that of the file.
fn folder(target: &Path) -> PathBuf {
    let folder = match target.is_dir() {
        true => target,
        false => target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")),
    };
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

/// What a browser may call this server.
fn hosts(port: u16) -> [String; 2] {
    [format!("127.0.0.1:{port}"), format!("localhost:{port}")]
}

/// The answer of a server with the port 80, the token `token` and no programs of its own to the bytes
/// of a request; none if they are only the beginning of one. It has no socket: tests send it what no
/// browser would.
pub fn answer(bytes: &[u8]) -> Option<Vec<u8>> {
    static APP: OnceLock<Option<App>> = OnceLock::new();
    let app = APP.get_or_init(|| {
        let gallery = Gallery::new(None).ok()?;
        let limits = LimitArgs { timeout: None, memory: None, threads: None };
        let (hosts, token, jobs) = (hosts(80), "token".to_owned(), Arc::new(Jobs::new()));
        Some(App { hosts, token, gallery, folder: None, runs_in: None, jobs, limits })
    });
    app.as_ref()?.answer(bytes)
}

/// Opens a browser, if the system knows how. The address was printed in any case.
///
/// Other users see the command line of a browser, and must not see the token. So the browser is
/// given the name of a file that only this user can read, and that leads to the address.
fn open(address: &str) -> Option<PathBuf> {
    let door = std::env::temp_dir().join(format!("weir-{}.html", random().ok()?));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let page = format!("<!doctype html><meta http-equiv=\"refresh\" content=\"0; url={address}\">");
    options.open(&door).and_then(|mut file| file.write_all(page.as_bytes())).ok()?;
    let (program, words): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("cmd", &["/c", "start", ""]),
        _ => ("xdg-open", &[]),
    };
    let mut command = Command::new(program);
    command.args(words).arg(&door);
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Ok(mut child) = quiet.spawn() {
        thread::spawn(move || child.wait());
    }
    Some(door)
}

/// What is the same for all requests.
struct App {
    hosts: [String; 2],
    token: String,
    gallery: Gallery,
    /// The folder whose files may be included.
    folder: Option<PathBuf>,
    /// The directory that is served: names of programs are relative to it.
    runs_in: Option<PathBuf>,
    jobs: Arc<Jobs>,
    limits: LimitArgs,
}

/// An answer: its status, its type, its text, and the name of the file to save it as.
struct Reply {
    status: u16,
    kind: &'static str,
    text: String,
    saved_as: Option<String>,
}

impl Reply {
    fn json(value: &impl Serialize) -> Self {
        match line(value) {
            Ok(text) => Self { status: 200, kind: "application/json", text, saved_as: None },
            Err(error) => Self::wrong(500, &error.to_string()),
        }
    }

    fn html(text: String) -> Self {
        Self { status: 200, kind: "text/html; charset=utf-8", text, saved_as: None }
    }

    /// The reply as it is sent.
    fn bytes(self) -> Vec<u8> {
        let mut headers = vec![
            ("Content-Type", self.kind.to_owned()),
            ("Cache-Control", "no-store".to_owned()),
            ("X-Content-Type-Options", "nosniff".to_owned()),
            ("X-Frame-Options", "DENY".to_owned()),
            ("Referrer-Policy", "no-referrer".to_owned()),
            ("Cross-Origin-Resource-Policy", "same-origin".to_owned()),
        ];
        headers.extend(
            self.saved_as
                .map(|name| ("Content-Disposition", format!("attachment; filename=\"{name}\""))),
        );
        http::answer(self.status, &headers, &self.text)
    }

    fn wrong(status: u16, message: &str) -> Self {
        let text = json!({ "error": message }).to_string();
        Self { status, kind: "application/json", text, saved_as: None }
    }
}

/// What the page asks for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ask {
    command: String,
    text: String,
    name: String,
    model: String,
    engine: String,
}

/// A text to look for errors in.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    text: String,
    name: String,
}

impl App {
    /// Reads one request and answers it.
    fn converse(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(POLL))?;
        stream.set_write_timeout(Some(ARRIVAL))?;
        let began = Instant::now();
        let (mut bytes, mut part) = (Vec::new(), vec![0; 1 << 16]);
        let answer = loop {
            if began.elapsed() > ARRIVAL || limits::budget().check().is_err() {
                break Reply::wrong(408, "the request did not arrive in time").bytes();
            }
            match stream.read(&mut part) {
                Ok(0) => return Ok(()),
                Ok(read) => bytes.extend_from_slice(&part[..read]),
                Err(error) if is_late(&error) => continue,
                Err(error) => return Err(error),
            }
            if let Some(answer) = self.answer(&bytes) {
                break answer;
            }
        };
        stream.write_all(&answer)?;
        stream.shutdown(Shutdown::Write)?;
        // What the other side still sends is read for a moment: it would not read the answer if the
        // connection were reset.
        let began = Instant::now();
        while began.elapsed() < ARRIVAL / 5 {
            match stream.read(&mut part) {
                Ok(0) => break,
                Err(error) if !is_late(&error) => break,
                _ => {}
            }
        }
        Ok(())
    }

    /// The answer to a request, as bytes; none if these are only the beginning of a request.
    fn answer(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let reply = match http::read(bytes) {
            http::Read::Partial => return None,
            http::Read::Wrong(status, message) => Reply::wrong(status, message),
            http::Read::Whole(request) => self.reply(&request),
        };
        Some(reply.bytes())
    }

    fn reply(&self, request: &Request<'_>) -> Reply {
        let path = match self.admit(request) {
            Ok(path) => path,
            Err(reply) => return reply,
        };
        let parts: Vec<&str> = path.split('/').collect();
        let number = |text: &str| text.parse::<u64>().ok();
        match (request.method, parts.as_slice()) {
            ("GET", [""]) => self.start_page(),
            ("GET", ["text", n]) => {
                match number(n).and_then(|n| self.gallery.text(usize::try_from(n).ok()?)) {
                    Some(Ok(text)) => Reply::json(&json!({ "text": text })),
                    Some(Err(message)) => Reply::wrong(404, &message),
                    None => Reply::wrong(404, "there is no such program"),
                }
            }
            ("GET", ["job", id]) => self.progress(number(id)),
            ("GET", ["job", id, "page"]) => self.saved(number(id)),
            ("POST", ["job", id, "cancel"]) => {
                number(id).into_iter().for_each(|id| self.jobs.cancel(id));
                Reply::json(&json!({}))
            }
            ("POST", ["run"]) => understood(request, |ask| self.start(ask)),
            ("POST", ["errors"]) => understood(request, |written| self.errors(written)),
            ("GET" | "POST", _) => Reply::wrong(404, "there is nothing here"),
            _ => Reply::wrong(405, "only GET and POST are answered"),
        }
    }

    /// What a request asks for, if it is for this server, has its token, and comes from its page.
    fn admit<'b>(&self, request: &Request<'b>) -> Result<&'b str, Reply> {
        let is_here = |host: &str| self.hosts.iter().any(|known| known == host);
        match request.all("Host")[..] {
            [host] if is_here(host) => {}
            _ => return Err(Reply::wrong(403, "this server is not called that")),
        }
        let path = request.path.strip_prefix('/').and_then(|path| path.split_once('/'));
        let Some((_, path)) = path.filter(|(token, _)| is_same(token, &self.token)) else {
            let message = "this is not the address that `weir serve` printed";
            return Err(Reply::wrong(403, message));
        };
        match (&request.all("Origin")[..], request.method) {
            ([], "GET") => Ok(path),
            ([origin], _) if origin.strip_prefix("http://").is_some_and(is_here) => Ok(path),
            _ => Err(Reply::wrong(403, "this server answers its own page only")),
        }
    }

    /// The options of every process: its limits, and what it may include.
    fn limited(&self, name: &str, time: Duration) -> Vec<String> {
        let folder = self.folder.as_ref().map(|folder| folder.display().to_string());
        vec![
            format!("--stdin-name={name}"),
            format!("--timeout={}", time.as_secs_f64()),
            format!("--memory={}", self.limits.memory.unwrap_or(MEMORY)),
            format!("--{}={}", files::ONLY_BELOW, folder.as_deref().unwrap_or(files::NOTHING)),
        ]
    }

    /// What is wrong with a text, as another process finds out.
    fn errors(&self, written: Written) -> Reply {
        if written.name.chars().count() > MOST_NAME {
            return Reply::wrong(400, "the name is too long");
        }
        let time = self.limits.timeout.unwrap_or(READ_TIME).min(READ_TIME);
        let Ok(program) = std::env::current_exe() else {
            return Reply::wrong(500, "the program is gone");
        };
        let mut command = Command::new(program);
        command.args(["errors", "-"]).args(self.limited(&written.name, time));
        if let Some(folder) = &self.runs_in {
            command.current_dir(folder);
        }
        let input: Arc<[u8]> = written.text.into_bytes().into();
        let ended = process::run(&mut command, Some(input), || limits::budget().check(), POLL);
        match ended
            .ok()
            .and_then(|ended| serde_json::from_str::<serde_json::Value>(&ended.out).ok())
        {
            Some(errors) => Reply::json(&errors),
            None => {
                let message = "the text cannot be read within the limits";
                Reply::json(&json!([{ "error": { "message": message } }]))
            }
        }
    }

    fn start_page(&self) -> Reply {
        let engines: Vec<_> = ENGINES
            .iter()
            .map(|engine| json!({ "name": engine.name(), "about": engine.about() }))
            .collect();
        let named = MemoryModel::NAMED.iter().map(|(name, _)| (*name).to_owned());
        let models: Vec<String> = named.chain([MemoryModel::C11.to_string()]).collect();
        let data = json!({
            "weir": env!("CARGO_PKG_VERSION"),
            "gallery": self.gallery.entries(),
            "models": models,
            "engines": engines,
            "commands": COMMANDS,
        });
        match line(&data) {
            Ok(data) => Reply::html(page::application("Weir", &data, STYLE, SCRIPT)),
            Err(error) => Reply::wrong(500, &error.to_string()),
        }
    }

    fn start(&self, ask: Ask) -> Reply {
        let Some(command) = COMMANDS.into_iter().find(|command| *command == ask.command) else {
            return Reply::wrong(400, "there is no such command");
        };
        if !ENGINES.iter().any(|engine| engine.name() == ask.engine) {
            return Reply::wrong(400, "there is no such engine");
        }
        if let Err(message) = model(&ask.model) {
            return Reply::wrong(400, &message);
        }
        if ask.name.chars().count() > MOST_NAME {
            return Reply::wrong(400, "the name is too long");
        }
        let time = self.limits.timeout.unwrap_or(TIME);
        let mut words = vec![
            command.to_owned(),
            "-".to_owned(),
            "--format=json".to_owned(),
            format!("--threads={}", self.limits.threads.unwrap_or(1)),
        ];
        words.extend(self.limited(&ask.name, time));
        if !matches!(command, "compare" | "game") {
            words.push(format!("--model={}", ask.model));
        }
        if matches!(command, "check" | "compare" | "outcomes" | "graph") {
            words.push(format!("--engine={}", ask.engine));
        }
        match command {
            "outcomes" => words.push("--runs".to_owned()),
            "graph" => words.push("--most=5000".to_owned()),
            _ => {}
        }
        let folder = self.runs_in.clone();
        let order = Order { command, words, text: ask.text, name: ask.name, folder };
        match self.jobs.start(order) {
            Some(id) => Reply::json(&json!({ "job": id })),
            None => Reply::wrong(503, "there are too many requests at a time"),
        }
    }

    fn progress(&self, id: Option<u64>) -> Reply {
        match id.and_then(|id| self.jobs.progress(id)) {
            None => Reply::wrong(404, "there is no such request"),
            Some(Progress::Waiting) => Reply::json(&json!({ "state": "waiting" })),
            Some(Progress::Running(since)) => {
                Reply::json(&json!({ "state": "running", "seconds": since.as_secs() }))
            }
            Some(Progress::Ended(ended)) => Reply::json(&json!({
                "state": "ended", "status": ended.status, "out": ended.out, "err": ended.err,
            })),
        }
    }

    /// The report of a request as one file.
    fn saved(&self, id: Option<u64>) -> Reply {
        let Some((command, name, ended)) = id.and_then(|id| self.jobs.ended(id)) else {
            return Reply::wrong(404, "there is no such report");
        };
        let mut page = Page::new(command);
        // Errors are no reports.
        for report in ended.out.lines().filter(|l| !l.starts_with("{\"error\"")) {
            page.printed(&name, report);
        }
        if page.is_empty() {
            return Reply::wrong(404, "there is no such report");
        }
        let base = Path::new(&name).file_stem().unwrap_or_default().to_string_lossy();
        let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let base: String = base.chars().filter(is_plain).take(60).collect();
        Reply { saved_as: Some(format!("{base}-{command}.html")), ..Reply::html(page.html()) }
    }
}

/// Whether two texts are the same; how long that takes does not depend on where they differ.
fn is_same(one: &str, other: &str) -> bool {
    let pairs = one.bytes().zip(other.bytes());
    one.len() == other.len() && pairs.fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
}

/// Whether nothing arrived for a moment.
fn is_late(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), WouldBlock | TimedOut | Interrupted)
}

/// Answers what the body of a request says.
fn understood<T: for<'d> Deserialize<'d>>(
    request: &Request<'_>,
    reply: impl FnOnce(T) -> Reply,
) -> Reply {
    match serde_json::from_slice(request.body) {
        Ok(asked) => reply(asked),
        Err(error) => Reply::wrong(400, &format!("the request is not understood: {error}")),
    }
}
