//! A list of tokens and a place in it, for parsers that look ahead.

/// Tokens that are read one after the other. The last one stands for the end of the
/// text, and is never passed.
pub struct Tokens<'a, T> {
    all: &'a [T],
    /// The number of the next one.
    pub at: usize,
}

impl<'a, T: Copy> Tokens<'a, T> {
    pub fn new(all: &'a [T]) -> Self {
        Self { all, at: 0 }
    }

    /// The next token.
    pub fn peek(&self) -> T {
        self.peek_at(0)
    }

    /// The token that is so many behind the next one.
    pub fn peek_at(&self, ahead: usize) -> T {
        self.all[(self.at + ahead).min(self.all.len() - 1)]
    }

    /// Reads the next token.
    pub fn next(&mut self) -> T {
        let token = self.peek();
        self.at = (self.at + 1).min(self.all.len() - 1);
        token
    }

    /// The token that was read last.
    pub fn last(&self) -> T {
        self.all[self.at.saturating_sub(1)]
    }

    /// The token of a number.
    pub fn get(&self, at: usize) -> T {
        self.all[at]
    }

    /// Passes all tokens but the end.
    pub fn skip_all(&mut self) {
        self.at = self.all.len() - 1;
    }
}
