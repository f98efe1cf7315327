//! Where fences can be inserted.

use super::token::{Kind, Token, tokens};
use crate::{Gap, MAX_NESTING};

/// Before each statement and declaration of a block of a function, behind labels, before the end of the block, and in
/// bodies without braces, which get some.
///
/// Not in the body of a loop that only lets time pass: a fence before the loop orders at least as much, and the loop would not be one
/// that waits.
pub fn gaps(text: &str) -> Vec<Gap> {
    let Ok(list) = tokens(text, 0) else { return Vec::new() };
    let mut is_directive = false;
    let is_code = |token: &Token| {
        if token.is_first {
            is_directive = token.is("#");
        }
        !is_directive
    };
    let mut this =
        Gaps { text, list: list.into_iter().filter(is_code).collect(), gaps: Vec::new() };
    let mut at = 0;
    while at < this.list.len() {
        let follows = at.checked_sub(1).is_some_and(|before| this.is(before, ")"));
        at = match &*this.list[at].text {
            "{" if follows => this.block(at, 0),
            "{" | "(" | "[" => this.behind(at),
            _ => at + 1,
        };
    }
    this.gaps
}

struct Gaps<'t> {
    text: &'t str,
    list: Vec<Token>,
    gaps: Vec<Gap>,
}

impl Gaps<'_> {
    fn is(&self, at: usize, text: &str) -> bool {
        self.list.get(at).is_some_and(|token| token.is(text))
    }

    fn start(&self, at: usize) -> usize {
        self.list.get(at).map_or(self.text.len(), |token| token.range.start)
    }

    /// Behind a bracket that is closed.
    fn behind(&self, open: usize) -> usize {
        let mut depth = 0usize;
        for (at, token) in self.list.iter().enumerate().skip(open) {
            match &*token.text {
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return at + 1;
            }
        }
        self.list.len()
    }

    /// The statements of a block; gives what is behind it.
    fn block(&mut self, open: usize, depth: usize) -> usize {
        if depth > MAX_NESTING {
            return self.behind(open);
        }
        let (mut at, like) = (open + 1, self.start(open + 1));
        while at < self.list.len() {
            if !self.is(at, "{") {
                self.gaps.push(Gap::before(self.text, self.start(at), like, ";"));
            }
            if self.is(at, "}") {
                return at + 1;
            }
            at = self.statement(at, depth);
        }
        at
    }

    /// A statement or declaration; gives what is behind it.
    fn statement(&mut self, at: usize, depth: usize) -> usize {
        let Some(token) = self.list.get(at) else { return at };
        match &*token.text {
            "{" => self.block(at, depth + 1),
            "if" => {
                let body = self.behind(at + 1);
                let end = self.body(body, depth);
                match self.is(end, "else") {
                    true => self.body(end + 1, depth),
                    false => end,
                }
            }
            "while" | "for" => {
                let body = self.behind(at + 1);
                self.round(body, depth)
            }
            "switch" => {
                let body = self.behind(at + 1);
                self.body(body, depth)
            }
            "do" => {
                let end = self.round(at + 1, depth);
                self.simple(end, depth)
            }
            "case" | "default" => {
                let colon = (at..self.list.len()).find(|at| self.is(*at, ":"));
                self.labeled(colon.unwrap_or(at) + 1, depth)
            }
            _ if token.kind == Kind::Name && self.is(at + 1, ":") => self.labeled(at + 2, depth),
            _ => self.simple(at, depth),
        }
    }

    /// The statement behind a label: a fence goes between the two.
    fn labeled(&mut self, at: usize, depth: usize) -> usize {
        let is_label = self.is(at, "case")
            || self.is(at, "default")
            || self.is(at + 1, ":")
            || self.is(at, "{")
            || self.is(at, "}");
        if !is_label {
            let start = self.start(at);
            self.gaps.push(Gap::inline(start));
        }
        match depth > MAX_NESTING || self.is(at, "}") {
            true => at,
            false => self.statement(at, depth + 1),
        }
    }

    /// The body of a loop: none if it only lets time pass.
    fn round(&mut self, at: usize, depth: usize) -> usize {
        let before = self.gaps.len();
        let end = self.body(at, depth);
        let mut next = at;
        while next < end {
            next = match &*self.list[next].text {
                "{" | "}" | ";" => next + 1,
                name if is_pause(name) => self.behind(next + 1),
                _ => return end,
            };
        }
        self.gaps.truncate(before);
        end
    }

    /// The body of a statement; without braces it gets some.
    fn body(&mut self, at: usize, depth: usize) -> usize {
        if self.is(at, "{") || self.is(at, ";") || depth > MAX_NESTING {
            return self.statement(at, depth.min(MAX_NESTING));
        }
        let number = self.gaps.len();
        let end = self.statement(at, depth + 1);
        let last = end.checked_sub(1).and_then(|last| self.list.get(last));
        let end_at = last.map_or(self.text.len(), |token| token.range.end);
        self.gaps.insert(number, Gap::braced(self.start(at), end_at));
        end
    }

    /// Up to the next semicolon.
    fn simple(&mut self, at: usize, depth: usize) -> usize {
        let (mut next, mut assigns) = (at, false);
        while let Some(token) = self.list.get(next) {
            match &*token.text {
                ";" => return next + 1,
                "}" | ")" | "]" => return next.max(at + usize::from(next == at)),
                // A loop that a macro begins.
                "{" if !assigns && next > at && self.is(next - 1, ")") => {
                    return self.block(next, depth + 1);
                }
                "{" | "(" | "[" => next = self.behind(next),
                text => {
                    assigns |= matches!(text, "=" | "return");
                    next += 1;
                }
            }
        }
        next
    }
}

/// Functions that only let time pass.
fn is_pause(name: &str) -> bool {
    matches!(
        name,
        "sched_yield"
            | "thrd_yield"
            | "pthread_yield"
            | "sleep"
            | "usleep"
            | "nanosleep"
            | "__builtin_ia32_pause"
            | "_mm_pause"
            | "cpu_relax"
            | "__VERIFIER_loop_bound"
            | "__VERIFIER_loop_begin"
            | "__VERIFIER_spin_start"
    )
}
