//! The instructions of a thread as inline assembly, in the syntax that C compilers read.

use std::collections::{BTreeSet, HashMap};

use weir_model::ids::RegId;
use weir_model::program::{Atom, BinOp};

use super::super::WithCode;
use super::super::instruction::Instruction;
use super::super::mnemonic::{Flag, Operation, Update};
use super::super::operand::{Address, Operand};
use super::super::table::Item;
use super::super::test::Value;
use super::{is_flag, line, small};
use crate::Diagnostic;

/// How many operands a compiler takes: one that is read and written counts twice.
const MAX_OPERANDS: usize = 30;

/// The size of all accesses of a test, in bits.
///
/// # Errors
/// If accesses have different sizes, or less than 32 bits.
pub(super) fn bits(test: &WithCode) -> Result<u32, Diagnostic> {
    let mut size: Option<u32> = None;
    for instruction in test.code.iter().flatten().filter_map(Item::instruction) {
        let Some(bits) = bits_of(test, instruction) else { continue };
        if bits < 32 {
            let message = "a test with accesses of 8 or 16 bits cannot be run";
            return Err(Diagnostic::new(message, instruction.range.clone()));
        }
        if size.is_some_and(|size| size != bits) {
            let message = "a test with accesses of several sizes cannot be run";
            return Err(Diagnostic::new(message, instruction.range.clone()));
        }
        size = Some(bits);
    }
    Ok(size.unwrap_or(32))
}

/// The size that an instruction says: by the end of its name, or by its registers.
fn bits_of(test: &WithCode, instruction: &Instruction) -> Option<u32> {
    let (_, suffix) = stem(instruction);
    let by_name = suffix.map(|suffix| match suffix {
        'b' => 8,
        'w' => 16,
        'l' => 32,
        _ => 64,
    });
    let text = &test.source.text[instruction.range.clone()];
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric()).skip(1);
    by_name.or_else(|| words.find_map(|word| test.dialect.bits(word)))
}

/// The name of an instruction without the size at its end, and that size.
fn stem(instruction: &Instruction) -> (&str, Option<char>) {
    let name = instruction.name.as_str();
    let is_sized = matches!(
        instruction.operation,
        Operation::Move
            | Operation::Exchange
            | Operation::CompareExchange
            | Operation::ExchangeAdd
            | Operation::Update(_)
            | Operation::Compare
            | Operation::Test
    );
    // These end in a letter that could be a size.
    let exact = ["shl", "sal", "sub"].contains(&name);
    match name.strip_suffix(['b', 'w', 'l', 'q']) {
        Some(stem) if is_sized && !exact => (stem, name.chars().last()),
        _ => (name, None),
    }
}

/// A thread of a test.
pub(super) struct Thread<'t> {
    pub test: &'t WithCode,
    pub thread: usize,
    pub bits: u32,
}

impl Thread<'_> {
    /// The C function that runs the thread once and stores what is observed of its registers.
    pub fn function(&self, atoms: &[Atom]) -> Result<String, Diagnostic> {
        let code = &self.test.code[self.thread];
        self.refuse_carry(code)?;
        let names = code.iter().filter_map(Item::label).enumerate();
        let labels: HashMap<&str, String> =
            names.map(|(k, name)| (name, format!(".L{}_{k}_%=", self.thread))).collect();
        let mut lines = Vec::new();
        let mut memory = BTreeSet::new();
        for item in code {
            lines.push(match item {
                Item::Label(name, _) => format!("{}:", labels[name.as_str()]),
                Item::Instruction(instruction) => {
                    self.instruction(instruction, &labels, &mut memory)?
                }
            });
        }
        let registers = self.registers()?;
        if 2 * registers.len() + memory.len() > MAX_OPERANDS {
            let message =
                format!("thread {} has too many registers and variables to be run", self.thread);
            return Err(Diagnostic::new(message, 0..0));
        }
        let mut out = String::new();
        line(&mut out, &format!("static void thread_{}(instance *m) {{", self.thread));
        for (name, init) in &registers {
            let bits = self.bits;
            line(
                &mut out,
                &format!("    register int{bits}_t {name} __asm__(\"{name}\") = {init};"),
            );
        }
        line(&mut out, "    __asm__ volatile(");
        for text in &lines {
            line(&mut out, &format!("        \"{text}\\n\\t\""));
        }
        let outputs: Vec<String> =
            registers.iter().map(|(name, _)| format!("\"+r\"({name})")).collect();
        let inputs: Vec<String> =
            memory.iter().map(|v| format!("[v{v}] \"m\"(m->v[{v}].value)")).collect();
        line(&mut out, &format!("        : {}", outputs.join(", ")));
        line(&mut out, &format!("        : {}", inputs.join(", ")));
        line(&mut out, "        : \"memory\", \"cc\");");
        for (k, atom) in atoms.iter().enumerate() {
            if let Atom::Reg(thread, register) = atom
                && thread.index() == self.thread
            {
                let name = self.register(*register)?;
                line(&mut out, &format!("    m->values[{k}] = {name};"));
            }
        }
        line(&mut out, "}\n");
        Ok(out)
    }

    /// The registers that the thread names, as an assembler has them, with their initial values.
    fn registers(&self) -> Result<Vec<(String, i32)>, Diagnostic> {
        let all = &self.test.program.processes[self.thread].registers;
        let named = all.iter().enumerate().filter(|(_, register)| !register.temporary);
        named
            .map(|(k, register)| Ok((self.register(RegId::new(k))?, small(register.init, 0..0)?)))
            .collect()
    }

    /// The name of a register as an assembler has it.
    fn register(&self, register: RegId) -> Result<String, Diagnostic> {
        let name = &self.test.program.processes[self.thread].registers[register.index()].name;
        let refused = ["ESP", "EBP", "rsp", "rbp"].contains(&name.as_str());
        if refused || is_flag(name) {
            let why = if refused { "the compiler needs it" } else { "it is a flag" };
            let message = format!("a test with the register `{name}` cannot be run: {why}");
            return Err(Diagnostic::new(message, 0..0));
        }
        Ok(self.test.dialect.assembler_name(name, self.bits))
    }

    fn instruction(
        &self,
        instruction: &Instruction,
        labels: &HashMap<&str, String>,
        memory: &mut BTreeSet<usize>,
    ) -> Result<String, Diagnostic> {
        let refuse = |why: &str| {
            let message = format!("`{}` cannot be run: {why}", instruction.name);
            Err(Diagnostic::new(message, instruction.range.clone()))
        };
        let (stem, _) = stem(instruction);
        let suffix = if self.bits == 64 { "q" } else { "l" };
        let name = match instruction.operation {
            Operation::Jump(_) => {
                let (target, _) = instruction.target.as_ref().expect("a jump has a target");
                // The usual litmus tools have these names, assemblers do not.
                let name = match stem {
                    "jlt" => "jl",
                    "jgt" => "jg",
                    other => other,
                };
                return Ok(format!("{name} {}", labels[target.as_str()]));
            }
            Operation::Set(_) => return refuse("it writes 8 bits"),
            Operation::Return => return refuse("the thread is a part of a function"),
            Operation::Fence(_) => return Ok(stem.to_owned()),
            Operation::Nop => {
                return Ok(if stem == "endbr64" { "endbr64" } else { "nop" }.to_owned());
            }
            Operation::ConditionalMove(_) => match stem {
                "cmovlt" => "cmovl".to_owned(),
                "cmovgt" => "cmovg".to_owned(),
                other => other.to_owned(),
            },
            Operation::Update(Update { op: BinOp::Shl, .. })
                if !matches!(
                    instruction.operands.get(1),
                    Some(Operand::Constant(Value::Number(0..32)))
                ) =>
            {
                return refuse("it shifts by something other than a constant from 0 to 31");
            }
            _ => format!("{stem}{suffix}"),
        };
        let mut operands = Vec::new();
        let mut in_memory = 0;
        for operand in &instruction.operands {
            operands.push(match operand {
                Operand::Register(register) => format!("%%{}", self.register(*register)?),
                Operand::Constant(Value::Number(number)) => {
                    format!("${}", small(*number, instruction.range.clone())?)
                }
                Operand::Memory(Address::Direct(symbol)) => {
                    let var = self.test.layout.var(*symbol, 0).index();
                    memory.insert(var);
                    in_memory += 1;
                    format!("%[v{var}]")
                }
                Operand::Constant(Value::Address(_))
                | Operand::Memory(Address::Computed { .. }) => {
                    unreachable!("tests with addresses are refused")
                }
            });
        }
        if in_memory > 1 {
            return refuse("the instruction has at most one operand in memory");
        }
        // The destination comes last here, and a constant first.
        let is_constant = |operand: &Operand| matches!(operand, Operand::Constant(_));
        if !instruction.operands.first().is_some_and(is_constant) {
            operands.reverse();
        }
        let lock = if instruction.lock { "lock " } else { "" };
        Ok(format!("{lock}{name} {}", operands.join(", ")))
    }

    /// Refuses conditions on the carry where an addition may set it: values of Weir do not wrap.
    fn refuse_carry(&self, code: &[Item]) -> Result<(), Diagnostic> {
        let instructions = || code.iter().filter_map(Item::instruction);
        let carries = |i: &Instruction| match i.operation {
            Operation::ExchangeAdd => true,
            Operation::Update(update) => matches!(update.op, BinOp::Add | BinOp::Shl),
            _ => false,
        };
        let asks = |i: &&Instruction| {
            i.operation.condition().is_some_and(|c| c.flags.contains(&Flag::Carry))
        };
        match instructions().find(asks) {
            Some(found) if instructions().any(carries) => Err(Diagnostic::new(
                "a condition on the carry cannot be run in a thread that adds or shifts",
                found.range.clone(),
            )),
            _ => Ok(()),
        }
    }
}
