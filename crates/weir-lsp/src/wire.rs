//! Messages between an editor and the server: JSON, each behind a header with its length.
//!
//! A message that is no JSON, or longer than [`MAX_MESSAGE`], is passed over and reported; the next
//! one is read as usual. Only a header without a length ends the exchange: then it is unknown where
//! the next message begins.

use std::io::{self, BufRead, Read, Write};

use serde::Deserialize;
use serde_json::{Value, json};

/// The longest message that is read, in bytes.
pub const MAX_MESSAGE: usize = 64 << 20;

/// The longest line of a header.
const MAX_HEADER: u64 = 4 << 10;

/// A message from the editor.
#[derive(Clone, Debug, Deserialize)]
pub struct Message {
    /// The number of a request or of what is answered; a notification has none.
    pub id: Option<Value>,
    /// What is asked or told; an answer has none.
    pub method: Option<String>,
    /// With what.
    #[serde(default)]
    pub params: Value,
}

/// What was read.
#[derive(Debug)]
pub enum Incoming {
    /// A message.
    Message(Message),
    /// Something that is no message, and why.
    Wrong(String),
    /// The end of the input, or an error that cannot be distinguished from it.
    End,
}

/// Error codes of the protocol.
pub mod code {
    /// The text is no JSON.
    pub const PARSE: i32 = -32700;
    /// The message is not a request.
    pub const INVALID_REQUEST: i32 = -32600;
    /// The method is unknown.
    pub const UNKNOWN_METHOD: i32 = -32601;
    /// The parameters do not fit the method.
    pub const INVALID_PARAMS: i32 = -32602;
    /// The server is at fault.
    pub const INTERNAL: i32 = -32603;
    /// `initialize` has to come first.
    pub const NOT_INITIALIZED: i32 = -32002;
    /// The request is fine, and cannot be done.
    pub const FAILED: i32 = -32803;
}

/// Reads the next message.
pub fn read(input: &mut impl BufRead) -> Incoming {
    let length = match length(input) {
        Ok(Some(length)) => length,
        Ok(None) | Err(_) => return Incoming::End,
    };
    if length > MAX_MESSAGE {
        let skipped = io::copy(&mut input.take(length as u64), &mut io::sink());
        return match skipped {
            Ok(n) if n == length as u64 => Incoming::Wrong(format!(
                "a message of {length} bytes; at most {MAX_MESSAGE} are read"
            )),
            _ => Incoming::End,
        };
    }
    let mut bytes = Vec::new();
    match input.take(length as u64).read_to_end(&mut bytes) {
        Ok(n) if n == length => {}
        _ => return Incoming::End,
    }
    match serde_json::from_slice(&bytes) {
        Ok(message) => Incoming::Message(message),
        Err(error) => Incoming::Wrong(format!("this is no message: {error}")),
    }
}

/// The length in the header of the next message; none at the end.
fn length(input: &mut impl BufRead) -> io::Result<Option<usize>> {
    let mut length = None;
    let mut line = Vec::new();
    loop {
        line.clear();
        input.take(MAX_HEADER).read_until(b'\n', &mut line)?;
        if !line.ends_with(b"\n") {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        if text.is_empty() {
            // Blank lines before a header are passed over.
            if length.is_some() {
                return Ok(length);
            }
            continue;
        }
        if let Some((name, value)) = text.split_once(':')
            && name.trim().eq_ignore_ascii_case("content-length")
        {
            length = Some(value.trim().parse().map_err(io::Error::other)?);
        }
    }
}

/// Writes a message.
///
/// # Errors
/// If it cannot be written.
pub fn write(output: &mut impl Write, message: &Value) -> io::Result<()> {
    let text = message.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}

/// The answer to a request.
pub fn result(id: &Value, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

/// That a request has no answer, and why.
pub fn error(id: &Value, code: i32, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

/// Something that the editor is told.
pub fn notification(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

/// Something that the editor is asked.
pub fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": format!("weir-{id}"), "method": method, "params": params})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_message_is_passed_over() {
        let mut bytes = Vec::new();
        for body in ["nonsense", "[1, 2]", r#"{"id":1,"method":"x"}"#] {
            bytes.extend(format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes());
        }
        let mut input = &bytes[..];
        assert!(matches!(read(&mut input), Incoming::Wrong(_)));
        assert!(matches!(read(&mut input), Incoming::Wrong(_)));
        let Incoming::Message(message) = read(&mut input) else { panic!("no message") };
        assert_eq!((message.id, message.method.as_deref()), (Some(json!(1)), Some("x")));
        assert!(matches!(read(&mut input), Incoming::End));
    }

    #[test]
    fn a_length_that_nobody_has_allocates_nothing() {
        for header in ["Content-Length: 99999999999\r\n\r\nx", "Content-Length: -1\r\n\r\n", "junk"]
        {
            assert!(matches!(read(&mut header.as_bytes()), Incoming::End), "{header}");
        }
    }

    #[test]
    fn what_is_written_can_be_read() {
        let mut bytes = Vec::new();
        write(&mut bytes, &notification("é", &json!({"a": "\u{1f600}\n"}))).unwrap();
        let Incoming::Message(message) = read(&mut &bytes[..]) else { panic!("no message") };
        assert_eq!(message.method.as_deref(), Some("é"));
        assert_eq!(message.params, json!({"a": "\u{1f600}\n"}));
    }
}
