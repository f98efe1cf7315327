//! A connection that notices when it is dead.
//!
//! What timely sends is divided into frames. When there is nothing to send, an empty frame goes
//! out every now and then, so a process that hears nothing for long knows that the other one
//! is gone, even if nobody closed the connection.
//!
//! A frame is its length, its bytes, and a tag: HMAC-SHA-256 of the number of the frame on this
//! connection, of the length and of the bytes, with a key for each direction. So a frame that
//! somebody else has made, changed, repeated, left out or moved is noticed, and ends the connection.
//! No byte of a frame is handed on before its tag was checked.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hmac::{Hmac, Mac};
use sha2::Sha256;
use timely::communication::allocator::zero_copy::stream::Stream;

/// The most bytes of a frame.
const LONGEST: usize = 1 << 20;

/// The bytes of the length of a frame, and of its tag.
const HEAD: usize = 4;
const TAG: usize = 32;

/// The keys of a connection: for what is sent, and for what comes.
#[derive(Clone)]
pub struct Keys {
    /// For frames that are sent.
    pub out: [u8; 32],
    /// For frames that come.
    pub incoming: [u8; 32],
}

impl fmt::Debug for Keys {
    /// They are secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keys")
    }
}

/// Makes or checks the tags of frames in one direction.
#[derive(Clone)]
struct Tags {
    mac: Hmac<Sha256>,
    /// The number of the next frame.
    next: u64,
}

impl fmt::Debug for Tags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tags").field("next", &self.next).finish_non_exhaustive()
    }
}

impl Tags {
    fn new(key: &[u8; 32]) -> io::Result<Self> {
        let mac = Hmac::new_from_slice(key).map_err(|e| io::Error::other(e.to_string()))?;
        Ok(Self { mac, next: 0 })
    }

    /// The keyed hash of the next frame, whose length and bytes these are.
    fn next(&mut self, frame: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.mac.clone();
        mac.update(&self.next.to_le_bytes());
        mac.update(frame);
        self.next += 1;
        mac
    }
}

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
    /// What is written to.
    out: Mutex<Out>,
    /// Whether nothing more will be written.
    is_closed: AtomicBool,
    sent: AtomicU64,
    silence: Duration,
    lost: Lost,
}

#[derive(Debug)]
struct Out {
    stream: TcpStream,
    /// Space to put a frame together.
    frame: Vec<u8>,
    tags: Tags,
}

/// A connection, for timely.
#[derive(Debug)]
pub struct Wire {
    stream: TcpStream,
    link: Arc<Link>,
    tags: Tags,
    /// The frame that is being read, from its length on.
    frame: Vec<u8>,
    /// How much of the frame has come.
    come: usize,
    /// What of its bytes was not handed on yet, once its tag was checked.
    ready: Range<usize>,
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
        keys: Keys,
        silence: Duration,
        lost: &Lost,
    ) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(silence))?;
        stream.set_write_timeout(Some(silence))?;
        let (copy, tags) = (stream.try_clone()?, Tags::new(&keys.out)?);
        let out = Mutex::new(Out { stream: copy, frame: Vec::new(), tags });
        let (is_closed, sent) = (AtomicBool::new(false), AtomicU64::new(0));
        let lost = lost.clone();
        let link = Arc::new(Link { peer, out, is_closed, sent, silence, lost });
        let tags = Tags::new(&keys.incoming)?;
        Ok(Self { stream, link, tags, frame: vec![0; HEAD], come: 0, ready: 0..0 })
    }

    /// What keeps it alive.
    pub fn pulse(&self) -> Pulse {
        Pulse(self.link.clone())
    }

    fn try_read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.ready.is_empty() {
            if !self.read_frame()? {
                return Ok(0);
            }
        }
        let most = buffer.len().min(self.ready.len());
        let from = self.ready.start;
        buffer[..most].copy_from_slice(&self.frame[from..from + most]);
        self.ready.start += most;
        if self.ready.is_empty() {
            self.begin_frame();
        }
        Ok(most)
    }

    /// Reads a frame and checks its tag; false if the connection was closed before it.
    fn read_frame(&mut self) -> io::Result<bool> {
        loop {
            if self.come == HEAD && self.frame.len() == HEAD {
                let len = self.frame_length();
                if len > LONGEST {
                    return Err(forged());
                }
                self.frame.resize(HEAD + len + TAG, 0);
            }
            if self.come == self.frame.len() {
                break;
            }
            match self.stream.read(&mut self.frame[self.come..])? {
                0 if self.come == 0 => return Ok(false),
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                n => self.come += n,
            }
        }
        let end = self.frame.len() - TAG;
        // In a time that does not depend on where the tags differ.
        let mac = self.tags.next(&self.frame[..end]);
        mac.verify_slice(&self.frame[end..]).map_err(|_| forged())?;
        // The space is kept until everything was handed on, which is before the next frame is read.
        self.ready = HEAD..end;
        if self.ready.is_empty() {
            self.begin_frame();
        }
        Ok(true)
    }

    fn frame_length(&self) -> usize {
        let head = self.frame.first_chunk::<HEAD>().copied().unwrap_or_default();
        u32::from_le_bytes(head) as usize
    }

    fn begin_frame(&mut self) {
        self.frame.truncate(HEAD);
        self.come = 0;
        self.ready = 0..0;
    }
}

/// A frame that the other end has not made.
fn forged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a frame is not authentic")
}

impl Link {
    fn why(&self, error: Option<&io::Error>) -> String {
        let Self { peer, silence, .. } = self;
        match error.map(io::Error::kind) {
            Some(io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                format!("{peer} did not answer for {} s", silence.as_secs_f64())
            }
            Some(io::ErrorKind::InvalidData) => {
                format!("what came from {peer} was changed on its way")
            }
            _ => format!("the connection to {peer} was lost"),
        }
    }

    fn write_frame(&self, bytes: &[u8], out: &mut Out) -> io::Result<()> {
        let Out { stream, frame, tags } = out;
        frame.clear();
        frame.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        frame.extend_from_slice(bytes);
        let tag = tags.next(frame).finalize().into_bytes();
        frame.extend_from_slice(&tag);
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
        let part = &bytes[..bytes.len().min(LONGEST)];
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
        let (stream, link) = (self.stream.try_clone()?, self.link.clone());
        let (tags, frame, ready) = (self.tags.clone(), self.frame.clone(), self.ready.clone());
        Ok(Self { stream, link, tags, frame, come: self.come, ready })
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// Two ends of a connection, and somebody between them who changes the bytes on their way.
    fn through(change: impl FnOnce(Vec<Vec<u8>>) -> Vec<Vec<u8>>) -> (Vec<u8>, Option<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let pair = || {
            let one = TcpStream::connect(address).unwrap();
            (one, listener.accept().unwrap().0)
        };
        let ((sender, mut from), (to, receiver)) = (pair(), pair());
        let (lost, silence) = (Lost::default(), Duration::from_secs(5));
        let keys = |out: u8, incoming: u8| Keys { out: [out; 32], incoming: [incoming; 32] };
        let mut sender =
            Wire::new(sender, "sender".into(), keys(1, 2), silence, &Lost::default()).unwrap();
        let mut receiver =
            Wire::new(receiver, "sender".into(), keys(2, 1), silence, &lost).unwrap();
        let mut frames = Vec::new();
        for text in [&b"first"[..], b"second", b"third"] {
            sender.write_all(text).unwrap();
            let mut frame = vec![0; HEAD + text.len() + TAG];
            from.read_exact(&mut frame).unwrap();
            frames.push(frame);
        }
        let mut to = to;
        for frame in change(frames) {
            to.write_all(&frame).unwrap();
        }
        to.shutdown(Shutdown::Write).unwrap();
        let (mut all, mut part) = (Vec::new(), [0; 7]);
        while let Ok(read @ 1..) = receiver.read(&mut part) {
            all.extend_from_slice(&part[..read]);
        }
        (all, lost.reason())
    }

    #[test]
    fn frames_arrive_whole_and_in_order() {
        let (all, _) = through(|frames| frames);
        assert_eq!(all, b"firstsecondthird");
    }

    #[test]
    fn who_changes_frames_is_noticed_and_nothing_is_handed_on() {
        let is_noticed = |(all, lost): (Vec<u8>, Option<String>), before: &[u8]| {
            assert_eq!(all, before);
            assert!(lost.is_some_and(|why| why.contains("was changed on its way")));
        };
        for at in 0..5 + HEAD + TAG {
            let flipped = through(|mut frames| {
                frames[1][at] ^= 1;
                frames
            });
            // A longer length waits for bytes that do not come.
            assert_eq!(flipped.0, b"first");
            assert!(flipped.1.is_some(), "{at}");
        }
        is_noticed(through(|f| vec![f[0].clone(), f[0].clone(), f[1].clone()]), b"first");
        is_noticed(through(|f| vec![f[0].clone(), f[2].clone()]), b"first");
        is_noticed(through(|f| vec![f[1].clone(), f[0].clone()]), b"");
        let made = [&3_u32.to_le_bytes()[..], b"foo", &[0; TAG]].concat();
        is_noticed(through(|_| vec![made]), b"");
        is_noticed(through(|_| vec![u32::MAX.to_le_bytes().to_vec()]), b"");
    }
}
