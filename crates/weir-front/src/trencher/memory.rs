//! Which addresses there are.
//!
//! Numbers below the size of memory are addresses; each name that no `read` and no
//! `local` of its thread assigns is one more, after the numbers. Where every
//! address is a constant, each that is used becomes a variable. Where one is
//! computed, all of memory becomes an array.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use weir_model::ids::{SpanId, VarId};
use weir_model::program::{Decl, Expr, Program};

use super::tree::{File, Instruction, Thread, Value};
use crate::errors::Errors;
use crate::{Diagnostic, MAX_ARRAY};

/// Where things are in memory.
#[derive(Debug, Default)]
pub struct Memory<'t> {
    /// The addresses that names stand for.
    names: HashMap<&'t str, i128>,
    /// The variable at each constant address, unless memory is an array.
    cells: BTreeMap<i128, VarId>,
    /// How many addresses there are.
    len: usize,
}

/// What is at an address.
pub enum Cell {
    /// One variable.
    Var(VarId),
    /// An element of all of memory, which has so many.
    Element(u32),
}

impl<'t> Memory<'t> {
    /// Lays out the memory; declares it in the program.
    pub fn new(file: &File<'t>, program: &mut Program, errors: &mut Errors) -> Self {
        let mut memory = Self::default();
        let mut order = Vec::new();
        let mut computed = false;
        // Whether a name is a value, and not only the whole of an address.
        let mut pointed = false;
        let mut constants = Vec::new();
        for thread in &file.threads {
            let assigned = assigned(thread);
            for transition in &thread.transitions {
                let (values, address): (Vec<&Value<'_>>, _) = match &transition.instruction {
                    Instruction::Write(value, address) => (vec![value], Some(address)),
                    Instruction::Read(_, address) => (vec![], Some(address)),
                    Instruction::Local(_, value) | Instruction::Check(value) => (vec![value], None),
                    _ => continue,
                };
                for value in values.into_iter().chain(address) {
                    let is_address = address.is_some_and(|a| std::ptr::eq(a, value));
                    let mut registers = false;
                    let mut named = false;
                    value.atoms(&mut |word| {
                        let name = plain(word.text);
                        if name.len() == word.text.len() && assigned.contains(word.text) {
                            registers = true;
                            return;
                        }
                        named = true;
                        let next = file.memory_size + order.len();
                        memory.names.entry(name).or_insert_with(|| {
                            order.push(name);
                            next as i128
                        });
                    });
                    let whole = matches!(value, Expr::Atom(_));
                    pointed |= named && !(is_address && whole);
                    computed |= is_address && registers;
                    if is_address && !registers {
                        constants.push((value, transition.range.clone()));
                    }
                }
            }
        }
        memory.len = file.memory_size + order.len();
        if memory.len > MAX_ARRAY as usize {
            let message =
                format!("there are {} addresses; at most {MAX_ARRAY} are allowed", memory.len);
            errors.push(Diagnostic::new(message, file.threads[0].name.range.clone()));
            return memory;
        }
        let mut used = BTreeSet::new();
        for (value, range) in constants {
            let at =
                value.eval(&mut |word| memory.names.get(plain(word.text)).copied().unwrap_or(0));
            match at {
                Ok(at) if (0..memory.len as i128).contains(&at) => {
                    used.insert(at);
                }
                _ => {
                    let shown = at.map_or("this address".to_owned(), |at| format!("address {at}"));
                    let message = format!("{shown} is outside of memory");
                    let help = format!(
                        "there are {}; say `memory_size N` before the threads for more",
                        file.memory_size
                    );
                    errors.push(Diagnostic::new(message, range).help(help));
                }
            }
        }
        let name = |at: i128| match order.get((at as usize).wrapping_sub(file.memory_size)) {
            Some(name) => (*name).to_owned(),
            None => format!("m{at}"),
        };
        if computed {
            program.vars.push(Decl {
                name: "mem".to_owned(),
                len: Some(memory.len as u32),
                domain: None,
                init: vec![vec![0]; memory.len],
                span: SpanId::NONE,
            });
        } else {
            for (var, at) in used.into_iter().enumerate() {
                memory.cells.insert(at, VarId::new(var));
                program.vars.push(Decl::scalar(name(at), 0, SpanId::NONE));
            }
        }
        if pointed || computed {
            let named = memory.names.iter().map(|(name, at)| (*at, (*name).to_owned()));
            program.symbols = named.collect();
        }
        memory
    }

    /// The address that a name stands for.
    pub fn address(&self, name: &str) -> i128 {
        self.names.get(plain(name)).copied().unwrap_or(0)
    }

    /// What is at a constant address, or at one that is computed.
    pub fn cell(&self, at: Option<i128>) -> Cell {
        if let Some(at) = at {
            if let Some(var) = self.cells.get(&at) {
                return Cell::Var(*var);
            }
            // Memory is an array then, and the address was checked.
            return Cell::Var(VarId::new(usize::try_from(at).unwrap_or(0).min(self.len - 1)));
        }
        Cell::Element(self.len as u32)
    }
}

/// The registers of a thread: the names that it assigns.
pub fn assigned<'t>(thread: &Thread<'t>) -> HashSet<&'t str> {
    let set = thread.transitions.iter().filter_map(|t| match &t.instruction {
        Instruction::Read(register, _) | Instruction::Local(register, _) => Some(register.text),
        _ => None,
    });
    set.collect()
}

/// A name without the quotes that say that it is an address.
pub fn plain(name: &str) -> &str {
    let unquoted = |quote| name.strip_prefix(quote)?.strip_suffix(quote);
    unquoted('"').or_else(|| unquoted('\'')).filter(|n| !n.is_empty()).unwrap_or(name)
}
