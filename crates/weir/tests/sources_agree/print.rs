//! Random programs as texts: several in one text of C, C++ or Rust, which is compiled once; one in a text of Weir.

use std::fmt::Write;

use super::random::{Op, Random, VARIABLES};

/// How a language writes what a thread does.
trait Words {
    /// The name of a variable.
    fn name(&self, name: &str) -> String;
    fn load(&self, result: usize, name: &str, order: &str) -> String;
    fn store(&self, name: &str, value: &str, order: &str) -> String;
    fn add(&self, result: usize, name: &str, value: u64, order: &str) -> String;
    fn swap(&self, result: usize, name: &str, value: u64, order: &str) -> String;
    fn exchange(&self, result: usize, name: &str, old: u64, new: u64) -> String;
    fn fence(&self, order: &str) -> String;
    fn condition(&self, result: usize) -> String;
}

/// What a thread does, line by line.
fn code(words: &dyn Words, ops: &[Op], depth: usize, out: &mut String) {
    let width = 2 * depth;
    for op in ops {
        let name = |variable: &usize| words.name(VARIABLES[*variable]);
        let line = match op {
            Op::Load(r, v, order) => words.load(*r, &name(v), order),
            Op::Store(v, value, order) => words.store(&name(v), &value.to_string(), order),
            Op::Copy(v, r, order) => words.store(&name(v), &format!("r{r} + 1"), order),
            Op::Add(r, v, value, order) => words.add(*r, &name(v), *value, order),
            Op::Swap(r, v, value, order) => words.swap(*r, &name(v), *value, order),
            Op::Exchange(r, v, old, new) => words.exchange(*r, &name(v), *old, *new),
            Op::Fence(order) => words.fence(order),
            Op::If(r, then, other) => {
                let _ = writeln!(out, "{:width$}if {} {{", "", words.condition(*r));
                code(words, then, depth + 1, out);
                let _ = writeln!(out, "{:width$}}} else {{", "");
                code(words, other, depth + 1, out);
                let _ = writeln!(out, "{:width$}}}", "");
                continue;
            }
        };
        for line in line.lines() {
            let _ = writeln!(out, "{:width$}{line}", "");
        }
    }
}

/// Weir, with memory orders or with the fences that stand for them.
struct Weir(usize, bool);

impl Words for Weir {
    fn name(&self, name: &str) -> String {
        format!("p{}_{name}", self.0)
    }
    fn load(&self, result: usize, name: &str, order: &str) -> String {
        match (self.1, order) {
            (true, _) => format!("r{result} = {name}.load({order})"),
            (false, "relaxed") => format!("r{result} = {name}"),
            (false, _) => format!("r{result} = {name}\nrfence"),
        }
    }
    fn store(&self, name: &str, value: &str, order: &str) -> String {
        match (self.1, order) {
            (true, _) => format!("{name}.store({value}, {order})"),
            (false, "relaxed") => format!("{name} = {value}"),
            (false, "release") => format!("wfence\n{name} = {value}"),
            (false, _) => format!("wfence\n{name} = {value}\nfence"),
        }
    }
    fn add(&self, result: usize, name: &str, value: u64, order: &str) -> String {
        match self.1 {
            true => format!("r{result} = fetch_add({name}, {value}, {order})"),
            false => format!("r{result} = fetch_add({name}, {value})"),
        }
    }
    fn swap(&self, result: usize, name: &str, value: u64, order: &str) -> String {
        match self.1 {
            true => format!("r{result} = swap({name}, {value}, {order})"),
            false => format!("r{result} = swap({name}, {value})"),
        }
    }
    fn exchange(&self, result: usize, name: &str, old: u64, new: u64) -> String {
        let orders = if self.1 { ", seq_cst, seq_cst" } else { "" };
        format!("r{result} = cmpxchg({name}, {old}, {new}{orders})")
    }
    fn fence(&self, order: &str) -> String {
        match (self.1, order) {
            (true, _) => format!("fence({order})"),
            (false, "acquire") => "rfence".to_owned(),
            (false, "release") => "wfence".to_owned(),
            (false, "acq_rel") => "rfence\nwfence".to_owned(),
            (false, _) => "fence".to_owned(),
        }
    }
    fn condition(&self, result: usize) -> String {
        format!("r{result} == 1")
    }
}

/// C. The second part stands behind each variable.
pub struct C<'t>(pub usize, pub &'t str);

impl Words for C<'_> {
    fn name(&self, name: &str) -> String {
        format!("p{}_{name}{}", self.0, self.1)
    }
    fn load(&self, result: usize, name: &str, order: &str) -> String {
        format!("r{result} = atomic_load_explicit(&{name}, memory_order_{order});")
    }
    fn store(&self, name: &str, value: &str, order: &str) -> String {
        format!("atomic_store_explicit(&{name}, {value}, memory_order_{order});")
    }
    fn add(&self, result: usize, name: &str, value: u64, order: &str) -> String {
        format!("r{result} = atomic_fetch_add_explicit(&{name}, {value}, memory_order_{order});")
    }
    fn swap(&self, result: usize, name: &str, value: u64, order: &str) -> String {
        format!("r{result} = atomic_exchange_explicit(&{name}, {value}, memory_order_{order});")
    }
    fn exchange(&self, result: usize, name: &str, old: u64, new: u64) -> String {
        format!("r{result} = {old};\natomic_compare_exchange_strong(&{name}, &r{result}, {new});")
    }
    fn fence(&self, order: &str) -> String {
        format!("atomic_thread_fence(memory_order_{order});")
    }
    fn condition(&self, result: usize) -> String {
        format!("(r{result} == 1)")
    }
}

struct Cpp(usize);

impl Words for Cpp {
    fn name(&self, name: &str) -> String {
        format!("p{}_{name}", self.0)
    }
    fn load(&self, result: usize, name: &str, order: &str) -> String {
        format!("r{result} = {name}.load(std::memory_order_{order});")
    }
    fn store(&self, name: &str, value: &str, order: &str) -> String {
        format!("{name}.store({value}, std::memory_order_{order});")
    }
    fn add(&self, result: usize, name: &str, value: u64, order: &str) -> String {
        format!("r{result} = {name}.fetch_add({value}, std::memory_order_{order});")
    }
    fn swap(&self, result: usize, name: &str, value: u64, order: &str) -> String {
        format!("r{result} = {name}.exchange({value}, std::memory_order_{order});")
    }
    fn exchange(&self, result: usize, name: &str, old: u64, new: u64) -> String {
        format!("r{result} = {old};\n{name}.compare_exchange_strong(r{result}, {new});")
    }
    fn fence(&self, order: &str) -> String {
        format!("std::atomic_thread_fence(std::memory_order_{order});")
    }
    fn condition(&self, result: usize) -> String {
        format!("(r{result} == 1)")
    }
}

struct Rust(usize);

impl Rust {
    fn order(order: &str) -> &'static str {
        match order {
            "relaxed" => "Relaxed",
            "acquire" => "Acquire",
            "release" => "Release",
            "acq_rel" => "AcqRel",
            _ => "SeqCst",
        }
    }
}

impl Words for Rust {
    fn name(&self, name: &str) -> String {
        format!("P{}_{}", self.0, name.to_uppercase())
    }
    fn load(&self, result: usize, name: &str, order: &str) -> String {
        format!("r{result} = {name}.load({});", Self::order(order))
    }
    fn store(&self, name: &str, value: &str, order: &str) -> String {
        format!("{name}.store({value}, {});", Self::order(order))
    }
    fn add(&self, result: usize, name: &str, value: u64, order: &str) -> String {
        format!("r{result} = {name}.fetch_add({value}, {});", Self::order(order))
    }
    fn swap(&self, result: usize, name: &str, value: u64, order: &str) -> String {
        format!("r{result} = {name}.swap({value}, {});", Self::order(order))
    }
    fn exchange(&self, result: usize, name: &str, old: u64, new: u64) -> String {
        let exchange = format!("{name}.compare_exchange({old}, {new}, SeqCst, SeqCst)");
        format!("r{result} = match {exchange} {{ Ok(v) | Err(v) => v }};")
    }
    fn fence(&self, order: &str) -> String {
        format!("fence({});", Self::order(order))
    }
    fn condition(&self, result: usize) -> String {
        format!("r{result} == 1")
    }
}

/// A program of this number in Weir.
pub fn weir(program: &Random, number: usize, has_orders: bool) -> String {
    let words = Weir(number, has_orders);
    let names: Vec<String> = program.names().iter().map(|name| words.name(name)).collect();
    let mut out = format!("var {}\n", names.join(", "));
    for (t, ops) in program.threads.iter().enumerate() {
        let _ = writeln!(out, "process t{t} {{");
        let results = program.results[t];
        for i in 0..results {
            let _ = writeln!(out, "  reg r{i}");
        }
        code(&words, ops, 1, &mut out);
        for i in 0..results {
            let name = words.name(&format!("o{t}{i}"));
            let _ = match has_orders {
                true => writeln!(out, "  {name}.store(r{i}, plain)"),
                false => writeln!(out, "  {name} = r{i}"),
            };
        }
        out += "}\n";
    }
    out
}

/// The threads of a program in C, with something behind each variable.
pub fn c_thread(program: &Random, number: usize, t: usize, index: &str, out: &mut String) {
    let words = C(number, index);
    let results = program.results[t];
    for i in 0..results {
        let _ = writeln!(out, "  int r{i} = 0;");
    }
    code(&words, &program.threads[t], 1, out);
    for i in 0..results {
        let _ = writeln!(out, "  {} = r{i};", words.name(&format!("o{t}{i}")));
    }
}

/// Programs in C. The function of each has its number in its name.
pub fn c(programs: &[Random]) -> String {
    let mut out = String::from("#include <pthread.h>\n#include <stdatomic.h>\n");
    for (number, program) in programs.iter().enumerate() {
        for (at, name) in program.names().iter().enumerate() {
            let ty = if at < VARIABLES.len() { "atomic_int" } else { "int" };
            let _ = writeln!(out, "{ty} p{number}_{name};");
        }
        for t in 0..program.threads.len() {
            let _ = writeln!(out, "void *p{number}_t{t}(void *unused) {{");
            c_thread(program, number, t, "", &mut out);
            out += "  return NULL;\n}\n";
        }
        let count = program.threads.len();
        let _ = writeln!(out, "int program{number}(void) {{\n  pthread_t threads[{count}];");
        for t in 0..count {
            let _ = writeln!(out, "  pthread_create(&threads[{t}], NULL, p{number}_t{t}, NULL);");
        }
        for t in 0..count {
            let _ = writeln!(out, "  pthread_join(threads[{t}], NULL);");
        }
        out += "  return 0;\n}\n";
    }
    out
}

/// Programs in C++.
pub fn cpp(programs: &[Random]) -> String {
    let mut out = String::from("#include <atomic>\n#include <thread>\n");
    for (number, program) in programs.iter().enumerate() {
        for (at, name) in program.names().iter().enumerate() {
            let _ = match at < VARIABLES.len() {
                true => writeln!(out, "std::atomic<int> p{number}_{name}{{0}};"),
                false => writeln!(out, "int p{number}_{name};"),
            };
        }
        for (t, ops) in program.threads.iter().enumerate() {
            let _ = writeln!(out, "static void p{number}_t{t}() {{");
            for i in 0..program.results[t] {
                let _ = writeln!(out, "  int r{i} = 0;");
            }
            code(&Cpp(number), ops, 1, &mut out);
            for i in 0..program.results[t] {
                let _ = writeln!(out, "  p{number}_o{t}{i} = r{i};");
            }
            out += "}\n";
        }
        let _ = writeln!(out, "extern \"C\" int program{number}() {{");
        let threads = 0..program.threads.len();
        for t in threads.clone() {
            let _ = writeln!(out, "  std::thread t{t}(p{number}_t{t});");
        }
        for t in threads {
            let _ = writeln!(out, "  t{t}.join();");
        }
        out += "  return 0;\n}\n";
    }
    out
}

/// Programs in Rust.
pub fn rust(programs: &[Random]) -> String {
    let mut out = String::from(
        "use std::sync::atomic::{AtomicI32, Ordering::*, fence};\nuse std::thread;\nfn main() {}\n",
    );
    for (number, program) in programs.iter().enumerate() {
        let words = Rust(number);
        for name in program.names() {
            let name = words.name(&name);
            let _ = writeln!(out, "static {name}: AtomicI32 = AtomicI32::new(0);");
        }
        let _ = writeln!(out, "#[no_mangle]\npub extern \"C\" fn program{number}() {{");
        for (t, ops) in program.threads.iter().enumerate() {
            let _ = writeln!(out, "  let h{t} = thread::spawn(|| {{");
            for i in 0..program.results[t] {
                let _ = writeln!(out, "    let mut r{i} = 0;");
            }
            code(&words, ops, 2, &mut out);
            for i in 0..program.results[t] {
                let name = words.name(&format!("o{t}{i}"));
                let _ = writeln!(out, "    {name}.store(r{i}, Relaxed);");
            }
            out += "  });\n";
        }
        for t in 0..program.threads.len() {
            let _ = writeln!(out, "  h{t}.join().unwrap();");
        }
        out += "}\n";
    }
    out
}
