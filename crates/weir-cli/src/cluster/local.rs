//! Several processes on this machine: the first one starts the others.
//!
//! Each listens at a port of the loopback that the first one has opened: it hands the open socket
//! over as the standard input of the process, so no other program can take the port. The
//! secret is drawn for each search, and handed over in the environment, which only the same user
//! can read.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use weir_dist::{hex, unhex};

/// The variable that tells a process which one it is.
const ROLE: &str = "WEIR_CLUSTER_ROLE";

/// How long the other processes may take to end after this one.
const LAST: Duration = Duration::from_secs(2);

/// The processes that were started.
static CHILDREN: Mutex<Vec<Child>> = Mutex::new(Vec::new());

/// What a process needs to know about itself.
pub struct Role {
    pub addresses: Vec<String>,
    pub me: usize,
    pub secret: Vec<u8>,
    pub listener: TcpListener,
}

/// The role of this process, if another one has started it.
pub fn role() -> Option<Result<Role, String>> {
    let text = std::env::var(ROLE).ok()?;
    let read = || {
        let mut parts = text.split(' ');
        let me = parts.next()?.parse().ok()?;
        let secret = unhex(parts.next()?)?;
        let addresses: Vec<String> = parts.map(str::to_owned).collect();
        (me < addresses.len()).then_some((addresses, me, secret))
    };
    let role = read().ok_or_else(|| format!("{ROLE} is set by `weir` alone"));
    Some(role.and_then(|(addresses, me, secret)| {
        let listener = inherited().map_err(|e| format!("there is no socket to listen at: {e}"))?;
        Ok(Role { addresses, me, secret, listener })
    }))
}

#[cfg(unix)]
fn inherited() -> std::io::Result<TcpListener> {
    use std::os::fd::AsFd;
    let listener = TcpListener::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    listener.local_addr()?;
    Ok(listener)
}

#[cfg(not(unix))]
fn inherited() -> std::io::Result<TcpListener> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// Starts so many processes, of which this one is the first.
#[cfg(unix)]
pub fn start(count: usize) -> Result<Role, String> {
    use std::os::fd::OwnedFd;
    let failed = |e: std::io::Error| format!("cannot start {count} processes: {e}");
    let mut listeners = Vec::new();
    let mut addresses = Vec::new();
    for _ in 0..count {
        let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(failed)?;
        addresses.push(listener.local_addr().map_err(failed)?.to_string());
        listeners.push(listener);
    }
    let mut secret = vec![0; 32];
    getrandom::fill(&mut secret).map_err(|e| format!("cannot draw a secret: {e}"))?;
    let program = std::env::current_exe().map_err(failed)?;
    let mut listeners = listeners.into_iter().enumerate();
    let own = listeners.next().map(|(_, listener)| listener);
    for (i, listener) in listeners {
        let role = format!("{i} {} {}", hex(&secret), addresses.join(" "));
        let child = Command::new(&program)
            .args(std::env::args_os().skip(1))
            .env(ROLE, role)
            .stdin(Stdio::from(OwnedFd::from(listener)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        CHILDREN.lock().unwrap_or_else(PoisonError::into_inner).push(child);
    }
    let listener = own.ok_or_else(|| "there is no process to start".to_owned())?;
    Ok(Role { addresses, me: 0, secret, listener })
}

/// Starts so many processes, of which this one is the first.
#[cfg(not(unix))]
pub fn start(_: usize) -> Result<Role, String> {
    Err("--processes is not for this system; use --workers, or --hosts".to_owned())
}

/// Waits a little for the processes that were started, and ends those that remain.
pub fn end() {
    let mut children = CHILDREN.lock().unwrap_or_else(PoisonError::into_inner);
    let since = Instant::now();
    for child in children.iter_mut() {
        while matches!(child.try_wait(), Ok(None)) {
            if since.elapsed() > LAST {
                let _ = child.kill();
                let _ = child.wait();
                break;
            }
            thread::sleep(Duration::from_millis(2));
        }
    }
    children.clear();
}
