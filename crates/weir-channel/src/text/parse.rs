//! From text to a machine.
//!
//! Every statement ends with `;`, so the text is cut there first. Declarations
//! are read before transitions: where they stand does not matter. A statement that
//! is wrong does not stop the others.

use std::collections::HashMap;
use std::ops::Range;

use weir_front::{Diagnostic, MAX_TEXT};

use super::KEYWORDS;
use super::lexer::{Kind, Token, tokens};
use crate::ids::{ChannelId, LabelId, MessageId, StateId, TransitionId};
use crate::machine::{Builder, MAX_STRONG, Machine, MachineError, Op, Substitution, Transition};
use weir_front::errors::{Errors, did_you_mean, quote};

/// Reads a machine.
///
/// # Errors
/// All the errors that were found, in the order of the text; never empty.
///
/// ```
/// let errors = weir_channel::text::read("
///     machine m;  messages hello;  channels wire;  states s;  initial s;
///     s -> s do wier!hello;
/// ").unwrap_err();
/// assert_eq!(errors[0].message, "there is no channel `wier`");
/// assert_eq!(errors[0].help.as_deref(), Some("did you mean `wire`?"));
/// ```
pub fn read(text: &str) -> Result<Machine, Vec<Diagnostic>> {
    read_placed(text).map(|read| read.machine)
}

/// A machine, and where its parts stand in the text.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The machine.
    pub machine: Machine,
    /// Each of its transitions.
    pub transitions: Vec<Range<usize>>,
    /// Transitions that are written a second time. They are one transition, since `Δ` is a set.
    pub repeated: Vec<Range<usize>>,
}

/// Reads a machine, and says where its transitions stand.
///
/// # Errors
/// As for [`read`].
pub fn read_placed(text: &str) -> Result<Placed, Vec<Diagnostic>> {
    if text.len() > MAX_TEXT {
        let size = format!("the file has {} bytes; at most {MAX_TEXT} are read", text.len());
        return Err(vec![Diagnostic::new(size, 0..0)]);
    }
    if text.trim().is_empty() {
        return Err(vec![Diagnostic::new("the file is empty", 0..0)]);
    }
    let mut errors = Errors::default();
    let tokens = tokens(text, &mut errors);
    let mut reader = Reader {
        tokens: &tokens,
        at: 0,
        errors,
        builder: Machine::builder(""),
        name: None,
        initial: None,
        strong: None,
        states: Names::new("control state", "states"),
        channels: Names::new("channel", "channels"),
        messages: Names::new("message", "messages"),
        labels: Names::new("label", "labels"),
        places: Vec::new(),
        repeated: Vec::new(),
        brackets: 0,
        parts: 0,
    };
    reader.file();
    reader.finish()
}

/// An error that has been reported.
pub(super) struct Failed;

pub(super) type Parsed<T> = Result<T, Failed>;

/// The names of one kind, and where they are declared.
struct Names<'t> {
    kind: &'static str,
    keyword: &'static str,
    known: HashMap<&'t str, (usize, Range<usize>)>,
    /// Whether a declaration could not be read. Then an unknown name is not reported, since it may
    /// be declared there.
    lost: bool,
}

impl<'t> Names<'t> {
    fn new(kind: &'static str, keyword: &'static str) -> Self {
        Self { kind, keyword, known: HashMap::new(), lost: false }
    }

    /// The number of a name that should have been declared.
    fn find(&self, token: &Token<'t>, errors: &mut Errors) -> Option<usize> {
        if let Some((number, _)) = self.known.get(token.text) {
            return Some(*number);
        }
        if !self.lost && !errors.is_full() {
            let message = format!("there is no {} {}", self.kind, quote(token.text));
            let error = Diagnostic::new(message, token.range.clone()).label("not declared");
            let mut error = did_you_mean(error, token.text, self.known.keys().copied());
            if self.known.is_empty() {
                error = error.help(format!("declare it: `{} {};`", self.keyword, token.text));
            }
            errors.push(error);
        }
        None
    }
}

/// Where the parts of a transition stand.
#[derive(Default)]
pub(super) struct Places {
    whole: Range<usize>,
    pub guards: Vec<(ChannelId, Range<usize>)>,
    ops: Vec<(ChannelId, Range<usize>)>,
}

pub(super) struct Reader<'a, 't> {
    pub tokens: &'a [Token<'t>],
    pub at: usize,
    pub errors: Errors,
    builder: Builder,
    name: Option<Token<'t>>,
    initial: Option<Token<'t>>,
    strong: Option<(Vec<Token<'t>>, usize, Range<usize>)>,
    states: Names<'t>,
    channels: Names<'t>,
    messages: Names<'t>,
    labels: Names<'t>,
    /// For each transition.
    places: Vec<Places>,
    repeated: Vec<Range<usize>>,
    /// How deep brackets are open, and how many parts a guard has so far.
    pub brackets: usize,
    pub parts: usize,
}

impl<'t> Reader<'_, 't> {
    fn file(&mut self) {
        let mut transitions = Vec::new();
        while self.peek().kind != Kind::End {
            let start = self.at;
            if self.peek().kind == Kind::Keyword {
                if self.declaration().is_err() {
                    self.lose(start);
                }
            } else {
                transitions.push(start);
            }
            self.skip();
        }
        for start in transitions {
            self.at = start;
            let _ = self.transition();
        }
    }

    /// Goes past the next `;`.
    fn skip(&mut self) {
        while self.peek().kind != Kind::End && !self.eat(";") {
            self.at += 1;
        }
    }

    pub(super) fn peek(&self) -> Token<'t> {
        self.tokens[self.at.min(self.tokens.len() - 1)].clone()
    }

    pub(super) fn next(&mut self) -> Token<'t> {
        let token = self.peek();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    pub(super) fn is(&self, text: &str) -> bool {
        let token = self.peek();
        matches!(token.kind, Kind::Keyword | Kind::Symbol) && token.text == text
    }

    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.is(text);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, text: &str, context: &str) -> Parsed<()> {
        if self.eat(text) { Ok(()) } else { Err(self.expected(&format!("`{text}` {context}"))) }
    }

    pub(super) fn expected(&mut self, what: &str) -> Failed {
        let token = self.peek();
        let found = match token.kind {
            Kind::End => "the end of the file".to_owned(),
            Kind::Keyword => format!("the word {}", quote(token.text)),
            _ => quote(token.text),
        };
        let error = Diagnostic::new(format!("expected {what}, found {found}"), token.range.clone());
        self.fail(match token.kind {
            Kind::Keyword if what.contains("name") => {
                error.help(format!("a name that is a keyword has to be quoted: \"{}\"", token.text))
            }
            _ => error,
        })
    }

    pub(super) fn fail(&mut self, error: Diagnostic) -> Failed {
        self.errors.push(error);
        Failed
    }

    pub(super) fn name(&mut self, what: &str) -> Parsed<Token<'t>> {
        if self.peek().kind == Kind::Name {
            Ok(self.next())
        } else {
            Err(self.expected(&format!("the name of a {what}")))
        }
    }

    /// `NAME, NAME, …`
    fn names(&mut self, what: &str) -> Parsed<Vec<Token<'t>>> {
        let mut names = vec![self.name(what)?];
        while self.eat(",") {
            names.push(self.name(what)?);
        }
        Ok(names)
    }

    fn end(&mut self, or: &str) -> Parsed<()> {
        if self.is(";") { Ok(()) } else { Err(self.expected(&format!("{or} or `;`"))) }
    }

    /// Remembers that a declaration was lost.
    fn lose(&mut self, start: usize) {
        let word = self.tokens[start].text;
        for names in [&mut self.states, &mut self.channels, &mut self.messages, &mut self.labels] {
            names.lost |= names.keyword == word;
        }
    }

    fn declaration(&mut self) -> Parsed<()> {
        let word = self.next();
        match word.text {
            "machine" => {
                let name = self.name("machine")?;
                let before = self.name.as_ref().map(|n| n.range.clone());
                self.once("the machine has a name already", &word, before)?;
                self.name = Some(name);
                self.end("nothing")
            }
            "initial" => {
                let name = self.name("control state")?;
                let before = self.initial.as_ref().map(|n| n.range.clone());
                self.once("there is an initial state already", &word, before)?;
                self.initial = Some(name);
                self.end("nothing")
            }
            "strong" => {
                let names = self.names("message")?;
                self.expect("at", "after the strong messages")?;
                self.expect("most", "after `at`")?;
                let number = self.peek();
                let Ok(bound) = number.text.parse::<usize>() else {
                    return Err(self.expected("how many strong messages a channel may hold"));
                };
                self.next();
                if bound > MAX_STRONG {
                    let message = MachineError::Bound.to_string();
                    return Err(self.fail(Diagnostic::new(message, number.range)));
                }
                let before = self.strong.as_ref().map(|(_, _, r)| r.clone());
                self.once("strong messages are declared already", &word, before)?;
                self.strong = Some((names, bound, word.range));
                self.end("nothing")
            }
            "states" | "channels" | "messages" | "labels" => {
                let what = match word.text {
                    "states" => "control state",
                    "channels" => "channel",
                    "messages" => "message",
                    _ => "label",
                };
                let names = self.names(what)?;
                self.declare(word.text, names)?;
                self.end("`,`")
            }
            other => {
                let message = format!("no statement begins with {}", quote(other));
                let help = "a declaration begins with `machine`, `messages`, `strong`, `channels`, \
                            `labels`, `states` or `initial`, a transition with `STATE -> STATE`";
                Err(self.fail(Diagnostic::new(message, word.range).help(help)))
            }
        }
    }

    fn once(
        &mut self,
        message: &str,
        word: &Token<'t>,
        before: Option<Range<usize>>,
    ) -> Parsed<()> {
        match before {
            None => Ok(()),
            Some(before) => {
                Err(self.fail(Diagnostic::new(message, word.range.clone()).note(before, "here")))
            }
        }
    }

    fn declare(&mut self, word: &str, declared: Vec<Token<'t>>) -> Parsed<()> {
        for token in declared {
            let (names, added) = match word {
                "states" => (&mut self.states, self.builder.state(token.text).map(StateId::index)),
                "channels" => {
                    (&mut self.channels, self.builder.channel(token.text).map(ChannelId::index))
                }
                "messages" => {
                    (&mut self.messages, self.builder.message(token.text).map(MessageId::index))
                }
                _ => (&mut self.labels, self.builder.label(token.text).map(LabelId::index)),
            };
            match added {
                Ok(number) => {
                    names.known.insert(token.text, (number, token.range));
                }
                Err(MachineError::Duplicate(kind, _)) => {
                    let message = format!("there are two {kind}s {}", quote(token.text));
                    let mut error = Diagnostic::new(message, token.range);
                    if let Some((_, first)) = names.known.get(token.text) {
                        error = error.note(first.clone(), "the first one");
                    }
                    self.errors.push(error);
                }
                Err(other) => {
                    names.lost = true;
                    return Err(self.fail(Diagnostic::new(other.to_string(), token.range)));
                }
            }
        }
        Ok(())
    }

    fn state(&mut self, token: &Token<'t>) -> Option<StateId> {
        self.states.find(token, &mut self.errors).map(StateId::new)
    }

    pub(super) fn channel(&mut self, token: &Token<'t>) -> Option<ChannelId> {
        self.channels.find(token, &mut self.errors).map(ChannelId::new)
    }

    pub(super) fn message(&mut self, token: &Token<'t>) -> Option<MessageId> {
        self.messages.find(token, &mut self.errors).map(MessageId::new)
    }

    fn transition(&mut self) -> Parsed<()> {
        let start = self.peek();
        let begins_well = self.tokens.get(self.at + 1).is_some_and(|t| t.text == "->");
        if start.kind == Kind::Name && !begins_well {
            let message =
                format!("{} begins neither a declaration nor a transition", quote(start.text));
            let error = Diagnostic::new(message, start.range);
            let words = KEYWORDS.into_iter().take(9);
            let mut error = did_you_mean(error, start.text, words);
            if error.help.is_none() {
                error = error.help("a transition begins with `STATE -> STATE`");
            }
            return Err(self.fail(error));
        }
        let from = self.name("control state")?;
        self.expect("->", "after the control state")?;
        let to = self.name("control state")?;
        let (from, to) = (self.state(&from), self.state(&to));
        // Whatever is wrong with a name has been said; the rest is read all the same.
        let zero = StateId(0);
        let mut transition = Transition::new(from.unwrap_or(zero), to.unwrap_or(zero));
        let mut whole = from.is_some() && to.is_some();
        if self.eat("on") {
            let label = self.name("label")?;
            match self.labels.find(&label, &mut self.errors) {
                Some(label) => transition = transition.label(LabelId::new(label)),
                None => whole = false,
            }
        }
        let mut places = Places::default();
        let mut or = "`on`, `when`, `do`";
        if self.eat("when") {
            or = "`,`, `do`";
            loop {
                whole &= self.guard(&mut transition, &mut places)?;
                if !self.eat(",") {
                    break;
                }
            }
        }
        if self.eat("do") {
            or = "`,`";
            if !self.eat("nop") {
                loop {
                    whole &= self.op(&mut transition, &mut places)?;
                    if !self.eat(",") {
                        break;
                    }
                }
            }
        }
        self.end(or)?;
        if !whole {
            return Ok(());
        }
        let range = start.range.start..self.tokens[self.at - 1].range.end;
        if self.builder.is_again(&transition) {
            self.repeated.push(range);
            return Ok(());
        }
        match self.builder.transition(transition) {
            Ok(_) => self.places.push(Places { whole: range, ..places }),
            Err(error) => {
                self.fail(Diagnostic::new(error.to_string(), range));
            }
        }
        Ok(())
    }

    /// An operation; false if a name in it is wrong.
    fn op(&mut self, transition: &mut Transition, places: &mut Places) -> Parsed<bool> {
        let name = self.name("channel")?;
        let channel = self.channel(&name);
        let mut whole = channel.is_some();
        let mut substitution = Substitution::identity();
        let open = self.peek();
        let substitutes = self.eat("[");
        if substitutes && !self.eat("]") {
            let mut replaced: HashMap<&str, Range<usize>> = HashMap::new();
            loop {
                let new = self.name("message")?;
                self.expect("/", "between the new and the old message")?;
                let old = self.name("message")?;
                if let Some(first) = replaced.insert(old.text, old.range.clone()) {
                    let message = format!("{} is replaced twice", quote(old.text));
                    let error = Diagnostic::new(message, old.range).note(first, "the first time");
                    return Err(self.fail(error));
                }
                match (self.message(&new), self.message(&old)) {
                    (Some(new), Some(old)) => substitution = substitution.with(new, old),
                    _ => whole = false,
                }
                if !self.eat(",") {
                    break;
                }
            }
            self.expect("]", "after the substitution")?;
        }
        let sends = self.eat("!");
        if !sends && !self.is("?") {
            return Err(self.expected("`!` to send or `?` to receive"));
        }
        if !sends {
            if substitutes {
                let message = "only a send can substitute";
                return Err(self.fail(Diagnostic::new(message, open.range)));
            }
            self.next();
        }
        let token = self.name("message")?;
        let message = self.message(&token);
        let range = name.range.start..token.range.end;
        let (Some(channel), Some(message)) = (channel, message) else { return Ok(false) };
        if let Some((_, first)) = places.ops.iter().find(|(c, _)| *c == channel) {
            let message = format!("there are two operations on {}", quote(name.text));
            let error = Diagnostic::new(message, range)
                .note(first.clone(), "the first one")
                .help("a transition does one thing to a channel; put a state between the two");
            return Err(self.fail(error));
        }
        places.ops.push((channel, range));
        let op = if sends { Op::Send { substitution, message } } else { Op::Receive(message) };
        *transition =
            std::mem::replace(transition, Transition::new(StateId(0), StateId(0))).op(channel, op);
        Ok(whole)
    }

    /// The machine, if nothing was wrong.
    fn finish(mut self) -> Result<Placed, Vec<Diagnostic>> {
        match &self.name {
            Some(name) => self.builder.rename(name.text),
            // It is probably something else altogether: one error is enough.
            None => {
                let error = Diagnostic::new("the machine has no name", 0..0);
                return Err(vec![error.help("begin with `machine NAME;`")]);
            }
        }
        if let Some((names, bound, _)) = self.strong.take() {
            let mut strong = Vec::new();
            for name in &names {
                let message = self.message(name);
                if message.is_some_and(|m| strong.contains(&m)) {
                    let error = format!("{} is strong already", quote(name.text));
                    self.errors.push(Diagnostic::new(error, name.range.clone()));
                }
                strong.extend(message);
            }
            // The bound was looked at when it was read.
            let _ = self.builder.strong(strong, bound);
        }
        let initial = match self.initial.take() {
            Some(name) => self.state(&name),
            None => {
                let error = Diagnostic::new("the machine has no initial state", 0..0);
                self.errors.push(error.help("say where it begins: `initial STATE;`"));
                None
            }
        };
        if let (Some(initial), true) = (initial, self.errors.is_empty()) {
            match self.builder.build(initial) {
                Ok(machine) => {
                    let transitions = self.places.into_iter().map(|p| p.whole).collect();
                    return Ok(Placed { machine, transitions, repeated: self.repeated });
                }
                Err(error) => self.errors.push(explain(&error, &self.places)),
            }
        }
        Err(self.errors.sorted())
    }
}

/// What is wrong with a machine as a whole, and where.
fn explain(error: &MachineError, places: &[Places]) -> Diagnostic {
    let place = |id: TransitionId, channel: ChannelId, guard: bool| {
        let places = places.get(id.index());
        let list = places.map(|p| if guard { &p.guards } else { &p.ops });
        let found = list.and_then(|l| l.iter().find(|(c, _)| *c == channel));
        found.map_or(0..0, |(_, range)| range.clone())
    };
    match error {
        MachineError::PastBound(id, channel) => {
            Diagnostic::new(error.to_string(), place(*id, *channel, false))
                .label("can never happen")
                .help("raise the bound of `strong`, or make the message one that can be lost")
        }
        MachineError::NeverHolds(id, channel) => {
            Diagnostic::new(error.to_string(), place(*id, *channel, true))
                .label("can never hold")
                .help("raise the bound of `strong`, or ask for less")
        }
        other => Diagnostic::new(other.to_string(), 0..0),
    }
}
