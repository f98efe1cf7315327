//! Weir in an editor: a server for the Language Server Protocol.
//!
//! An editor starts `weir lsp`, sends the texts that are open, and asks about them. [`serve`]
//! answers until the editor ends it.
//!
//! * What is asked about names (`outline`, `hover`, `completion`, `tokens`) is computed from the
//!   text at once, also while it has errors.
//! * A text is read by one thread, which finds its errors, and checked by another (`checks`,
//!   `worker`). A change of the text cancels both, and what they find about an old text is dropped.
//! * `report` turns errors and answers into what an editor shows, `runs` shows a run in the text.
//! * `wire` reads and writes messages, `lines` translates positions, which count UTF-16 code units.
//!
//! A panic ends a check or a request, and nothing else.
//!
//! ```
//! use weir_lsp::{Ended, Settings, serve};
//!
//! let message = |text: &str| format!("Content-Length: {}\r\n\r\n{text}", text.len());
//! let input = [
//!     message(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#),
//!     message(r#"{"jsonrpc":"2.0","id":2,"method":"shutdown"}"#),
//!     message(r#"{"jsonrpc":"2.0","method":"exit"}"#),
//! ]
//! .concat();
//! let mut output = Vec::new();
//! let input = std::io::Cursor::new(input.into_bytes());
//! let ended = serve(input, &mut output, Settings::default())?;
//! assert_eq!(ended, Ended::Properly);
//! assert!(String::from_utf8_lossy(&output).contains("hoverProvider"));
//! # Ok::<(), std::io::Error>(())
//! ```

mod capabilities;
mod checks;
mod completion;
mod document;
mod hover;
mod lines;
mod outline;
mod report;
mod runs;
mod server;
mod tokens;
mod wire;
mod worker;

use std::io::{BufReader, Read, Write};
use std::sync::mpsc;
use std::thread;

pub use checks::{Settings, Trial, Try};
pub use server::Ended;

use server::{Event, Server};
use wire::Incoming;

/// Answers an editor until it ends.
///
/// # Errors
/// If there can be no threads.
pub fn serve(
    input: impl Read + Send + 'static,
    output: impl Write,
    settings: Settings,
) -> std::io::Result<Ended> {
    let (events, heard) = mpsc::channel();
    let mut server = Server::new(output, settings, &events)?;
    // It is not waited for: it may read for ever.
    thread::Builder::new().name("input".to_owned()).spawn(move || {
        let mut input = BufReader::new(input);
        loop {
            let event = match wire::read(&mut input) {
                Incoming::Message(message) => Event::Message(message),
                Incoming::Wrong(why) => Event::Nonsense(why),
                Incoming::End => Event::End,
            };
            let is_end = matches!(event, Event::End);
            if events.send(event).is_err() || is_end {
                return;
            }
        }
    })?;
    while let Ok(event) = heard.recv() {
        if let Some(ended) = server.hear(event) {
            return Ok(ended);
        }
    }
    Ok(Ended::Early)
}
