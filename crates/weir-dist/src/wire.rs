//! A connection that notices when it is dead.
//!
//! What timely sends is divided into frames. When there is nothing to send, an empty frame goes
//! out every now and then, so a process that hears nothing for long knows that the other one
//! is gone, even if nobody closed the connection.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use timely::communication::allocator::zero_copy::stream::Stream;

/// Why connections of a process were lost: the first reason.
#[derive(Clone, Debug, Default)]
pub struct Lost(Arc<Mutex<Option<String>>>);

impl Lost {
    fn note(&self, reason: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
    }

    /// The first reason, if there is one.
    pub fn reason(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// One end of a connection.
#[derive(Debug)]
struct Link {
    /// Who is at the other end, for messages.
    peer: String,
    /// What is written to, with space to put a frame together.
    out: Mutex<(TcpStream, Vec<u8>)>,
    /// Whether nothing more will be written.
    is_closed: AtomicBool,
    sent: AtomicU64,
    silence: Duration,
    lost: Lost,
}

/// A connection, for timely.
#[derive(Debug)]
pub struct Wire {
    stream: TcpStream,
    link: Arc<Link>,
    /// How much of a frame is still to be read.
    left: usize,
}

/// Sends signs of life on a connection, counts its bytes, and can cut it.
#[derive(Clone, Debug)]
pub struct Pulse(Arc<Link>);

impl Wire {
    /// A connection to `peer`, which is dead if nothing comes for so long.
    ///
    /// # Errors
    /// If the stream fails.
    pub fn new(
        stream: TcpStream,
        peer: String,
        silence: Duration,
        lost: &Lost,
    ) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(silence))?;
        stream.set_write_timeout(Some(silence))?;
        let out = Mutex::new((stream.try_clone()?, Vec::new()));
        let (is_closed, sent) = (AtomicBool::new(false), AtomicU64::new(0));
        let lost = lost.clone();
        let link = Arc::new(Link { peer, out, is_closed, sent, silence, lost });
        Ok(Self { stream, link, left: 0 })
    }

    /// What keeps it alive.
    pub fn pulse(&self) -> Pulse {
        Pulse(self.link.clone())
    }

    fn try_read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.left == 0 {
            let mut head = [0; 4];
            let mut have = 0;
            while have < head.len() {
                match self.stream.read(&mut head[have..])? {
                    0 if have == 0 => return Ok(0),
                    0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                    n => have += n,
                }
            }
            self.left = u32::from_le_bytes(head) as usize;
        }
        let most = buffer.len().min(self.left);
        let read = self.stream.read(&mut buffer[..most])?;
        if read == 0 && most > 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left -= read;
        Ok(read)
    }
}

impl Link {
    fn why(&self, error: Option<&io::Error>) -> String {
        let Self { peer, silence, .. } = self;
        match error.map(io::Error::kind) {
            Some(io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                format!("{peer} did not answer for {} s", silence.as_secs_f64())
            }
            _ => format!("the connection to {peer} was lost"),
        }
    }

    fn write_frame(&self, bytes: &[u8], out: &mut (TcpStream, Vec<u8>)) -> io::Result<()> {
        let (stream, frame) = out;
        frame.clear();
        frame.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        frame.extend_from_slice(bytes);
        self.sent.fetch_add(frame.len() as u64, Ordering::Relaxed);
        stream.write_all(frame)
    }
}

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.try_read(buffer);
        match &read {
            // At the end of a search this is as it should be: then nobody asks for the reason.
            Ok(0) if !buffer.is_empty() => self.link.lost.note(self.link.why(None)),
            Err(error) => self.link.lost.note(self.link.why(Some(error))),
            Ok(_) => {}
        }
        read
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // An empty frame is a sign of life.
        let part = &bytes[..bytes.len().min(1 << 20)];
        if part.is_empty() {
            return Ok(0);
        }
        let mut out = self.link.out.lock().unwrap_or_else(PoisonError::into_inner);
        match self.link.write_frame(part, &mut out) {
            Ok(()) => Ok(part.len()),
            Err(error) => {
                self.link.lost.note(self.link.why(Some(&error)));
                Err(error)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream for Wire {
    fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { stream: self.stream.try_clone()?, link: self.link.clone(), left: self.left })
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.stream.set_nonblocking(nonblocking)
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        let _out = self.link.out.lock().unwrap_or_else(PoisonError::into_inner);
        self.link.is_closed.store(true, Ordering::Relaxed);
        self.stream.shutdown(how)
    }
}

impl Pulse {
    /// Sends a sign of life, unless something is being sent anyway.
    pub fn beat(&self) {
        if let Ok(mut out) = self.0.out.try_lock()
            && !self.0.is_closed.load(Ordering::Relaxed)
        {
            // If it fails, the threads that use the connection will notice.
            let _ = self.0.write_frame(&[], &mut out);
        }
    }

    /// The bytes that were sent.
    pub fn sent(&self) -> u64 {
        self.0.sent.load(Ordering::Relaxed)
    }

    /// Cuts the connection.
    pub fn cut(&self, stream: &TcpStream) {
        self.0.is_closed.store(true, Ordering::Relaxed);
        let _ = stream.shutdown(Shutdown::Both);
    }
}
