//! `weir serve`, run by a test, and requests to it.
#![allow(dead_code, reason = "not every test needs all of it")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::root;

/// Longer than anything takes that a test waits for.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server. It ends with this value.
pub struct Served {
    child: Child,
    /// Its port.
    pub port: u16,
    /// What every path begins with.
    pub token: String,
}

/// An answer of a server.
#[derive(Debug)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// Its headers, in small letters.
    pub head: String,
    /// Its text.
    pub body: String,
}

impl Answer {
    /// The text as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }
}

impl Served {
    /// Starts a server with these options.
    pub fn start(options: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_weir"))
            .args(["serve", "--no-open"])
            .args(options)
            .current_dir(root())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let mut parts = line.split("127.0.0.1:").nth(1).unwrap_or_default().split('/');
        let port = parts.next().and_then(|port| port.parse().ok());
        let token = parts.next().unwrap_or_default().to_owned();
        assert_eq!(token.len(), 32, "no token: {line}");
        Self { child, port: port.unwrap_or_else(|| panic!("no address: {line}")), token }
    }

    /// The address of its page.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    /// Its process.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Sends a request as it is, and reads the answer.
    pub fn send(&self, request: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        // A server may answer and close before it has read everything.
        let _ = stream.write_all(request);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split_whitespace().nth(1).and_then(|s| s.parse().ok());
        let head = head.to_ascii_lowercase();
        let body = if head.contains("transfer-encoding: chunked") {
            joined(body)
        } else {
            body.to_owned()
        };
        Answer { status: status.unwrap_or_else(|| panic!("no answer: {text}")), head, body }
    }

    /// A request with the token and with headers besides `Host`.
    pub fn request(&self, method: &str, path: &str, headers: &str, body: &str) -> Answer {
        self.without_token(method, &format!("/{}{path}", self.token), headers, body)
    }

    /// A request with headers besides `Host`.
    pub fn without_token(&self, method: &str, path: &str, headers: &str, body: &str) -> Answer {
        let host = format!("Host: 127.0.0.1:{}\r\n", self.port);
        let host = if headers.contains("Host:") { String::new() } else { host };
        let length = body.len();
        self.send(
            format!(
                "{method} {path} HTTP/1.1\r\n{host}{headers}Connection: close\r\n\
                 Content-Length: {length}\r\n\r\n{body}"
            )
            .as_bytes(),
        )
    }

    /// Asks for something as the page does.
    pub fn get(&self, path: &str) -> Answer {
        self.request("GET", path, "", "")
    }

    /// Sends something as the page does.
    pub fn post(&self, path: &str, body: &Value) -> Answer {
        let origin = format!("Origin: http://127.0.0.1:{}\r\n", self.port);
        self.request("POST", path, &origin, &body.to_string())
    }

    /// Begins a command, and says its number.
    pub fn begin(&self, command: &str, text: &str) -> u64 {
        let answer = self.post(
            "/run",
            &json!({
                "command": command, "text": text, "name": "a.weir", "model": "TSO", "engine": "auto",
            }),
        );
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()["job"].as_u64().unwrap()
    }

    /// Waits until a command has ended.
    pub fn end(&self, job: u64) -> Value {
        let began = Instant::now();
        loop {
            let found = self.get(&format!("/job/{job}")).json();
            if found["state"] == "ended" {
                return found;
            }
            assert!(began.elapsed() < PATIENCE, "job {job} does not end: {found}");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // An interrupt also ends what it has begun.
        let process = self.child.id().to_string();
        let _ = Command::new("kill").args(["-INT", &process]).status();
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(5) {
            if self.child.try_wait().is_ok_and(|status| status.is_some()) {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The chunks of an answer in one piece.
fn joined(mut body: &str) -> String {
    let mut out = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        if size == 0 || rest.len() < size {
            break;
        }
        out += &rest[..size];
        body = rest[size..].trim_start_matches("\r\n");
    }
    out
}
