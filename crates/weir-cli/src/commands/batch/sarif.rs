//! Results as SARIF 2.1.0 (OASIS 2020): what is violated, unknown or wrong, at its line. Code hosts
//! show these beside the code.

use serde_json::{Value, json};

use super::super::Status;
use super::rows::Row;
use super::run::Item;
use crate::output::json as line_of_json;

/// The rules that results name: an id, a level and what it means.
const RULES: [(&str, &str, &str); 3] = [
    (
        "violated",
        "error",
        "A property is violated: some run of the program under the memory model violates it.",
    ),
    (
        "unknown",
        "warning",
        "It is unknown whether a property holds: a limit was reached, or the question is undecidable.",
    ),
    ("error", "error", "The program cannot be read, or what is asked of it cannot be asked."),
];

/// The document of all results.
pub fn document(results: &[(Item, Vec<Row>, f64)]) -> String {
    let rules = RULES.map(|(id, level, about)| {
        json!({
            "id": id,
            "shortDescription": { "text": about },
            "defaultConfiguration": { "level": level },
        })
    });
    let found: Vec<Value> = results
        .iter()
        .flat_map(|(item, rows, _)| rows.iter().filter_map(|row| result(item, row)))
        .collect();
    let is_complete = !results.iter().any(|(_, rows, _)| {
        rows.iter().any(|row| matches!(row.status, Status::Wrong | Status::Internal))
    });
    let document = json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "Weir",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "invocations": [{ "executionSuccessful": is_complete }],
            "columnKind": "unicodeCodePoints",
            "results": found,
        }],
    });
    line_of_json(&document).expect("results have a form in JSON") + "\n"
}

fn result(item: &Item, row: &Row) -> Option<Value> {
    let rule = match row.status {
        Status::Fine => return None,
        Status::Violated => 0,
        Status::Unknown => 1,
        Status::Wrong | Status::Internal => 2,
    };
    let (id, level, _) = RULES[rule];
    let subject = match row.property.as_str() {
        "" => String::new(),
        name => format!("`{name}` is {} under {}", row.verdict, item.model),
    };
    let parts = [subject, row.message.clone()];
    let message: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let own = (item.file.clone(), row.line.unwrap_or(1).max(1));
    let (file, line) = item.place.clone().unwrap_or(own);
    let message = match &item.place {
        Some(_) => format!("{}: {}", item.file, message.join(": ")),
        None => message.join(": "),
    };
    Some(json!({
        "ruleId": id,
        "ruleIndex": rule,
        "level": level,
        "message": { "text": message },
        "locations": [{ "physicalLocation": {
            "artifactLocation": { "uri": uri(&file) },
            "region": { "startLine": line },
        } }],
    }))
}

/// The name of a file as a relative or absolute reference.
fn uri(file: &str) -> String {
    let mut out = String::new();
    for byte in file.strip_prefix("./").unwrap_or(file).bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'~' | b'+' => out.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
            byte => out += &format!("%{byte:02X}"),
        }
    }
    match out.starts_with('/') {
        true => format!("file://{out}"),
        false => out,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_references() {
        assert_eq!(uri("./a b/c.weir"), "a%20b/c.weir");
        assert_eq!(uri("/tmp/é.weir"), "file:///tmp/%C3%A9.weir");
    }
}
