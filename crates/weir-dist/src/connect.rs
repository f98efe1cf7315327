//! How the processes of a search come together.
//!
//! Each process has an address in the list of hosts and listens there, nowhere else. A process
//! connects to all before it in the list. Both ends show that they know a secret, by a keyed
//! hash of numbers that they have just drawn; the secret itself is not sent. Then each tells the
//! other what it is about to search. Whoever does not know the secret is turned away, and
//! nothing it says has any effect.
//!
//! What is sent after that is not encrypted, but every frame is authenticated with a key of this
//! connection, which both ends derive from the secret and the numbers that they have drawn
//! ([`crate::wire`]). Who can write to the network can end a search, and change nothing.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use hmac::{Hmac, Mac};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::fault::Fault;
use crate::wire::Keys;

/// The first thing that is said: a change of the protocol changes this.
const PROTOCOL: &str = "weir-cluster 3";

/// How long one message of a greeting may take.
const GREETING: Duration = Duration::from_secs(3);

/// The most bytes of a message of a greeting.
const LONGEST: usize = 1 << 14;

/// How many strangers are heard at a time.
const STRANGERS: usize = 64;

/// How often an address is tried.
const AGAIN: Duration = Duration::from_millis(50);

/// The fewest bytes of a secret.
pub const SHORTEST_SECRET: usize = 16;

/// The processes of a search.
#[derive(Clone, Debug)]
pub struct Hosts {
    /// Their addresses.
    pub addresses: Vec<String>,
    /// Which one this process is.
    pub me: usize,
    /// What all of them know.
    pub secret: Vec<u8>,
    /// How long to wait for the others.
    pub wait: Duration,
    /// After how long without a sign of life another process is dead.
    pub silence: Duration,
}

/// A connection to a process that knows the secret, and its keys.
pub type Greeted = (TcpStream, Keys);

/// What a process is about to search. All have to be equal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// The version of Weir.
    pub version: String,
    /// The addresses of all processes.
    pub hosts: Vec<String>,
    /// The number of workers of each process.
    pub workers: usize,
    /// The fingerprint of the program.
    pub program: String,
    /// The questions, the memory model, and the bounds.
    pub task: String,
    /// Which search of this program it is.
    pub search: u64,
}

impl Subject {
    /// What is different, if something is.
    fn difference(&self, other: &Self, peer: &str) -> Option<String> {
        let differs = |what: &str| Some(format!("{peer} {what}"));
        match () {
            () if self.version != other.version => differs(&format!(
                "has version {} of Weir, and this process version {}",
                other.version, self.version
            )),
            () if self.hosts != other.hosts => differs("has a different list of hosts"),
            () if self.workers != other.workers => differs(&format!(
                "has {} workers, and this process {}; the number has to be the same",
                other.workers, self.workers
            )),
            () if self.program != other.program => differs("checks a different program"),
            () if self.task != other.task => {
                differs("asks different questions, or has another memory model or bound")
            }
            () if self.search != other.search => differs("is at a different search"),
            () => None,
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Hello {
    protocol: String,
    from: usize,
    to: usize,
    nonce: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Challenge {
    nonce: String,
}

/// A subject, and a keyed hash of all that was said before and of the subject.
#[derive(Debug, Serialize, Deserialize)]
struct Proof {
    subject: Subject,
    mac: String,
}

#[derive(Debug, Serialize, Deserialize)]
enum Welcome {
    Accepted(Proof),
    Refused,
}

impl Hosts {
    /// What a process is called in messages.
    pub fn name(&self, process: usize) -> String {
        match self.addresses.get(process) {
            Some(address) => format!("process {process} at {address}"),
            None => format!("process {process}"),
        }
    }

    /// Listens at the own address.
    ///
    /// # Errors
    /// If that is not possible.
    pub fn listen(&self) -> Result<TcpListener, Fault> {
        let address = &self.addresses[self.me];
        TcpListener::bind(address)
            .map_err(|e| Fault::Apart(format!("cannot listen at {address}: {}", plain(&e))))
    }

    fn mac(&self, side: &str, said: &(&Hello, &Challenge), subject: &Subject) -> Option<String> {
        let text = serde_json::to_vec(&(side, said, subject)).ok()?;
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.secret).ok()?;
        mac.update(&text);
        Some(hex(&mac.finalize().into_bytes()))
    }

    fn verify(&self, side: &str, said: &(&Hello, &Challenge), proof: &Proof) -> bool {
        let Some(bytes) = unhex(&proof.mac) else { return false };
        let Ok(text) = serde_json::to_vec(&(side, said, &proof.subject)) else { return false };
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.secret) else { return false };
        mac.update(&text);
        // In a time that does not depend on where they differ.
        mac.verify_slice(&bytes).is_ok()
    }

    /// The keys of a connection, for the end that called if `is_caller`.
    fn keys(&self, said: &(&Hello, &Challenge), is_caller: bool) -> Option<Keys> {
        let key = |from: &str| {
            let text = serde_json::to_vec(&("frames of the", from, said)).ok()?;
            let mut mac = Hmac::<Sha256>::new_from_slice(&self.secret).ok()?;
            mac.update(&text);
            Some(mac.finalize().into_bytes().into())
        };
        let (caller, called) = (key("caller")?, key("called")?);
        Some(match is_caller {
            true => Keys { out: caller, incoming: called },
            false => Keys { out: called, incoming: caller },
        })
    }

    /// Connects to all other processes that are about to search the same.
    ///
    /// # Errors
    /// If one of them cannot be reached in time, or is about to search something else.
    pub fn connect(
        &self,
        listener: &TcpListener,
        subject: &Subject,
    ) -> Result<Vec<Option<Greeted>>, Fault> {
        let deadline = Instant::now() + self.wait;
        let mut streams: Vec<Option<Greeted>> = self.addresses.iter().map(|_| None).collect();
        let (sender, receiver) = mpsc::channel();
        let refused = Arc::new(AtomicUsize::new(0));
        for to in 0..self.me {
            let (hosts, subject, sender) = (self.clone(), subject.clone(), sender.clone());
            thread::spawn(move || {
                let found = hosts.call(to, &subject, deadline);
                let _ = sender.send((to, found));
            });
        }
        let failed = |e: io::Error| Fault::Apart(format!("cannot listen: {}", plain(&e)));
        listener.set_nonblocking(true).map_err(failed)?;
        let heard = Arc::new(AtomicUsize::new(0));
        loop {
            while let Ok((process, found)) = receiver.try_recv() {
                let found: Greeted = found?;
                found.0.set_nonblocking(true).map_err(failed)?;
                streams[process] = Some(found);
            }
            let gone = streams.iter().position(|s| s.as_ref().is_some_and(|(s, _)| is_gone(s)));
            if let Some(gone) = gone {
                return Err(Fault::Apart(format!("{} has given up", self.name(gone))));
            }
            let missing = (0..streams.len()).find(|i| *i != self.me && streams[*i].is_none());
            let Some(missing) = missing else { break };
            if Instant::now() >= deadline {
                let strangers = match refused.load(Ordering::Relaxed) {
                    0 => String::new(),
                    n => format!("; connections without the right secret were refused: {n}"),
                };
                let wait = self.wait.as_secs_f64();
                let name = self.name(missing);
                return Err(Fault::Apart(format!(
                    "{name} did not come within {wait} s{strangers}"
                )));
            }
            match listener.accept() {
                Ok((stream, _)) => {
                    if heard.load(Ordering::Relaxed) >= STRANGERS {
                        continue;
                    }
                    heard.fetch_add(1, Ordering::Relaxed);
                    let (hosts, subject, sender) = (self.clone(), subject.clone(), sender.clone());
                    let (refused, heard) = (refused.clone(), heard.clone());
                    thread::spawn(move || {
                        match hosts.hear(stream, &subject) {
                            Some((from, found)) => drop(sender.send((from, found))),
                            None => drop(refused.fetch_add(1, Ordering::Relaxed)),
                        }
                        heard.fetch_sub(1, Ordering::Relaxed);
                    });
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    thread::sleep(Duration::from_millis(2));
                }
                // Somebody has gone before it was heard.
                Err(_) => thread::sleep(AGAIN),
            }
        }
        for (stream, _) in streams.iter().flatten() {
            stream.set_nonblocking(false).map_err(failed)?;
        }
        Ok(streams)
    }

    /// Connects to a process that is listening, or will be.
    fn call(&self, to: usize, subject: &Subject, deadline: Instant) -> Result<Greeted, Fault> {
        let name = self.name(to);
        let mut problem = "it does not answer".to_owned();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let wait = self.wait.as_secs_f64();
                return Err(Fault::Apart(format!(
                    "cannot reach {name} within {wait} s: {problem}"
                )));
            }
            match self.dial(&self.addresses[to], left.min(GREETING)) {
                Ok(stream) => match self.greet(stream, to, subject) {
                    Ok(Ok(found)) => return Ok(found),
                    Ok(Err(fault)) => return Err(fault),
                    // It may be about to end an earlier search.
                    Err(error) => problem = plain(&error),
                },
                Err(error) => problem = plain(&error),
            }
            thread::sleep(AGAIN);
        }
    }

    fn dial(&self, address: &str, timeout: Duration) -> io::Result<TcpStream> {
        let mut failed = io::Error::new(io::ErrorKind::NotFound, "there is no such address");
        for address in address.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, timeout.max(Duration::from_millis(1))) {
                Ok(stream) => return Ok(stream),
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    /// What a process says to one that is before it.
    fn greet(
        &self,
        mut stream: TcpStream,
        to: usize,
        subject: &Subject,
    ) -> io::Result<Result<Greeted, Fault>> {
        patience(&stream)?;
        let hello = Hello { protocol: PROTOCOL.to_owned(), from: self.me, to, nonce: nonce()? };
        say(&mut stream, &hello)?;
        let challenge: Challenge = hear(&mut stream)?;
        let said = (&hello, &challenge);
        let mac = self.mac("client", &said, subject).ok_or(io::ErrorKind::InvalidData)?;
        say(&mut stream, &Proof { subject: subject.clone(), mac })?;
        let name = self.name(to);
        let apart = |reason: String| Ok(Err(Fault::Apart(reason)));
        match hear(&mut stream)? {
            Welcome::Refused => apart(format!("{name} has a different secret")),
            Welcome::Accepted(proof) if !self.verify("server", &said, &proof) => {
                apart(format!("{name} does not know the secret"))
            }
            Welcome::Accepted(proof) => match subject.difference(&proof.subject, &name) {
                Some(difference) => apart(difference),
                None => {
                    let keys = self.keys(&said, true).ok_or(io::ErrorKind::InvalidData)?;
                    Ok(Ok((stream, keys)))
                }
            },
        }
    }

    /// Hears somebody who connects: which process it is, and whether it searches the same.
    fn hear(
        &self,
        mut stream: TcpStream,
        subject: &Subject,
    ) -> Option<(usize, Result<Greeted, Fault>)> {
        stream.set_nonblocking(false).ok()?;
        patience(&stream).ok()?;
        let hello: Hello = hear(&mut stream).ok()?;
        let is_one = hello.from > self.me && hello.from < self.addresses.len();
        if hello.protocol != PROTOCOL || hello.to != self.me || !is_one {
            return None;
        }
        let challenge = Challenge { nonce: nonce().ok()? };
        say(&mut stream, &challenge).ok()?;
        let proof: Proof = hear(&mut stream).ok()?;
        let said = (&hello, &challenge);
        if !self.verify("client", &said, &proof) {
            let _ = say(&mut stream, &Welcome::Refused);
            return None;
        }
        let mac = self.mac("server", &said, subject)?;
        let own = Proof { subject: subject.clone(), mac };
        say(&mut stream, &Welcome::Accepted(own)).ok()?;
        let keys = self.keys(&said, false)?;
        let difference = subject.difference(&proof.subject, &self.name(hello.from));
        let found = difference.map_or(Ok((stream, keys)), |reason| Err(Fault::Apart(reason)));
        Some((hello.from, found))
    }
}

fn patience(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(GREETING))?;
    stream.set_write_timeout(Some(GREETING))
}

/// A number that nobody can guess.
fn nonce() -> io::Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|e| io::Error::other(e.to_string()))?;
    Ok(hex(&bytes))
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Hexadecimal digits as bytes.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.is_ascii() || !text.len().is_multiple_of(2) {
        return None;
    }
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).ok()).collect()
}

fn say(stream: &mut TcpStream, message: &impl Serialize) -> io::Result<()> {
    let bytes = serde_json::to_vec(message)?;
    let len = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::InvalidData)?;
    stream.write_all(&[&len.to_le_bytes()[..], &bytes].concat())
}

fn hear<T: DeserializeOwned>(stream: &mut TcpStream) -> io::Result<T> {
    let deadline = Instant::now() + GREETING;
    let mut head = [0; 4];
    read_all(stream, &mut head, deadline)?;
    let len = u32::from_le_bytes(head) as usize;
    if len > LONGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; len];
    read_all(stream, &mut bytes, deadline)?;
    Ok(serde_json::from_slice(&bytes)?)
}

/// Fills the buffer before the deadline, however slowly the bytes come.
fn read_all(stream: &mut TcpStream, mut buffer: &mut [u8], deadline: Instant) -> io::Result<()> {
    while !buffer.is_empty() {
        let left = deadline.saturating_duration_since(Instant::now());
        stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
        match stream.read(buffer)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => buffer = &mut buffer[n..],
        }
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
    }
    Ok(())
}

/// Whether the other end of a connection was closed; the stream does not block.
fn is_gone(stream: &TcpStream) -> bool {
    match stream.peek(&mut [0]) {
        Ok(n) => n == 0,
        Err(error) => error.kind() != io::ErrorKind::WouldBlock,
    }
}

/// An error without its number.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error ").next().unwrap_or_default().to_owned()
}
