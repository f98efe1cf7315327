//! Requests and answers of HTTP/1.1, as bytes: one request for each connection.

/// The most bytes of a request line with its headers, and of a body.
const MOST_HEAD: usize = 16 << 10;
pub const MOST_BODY: usize = 1 << 20;

/// A request.
#[derive(Debug, PartialEq, Eq)]
pub struct Request<'b> {
    pub method: &'b str,
    /// The path, without what follows a question mark.
    pub path: &'b str,
    headers: Vec<(&'b str, &'b str)>,
    pub body: &'b [u8],
}

impl<'b> Request<'b> {
    /// The values of all headers of a name.
    pub fn all(&self, name: &str) -> Vec<&'b str> {
        let found = self.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| *value).collect()
    }
}

/// What some bytes are.
#[derive(Debug, PartialEq, Eq)]
pub enum Read<'b> {
    /// The beginning of a request.
    Partial,
    Whole(Request<'b>),
    /// No request: a status, and what is wrong.
    Wrong(u16, &'static str),
}

/// Reads a request.
pub fn read(bytes: &[u8]) -> Read<'_> {
    const END: &[u8] = b"\r\n\r\n";
    let head = bytes.windows(END.len()).take(MOST_HEAD).position(|window| window == END);
    let Some(head) = head else {
        return match bytes.len() > MOST_HEAD {
            true => Read::Wrong(431, "the headers are too long"),
            false => Read::Partial,
        };
    };
    let rest = &bytes[head + END.len()..];
    let Ok(text) = std::str::from_utf8(&bytes[..head]) else {
        return Read::Wrong(400, "the headers are no text");
    };
    let mut lines = text.split("\r\n");
    let words: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
    let [method, target, "HTTP/1.0" | "HTTP/1.1"] = words[..] else {
        return Read::Wrong(400, "this is not a request of HTTP/1.1");
    };
    let mut headers = Vec::new();
    for line in lines {
        let is_name = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        match line.split_once(':') {
            Some((name, value)) if !name.is_empty() && name.chars().all(is_name) => {
                headers.push((name, value.trim_matches([' ', '\t'])));
            }
            _ => return Read::Wrong(400, "a header is wrong"),
        }
    }
    let path = target.split('?').next().unwrap_or_default();
    let request = Request { method, path, headers, body: &[] };
    if !request.all("Transfer-Encoding").is_empty() {
        return Read::Wrong(411, "a request says how long it is");
    }
    let length = match request.all("Content-Length")[..] {
        [] => 0,
        [length] if !length.is_empty() && length.bytes().all(|b| b.is_ascii_digit()) => {
            length.parse().unwrap_or(usize::MAX)
        }
        _ => return Read::Wrong(400, "the length is wrong"),
    };
    if length > MOST_BODY {
        return Read::Wrong(413, "a request has at most 1 MiB");
    }
    match rest.get(..length) {
        Some(body) => Read::Whole(Request { body, ..request }),
        None => Read::Partial,
    }
}

/// The bytes of an answer.
pub fn answer(status: u16, headers: &[(&str, String)], body: &str) -> Vec<u8> {
    let word = match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        411 => "Length Required",
        413 => "Content Too Large",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "Error",
    };
    let mut head = format!("HTTP/1.1 {status} {word}\r\n");
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    head += &format!("Content-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    [head.as_bytes(), body.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_whole() {
        let bytes = b"POST /a?b HTTP/1.1\r\nHost: h\r\ncontent-length: 3\r\n\r\nabc";
        for end in 0..bytes.len() {
            assert_eq!(read(&bytes[..end]), Read::Partial, "{end}");
        }
        let Read::Whole(request) = read(bytes) else { panic!("it is whole") };
        assert_eq!((request.method, request.path, request.body), ("POST", "/a", &b"abc"[..]));
        assert_eq!(request.all("HOST"), ["h"]);
    }

    #[test]
    fn what_is_no_request_is_told() {
        let status = |bytes: &[u8]| match read(bytes) {
            Read::Wrong(status, _) => status,
            other => panic!("{other:?}"),
        };
        assert_eq!(status(b"GET /\r\n\r\n"), 400);
        assert_eq!(status(b"GET / HTTP/2\r\n\r\n"), 400);
        assert_eq!(status(b"GET / HTTP/1.1\r\n folded: x\r\n\r\n"), 400);
        assert_eq!(status(b"GET / HTTP/1.1\r\nno header\r\n\r\n"), 400);
        assert_eq!(status(b"GET / HTTP/1.1\r\nA: \xff\r\n\r\n"), 400);
        let length = |value: &str| format!("POST / HTTP/1.1\r\nContent-Length: {value}\r\n\r\n");
        assert_eq!(status(length("-1").as_bytes()), 400);
        assert_eq!(status(length("1\r\nContent-Length: 2").as_bytes()), 400);
        assert_eq!(status(length("99999999999999999999999").as_bytes()), 413);
        assert_eq!(status(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"), 411);
        assert_eq!(status(&[b'a'; 20 << 10]), 431);
    }
}
