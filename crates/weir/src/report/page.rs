//! Reports as pages: one HTML file that needs nothing else.
//!
//! The data of a page is the JSON that `--format json` prints. Scripts in the page draw it; what comes from a program becomes text and never
//! markup. The scripts are one ES module: the files in `report/page`, one after another.
//! A content security policy allows these scripts and styles alone, and no network.

use std::fmt::Write as _;

use serde::Serialize;
use weir_front::escape::markup;
use weir_model::fingerprint::Fingerprint;

use super::json;

const STYLE: &str = include_str!("page/page.css");

/// The parts of the script. All of them share one scope.
const SCRIPTS: [&str; 16] = [
    include_str!("page/dom.js"),
    include_str!("page/words.js"),
    include_str!("page/source.js"),
    include_str!("page/stage.js"),
    include_str!("page/timeline.js"),
    include_str!("page/circle.js"),
    include_str!("page/run.js"),
    include_str!("page/answers.js"),
    include_str!("page/findings.js"),
    include_str!("page/reports.js"),
    include_str!("page/fences.js"),
    include_str!("page/game.js"),
    include_str!("page/layout.js"),
    include_str!("page/graph.js"),
    include_str!("page/bench.js"),
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
        self.printed(file, &json::line(report)?);
        Ok(())
    }

    /// Whether there is anything to show.
    pub fn is_empty(&self) -> bool {
        self.reports.is_empty()
    }

    /// Adds a report about a file that is JSON already, as `--format json` prints it.
    pub fn printed(&mut self, file: &str, report: &str) {
        self.reports.push(report.trim().to_owned());
        if !self.files.iter().any(|known| known == file) {
            self.files.push(file.to_owned());
        }
    }

    /// The whole file.
    pub fn html(&self) -> String {
        let data = format!(
            "{{\"weir\":\"{}\",\"command\":\"{}\",\"reports\":[{}]}}",
            env!("CARGO_PKG_VERSION"),
            self.command,
            self.reports.join(","),
        );
        let title = format!("{}: weir {}", self.files.join(", "), self.command);
        document(&title, ("data", &data), "'none'", ("", ""))
    }
}

/// A page that asks a server for reports and shows them: `data` is JSON, which the script finds
/// in an element with the id `application`. The script has the functions of all pages.
pub fn application(title: &str, data: &str, style: &str, script: &str) -> String {
    document(title, ("application", data), "'self'", (style, script))
}

/// An HTML file with its data, which may connect to these addresses. The styles and the scripts of
/// all pages come before those that are given.
fn document(
    title: &str,
    (id, data): (&str, &str),
    connect: &str,
    (style, script): (&str, &str),
) -> String {
    // Inside of a script, `<` could end it. JSON has it only in strings.
    let data = data.replace('<', "\\u003c");
    // No part of a page can contain the fingerprint of its own data.
    let nonce = Fingerprint::of_text(&data);
    let mut out = String::with_capacity(data.len() + (128 << 10));
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; img-src data:; \
         connect-src {connect}; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"weir {}\">\n<title>{}</title>\n\
         <link rel=\"icon\" href=\"data:,\">\n\
         <style nonce=\"{nonce}\">\n{STYLE}{style}</style>\n</head>\n<body>\n\
         <div id=\"page\"></div>\n<noscript>This page needs JavaScript.</noscript>\n\
         <script type=\"application/json\" id=\"{id}\">{data}</script>\n\
         <script type=\"module\" nonce=\"{nonce}\">\n",
        env!("CARGO_PKG_VERSION"),
        markup(title),
    );
    for part in SCRIPTS {
        out += part;
    }
    out + script + "</script>\n</body>\n</html>\n"
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
