//! Random code of one thread in C computes what the compiled program computes.
//!
//! The thread begins with values that it reads from memory and that another thread writes, so
//! that nothing is known while the code is translated, or with constants, so that all is.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::process::Command;

use weir::question::Listed;
use weir::{MemoryModel, Verifier};
use weir_gen::Rng;
use weir_gen::tools::{are_installed, setting};

struct Code {
    rng: Rng,
    out: String,
    /// The variables that can be used here.
    names: Vec<String>,
    next: usize,
    depth: usize,
    loops: usize,
    is_known: bool,
}

impl Code {
    fn line(&mut self, text: &str) {
        let width = 2 * self.depth;
        let _ = writeln!(self.out, "{:width$}{text}", "");
    }

    fn name(&mut self) -> String {
        let names = self.names.clone();
        self.rng.pick(&names).clone()
    }

    /// An expression without sign, so that nothing is undefined.
    fn expression(&mut self, depth: usize) -> String {
        if depth == 0 {
            return match self.rng.below(5) {
                0 => format!("{}u", self.rng.below(9)),
                1 => format!("a[{} % 4]", self.name()),
                2 => format!("s.{}", self.rng.pick(&["left", "right"])),
                _ => self.name(),
            };
        }
        let (a, b) = (self.expression(depth - 1), self.expression(depth - 1));
        match self.rng.below(14) {
            0 => format!("({a} + {b})"),
            1 => format!("({a} - {b})"),
            2 => format!("({a} * {b})"),
            3 => format!("({a} & {b})"),
            4 => format!("({a} ^ {b})"),
            5 => format!("({a} / ({b} % 7 + 1))"),
            6 => format!("({a} << ({b} % 31))"),
            7 => format!("({a} >> ({b} % 31))"),
            8 => format!("(unsigned)({a} {} {b})", self.rng.pick(&["<", "<=", "==", "!="])),
            9 => format!("({a} % 3 ? {b} : {})", self.name()),
            10 => format!("(unsigned)({a} && {b} % 5)"),
            12 => format!("(uint8_t){a}"),
            _ => format!("helper({a}, {b})"),
        }
    }

    fn statements(&mut self, count: usize) {
        let known = self.names.len();
        for _ in 0..count {
            self.statement();
        }
        self.names.truncate(known);
    }

    fn block(&mut self) {
        self.depth += 1;
        let count = 1 + self.rng.below(3);
        self.statements(count);
        self.depth -= 1;
    }

    fn statement(&mut self) {
        let e = self.expression(2);
        let kinds = if self.depth > 2 { 6 } else { 12 };
        match self.rng.below(kinds) {
            0 => {
                self.next += 1;
                let name = format!("v{}", self.next);
                self.line(&format!("unsigned {name} = {e};"));
                self.names.push(name);
            }
            1 => {
                let i = self.name();
                self.line(&format!("a[{i} % 4] = {e};"));
            }
            2 => {
                let name = self.name();
                self.line(&format!("p = &{name}; *p = {e};"));
            }
            3 => {
                let field = *self.rng.pick(&["left", "right"]);
                let op = *self.rng.pick(&["=", "+=", "^="]);
                self.line(&format!("s.{field} {op} {e};"));
            }
            4 if self.loops > 0 => {
                let word = *self.rng.pick(&["break", "continue"]);
                self.line(&format!("if ({e} % 5 == 0) {word};"));
            }
            6 | 7 => {
                self.line(&format!("if ({e} % 2) {{"));
                self.block();
                if self.rng.once_in(2) {
                    self.line("} else {");
                    self.block();
                }
                self.line("}");
            }
            8 | 9 => {
                self.next += 1;
                let k = format!("k{}", self.next);
                self.line(&format!("for (unsigned {k} = 0; {k} < {e} % 4; {k}++) {{"));
                self.loops += 1;
                self.block();
                self.loops -= 1;
                self.line("}");
            }
            10 => {
                self.line(&format!("switch ({e} % 3) {{"));
                self.line("case 0: {");
                let loops = std::mem::replace(&mut self.loops, 0);
                self.block();
                self.line("}");
                let end = *self.rng.pick(&["break;", ";"]);
                self.line(end);
                self.line("default: {");
                self.block();
                self.loops = loops;
                self.line("}");
                self.line("}");
            }
            11 => {
                self.next += 1;
                let k = format!("k{}", self.next);
                self.line(&format!("unsigned {k} = {e} % 3; do {{"));
                self.loops += 1;
                self.block();
                self.loops -= 1;
                self.line(&format!("}} while ({k}-- > 0 && {k} < 9);"));
                self.names.push(k);
            }
            _ => {
                let name = self.name();
                let op = *self.rng.pick(&["=", "+=", "-=", "|="]);
                self.line(&format!("{name} {op} {e};"));
            }
        }
    }

    fn program(seed: u64) -> String {
        let mut this = Self {
            rng: Rng::new(seed),
            out: String::new(),
            names: vec!["x".to_owned(), "y".to_owned(), "z".to_owned()],
            next: 0,
            depth: 1,
            loops: 0,
            is_known: false,
        };
        this.is_known = this.rng.once_in(3);
        let count = 4 + this.rng.below(5);
        let known = this.names.len();
        for _ in 0..count {
            this.statement();
        }
        this.names.truncate(known);
        let load = match this.is_known {
            true => "0",
            false => "atomic_load(&unknown)",
        };
        let (body, seeds) = (&this.out, [1, 5, 1000]);
        format!(
            "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdint.h>\n#include <stdio.h>\n\
             atomic_uint unknown;\nunsigned o0, o1, o2, o3, o4, o5, o6, o7;\n\
             struct pair {{ unsigned left, right; }};\n\
             static unsigned helper(unsigned a, unsigned b) {{\n\
             \x20 if (a % 3 == 1) return b;\n  while (a % 4 != 0) {{ if (b % 7 == 6) return a; a--; b++; }}\n\
             \x20 return a + 2 * b;\n}}\n\
             void *work(void *unused) {{\n  unsigned x = {load} + {}, y = {load} + {}, z = {load} + {};\n\
             \x20 unsigned a[4] = {{x, y, z, 7}};\n  struct pair s = {{x, 3}};\n  unsigned *p = &x;\n\
             {body}  o0 = x; o1 = y; o2 = z; o3 = a[0]; o4 = a[1] ^ a[2]; o5 = a[3]; o6 = s.left; o7 = s.right;\n\
             \x20 return NULL;\n}}\n\
             void *writer(void *unused) {{ atomic_store(&unknown, 0); return NULL; }}\n\
             int main(void) {{\n  pthread_t t, u;\n  pthread_create(&t, NULL, work, NULL);\n\
             \x20 pthread_create(&u, NULL, writer, NULL);\n  pthread_join(t, NULL);\n  pthread_join(u, NULL);\n\
             \x20 printf(\"%u %u %u %u %u %u %u %u\", o0, o1, o2, o3, o4, o5, o6, o7);\n}}\n",
            seeds[0], seeds[1], seeds[2]
        )
    }
}

#[test]
fn random_code_computes_what_the_compiled_program_does() {
    if !are_installed(&["gcc", "clang-19"]) {
        return;
    }
    let (seed, cases) = (setting("WEIR_SEED", 40), setting("WEIR_CASES", 12));
    println!("seed {seed}");
    let folder = std::env::temp_dir().join(format!("weir-c-random-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let mut compared = 0;
    for case in 0..cases {
        let text = Code::program(seed.wrapping_mul(1_000_003).wrapping_add(case));
        let (file, program) = (folder.join("random.c"), folder.join("random"));
        fs::write(&file, &text).unwrap();
        let made = Command::new("gcc")
            .args(["-O0", "-w", "-pthread", "-o"])
            .arg(&program)
            .arg(&file)
            .output()
            .unwrap();
        assert!(made.status.success(), "{}\n{text}", String::from_utf8_lossy(&made.stderr));
        let shown = Command::new(&program).output().unwrap();
        let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
        let found = Verifier::new(&text).name("random.c").model(MemoryModel::SC).outcomes();
        let found = found.unwrap_or_else(|error| panic!("case {case}: {error}\n{text}"));
        let found = Listed::of(&found).unwrap();
        assert!(found.is_complete(), "case {case}: {found:?}\n{text}");
        let outcomes: BTreeSet<String> = found
            .states()
            .map(|state| {
                // What is never written is not shown.
                let value =
                    |i: usize| state.get(&format!("o{i}")).map(|n| n.parse::<i64>().unwrap());
                // A number without sign is held as the signed one with the same bits.
                let all: Vec<String> =
                    (0..8).map(|i| (value(i).unwrap_or(0) as u32).to_string()).collect();
                all.join(" ")
            })
            .collect();
        let expected = BTreeSet::from([shown]);
        assert_eq!(outcomes, expected, "case {case}\n{text}");
        compared += 1;
    }
    println!("{compared} programs compared");
    let _ = fs::remove_dir_all(&folder);
}
