//! Reports as pages: one HTML file that needs nothing else.
//!
//! The data of a page is the JSON that `--format json` prints. Scripts in the page draw it; what comes from a program becomes text and never
//! markup. The scripts are one ES module: the files in [`SCRIPTS`], one after another.
//! A content security policy allows these scripts and styles alone, and no network.

use std::fmt::Write as _;

use serde::Serialize;
use weir_model::fingerprint::Fingerprint;

use super::json;

const STYLE: &str = include_str!("page/page.css");

/// The parts of the script. All of them share one scope.
const SCRIPTS: [&str; 13] = [
    include_str!("page/dom.js"),
    include_str!("page/words.js"),
    include_str!("page/source.js"),
    include_str!("page/stage.js"),
    include_str!("page/timeline.js"),
    include_str!("page/circle.js"),
    include_str!("page/run.js"),
    include_str!("page/answers.js"),
    include_str!("page/reports.js"),
    include_str!("page/fences.js"),
    include_str!("page/game.js"),
    include_str!("page/graph.js"),
    include_str!("page/main.js"),
];

/// A page in the making.
#[derive(Debug)]
pub struct Page {
    command: &'static str,
    /// Each report as `--format json` prints it.
    reports: Vec<String>,
    /// The files that they are about.
    files: Vec<String>,
}

impl Page {
    /// An empty page for the reports of a command, such as `check`.
    pub fn new(command: &'static str) -> Self {
        Self { command, reports: Vec::new(), files: Vec::new() }
    }

    /// Adds a report about a file.
    ///
    /// # Errors
    /// If it cannot be written as JSON.
    pub fn report(&mut self, file: &str, report: &impl Serialize) -> serde_json::Result<()> {
        self.reports.push(json::line(report)?);
        if !self.files.iter().any(|known| known == file) {
            self.files.push(file.to_owned());
        }
        Ok(())
    }

    /// Whether there is anything to show.
    pub fn is_empty(&self) -> bool {
        self.reports.is_empty()
    }

    /// The whole file.
    pub fn html(&self) -> String {
        let data = format!(
            "{{\"weir\":\"{}\",\"command\":\"{}\",\"reports\":[{}]}}",
            env!("CARGO_PKG_VERSION"),
            self.command,
            self.reports.join(","),
        );
        // Inside of a script, `<` could end it. JSON has it only in strings.
        let data = data.replace('<', "\\u003c");
        let title = format!("{}: weir {}", self.files.join(", "), self.command);
        // No part of a page can contain the fingerprint of its own data.
        let nonce = Fingerprint::of_text(&data);
        let mut out = String::with_capacity(data.len() + (64 << 10));
        let _ = write!(
            out,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
             script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; base-uri 'none'; \
             form-action 'none'\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta name=\"generator\" content=\"weir {}\">\n<title>{}</title>\n\
             <style nonce=\"{nonce}\">\n{STYLE}</style>\n</head>\n<body>\n\
             <div id=\"page\"></div>\n\
             <noscript>This report needs JavaScript. `weir {} --format json` prints its data.</noscript>\n\
             <script type=\"application/json\" id=\"data\">{data}</script>\n\
             <script type=\"module\" nonce=\"{nonce}\">\n",
            env!("CARGO_PKG_VERSION"),
            markup(&title),
            self.command,
        );
        for script in SCRIPTS {
            out += script;
        }
        out += "</script>\n</body>\n</html>\n";
        out
    }
}

/// A text as it stands in HTML.
fn markup(text: &str) -> String {
    let text = weir_front::escape::escape_line(text);
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_program_is_markup() {
        let name = "</title></script><script>alert(1)</script>\u{202e}\"'&";
        let mut page = Page::new("check");
        page.report(name, &serde_json::json!({ "file": name, "program": name })).unwrap();
        let html = page.html();
        let own = SCRIPTS.concat().matches("<script").count();
        assert_eq!(html.matches("<script").count() - own, 2, "the data and the script");
        assert!(!html.contains("alert(1)</script>"), "{html}");
        assert!(!html.contains('\u{202e}'));
        let start = html.find("id=\"data\">").unwrap() + "id=\"data\">".len();
        let end = start + html[start..].find("</script>").unwrap();
        let data: serde_json::Value = serde_json::from_str(&html[start..end]).unwrap();
        assert_eq!(data["reports"][0]["program"], name);
        assert_eq!(data["weir"], env!("CARGO_PKG_VERSION"));
    }

    #[test]
    fn scripts_do_not_end_themselves() {
        assert!(SCRIPTS.iter().all(|script| !script.contains("</script")));
        assert!(!STYLE.contains("</style"));
    }
}
