//! The tokens of LLVM IR.
//!
//! The lexer reads one token at a time, and can be put back to any place of the text: the parser
//! does that to look ahead, and to go on behind a function that it cannot read.

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token<'t> {
    /// A keyword, a type such as `i32`, or the name of an attribute.
    Word(&'t str),
    /// `%name`, without the sign.
    Local(String),
    /// `@name`, without the sign.
    Global(String),
    /// `!name` or `!12`, without the sign.
    Meta(&'t str),
    /// `#12` or `#dbg_value`, without the sign.
    Hash(&'t str),
    /// A decimal number.
    Int(&'t str),
    /// Any other number: `1.0e5`, `0x4000000000000000`, `0xK…`.
    Float(&'t str),
    /// `"text"`.
    Str(Vec<u8>),
    /// `c"text"`.
    Bytes(Vec<u8>),
    /// `name:`, without the colon.
    Label(String),
    /// `...`
    Dots,
    /// Any other sign.
    Sign(u8),
    /// The end of the text.
    End,
}

/// Reads tokens.
#[derive(Clone, Debug)]
pub(crate) struct Lexer<'t> {
    pub text: &'t str,
    /// Where the next token is looked for.
    pub at: usize,
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$' | b'-')
}

impl<'t> Lexer<'t> {
    pub fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    /// Goes to the beginning of the next token.
    pub fn skip_space(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b';' => {
                    while bytes.get(self.at).is_some_and(|b| *b != b'\n') {
                        self.at += 1;
                    }
                }
                byte if byte.is_ascii_whitespace() => self.at += 1,
                _ => return,
            }
        }
    }

    /// Goes behind characters that fit.
    fn run(&mut self, fits: impl Fn(u8) -> bool) -> &'t str {
        let start = self.at;
        while self.at < self.text.len() && fits(self.byte(self.at)) {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    /// A text in quotes, whose first quote is here. `\hh` is a byte.
    fn quoted(&mut self) -> Vec<u8> {
        let bytes = self.text.as_bytes();
        let mut found = Vec::new();
        self.at += 1;
        while let Some(&byte) = bytes.get(self.at) {
            self.at += 1;
            match byte {
                b'"' => break,
                b'\\' => {
                    let digit = |at: usize| char::from(self.byte(at)).to_digit(16);
                    match (digit(self.at), digit(self.at + 1)) {
                        (Some(high), Some(low)) => {
                            found.push((high * 16 + low) as u8);
                            self.at += 2;
                        }
                        _ if self.byte(self.at) == b'\\' => {
                            found.push(b'\\');
                            self.at += 1;
                        }
                        _ => found.push(b'\\'),
                    }
                }
                byte => found.push(byte),
            }
        }
        found
    }

    /// A name behind `%` or `@`.
    pub fn name(&mut self) -> String {
        match self.byte(self.at) {
            b'"' => String::from_utf8_lossy(&self.quoted()).into_owned(),
            _ => self.run(is_name).to_owned(),
        }
    }

    /// Whether a colon is here, which is skipped: then what came before is a label.
    fn is_label(&mut self) -> bool {
        let is_label = self.byte(self.at) == b':' && self.byte(self.at + 1) != b':';
        self.at += usize::from(is_label);
        is_label
    }

    /// The next token.
    pub fn next(&mut self) -> Token<'t> {
        self.skip_space();
        let first = self.byte(self.at);
        if self.at >= self.text.len() {
            return Token::End;
        }
        match first {
            b'%' => {
                self.at += 1;
                Token::Local(self.name())
            }
            b'@' => {
                self.at += 1;
                Token::Global(self.name())
            }
            b'!' if is_name(self.byte(self.at + 1)) => {
                self.at += 1;
                Token::Meta(self.run(is_name))
            }
            b'#' if is_name(self.byte(self.at + 1)) => {
                self.at += 1;
                Token::Hash(self.run(is_name))
            }
            b'"' => {
                let text = self.quoted();
                match self.is_label() {
                    true => Token::Label(String::from_utf8_lossy(&text).into_owned()),
                    false => Token::Str(text),
                }
            }
            b'c' if self.byte(self.at + 1) == b'"' => {
                self.at += 1;
                Token::Bytes(self.quoted())
            }
            b'.' if self.text[self.at..].starts_with("...") => {
                self.at += 3;
                Token::Dots
            }
            b'0'..=b'9' | b'-' | b'+' => self.number(),
            byte if is_name(byte) => {
                let word = self.run(is_name);
                match self.is_label() {
                    true => Token::Label(word.to_owned()),
                    false => Token::Word(word),
                }
            }
            byte if byte.is_ascii() => {
                self.at += 1;
                Token::Sign(byte)
            }
            _ => {
                let width = self.text[self.at..].chars().next().map_or(1, char::len_utf8);
                self.at += width;
                Token::Sign(0)
            }
        }
    }

    fn number(&mut self) -> Token<'t> {
        let start = self.at;
        let mut end = start + 1;
        let mut is_int = self.byte(start).is_ascii_digit() || self.byte(end).is_ascii_digit();
        while is_name(self.byte(end)) || self.byte(end) == b'+' {
            is_int &= self.byte(end).is_ascii_digit();
            end += 1;
        }
        self.at = end;
        let text = &self.text[start..end];
        if self.is_label() {
            Token::Label(text.to_owned())
        } else if is_int {
            Token::Int(text)
        } else {
            Token::Float(text)
        }
    }

    /// The line of an offset, counted from 1.
    pub fn line_of(text: &str, at: usize) -> usize {
        let before = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
        before.iter().filter(|b| **b == b'\n').count() + 1
    }
}
