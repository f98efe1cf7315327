//! The progress line on standard error, if that is a terminal.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

pub use weir::report::{counted, grouped};
use weir_engine::Stats;
use weir_front::escape::escape_line;

/// How often the line changes.
const EVERY: Duration = Duration::from_millis(100);

/// The progress line. Dropping it removes the line.
pub struct Progress {
    shown: bool,
    last: Instant,
    enabled: bool,
}

impl Default for Progress {
    /// Nothing is shown before a search takes longer than a moment.
    fn default() -> Self {
        let enabled = std::io::stderr().is_terminal();
        Self { shown: false, last: Instant::now(), enabled }
    }
}

impl Progress {
    /// Shows a text.
    pub fn say(&mut self, text: &str) {
        if self.enabled {
            self.shown = true;
            let _ = write!(std::io::stderr(), "\r\x1b[K{}", escape_line(text));
        }
    }

    /// Removes the line, so that something else can be printed.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }

    /// Shows how far the search is.
    pub fn update(&mut self, stats: &Stats) {
        if !self.enabled || self.last.elapsed() < EVERY {
            return;
        }
        self.last = Instant::now();
        self.shown = true;
        let rate = stats.expanded as f64 / stats.elapsed.as_secs_f64().max(1e-9);
        let _ = write!(
            std::io::stderr(),
            "\r\x1b[K{} configurations, {}/s, frontier {}, depth {}, {} MiB",
            grouped(stats.stored),
            grouped(rate as usize),
            grouped(stats.stored.saturating_sub(stats.expanded)),
            stats.depth,
            stats.bytes >> 20,
        );
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}
