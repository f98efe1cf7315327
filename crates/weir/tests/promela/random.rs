//! Random models on which Weir and Spin have to agree: each statement accesses a
//! global variable at most once, and `else` stands beside conditions on one variable.

use std::fmt::Write as _;

/// Marsaglia's xorshift: random enough, and the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

/// A model; the same one for the same seed.
pub fn model(seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    for _ in 0..4 {
        random.below(2);
    }
    let mut writer = Writer { random, text: String::new(), labels: 0 };
    writer.whole()
}

struct Writer {
    random: Random,
    text: String,
    labels: usize,
}

/// Shared by all.
const GLOBALS: [&str; 4] = ["x", "y", "a[0]", "a[i]"];

impl Writer {
    fn whole(&mut self) -> String {
        self.text += "byte x; bit y = 1; byte a[2];\n";
        self.text += "inline get(where) { where == 1 -> where = 0 }\n#define SAME(v, c) (v == c)\n";
        let count = 2 + self.random.below(2);
        let with_init = self.random.below(2) == 0;
        for p in 0..count {
            let active = if with_init { "" } else { "active " };
            let parameter = if with_init { "byte i" } else { "" };
            let _ = writeln!(self.text, "{active}proctype P{p}({parameter}) {{");
            if !with_init {
                let _ = writeln!(self.text, "  byte i = {};", self.random.below(2));
            }
            self.text += "  byte r; byte s = 2; bit l[2];\n";
            let length = 3 + self.random.below(3);
            self.list(length, 0, false);
            self.text += "}\n";
        }
        if with_init {
            self.text += "init { byte k; atomic {";
            if self.random.below(2) == 0 {
                self.text += " x = 1;";
            }
            for p in 0..count {
                let _ = write!(self.text, " run P{p}({}); k++;", self.random.below(2));
            }
            self.text += " } }\n";
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
        match self.random.below(4) {
            0 => "r".to_owned(),
            1 => "(r > 1 -> 1 : s)".to_owned(),
            2 => "1 - r".to_owned(),
            _ => self.random.below(3).to_string(),
        }
    }

    /// A condition on one global variable at most.
    fn condition(&mut self, on: &str) -> String {
        let c = self.random.below(3);
        match self.random.below(5) {
            0 => format!("SAME({on}, {c})"),
            1 => format!("{on} != {c}"),
            2 => format!("{on} < r || {on} == 2"),
            3 => format!("!{on}"),
            _ => format!("r <= {c}"),
        }
    }

    fn statement(&mut self, depth: usize, in_loop: bool) {
        self.text += "  ";
        let on = self.global();
        let value = self.value();
        let text = match self.random.below(if depth < 2 { 20 } else { 14 }) {
            0..=2 => format!("{on} = {value}"),
            3..=5 => format!("{} = {on}", self.random.pick(&["r", "s", "l[i]"])),
            6 => format!("r = (r + {value}) % 3"),
            7 => self.condition(on),
            8 => {
                let condition = self.condition(on);
                format!("assert({condition} || s == 2)")
            }
            9 => format!("assert({on} != {} || s < 2)", self.random.below(4)),
            10 => match self.random.below(4) {
                0 => format!("atomic {{ {on}++ }}"),
                1 => format!("d_step {{ r = {on}; {on} = 2; s = r }}"),
                2 => format!("get({on})"),
                _ => format!(
                    "atomic {{ if :: {on} == 0 -> {on} = 1; r = 1 :: else -> r = 0 fi; s = r + 1 }}"
                ),
            },
            11 if in_loop => "break".to_owned(),
            11 | 12 => self.random.pick(&["skip", "select (r : 0 .. 1)", "l[1] = r"]).to_owned(),
            13 => format!("atomic {{ {on} > 0 -> {on}--; r = {on} }}"),
            14..=17 => return self.selection(depth, "if", in_loop),
            18 => return self.selection(depth, "do", true),
            _ => return self.jump(depth, in_loop),
        };
        self.text += &text;
    }

    fn selection(&mut self, depth: usize, word: &str, in_loop: bool) {
        let _ = writeln!(self.text, "{word}");
        let one = self.global();
        let other = self.random.below(2) == 0;
        for _ in 0..1 + self.random.below(2) {
            let on = if other { one } else { self.global() };
            let condition = match self.random.below(6) {
                0 => format!("atomic {{ {on} == 1 -> {on} = 0 }}"),
                1 if !other => format!("{on} = 1"),
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
        let _ = write!(self.text, "{label}: skip");
    }
}
