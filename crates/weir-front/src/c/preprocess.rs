//! The preprocessor: includes, macros and conditionals.
//!
//! The result is one text for the parser, and for each token of it where it came from. Headers of
//! the library are not read: what they declare is known everywhere, because many programs use it
//! without including anything.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

use super::condition;
use super::token::{Hidden, Kind, Token, tokens};
use crate::errors::quote;
use crate::{Diagnostic, MAX_NESTING, MAX_TEXT, Settings, Source};

/// How many tokens there may be after macros are replaced.
const MAX_TOKENS: usize = 400_000;

/// How deep files may include each other.
const MAX_INCLUDES: usize = 20;

/// Headers that need not be read.
const HEADERS: [&str; 38] = [
    "assert.h",
    "stdatomic.h",
    "pthread.h",
    "stdbool.h",
    "stdint.h",
    "stddef.h",
    "stdlib.h",
    "stdio.h",
    "string.h",
    "unistd.h",
    "limits.h",
    "threads.h",
    "inttypes.h",
    "errno.h",
    "sched.h",
    "time.h",
    "sys/types.h",
    "memory.h",
    "stdarg.h",
    "ctype.h",
    "signal.h",
    "math.h",
    "sys/time.h",
    "malloc.h",
    "alloca.h",
    "float.h",
    "stdalign.h",
    "stdnoreturn.h",
    "strings.h",
    "genmc.h",
    "genmc_internal.h",
    "dat3m.h",
    "model-assert.h",
    "librace.h",
    "verifier.h",
    "weir.h",
    "smack.h",
    "svcomp.h",
];

/// What the parser and the reader take as given.
pub const PRELUDE: &str = include_str!("prelude.h");

/// Macros that the library defines.
const MACROS: &str = "
#define NULL ((void *)0)
#define bool _Bool
#define true 1
#define false 0
#define __thread _Thread_local
#define thread_local _Thread_local
#define static_assert _Static_assert
#define noreturn _Noreturn
#define __volatile__ volatile
#define __volatile volatile
#define __inline__ inline
#define __inline inline
#define __extension__
#define __restrict restrict
#define __const const
#define ATOMIC_VAR_INIT(x) (x)
#define ATOMIC_FLAG_INIT {0}
#define PTHREAD_MUTEX_INITIALIZER {0}
#define PTHREAD_COND_INITIALIZER {0}
#define PTHREAD_RWLOCK_INITIALIZER {0}
#define PTHREAD_ONCE_INIT {0}
#define PTHREAD_BARRIER_SERIAL_THREAD (-1)
#define ONCE_FLAG_INIT {0}
#define EBUSY 16
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295u
#define LONG_MAX 9223372036854775807l
#define LONG_MIN (-9223372036854775807l - 1)
#define ULONG_MAX 18446744073709551615ul
#define SIZE_MAX 18446744073709551615ul
#define CHAR_BIT 8
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295u
#define UINT64_MAX 18446744073709551615ul
#define INT32_MAX 2147483647
#define INT64_MAX 9223372036854775807l
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define __STDC__ 1
#define __STDC_VERSION__ 201112l
#define __GNUC__ 12
#define __x86_64__ 1
#define __ATOMIC_RELAXED 0
#define __ATOMIC_CONSUME 1
#define __ATOMIC_ACQUIRE 2
#define __ATOMIC_RELEASE 3
#define __ATOMIC_ACQ_REL 4
#define __ATOMIC_SEQ_CST 5
";

/// A text for the parser.
pub struct Preprocessed {
    pub text: String,
    /// The end of each token in the text, and where it came from.
    map: Vec<(usize, Range<usize>)>,
}

impl Preprocessed {
    /// Where part of the text came from.
    pub fn range(&self, start: usize, end: usize) -> Range<usize> {
        let first = self.map.partition_point(|(at, _)| *at <= start);
        let last = self.map.partition_point(|(at, _)| *at < end);
        let Some((_, from)) = self.map.get(first).or(self.map.last()) else { return 0..0 };
        let to = self.map.get(last.max(first)).map_or(from, |(_, range)| range);
        // Arguments of a macro stand elsewhere than its name.
        if to.end >= from.end && to.start >= from.start { from.start..to.end } else { from.clone() }
    }
}

/// How deep the syntax tree is at most. Brackets nest, and so do operators, `else` and statements
/// without brackets.
#[derive(Default)]
struct Depth {
    /// For each open bracket: whether it is a brace, and what nests in it so far.
    open: Vec<(bool, usize)>,
    here: usize,
    /// All of these together.
    sum: usize,
}

/// How many operators may nest.
const MAX_DEPTH: usize = 1500;

impl Depth {
    fn is_too_deep(&mut self, token: &Token, next: Option<&Token>) -> bool {
        let goes_on = next.is_some_and(|next| next.is("else"));
        match &*token.text {
            "(" | "[" | "{" => {
                self.open.push((token.is("{"), self.here));
                self.here = 0;
            }
            ")" | "]" | "}" => {
                self.sum -= self.here;
                let (is_brace, here) = self.open.pop().unwrap_or_default();
                self.here = here;
                if is_brace && !goes_on {
                    self.forget();
                }
            }
            ";" if !goes_on => self.forget(),
            "," => self.forget(),
            _ if token.kind == Kind::Sign || is_nesting(&token.text) => {
                self.here += 1;
                self.sum += 1;
            }
            _ => {}
        }
        self.open.len() > MAX_NESTING || self.sum > MAX_DEPTH
    }

    fn forget(&mut self) {
        self.sum -= self.here;
        self.here = 0;
    }
}

fn is_nesting(word: &str) -> bool {
    matches!(
        word,
        "if" | "else" | "while" | "do" | "for" | "switch" | "case" | "sizeof" | "default"
    )
}

struct Macro {
    parameters: Option<Vec<Rc<str>>>,
    is_variadic: bool,
    body: Vec<Token>,
}

struct Preprocessor<'s> {
    source: &'s mut Source,
    settings: &'s Settings,
    macros: HashMap<Rc<str>, Macro>,
    out: Vec<Token>,
    includes: usize,
    included: usize,
}

type Done<T> = Result<T, Diagnostic>;

/// Preprocesses the text of a source; what it includes is added to the source.
pub fn preprocess(source: &mut Source, settings: &Settings) -> Done<Preprocessed> {
    let text = source.text.clone();
    let mut this = Preprocessor {
        source,
        settings,
        macros: HashMap::new(),
        out: Vec::new(),
        includes: 0,
        included: 0,
    };
    this.file(MACROS, 0, Path::new(""))?;
    for (name, value) in &settings.defines {
        this.file(&format!("#define {name} {value}"), 0, Path::new(""))?;
    }
    let name = this.source.name.clone();
    this.file(&text, 0, Path::new(&name))?;
    let mut made = Preprocessed { text: PRELUDE.to_owned(), map: vec![(PRELUDE.len(), 0..0)] };
    let mut depth = Depth::default();
    for (i, token) in this.out.iter().enumerate() {
        if depth.is_too_deep(token, this.out.get(i + 1)) {
            let message = format!("this nests more than {MAX_NESTING} deep, or is too long");
            return Err(Diagnostic::new(message, token.range.clone()));
        }
        made.text += &token.text;
        made.text.push(if token.is_first { '\n' } else { ' ' });
        made.map.push((made.text.len(), token.range.clone()));
    }
    Ok(made)
}

impl Preprocessor<'_> {
    /// A file whose text begins at an offset of the source.
    fn file(&mut self, text: &str, offset: usize, path: &Path) -> Done<()> {
        let wrong = |(range, message): (Range<usize>, &str)| Diagnostic::new(message, range);
        let list = tokens(text, offset).map_err(wrong)?;
        // For each open `#if`: whether its branch is read, whether one was, and where it is.
        let mut open: Vec<(bool, bool, Range<usize>)> = Vec::new();
        let mut run: Vec<Token> = Vec::new();
        let mut at = 0;
        while at < list.len() {
            let is_read = open.iter().all(|(is_read, ..)| *is_read);
            if !(list[at].is_first && list[at].is("#")) {
                if is_read {
                    run.push(list[at].clone());
                }
                at += 1;
                continue;
            }
            let hash = list[at].range.clone();
            let end =
                list[at + 1..].iter().position(|t| t.is_first).map_or(list.len(), |i| at + 1 + i);
            let line = &list[at + 1..end];
            at = end;
            let Some(word) = line.first() else { continue };
            let rest = &line[1..];
            let error = |message: &str| Err(Diagnostic::new(message, word.range.clone()));
            match &*word.text {
                "ifdef" | "ifndef" => {
                    let Some(name) = rest.first() else { return error("a name is missing") };
                    let holds = self.macros.contains_key(&name.text) == (&*word.text == "ifdef");
                    open.push((holds, holds, hash));
                }
                "if" => {
                    let holds = is_read && self.condition(rest, word)?;
                    open.push((holds, holds, hash));
                }
                "elif" | "else" => {
                    let Some((_, was_read, _)) = open.last().cloned() else {
                        return error("there is no `#if` before this");
                    };
                    let outside = open[..open.len() - 1].iter().all(|(is_read, ..)| *is_read);
                    let holds = !was_read
                        && outside
                        && (&*word.text == "else" || self.condition(rest, word)?);
                    if let Some(last) = open.last_mut() {
                        (last.0, last.1) = (holds, was_read || holds);
                    }
                }
                "endif" => {
                    if open.pop().is_none() {
                        return error("there is no `#if` before this");
                    }
                }
                _ if !is_read => {}
                "define" => {
                    self.flush(&mut run)?;
                    self.define(rest, word)?;
                }
                "undef" => {
                    self.flush(&mut run)?;
                    if let Some(name) = rest.first() {
                        self.macros.remove(&name.text);
                    }
                }
                "include" => {
                    self.flush(&mut run)?;
                    self.include(rest, word, path)?;
                }
                "error" => {
                    let words: Vec<&str> = rest.iter().map(|t| &*t.text).collect();
                    let message = format!("`#error {}`", words.join(" "));
                    let help = "if a macro is missing, define it with `-D NAME=VALUE`";
                    return Err(Diagnostic::new(message, word.range.clone()).help(help));
                }
                "pragma" | "warning" | "line" | "ident" => {}
                other => return error(&format!("there is no directive {}", quote(other))),
            }
        }
        if let Some((.., range)) = open.pop() {
            return Err(Diagnostic::new("this `#if` has no `#endif`", range));
        }
        self.flush(&mut run)
    }

    fn flush(&mut self, run: &mut Vec<Token>) -> Done<()> {
        let list = self.expand(std::mem::take(run))?;
        self.out.extend(list);
        match self.out.len() > MAX_TOKENS {
            true => Err(too_long(&self.out[MAX_TOKENS])),
            false => Ok(()),
        }
    }

    fn define(&mut self, rest: &[Token], word: &Token) -> Done<()> {
        let Some(name) = rest.first().filter(|t| t.kind == Kind::Name) else {
            return Err(Diagnostic::new("a name is missing", word.range.clone()));
        };
        let mut body = &rest[1..];
        let (mut parameters, mut is_variadic) = (None, false);
        if let Some(open) = body.first()
            && open.is("(")
            && !open.has_space
        {
            let Some(close) = body.iter().position(|t| t.is(")")) else {
                return Err(Diagnostic::new("`)` is missing", open.range.clone()));
            };
            let mut list = Vec::new();
            for token in &body[1..close] {
                match &*token.text {
                    "," => {}
                    "..." => {
                        is_variadic = true;
                        list.push(Rc::from("__VA_ARGS__"));
                    }
                    _ => list.push(token.text.clone()),
                }
            }
            parameters = Some(list);
            body = &body[close + 1..];
        }
        let made = Macro { parameters, is_variadic, body: body.to_vec() };
        self.macros.insert(name.text.clone(), made);
        Ok(())
    }

    fn include(&mut self, rest: &[Token], word: &Token, path: &Path) -> Done<()> {
        let expanded = match rest.first() {
            Some(first) if first.kind == Kind::Name => self.expand(rest.to_vec())?,
            _ => rest.to_vec(),
        };
        let joined: String = expanded.iter().map(|t| &*t.text).collect();
        let range = rest.first().map_or(&word.range, |t| &t.range).start
            ..rest.last().map_or(&word.range, |t| &t.range).end;
        let Some(name) = joined.get(1..joined.len().saturating_sub(1)).filter(|n| !n.is_empty())
        else {
            return Err(Diagnostic::new("the name of a file is missing", range));
        };
        let next = path.parent().map(|folder| folder.join(name));
        let elsewhere = self.settings.search.iter().map(|folder| folder.join(name));
        let is_local = joined.starts_with('"');
        let places = next.into_iter().filter(|_| is_local).chain(elsewhere);
        let found = places.map(|p| ((self.settings.files)(&p), p)).find(|(text, _)| text.is_ok());
        let Some((Ok(text), found)) = found else {
            if HEADERS.contains(&name) || HEADERS.iter().any(|h| name.ends_with(&format!("/{h}"))) {
                return Ok(());
            }
            let message = format!("the file {} is not found", quote(name));
            let help = "`-I DIR` names a folder that files are looked for in";
            return Err(Diagnostic::new(message, range).help(help));
        };
        self.included += text.len();
        if self.includes >= MAX_INCLUDES || self.included > MAX_TEXT {
            let message = if self.includes >= MAX_INCLUDES {
                format!("files include each other more than {MAX_INCLUDES} deep")
            } else {
                format!("all included files have more than {MAX_TEXT} bytes")
            };
            return Err(Diagnostic::new(message, range));
        }
        self.includes += 1;
        let text = crate::escape::without_mark(&text).to_owned();
        let offset = self.source.include(&found.to_string_lossy(), &text);
        self.file(&text, offset, &found)?;
        self.includes -= 1;
        Ok(())
    }

    fn condition(&mut self, line: &[Token], word: &Token) -> Done<bool> {
        let mut list = Vec::new();
        let mut at = 0;
        while at < line.len() {
            if !line[at].is("defined") {
                list.push(line[at].clone());
                at += 1;
                continue;
            }
            let has_brackets = line.get(at + 1).is_some_and(|t| t.is("("));
            let name = line.get(at + if has_brackets { 2 } else { 1 });
            let holds = name.is_some_and(|name| self.macros.contains_key(&name.text));
            let (kind, text) = (Kind::Number, Rc::from(if holds { "1" } else { "0" }));
            list.push(Token { kind, text, ..line[at].clone() });
            at += if has_brackets { 4 } else { 2 };
        }
        let list = self.expand(list)?;
        condition::value(&list, word).map(|value| value != 0)
    }

    /// Replaces macros.
    fn expand(&self, list: Vec<Token>) -> Done<Vec<Token>> {
        let mut input: VecDeque<Token> = list.into();
        let mut out = Vec::new();
        let mut replaced = 0;
        while let Some(token) = input.pop_front() {
            let found = (token.kind == Kind::Name && !token.is_from(&token.text))
                .then(|| self.macros.get(&token.text))
                .flatten();
            let Some(made) = found else {
                out.push(token);
                continue;
            };
            replaced += 1;
            if replaced > MAX_TOKENS || input.len() > MAX_TOKENS {
                return Err(too_long(&token));
            }
            let body = match &made.parameters {
                None => self.replace(made, &token, &HashMap::new())?,
                Some(_) if !input.front().is_some_and(|t| t.is("(")) => {
                    out.push(token);
                    continue;
                }
                Some(parameters) => {
                    let arguments = arguments(&mut input, &token, parameters, made.is_variadic)?;
                    self.replace(made, &token, &arguments)?
                }
            };
            for token in body.into_iter().rev() {
                input.push_front(token);
            }
        }
        Ok(out)
    }

    /// The body of a macro where it is used.
    fn replace(
        &self,
        made: &Macro,
        used: &Token,
        arguments: &HashMap<Rc<str>, Vec<Token>>,
    ) -> Done<Vec<Token>> {
        let hidden = |token: &Token| {
            Some(Rc::new(Hidden { name: used.text.clone(), rest: token.hidden.clone() }))
        };
        let mut list: Vec<Token> = Vec::new();
        let mut at = 0;
        while at < made.body.len() {
            let token = &made.body[at];
            let range = used.range.clone();
            let argument = |i: usize| made.body.get(i).and_then(|t| arguments.get(&t.text));
            if token.is("#")
                && made.parameters.is_some()
                && let Some(argument) = argument(at + 1)
            {
                let words: Vec<&str> = argument.iter().map(|t| &*t.text).collect();
                let text = words.join(" ").replace('\\', "\\\\").replace('"', "\\\"");
                let (kind, text) = (Kind::Text, Rc::from(format!("\"{text}\"")));
                list.push(Token { kind, text, range, ..token.clone() });
                at += 2;
                continue;
            }
            if made.body.get(at + 1).is_some_and(|t| t.is("##")) && at + 2 < made.body.len() {
                // Only names and numbers are glued.
                let part = |i: usize| match argument(i) {
                    Some(tokens) => tokens.iter().map(|t| &*t.text).collect::<String>(),
                    None => made.body[i].text.to_string(),
                };
                let mut text = part(at);
                at += 1;
                while made.body.get(at).is_some_and(|t| t.is("##")) && at + 1 < made.body.len() {
                    text += &part(at + 1);
                    at += 2;
                }
                if let Ok(glued) = tokens(&text, 0) {
                    let hidden = hidden(used);
                    list.extend(glued.into_iter().map(|t| Token {
                        range: range.clone(),
                        is_first: false,
                        hidden: hidden.clone(),
                        ..t
                    }));
                }
                continue;
            }
            match arguments.get(&token.text).filter(|_| token.kind == Kind::Name) {
                Some(argument) => {
                    let argument = self.expand(argument.clone())?;
                    list.extend(argument.into_iter().map(|t| Token { hidden: hidden(&t), ..t }));
                }
                None => list.push(Token {
                    range,
                    is_first: false,
                    hidden: hidden(used),
                    ..token.clone()
                }),
            }
            at += 1;
        }
        Ok(list)
    }
}

/// The arguments of a macro, without its brackets.
fn arguments(
    input: &mut VecDeque<Token>,
    used: &Token,
    parameters: &[Rc<str>],
    is_variadic: bool,
) -> Done<HashMap<Rc<str>, Vec<Token>>> {
    input.pop_front();
    let mut list: Vec<Vec<Token>> = vec![Vec::new()];
    let mut depth = 0;
    loop {
        let Some(token) = input.pop_front() else {
            let message = format!("`)` is missing after {}", quote(&used.text));
            return Err(Diagnostic::new(message, used.range.clone()));
        };
        match &*token.text {
            "(" | "[" | "{" => depth += 1,
            ")" if depth == 0 => break,
            ")" | "]" | "}" => depth -= 1,
            "," if depth == 0 && !(is_variadic && list.len() >= parameters.len()) => {
                list.push(Vec::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = list.last_mut() {
            last.push(token);
        }
    }
    if parameters.is_empty() && list.len() == 1 && list[0].is_empty() {
        list.clear();
    }
    if is_variadic && list.len() + 1 == parameters.len() {
        list.push(Vec::new());
    }
    if list.len() != parameters.len() {
        let message = format!(
            "{} takes {}, not {}",
            quote(&used.text),
            crate::errors::counted(parameters.len(), "argument", "arguments"),
            list.len()
        );
        return Err(Diagnostic::new(message, used.range.clone()));
    }
    Ok(parameters.iter().cloned().zip(list).collect())
}

fn too_long(token: &Token) -> Diagnostic {
    let message = format!("with its macros this becomes more than {MAX_TOKENS} tokens");
    Diagnostic::new(message, token.range.clone())
}
