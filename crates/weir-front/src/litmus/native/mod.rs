//! A litmus test as a C program that runs it on an x86 processor.
//!
//! The program has the instructions of the test, in its order and with its registers, in one block
//! of inline assembly for each thread. It runs many instances of the test, each in memory of
//! its own, and counts the final states. The threads wait for the same value of the time-stamp
//! counter before each instance, so that their instructions overlap.
//!
//! Values of Weir have no size. A test is run with 32 or 64 bits, whichever its instructions
//! have, and is refused where its final states could depend on the size.
//!
//! ```
//! let text = "X86 SB { x=0; y=0; }
//!      P0          | P1          ;
//!      MOV [x],$1  | MOV [y],$1  ;
//!      MOV EAX,[y] | MOV EAX,[x] ;
//!     exists (0:EAX=0 /\\ 1:EAX=0)";
//! let native = weir_front::litmus::native::program("SB.litmus", text).unwrap();
//! assert_eq!(native.threads, 2);
//! assert!(native.text.contains("\"movl $1, %[v0]\\n\\t\""));
//! ```

mod assembly;

use std::fmt::Write as _;

use weir_model::program::{Atom, Program};

use super::mnemonic::Flag;
use super::{WithCode, read_with_code};
use crate::Diagnostic;
use assembly::{Thread, bits};

/// What all programs have; names between `@` stand for what differs.
const PROGRAM: &str = include_str!("program.c");

/// A test as a C program.
#[derive(Clone, Debug)]
pub struct Native {
    /// The text of the program.
    pub text: String,
    /// The number of threads, each of which needs a processor.
    pub threads: usize,
    /// What the program prints of a final state, in this order.
    pub atoms: Vec<Atom>,
}

/// The C program that runs a test. `name` is what reports call the file.
///
/// # Errors
/// All errors in the test, or the first reason for which it cannot be run.
pub fn program(name: &str, text: &str) -> Result<Native, Vec<Diagnostic>> {
    let test = read_with_code(name, text)?;
    native(&test).map_err(|error| vec![error])
}

fn native(test: &WithCode) -> Result<Native, Diagnostic> {
    let program = &test.program;
    if test.uses_addresses {
        let message =
            "a test with addresses as values cannot be run: they differ between instances";
        return Err(Diagnostic::new(message, 0..0));
    }
    let bits = bits(test)?;
    let atoms = atoms(program);
    let mut code = String::new();
    let mut functions = Vec::new();
    for thread in 0..program.processes.len() {
        code += &Thread { test, thread, bits }.function(&atoms)?;
        functions.push(format!("thread_{thread}"));
    }
    let names: Vec<String> = atoms.iter().map(|atom| atom_name(program, *atom)).collect();
    let variables: usize = program.vars.iter().map(|decl| decl.init.len()).sum();
    let memory = atoms.iter().enumerate().filter_map(|(k, atom)| match atom {
        Atom::Var(var) => Some(format!("m->values[{k}] = m->v[{}].value;", var.index())),
        _ => None,
    });
    let indent = |lines: Vec<String>| {
        lines.iter().map(|line| format!("            {line}\n")).collect::<String>()
    };
    let parts = [
        ("@name@", program.name.clone()),
        ("@atoms@", if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }),
        ("@threads@", program.processes.len().to_string()),
        ("@vars@", variables.max(1).to_string()),
        ("@values@", atoms.len().max(1).to_string()),
        ("@type@", format!("int{bits}_t")),
        ("@code@", code),
        ("@functions@", functions.join(", ")),
        ("@init@", indent(initial(program)?)),
        ("@memory@", indent(memory.collect())),
    ];
    let text = parts.iter().fold(PROGRAM.to_owned(), |text, (name, with)| text.replace(name, with));
    Ok(Native { text, threads: program.processes.len(), atoms })
}

/// What has to be known of a final state: what is observed, and what a filter asks for.
fn atoms(program: &Program) -> Vec<Atom> {
    let mut atoms = program.observed.clone().unwrap_or_default();
    if let Some(filter) = &program.filter {
        filter.atoms(&mut |&atom| {
            if !atoms.contains(&atom) {
                atoms.push(atom);
            }
        });
    }
    atoms
}

fn atom_name(program: &Program, atom: Atom) -> String {
    match atom {
        Atom::Reg(thread, register) => {
            program.processes[thread.index()].registers[register.index()].display.clone()
        }
        Atom::Var(var) => {
            let mut element = var.index();
            for decl in &program.vars {
                match (element < decl.init.len(), decl.len) {
                    (true, None) => return decl.name.clone(),
                    (true, Some(_)) => return format!("{}[{element}]", decl.name),
                    (false, _) => element -= decl.init.len(),
                }
            }
            unreachable!("every variable has a declaration")
        }
        Atom::At(..) => unreachable!("no condition of a litmus test asks for labels"),
    }
}

/// The assignments of initial values other than 0.
fn initial(program: &Program) -> Result<Vec<String>, Diagnostic> {
    let mut lines = Vec::new();
    let values = program.vars.iter().flat_map(|decl| &decl.init);
    for (var, value) in values.enumerate() {
        let value = small(value.first().copied().unwrap_or(0), 0..0)?;
        if value != 0 {
            lines.push(format!("instances[i].v[{var}].value = {value};"));
        }
    }
    Ok(lines)
}

/// A value that every size has.
fn small(value: i128, range: std::ops::Range<usize>) -> Result<i32, Diagnostic> {
    i32::try_from(value).map_err(|_| {
        Diagnostic::new(
            format!("a test with the value {value} cannot be run: it needs more than 32 bits"),
            range,
        )
    })
}

/// Whether a register is a flag.
fn is_flag(name: &str) -> bool {
    Flag::ALL.iter().any(|flag| flag.name() == name)
}

/// A line of a C program.
fn line(out: &mut String, text: &str) {
    let _ = writeln!(out, "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(body: &str) -> String {
        let errors = program("t.litmus", body).expect_err("it cannot be run");
        errors[0].message.clone()
    }

    #[test]
    fn instructions_stay_as_they_are() {
        let text = "X86_64 t { x=2; } P0 | P1 ;\n\
             movl $1,(x) | L: movl (x),%eax ;\n\
             lock addl $3,(x) | cmpl $1,%eax ;\n\
             mfence | jne L ;\n\
             xchgl %r8d,(x) | lock cmpxchgl %ebx,(x) ;\n\
             locations [x;] exists (0:r8=1 /\\ 1:rax=1)";
        let native = program("t.litmus", text).unwrap();
        for line in [
            "\"movl $1, %[v0]\\n\\t\"",
            "\"lock addl $3, %[v0]\\n\\t\"",
            "\"mfence\\n\\t\"",
            "\"xchgl %%r8d, %[v0]\\n\\t\"",
            "\".L1_0_%=:\\n\\t\"",
            "\"cmpl $1, %%eax\\n\\t\"",
            "\"jne .L1_0_%=\\n\\t\"",
            "\"lock cmpxchgl %%ebx, %[v0]\\n\\t\"",
            "instances[i].v[0].value = 2;",
            "m->values[2] = m->v[0].value;",
            "0:r8, 1:rax, x",
        ] {
            assert!(native.text.contains(line), "{line} is not in\n{}", native.text);
        }
        assert!(!native.text.contains('@'), "a part has no text");
    }

    #[test]
    fn what_depends_on_sizes_is_refused() {
        let x86 = |code: &str| error(&format!("X86 t {{ }} P0 ; {code} exists (x=1)"));
        assert!(x86("MOV [x],$4294967296 ;").contains("more than 32 bits"));
        assert!(x86("MOVB [x],$1 ;").contains("8 or 16 bits"));
        assert!(x86("MOV ESP,$1 ;").contains("`ESP`"));
        assert!(x86("MOV [x],[y] ;").contains("one operand in memory"));
        assert!(x86("CMP EAX,$1 ; SETE [x] ;").contains("8 bits"));
        assert!(x86("ADD EAX,$1 ; JB L ; MOV [x],$1 ; L: NOP ;").contains("carry"));
        assert!(x86("MOV EAX,$x ;").contains("addresses"));
        let mixed = "X86_64 t { } P0 ; movl $1,(x) ; movq (x),%rax ; exists (x=1)";
        assert!(error(mixed).contains("sizes"));
    }
}
