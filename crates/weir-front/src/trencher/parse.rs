//! From text to a tree. Words are whatever stands between blanks; a line that
//! begins with `#` is a comment.

use weir_model::program::{BinOp, Expr, UnOp};

use super::tree::{File, Instruction, Thread, Transition, Value, Word};
use crate::errors::quote;
use crate::{Diagnostic, MAX_ARRAY, MAX_NESTING};

/// How many addresses there are that are numbers, if a file does not say.
const DEFAULT_MEMORY: usize = 10;

const INSTRUCTIONS: [&str; 8] =
    ["write", "read", "mfence", "local", "check", "noop", "lock", "unlock"];

type Parsed<T> = Result<T, Box<Diagnostic>>;

/// The words of a text.
pub fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if !line.trim_start().starts_with('#') {
            for word in line.split_whitespace() {
                let at = start + (word.as_ptr() as usize - line.as_ptr() as usize);
                words.push(Word { text: word, range: at..at + word.len() });
            }
        }
        start += line.len();
    }
    words
}

/// Parses a file.
///
/// # Errors
/// The first one.
pub fn file(text: &str) -> Result<File<'_>, Diagnostic> {
    let words = words(text);
    let end = text.trim_end().len();
    Parser { words: &words, at: 0, end, depth: 0 }.file().map_err(|error| *error)
}

struct Parser<'w, 't> {
    words: &'w [Word<'t>],
    at: usize,
    /// The end of the text.
    end: usize,
    depth: usize,
}

impl<'t> Parser<'_, 't> {
    fn peek(&self) -> Option<&Word<'t>> {
        self.words.get(self.at)
    }

    fn is(&self, text: &str) -> bool {
        self.peek().is_some_and(|w| w.text == text)
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.is(text);
        self.at += usize::from(found);
        found
    }

    fn word(&mut self, what: &str) -> Parsed<Word<'t>> {
        let word = self.peek().cloned().ok_or_else(|| self.unexpected(what))?;
        self.at += 1;
        Ok(word)
    }

    fn unexpected(&self, wanted: &str) -> Box<Diagnostic> {
        Box::new(match self.peek() {
            Some(word) => {
                let message = format!("expected {wanted}, found {}", quote(word.text));
                Diagnostic::new(message, word.range.clone())
            }
            None => {
                let message = format!("expected {wanted}, found the end of the file");
                Diagnostic::new(message, self.end..self.end)
            }
        })
    }

    fn file(mut self) -> Parsed<File<'t>> {
        let mut file = File { memory_size: DEFAULT_MEMORY, threads: Vec::new() };
        while let Some(word) = self.peek().cloned() {
            if self.eat("memory_size") {
                let size = self.word("a number")?;
                let number = size.text.parse::<i128>().ok().filter(|n| (0..=MAX_ARRAY).contains(n));
                let Some(number) = number else {
                    let message = format!("the size of memory is a number from 0 to {MAX_ARRAY}");
                    return Err(Box::new(Diagnostic::new(message, size.range)));
                };
                file.memory_size = number as usize;
            } else if self.eat("thread") {
                let thread = self.thread()?;
                if file.threads.iter().any(|t| t.name.text == thread.name.text) {
                    let message = format!("there are two threads {}", quote(thread.name.text));
                    return Err(Box::new(Diagnostic::new(message, thread.name.range)));
                }
                file.threads.push(thread);
            } else {
                let message = format!("expected `thread`, found {}", quote(word.text));
                return Err(Box::new(Diagnostic::new(message, word.range)));
            }
        }
        if file.threads.is_empty() {
            return Err(self.unexpected("`thread`"));
        }
        Ok(file)
    }

    fn thread(&mut self) -> Parsed<Thread<'t>> {
        let name = self.word("the name of a thread")?;
        let (mut initial, mut end, mut transitions) = (None, None, Vec::new());
        loop {
            let word = self.word("`transition` or `end`")?;
            let slot = match word.text {
                "end" => break,
                "transition" => {
                    transitions.push(self.transition(&word)?);
                    continue;
                }
                "initial" => &mut initial,
                "final" => &mut end,
                _ => {
                    self.at -= 1;
                    return Err(self.unexpected("`initial`, `final`, `transition` or `end`"));
                }
            };
            let again = slot.is_some();
            let state = self.word("a state")?;
            if again {
                let message = format!("thread {} has two `{}`", quote(name.text), word.text);
                return Err(Box::new(Diagnostic::new(message, word.range)));
            }
            match word.text {
                "initial" => initial = Some(state),
                _ => end = Some(state),
            }
        }
        let Some(initial) = initial else {
            let message = format!("thread {} has no `initial` state", quote(name.text));
            return Err(Box::new(Diagnostic::new(message, name.range)));
        };
        Ok(Thread { name, initial, end, transitions })
    }

    fn transition(&mut self, word: &Word<'t>) -> Parsed<Transition<'t>> {
        let from = self.word("a state")?;
        let to = self.word("a state")?;
        let what = self.word("an instruction")?;
        let instruction = match what.text {
            "write" => Instruction::Write(self.value()?, self.value()?),
            "read" => Instruction::Read(self.register()?, self.value()?),
            "local" => Instruction::Local(self.register()?, self.value()?),
            "check" => Instruction::Check(self.value()?),
            "mfence" => Instruction::Fence,
            "noop" => Instruction::Nop,
            "lock" => Instruction::Lock,
            "unlock" => Instruction::Unlock,
            other => {
                let message = format!("there is no instruction {}", quote(other));
                let error = Diagnostic::new(message, what.range);
                let error = crate::errors::did_you_mean(error, other, INSTRUCTIONS);
                return Err(Box::new(error));
            }
        };
        let end = self.words[self.at - 1].range.end;
        Ok(Transition { from, to, instruction, range: word.range.start..end })
    }

    fn register(&mut self) -> Parsed<Word<'t>> {
        let word = self.word("a register")?;
        if operator(word.text).is_some() || word.text == "!" || begins_number(word.text) {
            let message = format!("{} is not a register", quote(word.text));
            return Err(Box::new(Diagnostic::new(message, word.range)));
        }
        Ok(word)
    }

    fn value(&mut self) -> Parsed<Value<'t>> {
        let word = self.word("an expression")?;
        if self.depth >= MAX_NESTING / 2 {
            let message = format!("operators nest more than {} deep here", MAX_NESTING / 2);
            return Err(Box::new(Diagnostic::new(message, word.range)));
        }
        self.depth += 1;
        let value = if let Some(op) = operator(word.text) {
            let (a, b) = (self.value()?, self.value()?);
            Expr::binary(op, a, b)
        } else if word.text == "!" {
            Expr::unary(UnOp::Not, self.value()?)
        } else if begins_number(word.text) {
            let number = word.text.parse().map_err(|_| {
                let message = format!("{} is not a number", quote(word.text));
                Box::new(Diagnostic::new(message, word.range.clone()))
            })?;
            Expr::Const(number)
        } else {
            Expr::Atom(word)
        };
        self.depth -= 1;
        Ok(value)
    }
}

fn begins_number(word: &str) -> bool {
    word.strip_prefix('-').unwrap_or(word).starts_with(|c: char| c.is_ascii_digit())
}

fn operator(word: &str) -> Option<BinOp> {
    Some(match word {
        "==" => BinOp::Eq,
        "!=" => BinOp::Ne,
        "<" => BinOp::Lt,
        "<=" => BinOp::Le,
        ">" => BinOp::Gt,
        ">=" => BinOp::Ge,
        "&&" => BinOp::And,
        "||" => BinOp::Or,
        "+" => BinOp::Add,
        "-" => BinOp::Sub,
        "*" => BinOp::Mul,
        "&" => BinOp::BitAnd,
        _ => return None,
    })
}
