//! Random models on which Weir and Spin have to agree under SC: channels with and without room, arrays,
//! statements over several variables, `atomic`, `d_step`, `unless`, processes that run others, and
//! formulas of linear temporal logic.

use std::fmt::Write as _;

/// Marsaglia's xorshift: random enough, and the same everywhere.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        for _ in 0..4 {
            random.below(2);
        }
        random
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    pub fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

/// A model; the same one for the same seed.
pub fn model(seed: u64) -> String {
    let mut random = Random::new(seed);
    let with_channels = random.below(3) > 0;
    let with_meetings = with_channels && random.below(2) > 0;
    let mut writer = Writer {
        random,
        text: String::new(),
        labels: 0,
        with_channels,
        with_meetings,
        with_formulas: false,
        asserts: true,
        helper: false,
        in_step: false,
        process: 0,
        at: Vec::new(),
    };
    writer.whole()
}

struct Writer {
    random: Random,
    text: String,
    labels: usize,
    with_channels: bool,
    with_meetings: bool,
    with_formulas: bool,
    /// Whether there are assertions. Formulas are not compared if one fails.
    asserts: bool,
    /// Whether a process may still run the helper.
    helper: bool,
    /// Whether this is a `d_step`.
    in_step: bool,
    /// Which process this is.
    process: usize,
    /// The processes and labels that formulas can be about.
    at: Vec<(usize, usize)>,
}

/// Shared by all.
const GLOBALS: [&str; 4] = ["x", "y", "a[0]", "a[i]"];

impl Writer {
    fn whole(&mut self) -> String {
        self.text += "byte x; bit y = 1; byte a[2];\n";
        if self.with_channels {
            let room = 1 + self.random.below(2);
            let _ = writeln!(self.text, "chan c = [{room}] of {{ byte, bit }};");
        }
        if self.with_meetings {
            self.text += "chan d = [0] of { byte };\n";
        }
        self.text += "inline get(where) { where == 1 -> where = 0 }\n#define SAME(v, c) (v == c)\n";
        self.with_formulas = self.random.below(9) < 4;
        self.asserts = !self.with_formulas || self.random.below(5) == 0;
        let count = 2 + self.random.below(2);
        let with_init = self.random.below(2) == 0;
        let with_helper = self.random.below(3) == 0;
        if with_helper {
            self.text += "proctype H(byte v) {\n  byte i = v % 2; byte r = v; byte s; bit l[2];\n";
            self.process = usize::MAX;
            self.list(2, 1, false);
            self.text += "}\n";
        }
        for p in 0..count {
            let active = if with_init { "" } else { "active " };
            let parameter = if with_init { "byte i" } else { "" };
            let _ = writeln!(self.text, "{active}proctype P{p}({parameter}) {{");
            if !with_init {
                let _ = writeln!(self.text, "  byte i = {};", self.random.below(2));
            }
            self.text += "  byte r; byte s = 2; bit l[2];\n";
            self.process = p;
            self.helper = with_helper && p == 0;
            let length = 2 + self.random.below(3);
            // Formulas tell more about processes that go on for ever.
            let for_ever = self.with_formulas && !self.helper && self.random.below(3) == 0;
            if for_ever {
                self.text += "do ::\n";
            }
            self.list(length, 0, for_ever);
            if for_ever {
                self.text += "od\n";
            }
            if self.helper {
                self.text += "  run H(r);\n";
                self.helper = false;
                self.list(1, 1, false);
            }
            self.text += "}\n";
        }
        if with_init {
            let atomic = self.random.below(3) > 0;
            self.text += if atomic { "init { byte k; atomic {" } else { "init { byte k; {" };
            if self.random.below(2) == 0 {
                self.text += " x = 1;";
            }
            for p in 0..count {
                let _ = write!(self.text, " run P{p}({}); k++;", self.random.below(2));
            }
            self.text += " } }\n";
        }
        if self.with_formulas {
            // The number of a process that has ended is free for another one.
            let numbered = !with_init && !with_helper;
            for number in 0..2 + self.random.below(3) {
                let formula = self.formula(numbered);
                let _ = writeln!(self.text, "ltl f{number} {{ {formula} }}");
            }
        }
        std::mem::take(&mut self.text)
    }

    fn list(&mut self, length: usize, depth: usize, in_loop: bool) {
        for _ in 0..length {
            self.statement(depth, in_loop);
            self.text += ";\n";
        }
    }

    fn global(&mut self) -> &'static str {
        self.random.pick(&GLOBALS)
    }

    fn value(&mut self) -> String {
        let on = self.global();
        match self.random.below(6) {
            0 => "r".to_owned(),
            1 => "(r > 1 -> 1 : s)".to_owned(),
            2 => format!("(1 + {on}) % 3"),
            3 => format!("({on} + y) % 3"),
            _ => self.random.below(3).to_string(),
        }
    }

    fn condition(&mut self, on: &str) -> String {
        let (c, other) = (self.random.below(3), self.global());
        match self.random.below(if self.with_channels { 8 } else { 7 }) {
            0 => format!("SAME({on}, {c})"),
            1 => format!("{on} != {c}"),
            2 => format!("{on} < r || {other} == 2"),
            3 => format!("!{on}"),
            4 => format!("{on} == {other}"),
            5 => format!("({on} + {other} > {c} && y == 1)"),
            6 => format!("r <= {c}"),
            _ => {
                self.random.pick(&["len(c) > 0", "nempty(c)", "nfull(c)", "c ? [1, _]"]).to_owned()
            }
        }
    }

    /// Something about a channel.
    fn message(&mut self) -> String {
        let r = self.random.below(if self.with_meetings && !self.in_step { 12 } else { 7 });
        match r {
            0 | 1 => "c ! r, 1",
            2 => "c !! s, 0",
            3 => "c ? r, _",
            4 => "c ? r, l[0]",
            5 => "c ?? 1, l[1]",
            6 => "c ? x, 1",
            7 | 8 => "d ! r",
            9 => "d ? r",
            10 => "d ? x",
            _ => "d ? 1",
        }
        .to_owned()
    }

    fn statement(&mut self, depth: usize, in_loop: bool) {
        self.text += "  ";
        let on = self.global();
        let value = self.value();
        let text = match self.random.below(if depth < 2 { 26 } else { 16 }) {
            0..=2 => format!("{on} = {value}"),
            3..=5 => format!("{} = {on}", self.random.pick(&["r", "s", "l[i]"])),
            6 => format!("r = (r + {value}) % 3"),
            7 if !self.in_step => self.condition(on),
            8 if self.asserts => {
                let condition = self.condition(on);
                format!("assert({condition} || s == 2)")
            }
            9 if self.asserts => format!("assert({on} != {} || s < 2)", self.random.below(4)),
            10 if !self.in_step => match self.random.below(4) {
                0 => format!("atomic {{ {on} = ({on} + 1) % 3 }}"),
                1 => format!("d_step {{ r = {on}; {on} = 2; s = r }}"),
                2 => format!("get({on})"),
                _ => format!(
                    "atomic {{ if :: {on} == 0 -> {on} = 1; r = 1 :: else -> r = 0 fi; s = r + 1 }}"
                ),
            },
            11 if in_loop && !self.in_step => "break".to_owned(),
            12 => self.random.pick(&["skip", "l[1] = r"]).to_owned(),
            13 | 14 if self.with_channels && !self.in_step => self.message(),
            16..=18 => return self.selection(depth, "if", in_loop),
            19 if !self.in_step => return self.selection(depth, "do", true),
            20 if !self.in_step => return self.jump(depth, in_loop),
            21 | 22 if !self.in_step => {
                self.text += "atomic {\n";
                let length = 2 + self.random.below(2);
                self.list(length, depth + 1, false);
                self.text += "}";
                return;
            }
            23 if !self.in_step => {
                let condition = self.condition(on);
                let _ = writeln!(self.text, "d_step {{ {condition};");
                self.in_step = true;
                self.list(2, depth + 1, false);
                self.in_step = false;
                self.text += "}";
                return;
            }
            24 if !self.in_step => {
                self.text += "{\n";
                self.list(2, depth + 1, false);
                let condition = self.condition(on);
                let _ = write!(self.text, "}} unless {{ {condition} -> r = 2 }}");
                return;
            }
            25 if self.helper && !in_loop && depth == 0 => {
                self.helper = false;
                "run H(s)".to_owned()
            }
            _ => "r = 1 - (r % 2)".to_owned(),
        };
        self.text += &text;
    }

    fn selection(&mut self, depth: usize, word: &str, in_loop: bool) {
        let _ = writeln!(self.text, "{word}");
        let other = self.in_step || self.random.below(2) == 0;
        for _ in 0..1 + self.random.below(2) {
            let on = self.global();
            let condition = match self.random.below(8) {
                0 if !self.in_step => format!("atomic {{ {on} == 1 -> {on} = 0 }}"),
                1 if !other => format!("{on} = 1"),
                2 if self.with_channels && !self.in_step && !other => self.message(),
                _ => self.condition(on),
            };
            let _ = write!(self.text, "  :: {condition} -> ");
            let length = 1 + self.random.below(2);
            self.list(length, depth + 1, in_loop);
        }
        if word == "do" {
            self.text += "  :: r == 2 -> break\n";
        }
        if other {
            let last = if word == "do" { "break" } else { "r = 2" };
            let _ = writeln!(self.text, "  :: else -> {last}");
        }
        self.text += if word == "do" { "od" } else { "fi" };
    }

    fn jump(&mut self, depth: usize, in_loop: bool) {
        self.labels += 1;
        let label = format!("L{}", self.labels);
        let _ = writeln!(self.text, "if :: r == 1 -> goto {label} :: r != 1 -> skip fi;");
        self.list(1, depth + 1, in_loop);
        self.at.push((self.process, self.labels));
        let on = self.global();
        let target = match self.random.below(4) {
            0 if !self.in_step => self.condition(on),
            1 => format!("{on} = r"),
            _ => "skip".to_owned(),
        };
        let _ = write!(self.text, "{label}: {target}");
    }

    /// Something that is true of a state or not.
    fn fact(&mut self, numbered: bool) -> String {
        let places: Vec<_> = self.at.iter().filter(|(p, _)| *p != usize::MAX).copied().collect();
        let c = self.random.below(3);
        match self.random.below(10) {
            0 => format!("x == {c}"),
            1 => format!("x < {c}"),
            2 => "y == 1".to_owned(),
            3 => "!y".to_owned(),
            4 => format!("a[0] == {c}"),
            5 => "a[0] == a[1]".to_owned(),
            6 => format!("x + a[1] != {c}"),
            7 if self.with_channels => self.random.pick(&["len(c) > 0", "len(c) == 2"]).to_owned(),
            _ if !places.is_empty() => {
                let (process, label) = places[self.random.below(places.len())];
                match numbered && self.random.below(2) == 0 {
                    true => format!("P{process}[{process}]@L{label}"),
                    false => format!("P{process}@L{label}"),
                }
            }
            _ => "y == 0 || x == 2".to_owned(),
        }
    }

    /// A formula without `X`: one of the common forms, or any.
    fn formula(&mut self, numbered: bool) -> String {
        let (p, q) = (self.fact(numbered), self.fact(numbered));
        match self.random.below(16) {
            0 | 1 => format!("[] ({p})"),
            2 => format!("<> ({p})"),
            3 => format!("[] <> ({p})"),
            4 => format!("<> [] ({p})"),
            5 | 6 => format!("[] (({p}) -> <> ({q}))"),
            7 => format!("({p}) U ({q})"),
            8 => format!("({p}) W ({q})"),
            9 => format!("({p}) V ({q})"),
            10 => format!("!(([] <> ({p})) && (<> [] ({q})))"),
            11 => format!("([] <> ({p})) -> ([] <> ({q}))"),
            12 => format!("always (({p}) implies (({p}) until ({q})))"),
            _ => self.temporal(numbered, 3),
        }
    }

    fn temporal(&mut self, numbered: bool, depth: usize) -> String {
        if depth == 0 {
            return format!("({})", self.fact(numbered));
        }
        let a = self.temporal(numbered, depth - 1);
        let two = ["&&", "||", "->", "<->", "U", "W", "V"];
        match self.random.below(8) {
            0 | 1 => format!("({} {a})", self.random.pick(&["!", "[]", "<>"])),
            2 => format!("([] <> {a})"),
            3 => a,
            _ => {
                let word = self.random.pick(&two);
                let depth = self.random.below(depth);
                format!("({a} {word} {})", self.temporal(numbered, depth))
            }
        }
    }
}
