//! From a machine to text that reads back as the same machine.

use std::fmt::Write as _;

use super::lexer::is_bare;
use crate::ids::TransitionId;
use crate::machine::{Machine, Op, Transition};
use crate::regex::{Class, Node, Regex};

/// Where lists of names are broken.
const WIDTH: usize = 90;

/// A name as it stands in the text.
fn name(text: &str) -> String {
    if is_bare(text) { text.to_owned() } else { format!("\"{text}\"") }
}

/// A machine as text.
///
/// ```
/// let text = "machine m;\nmessages a;\nchannels c;\nstates s;\ninitial s;\n\ns -> s do c!a;\n";
/// let machine = weir_channel::text::read(text).unwrap();
/// assert_eq!(weir_channel::text::print(&machine), text);
/// ```
pub fn print(machine: &Machine) -> String {
    let mut out = format!("machine {};\n", name(machine.name()));
    list(&mut out, "messages", machine.messages().map(|m| machine.message_name(m)), "");
    let most = format!(" at most {}", machine.strong_bound());
    list(&mut out, "strong", machine.strong().map(|m| machine.message_name(m)), &most);
    list(&mut out, "channels", machine.channels().map(|c| machine.channel_name(c)), "");
    list(&mut out, "labels", machine.labels().map(|l| machine.label_name(l)), "");
    list(&mut out, "states", machine.states().map(|s| machine.state_name(s)), "");
    let _ = writeln!(out, "initial {};", name(machine.state_name(machine.initial())));
    if !machine.transitions().is_empty() {
        out.push('\n');
    }
    for id in machine.transition_ids() {
        let _ = writeln!(out, "{};", show_transition(machine, id));
    }
    out
}

/// `word name, name, …;`, unless there are none.
fn list<'n>(out: &mut String, word: &str, names: impl Iterator<Item = &'n str>, end: &str) {
    let mut line = word.to_owned();
    let mut first = true;
    for text in names {
        let text = name(text);
        if !first {
            line.push(',');
            if line.chars().count() + text.chars().count() > WIDTH {
                let _ = writeln!(out, "{line}");
                line = "   ".to_owned();
            }
        }
        first = false;
        let _ = write!(line, " {text}");
    }
    if !first {
        let _ = writeln!(out, "{line}{end};");
    }
}

/// A transition as it stands in the text, without the `;`.
pub fn show_transition(machine: &Machine, id: TransitionId) -> String {
    let transition = machine.transition(id);
    let state = |s| name(machine.state_name(s));
    let mut out = format!("{} -> {}", state(transition.from), state(transition.to));
    if let Some(label) = transition.label {
        let _ = write!(out, " on {}", name(machine.label_name(label)));
    }
    out + &details(machine, transition)
}

/// The guards and operations of a transition.
fn details(machine: &Machine, transition: &Transition) -> String {
    let message = |m| name(machine.message_name(m));
    let guards: Vec<String> = transition
        .guards()
        .map(|(c, regex)| format!("{} {}", name(machine.channel_name(c)), guard(machine, regex)))
        .collect();
    let op = |(c, op): (_, &Op)| {
        let channel = name(machine.channel_name(c));
        match op {
            Op::Receive(m) => format!("{channel}?{}", message(*m)),
            Op::Send { substitution, message: m } if substitution.is_identity() => {
                format!("{channel}!{}", message(*m))
            }
            Op::Send { substitution, message: m } => {
                let pair = |(new, old)| format!("{}/{}", message(new), message(old));
                let pairs: Vec<String> = substitution.pairs().map(pair).collect();
                format!("{channel}[{}]!{}", pairs.join(", "), message(*m))
            }
        }
    };
    let ops: Vec<String> = transition.ops().map(op).collect();
    let mut out = String::new();
    for (word, parts) in [("when", guards), ("do", ops)] {
        if !parts.is_empty() {
            let _ = write!(out, " {word} {}", parts.join(", "));
        }
    }
    out
}

/// A guard after the name of its channel, in the paper's short forms if it has one.
fn guard(machine: &Machine, regex: &Regex) -> String {
    match regex.node() {
        Node::Epsilon => return "empty".to_owned(),
        Node::Star(inner) => {
            if let Node::Class(class) = &**inner {
                return format!("only {}", show_class(machine, class));
            }
        }
        Node::Concat(parts) => {
            if let [_, Node::Class(class), _] = parts.as_slice()
                && let ([message], false) = (class.messages(), class.is_negated())
                && *regex == Regex::has(*message)
            {
                return format!("has {}", name(machine.message_name(*message)));
            }
        }
        _ => {}
    }
    format!("in {}", show_regex(machine, regex))
}

fn show_class(machine: &Machine, class: &Class) -> String {
    let messages: Vec<String> =
        class.messages().iter().map(|m| name(machine.message_name(*m))).collect();
    match (class.is_negated(), messages.as_slice()) {
        (true, []) => ".".to_owned(),
        (true, _) => format!("[^{}]", messages.join(" ")),
        (false, [one]) => one.clone(),
        (false, _) => format!("[{}]", messages.join(" ")),
    }
}

/// A regular expression as it stands in the text.
pub fn show_regex(machine: &Machine, regex: &Regex) -> String {
    show(machine, regex.node(), 0)
}

/// With brackets if it binds less than `level`: 0 union, 1 sequence, 2 repetition.
fn show(machine: &Machine, node: &Node, level: usize) -> String {
    let all = |nodes: &[Node], level, between: &str| {
        nodes.iter().map(|n| show(machine, n, level)).collect::<Vec<_>>().join(between)
    };
    let (text, own) = match node {
        Node::Epsilon => ("eps".to_owned(), 2),
        Node::Class(class) => (show_class(machine, class), 2),
        Node::Concat(nodes) => (all(nodes, 2, " "), 1),
        Node::Union(nodes) => (all(nodes, 1, " | "), 0),
        Node::Star(inner) => (show(machine, inner, 2) + "*", 2),
        Node::Plus(inner) => (show(machine, inner, 2) + "+", 2),
        Node::Optional(inner) => (show(machine, inner, 2) + "?", 2),
    };
    if own < level { format!("({text})") } else { text }
}
