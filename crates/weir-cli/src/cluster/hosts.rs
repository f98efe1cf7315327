//! The files that describe a cluster: its hosts, and its secret.

use std::fs;
use std::path::Path;

use weir_dist::SHORTEST_SECRET;

use crate::output::plain;

/// The most hosts.
const MOST: usize = 1024;

/// The addresses of a hosts file: one in a line, `host:port`; `#` begins a comment.
pub fn read(path: &Path) -> Result<Vec<String>, String> {
    let text = fs::read_to_string(path)
        .map_err(|e| format!("cannot read {}: {}", path.display(), plain(&e)))?;
    parse(&text).map_err(|message| format!("{}: {message}", path.display()))
}

fn parse(text: &str) -> Result<Vec<String>, String> {
    let mut addresses: Vec<String> = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let address = line.split('#').next().unwrap_or_default().trim();
        if address.is_empty() {
            continue;
        }
        let wrong = |what: &str| Err(format!("line {}: {what}", i + 1));
        let port = address.rsplit_once(':').filter(|(host, _)| !host.is_empty());
        match port.map(|(_, port)| port.parse::<u16>()) {
            Some(Ok(1..)) => {}
            _ => return wrong("an address with a port is expected, such as `10.0.0.7:2101`"),
        }
        if address.contains(char::is_whitespace) {
            return wrong("one address in a line is expected");
        }
        if addresses.iter().any(|known| known == address) {
            return wrong("this address is there already");
        }
        if addresses.len() == MOST {
            return wrong("there are more than 1024 addresses");
        }
        addresses.push(address.to_owned());
    }
    match addresses.is_empty() {
        true => Err("there is no address".to_owned()),
        false => Ok(addresses),
    }
}

/// The secret in a file that only its owner can read.
pub fn read_secret(path: &Path) -> Result<Vec<u8>, String> {
    let name = path.display();
    let failed = |e: std::io::Error| format!("cannot read {name}: {}", plain(&e));
    if is_open(&fs::metadata(path).map_err(failed)?) {
        return Err(format!(
            "others can read the secret in {name}; `chmod 600 {name}` changes that"
        ));
    }
    let mut secret = fs::read(path).map_err(failed)?;
    while secret.last().is_some_and(u8::is_ascii_whitespace) {
        secret.pop();
    }
    match secret.len() < SHORTEST_SECRET {
        true => Err(format!(
            "the secret in {name} is too short: it needs {SHORTEST_SECRET} characters, such as those \
             that `openssl rand -hex 32` prints"
        )),
        false => Ok(secret),
    }
}

#[cfg(unix)]
fn is_open(file: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.permissions().mode() & 0o077 != 0
}

#[cfg(not(unix))]
fn is_open(_: &fs::Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn a_hosts_file_has_an_address_in_each_line() {
        let text = "# the cluster\n10.0.0.1:2101\n\n  node-2:2101 # the large one\n[::1]:7\n";
        assert_eq!(parse(text).unwrap(), ["10.0.0.1:2101", "node-2:2101", "[::1]:7"]);
        for (text, wrong) in [
            ("", "no address"),
            ("a:1\nb\n", "line 2: an address with a port"),
            (":1\n", "line 1"),
            ("a:0\n", "line 1"),
            ("a:99999\n", "line 1"),
            ("a:1\na:1\n", "line 2: this address"),
            ("a b:1\n", "one address"),
        ] {
            assert!(parse(text).unwrap_err().contains(wrong), "{text:?}");
        }
        let many: String = (1..2000).map(|i| format!("h{i}:1\n")).collect();
        assert!(parse(&many).unwrap_err().contains("line 1025"));
    }
}
