//! `weir serve`: a page on which programs are written and checked, for this machine alone.
//!
//! * The server listens on the loopback address, and answers only requests whose `Host` is that
//!   address: a page of another site cannot reach it under a name of its own (DNS rebinding).
//! * A request that does something needs the `Origin` of the page itself, so that no other page
//!   can make one.
//! * Programs are asked for by number, and nothing is written to a file.
//! * What takes time is done by other processes, with limits: see [`jobs`].

mod gallery;
mod jobs;

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;
use tiny_http::{Header, Method, Request, Response, Server};
use weir::load::program;
use weir::report::json::{ErrorReport, line};
use weir::report::page::{self, Page};
use weir::{ENGINES, MemoryModel, Reading};

use super::{Status, complain, fail, print};
use crate::cli::options::model;
use crate::cli::{LimitArgs, Serve};
use crate::limits;
use crate::output;

use gallery::Gallery;
use jobs::{Jobs, Order, Progress};

const STYLE: &str = include_str!("serve/serve.css");
const SCRIPT: &str = include_str!("serve/serve.js");

/// The limits of a request by default.
const TIME: Duration = Duration::from_secs(60);
const MEMORY: u32 = 1024;

/// The largest request, in bytes.
const MOST_BODY: usize = 1 << 20;

/// The longest name of a program.
const MOST_NAME: usize = 200;

/// How many threads answer requests. None of them does anything that takes long.
const WORKERS: usize = 4;

/// How often a thread that waits for requests looks whether it should end.
const LOOK: Duration = Duration::from_millis(50);

/// The commands that the page has, in the order of its buttons.
const COMMANDS: [&str; 8] =
    ["check", "compare", "fences", "outcomes", "robust", "live", "game", "graph"];

pub fn run(args: &Serve, limits: LimitArgs) -> Status {
    let gallery = match Gallery::new(args.target.as_deref()) {
        Ok(gallery) => gallery,
        Err(error) => return complain(&error),
    };
    let server = match Server::http(("127.0.0.1", args.port)) {
        Ok(server) => server,
        Err(error) => {
            let why = match error.downcast_ref::<std::io::Error>() {
                Some(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
                    "another program uses it; without `--port`, Weir picks one that is free"
                        .to_owned()
                }
                Some(error) => output::plain(error),
                None => error.to_string(),
            };
            return fail(&format!("cannot listen on port {}: {why}", args.port));
        }
    };
    let Some(port) = server.server_addr().to_ip().map(|address| address.port()) else {
        return fail("the server has no port");
    };
    let address = format!("http://127.0.0.1:{port}/");
    print(&format!("Weir is at {address}; an interrupt ends it\n"));
    if output::finish(Status::Fine) != Status::Fine {
        return Status::Wrong;
    }
    if !args.no_open {
        open(&address);
    }
    let jobs = Arc::new(Jobs::new());
    let app = App { hosts: hosts(port), gallery, jobs: jobs.clone(), limits };
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while limits::budget().check().is_ok() {
                    if let Ok(Some(request)) = server.recv_timeout(LOOK) {
                        app.answer(request);
                    }
                }
            });
        }
    });
    jobs.close();
    Status::Fine
}

/// What a browser may call this server.
fn hosts(port: u16) -> [String; 2] {
    [format!("127.0.0.1:{port}"), format!("localhost:{port}")]
}

/// Opens a browser, if the system knows how. The address was printed in any case.
fn open(address: &str) {
    let (program, words): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("cmd", &["/c", "start", ""]),
        _ => ("xdg-open", &[]),
    };
    let mut command = Command::new(program);
    command.args(words).arg(address);
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Ok(mut child) = quiet.spawn() {
        thread::spawn(move || child.wait());
    }
}

/// What is the same for all requests.
struct App {
    hosts: [String; 2],
    gallery: Gallery,
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
    fn answer(&self, mut request: Request) {
        let reply = self.reply(&mut request);
        let mut response = Response::from_string(reply.text).with_status_code(reply.status);
        let headers = [
            ("Content-Type", reply.kind.to_owned()),
            ("Cache-Control", "no-store".to_owned()),
            ("X-Content-Type-Options", "nosniff".to_owned()),
            ("X-Frame-Options", "DENY".to_owned()),
            ("Referrer-Policy", "no-referrer".to_owned()),
            ("Cross-Origin-Resource-Policy", "same-origin".to_owned()),
        ];
        let saved = reply
            .saved_as
            .map(|name| ("Content-Disposition", format!("attachment; filename=\"{name}\"")));
        for (name, value) in headers.into_iter().chain(saved) {
            if let Ok(header) = Header::from_bytes(name, value) {
                response.add_header(header);
            }
        }
        // Nobody has to be there to read it.
        let _ = request.respond(response);
    }

    fn reply(&self, request: &mut Request) -> Reply {
        if let Err(reply) = self.admit(request) {
            return reply;
        }
        let path = request.url().split('?').next().unwrap_or_default().to_owned();
        let parts: Vec<&str> = path.split('/').skip(1).collect();
        let number = |text: &str| text.parse::<u64>().ok();
        match (request.method(), parts.as_slice()) {
            (Method::Get, [""]) => self.start_page(),
            (Method::Get, ["text", n]) => {
                match number(n).and_then(|n| self.gallery.text(usize::try_from(n).ok()?)) {
                    Some(Ok(text)) => Reply::json(&json!({ "text": text })),
                    Some(Err(message)) => Reply::wrong(404, &message),
                    None => Reply::wrong(404, "there is no such program"),
                }
            }
            (Method::Get, ["job", id]) => self.progress(number(id)),
            (Method::Get, ["job", id, "page"]) => self.saved(number(id)),
            (Method::Post, ["job", id, "cancel"]) => {
                number(id).into_iter().for_each(|id| self.jobs.cancel(id));
                Reply::json(&json!({}))
            }
            (Method::Post, ["run"]) => self.body(request, |ask| self.start(ask)),
            (Method::Post, ["errors"]) => self.body(request, errors),
            (Method::Get | Method::Post, _) => Reply::wrong(404, "there is nothing here"),
            _ => Reply::wrong(405, "only GET and POST are answered"),
        }
    }

    /// Whether a request is for this server, and comes from its page.
    fn admit(&self, request: &Request) -> Result<(), Reply> {
        let all = |name: &'static str| {
            let found = request.headers().iter().filter(move |h| h.field.equiv(name));
            found.map(|h| h.value.as_str().to_owned()).collect::<Vec<_>>()
        };
        let is_here = |host: &str| self.hosts.iter().any(|known| known == host);
        match all("Host").as_slice() {
            [host] if is_here(host) => {}
            _ => return Err(Reply::wrong(403, "this server is not called that")),
        }
        match (all("Origin").as_slice(), request.method()) {
            ([], Method::Get) => Ok(()),
            ([origin], _) if origin.strip_prefix("http://").is_some_and(is_here) => Ok(()),
            _ => Err(Reply::wrong(403, "this server answers its own page only")),
        }
    }

    /// Reads what a request sends, and answers it.
    fn body<T: for<'d> Deserialize<'d>>(
        &self,
        request: &mut Request,
        reply: impl FnOnce(T) -> Reply,
    ) -> Reply {
        let too_large = || Reply::wrong(413, "a request has at most 1 MiB");
        if request.body_length().is_some_and(|length| length > MOST_BODY) {
            return too_large();
        }
        let mut bytes = Vec::new();
        match request.as_reader().take(MOST_BODY as u64 + 1).read_to_end(&mut bytes) {
            Ok(read) if read > MOST_BODY => return too_large(),
            Ok(_) => {}
            Err(_) => return Reply::wrong(400, "the request ended too early"),
        }
        match serde_json::from_slice(&bytes) {
            Ok(asked) => reply(asked),
            Err(error) => Reply::wrong(400, &format!("the request is not understood: {error}")),
        }
    }

    fn start_page(&self) -> Reply {
        let engines: Vec<_> = ENGINES
            .iter()
            .map(|engine| json!({ "name": engine.name(), "about": engine.about() }))
            .collect();
        let models: Vec<&str> = MemoryModel::NAMED.iter().map(|(name, _)| *name).collect();
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
        let time = self.limits.timeout.unwrap_or(TIME).as_secs_f64();
        let mut words = vec![
            command.to_owned(),
            "-".to_owned(),
            "--format=json".to_owned(),
            format!("--stdin-name={}", ask.name),
            format!("--timeout={time}"),
            format!("--memory={}", self.limits.memory.unwrap_or(MEMORY)),
            format!("--threads={}", self.limits.threads.unwrap_or(1)),
        ];
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
        let order = Order { command, words, text: ask.text, name: ask.name };
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

/// What is wrong with a text.
fn errors(written: Written) -> Reply {
    let found = program(&written.name, &written.text, &Reading::default());
    let errors = found.err().map(|error| ErrorReport::of_load(&error)).unwrap_or_default();
    Reply::json(&errors)
}
