//! The library `L(A,B)` (Wang et al. 2021, section 4.3).
//!
//! *Idea.* Two methods pass the contents of the channel of `CM'_(A,B)` to each other,
//! each time as a sequence of writes to a variable, which wait in the store buffer of the
//! writer until the other reads them. With `M1` on one client and `M2` on another, a
//! round executes one transition:
//!
//! | | who | reads | writes |
//! | --- | --- | --- | --- |
//! | (1) | `M1` | `y2` | `x1`, changed by the transition that came with it, and with the next one |
//! | (2) | `M2` | `x1` | `y1` |
//! | (3) | `M1` | `y1` | `x2` |
//! | (4) | `M2` | `x2` | `y2` |
//!
//! A sequence is `r·⊥s·l·⊥e`: a transition, and the contents of the channel, with `♯`
//! after each symbol so that nothing is read twice. A client that reads something else
//! sets `failSimu`, and then all calls return. In the guess phase calls return after each
//! round; in the check phase only if the simulation fails. So there is a run in which
//! calls do not return if and only if the machine visits `s1` infinitely often (Theorem
//! 1).
//!
//! This module generates the text of the library and not its syntax tree, so that the
//! lines of the paper's algorithms stand beside the code. Points that the paper leaves
//! open:
//!
//! * Algorithm 2 is derived from (2) and (4) and the text about `M2`.
//! * In the first round, line 19 uses the destination of the rule that was guessed.
//! * No rule leaves `s_trap`. A client that would have to guess one there declares the
//!   simulation failed.
//! * Line 19 uses the destination of `r2`. It is determined when `r2` is guessed, so that
//!   control states need not keep `r2` for the rest of the round.
//! * Initially all variables are `♯`, which no `readOne` accepts.

use std::fmt::Write as _;

use weir_channel::text::show_transition;
use weir_channel::{Machine, MessageId, Op, StateId, TransitionId};

use super::{AGAIN, CpcpError, machine, one_channel};
use crate::pcp::Instance;

/// The most values that a variable of the program may take.
const MAX_VALUES: usize = 4096;

/// The library `L(A,B)` of an instance: an object in the Weir language.
///
/// # Errors
/// If the machine is too large, or has too many transitions.
///
/// ```
/// use weir_theory::{cpcp, pcp};
///
/// let text = cpcp::library(&pcp::read("a a").unwrap()).unwrap();
/// let (object, _) = weir_front::weir::read("library.weir", &text).unwrap();
/// assert!(object.with_clients(2).is_some());
/// ```
pub fn library(instance: &Instance) -> Result<String, CpcpError> {
    let machine = one_channel(&machine(instance)?)?;
    let rules = Rules::of(&machine);
    let values = OTHERS.len() + machine.messages().count() + rules.order.len();
    if values > MAX_VALUES {
        return Err(CpcpError::Rules(rules.order.len()));
    }
    let mut out = Text::default();
    out.line("// The library L(A,B) of Wang et al. 2021, section 4.3, for the pairs");
    for (alpha, beta) in instance.pairs() {
        out.line(&format!("//     {alpha} {beta}"));
    }
    out.line(
        "// Some call does not return, under TSO, if and only if they have a cyclic solution.",
    );
    out.line("//");
    out.line("// The transition rules of the machine with one channel:");
    for (n, rule) in rules.order.iter().enumerate() {
        out.line(&format!("//     {}: {}", name(n), show_transition(&machine, *rule)));
    }
    let symbols = machine.messages().map(|m| symbol(&machine, m));
    let names = OTHERS.iter().map(|s| (*s).to_owned()).chain(symbols);
    let names: Vec<String> = names.chain((0..rules.order.len()).map(name)).collect();
    out.open("enum Symbol");
    names.iter().for_each(|name| out.line(&format!("{name},")));
    out.close();
    out.line("enum Phase { guess, check }");
    out.open("object library");
    for variable in ["x1", "y1", "x2", "y2"] {
        out.line(&format!("var {variable}: Symbol = sharp"));
    }
    out.line("var phase: Phase = guess");
    out.line("var failSimu: bool = false");
    out.line("var firstM1: bool = true");
    out.open("method M1");
    out.m1(&machine, &rules);
    out.close();
    out.open("method M2");
    out.m2();
    out.close();
    out.close();
    Ok(out.text)
}

/// The symbols `♯`, `⊥s` and `⊥e`. In a register `♯` stands for `ε` as well.
const OTHERS: [&str; 3] = ["sharp", "bot_s", "bot_e"];

/// A message as a name of the language: `a`, `a'` and `$1` are `sym_a_0`, `sym_a_1` and
/// `end_1`.
fn symbol(machine: &Machine, message: MessageId) -> String {
    let name = machine.message_name(message);
    match (name.strip_prefix('$'), name.strip_suffix('\'')) {
        (Some(number), _) => format!("end_{number}"),
        (None, Some(letter)) => format!("sym_{letter}_1"),
        (None, None) => format!("sym_{name}_0"),
    }
}

/// The name of a rule, which are numbered from 0.
fn name(rule: usize) -> String {
    format!("rule_{}", rule + 1)
}

/// The transitions of a machine, those from the same control state next to each other.
struct Rules {
    order: Vec<TransitionId>,
    /// For each control state, where its rules begin and end.
    from: Vec<std::ops::Range<usize>>,
}

impl Rules {
    fn of(machine: &Machine) -> Self {
        let mut order: Vec<TransitionId> = machine.transition_ids().collect();
        let source = |t: &TransitionId| machine.transition(*t).from;
        order.sort_by_key(source);
        let of = |s: StateId| {
            let begin = order.partition_point(|t| source(t) < s);
            begin..order.partition_point(|t| source(t) <= s)
        };
        let from = machine.states().map(of).collect();
        Self { order, from }
    }

    /// Guesses a rule from a control state, if there is one.
    fn guess(&self, state: StateId) -> Option<String> {
        let range = &self.from[state.index()];
        let last = range.end.checked_sub(1).filter(|_| !range.is_empty())?;
        Some(match range.start == last {
            true => format!("r2 = {}", name(last)),
            false => format!("r2 = any({}..{})", name(range.start), name(last)),
        })
    }
}

/// Says that the simulation has failed.
const FAIL: &str = "failSimu = true return";

/// The text of the library so far.
#[derive(Default)]
struct Text {
    text: String,
    depth: usize,
}

impl Text {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{}{line}", weir_front::columns::spaces(4 * self.depth));
    }

    /// A line of the paper's algorithms.
    fn paper(&mut self, line: &str) {
        self.line(&format!("// {line}"));
    }

    fn open(&mut self, head: &str) {
        self.line(&format!("{head} {{"));
        self.depth += 1;
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.line("}");
    }

    /// `writeOne(x, a)`, and `writeSeq` of one symbol.
    fn write_one(&mut self, x: &str, a: &str) {
        self.line(&format!("{x} = {a} {x} = sharp"));
    }

    /// `writeSeq(x, a1 · … · ak)`.
    fn write_seq(&mut self, x: &str, all: &[&str]) {
        all.iter().for_each(|a| self.write_one(x, a));
    }

    /// Reads `♯`.
    fn read_sharp(&mut self, x: &str) {
        self.line(&format!("if {x} != sharp {{ {FAIL} }}"));
    }

    /// `tmp := readOne(x)`.
    fn read_one(&mut self, x: &str) {
        self.line(&format!("tmp = {x}"));
        self.line(&format!("if tmp == sharp {{ {FAIL} }}"));
        self.read_sharp(x);
    }

    /// `readOne(x, a)`.
    fn read_this(&mut self, x: &str, a: &str) {
        self.line(&format!("if {x} != {a} {{ {FAIL} }}"));
        self.read_sharp(x);
    }

    /// `transportData(x, y)`.
    fn transport_data(&mut self, x: &str, y: &str) {
        self.open("loop");
        self.read_one(x);
        self.write_one(y, "tmp");
        self.line("if tmp == bot_e { break }");
        self.close();
    }

    /// Dispatches on the number of the rule in a register. Adjacent rules with the same code share
    /// one branch. The tests form a balanced tree, so that they nest no deeper than the language
    /// allows.
    fn by_rule(&mut self, register: &str, what: &[String]) {
        let mut runs: Vec<(usize, &str)> = Vec::new();
        for (rule, what) in what.iter().enumerate() {
            match runs.last_mut() {
                Some((last, same)) if same == what => *last = rule,
                _ => runs.push((rule, what)),
            }
        }
        self.tree(register, &runs);
    }

    /// Each run has its last rule. The depth is logarithmic in the number of runs.
    fn tree(&mut self, register: &str, runs: &[(usize, &str)]) {
        match runs {
            [] | [(_, "")] => {}
            [(_, what)] => self.line(what),
            _ => {
                let (low, high) = runs.split_at(runs.len() / 2);
                self.open(&format!("if {register} <= {}", name(low[low.len() - 1].0)));
                self.tree(register, low);
                self.depth -= 1;
                self.open("} else");
                self.tree(register, high);
                self.close();
            }
        }
    }

    /// Algorithm 1.
    fn m1(&mut self, machine: &Machine, rules: &Rules) {
        let value = |op: fn(&Op) -> Option<MessageId>, register: &str| -> Vec<String> {
            let of = |rule: &TransitionId| {
                let value = machine.transition(*rule).ops().find_map(|(_, o)| op(o));
                let value = value.map_or(OTHERS[0].to_owned(), |m| symbol(machine, m));
                format!("{register} = {value}")
            };
            rules.order.iter().map(of).collect()
        };
        let received = |op: &Op| match op {
            Op::Receive(message) => Some(*message),
            Op::Send { .. } => None,
        };
        let sent = |op: &Op| match op {
            Op::Send { message, .. } => Some(*message),
            Op::Receive(_) => None,
        };
        let ends = rules.order.iter().map(|rule| machine.transition(*rule).to);
        let next =
            ends.clone().map(|s| rules.guess(s).unwrap_or(FAIL.to_owned())).collect::<Vec<_>>();
        let arrives = |s: StateId| format!("to_s1 = {}", machine.state_name(s) == AGAIN);
        let arrives: Vec<String> = ends.map(arrives).collect();

        self.line("reg r1: Symbol, r2: Symbol, z1: Symbol, z2: Symbol, tmp: Symbol, to_s1: bool");
        self.paper("1: while true do");
        self.open("loop");
        self.paper("2: if failSimu, then return");
        self.line("if failSimu { return }");
        self.paper("3: if firstM1 then");
        self.open("if firstM1");
        self.paper("4: guess a transition rule that starts where the machine does");
        self.line(&rules.guess(machine.initial()).unwrap_or(FAIL.to_owned()));
        self.by_rule("r2", &arrives);
        self.paper("5: writeSeq(x1, r · ⊥s · ⊥e)");
        self.write_seq("x1", &["r2", "bot_s", "bot_e"]);
        self.paper("6: firstM1 = false");
        self.line("firstM1 = false");
        self.paper("7: else");
        self.depth -= 1;
        self.open("} else");
        self.paper("8: r1 := readRule(y2)");
        self.line("r1 = y2");
        self.line(&format!("if r1 < {} {{ {FAIL} }}", name(0)));
        self.read_sharp("y2");
        self.paper("9: z1 := valueRead(r1) and z2 := valueWritten(r1)");
        self.by_rule("r1", &value(received, "z1"));
        self.by_rule("r1", &value(sent, "z2"));
        self.paper("10: readOne(y2, ⊥s)");
        self.read_this("y2", "bot_s");
        self.paper("11: if z1 ≠ ε, then readOne(y2, z1)");
        self.open("if z1 != sharp");
        self.read_this("y2", "z1");
        self.close();
        self.paper("12: guess a transition rule r2 that starts from the destination state of r1");
        self.by_rule("r1", &next);
        self.by_rule("r2", &arrives);
        self.paper("13: writeSeq(x1, r2 · ⊥s)");
        self.write_seq("x1", &["r2", "bot_s"]);
        self.paper("14: while true do");
        self.open("loop");
        self.paper("15: tmp := readOne(y2)");
        self.read_one("y2");
        self.paper("16: if tmp = ⊥e, then break");
        self.line("if tmp == bot_e { break }");
        self.paper("17: writeOne(x1, tmp)");
        self.write_one("x1", "tmp");
        self.close();
        self.paper("18: writeSeq(x1, z2 · ⊥e)");
        self.line("if z2 != sharp { x1 = z2 x1 = sharp }");
        self.write_one("x1", "bot_e");
        self.close();
        self.paper(
            "19: if phase = guess and the destination state of r2 is s1, then set phase to check",
        );
        self.line("if phase == guess and to_s1 { phase = check }");
        self.paper("20: transportData(y1, x2)");
        self.transport_data("y1", "x2");
        self.paper("21: if phase = guess, then return");
        self.line("if phase == guess { return }");
        self.close();
    }

    /// Algorithm 2.
    fn m2(&mut self) {
        self.line("reg tmp: Symbol");
        self.paper("while true do");
        self.open("loop");
        self.paper("if failSimu, then return");
        self.line("if failSimu { return }");
        self.paper("transportData(x1, y1)");
        self.transport_data("x1", "y1");
        self.paper("transportData(x2, y2)");
        self.transport_data("x2", "y2");
        self.paper("if phase = guess, then return");
        self.line("if phase == guess { return }");
        self.close();
    }
}
