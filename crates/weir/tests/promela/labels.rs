//! Random models about labels, on which Weir and Spin have to agree under SC: every statement has a label, which may be
//! an `end` label; guards begin with local variables, arrays, shared variables or polls of channels, in
//! `atomic`, in `d_step` and alone; formulas are about labels and their negations.

use std::fmt::Write as _;

use super::random::Random;

/// A model; the same one for the same seed.
pub fn model(seed: u64) -> String {
    let mut writer =
        Writer { random: Random::new(seed), text: String::new(), at: Vec::new(), process: 0 };
    writer.whole();
    writer.text
}

struct Writer {
    random: Random,
    text: String,
    /// Processes with their labels.
    at: Vec<(usize, String)>,
    process: usize,
}

impl Writer {
    fn whole(&mut self) {
        self.text += "byte x; byte y = 1; byte a[2];\n";
        let room = 1 + self.random.below(2);
        let _ = writeln!(self.text, "chan c = [{room}] of {{ byte }};");
        for process in 0..2 {
            self.process = process;
            let (i, n) = (self.random.below(2), self.random.below(3));
            let _ = writeln!(self.text, "active proctype P{process}() {{");
            let _ = writeln!(self.text, "  byte i = {i}; byte n = {n}; byte l[2];");
            for _ in 0..2 + self.random.below(2) {
                self.statement(0);
            }
            self.text += "}\n";
        }
        for number in 0..2 {
            let formula = self.formula();
            let _ = writeln!(self.text, "ltl f{number} {{ {formula} }}");
        }
    }

    /// A label that is nowhere else.
    fn label(&mut self) {
        let word = if self.random.below(3) == 0 { "end" } else { "L" };
        let label = format!("{word}{}", self.at.len());
        let _ = write!(self.text, "{label}: ");
        self.at.push((self.process, label));
    }

    /// Something that a guard begins with: mostly local.
    fn first(&mut self) -> String {
        let c = self.random.below(3);
        match self.random.below(6) {
            0 => "i < 1".to_owned(),
            1 => format!("n > {c}"),
            2 => "l[i] == 0".to_owned(),
            3 => format!("n + i < {c}"),
            4 => format!("x == {c}"),
            _ => "n == n".to_owned(),
        }
    }

    /// What it goes on with: an index that may leave its array is only evaluated where it does not.
    fn second(&mut self) -> String {
        let c = self.random.below(3);
        match self.random.below(8) {
            0 => format!("a[i] == {c}"),
            1 => format!("(i < 1 && a[i + 1] == {c})"),
            2 => format!("c ? [{c}]"),
            3 => self.random.pick(&["nempty(c)", "nfull(c)", "len(c) == 1"]).to_owned(),
            4 => format!("x == {c} && y == 1"),
            5 => format!("(i < 1 && l[i + 1] == {c})"),
            6 => format!("(n > 0 -> x : a[0]) == {c}"),
            _ => format!("y != {c}"),
        }
    }

    fn guard(&mut self) -> String {
        let (first, second) = (self.first(), self.second());
        match self.random.below(5) {
            0 => first,
            1 => second,
            2 => format!("({first} || {second})"),
            _ => format!("({first} && {second})"),
        }
    }

    fn effect(&mut self) -> String {
        let c = self.random.below(3);
        match self.random.below(9) {
            0 => format!("x = {c}"),
            1 => "y = (y + 1) % 3".to_owned(),
            2 => "a[i] = n".to_owned(),
            3 => "n = x".to_owned(),
            4 => "i = 1 - i".to_owned(),
            5 => "l[i] = 1".to_owned(),
            6 => "x = y + n".to_owned(),
            7 => "n = (n + 1) % 3".to_owned(),
            _ => "skip".to_owned(),
        }
    }

    fn statement(&mut self, depth: usize) {
        self.text += "  ";
        self.label();
        let text = match self.random.below(if depth < 2 { 13 } else { 9 }) {
            0 | 1 => self.guard(),
            2 | 3 => {
                format!("atomic {{ {} -> {}; {} }}", self.guard(), self.effect(), self.effect())
            }
            4 => format!("d_step {{ {} -> {}; {} }}", self.guard(), self.effect(), self.effect()),
            5 => self.random.pick(&["c ! n", "c ! 1", "c ? n", "c ? 1", "c ?? 2"]).to_owned(),
            6 => format!("atomic {{ {}; {} -> {} }}", self.effect(), self.guard(), self.effect()),
            7 | 8 => self.effect(),
            9 | 10 => return self.selection(depth, "if"),
            11 => return self.selection(depth, "do"),
            _ => {
                self.text += "{ skip;\n";
                self.statement(depth + 1);
                let (guard, effect) = (self.guard(), self.effect());
                let _ = writeln!(self.text, "}} unless {{ {guard} -> {effect} }};");
                return;
            }
        };
        let _ = writeln!(self.text, "{text};");
    }

    fn selection(&mut self, depth: usize, word: &str) {
        let _ = writeln!(self.text, "{word}");
        for _ in 0..1 + self.random.below(2) {
            let guard = match self.random.below(4) {
                0 => format!("atomic {{ {} -> {} }}", self.guard(), self.effect()),
                1 => format!("d_step {{ {} -> {} }}", self.guard(), self.effect()),
                _ => self.guard(),
            };
            let _ = writeln!(self.text, "  :: {guard} ->");
            self.statement(depth + 1);
        }
        if word == "do" {
            let guard = self.guard();
            let _ = writeln!(self.text, "  :: {guard} -> break\nod;");
        } else {
            self.text += "fi;\n";
        }
    }

    fn at(&mut self) -> String {
        let (process, label) = self.at[self.random.below(self.at.len())].clone();
        let not = if self.random.below(2) == 0 { "!" } else { "" };
        format!("{not}P{process}@{label}")
    }

    fn fact(&mut self) -> String {
        let (at, c) = (self.at(), self.random.below(3));
        match self.random.below(5) {
            0 => format!("(x == {c})"),
            1 => format!("({at} || y == {c})"),
            2 => format!("({at} && {})", self.at()),
            _ => at,
        }
    }

    fn formula(&mut self) -> String {
        // A process that has begun and has not ended is somewhere.
        if self.random.below(3) == 0 {
            let process = self.random.below(2);
            let mut all: Vec<_> = self.at.clone();
            all.retain(|(of, _)| *of == process);
            let skipped = self.random.below(2 * all.len());
            let all = all.iter().enumerate().filter(|(i, _)| *i != skipped);
            let all: Vec<_> = all.map(|(_, (p, label))| format!("P{p}@{label}")).collect();
            let last = self.fact();
            return format!("[] ({} || {last})", all.join(" || "));
        }
        let (p, q) = (self.fact(), self.fact());
        match self.random.below(8) {
            0 | 1 => format!("[] {p}"),
            2 => format!("<> {p}"),
            3 => format!("[] ({p} -> <> {q})"),
            4 => format!("{p} U {q}"),
            5 => format!("{p} W {q}"),
            6 => format!("<> [] {p}"),
            _ => format!("[] <> {p}"),
        }
    }
}
