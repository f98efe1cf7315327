//! Prints declarations and sets of values.

use weir_model::program::{Atom, Bounds, Decl, Domain};

use super::Printer;
use super::expression::number;
use super::names::Memory;

impl Printer<'_> {
    pub(super) fn enums(&mut self) {
        for (name, members) in &self.names.enums {
            self.line(&format!("enum {name} {{ {} }}", members.join(", ")));
        }
        for (value, symbol) in &self.program.symbols {
            self.line(&format!("// {value} stands for {}", symbol.escape_default()));
        }
    }

    pub(super) fn declarations(&mut self) {
        self.bounds_given();
        for (i, (decl, name)) in self.program.vars.iter().zip(&self.names.decls).enumerate() {
            match self.names.memories.iter().find(|m| m.decls.contains(&i)) {
                Some(memory) if memory.decls.start == i => self.memory(memory),
                Some(_) => {}
                None => {
                    let inits: Vec<&[i128]> = decl.init.iter().map(Vec::as_slice).collect();
                    let len = decl.len.map(|_| inits.len());
                    let text = self.declaration(name, len, decl.domain, &inits);
                    self.line(&format!("var {text}"));
                }
            }
        }
    }

    /// Bounds are no part of the language. They are given when a file is read.
    fn bounds_given(&mut self) {
        let Bounds { vars, registers } = &self.program.bounds;
        let vars = vars.iter().map(|(x, bound)| (Atom::Var(*x), bound));
        let registers = registers.iter().map(|((p, r), bound)| (Atom::Reg(*p, *r), bound));
        for (atom, (low, high)) in vars.chain(registers) {
            let name = self.names.atom(atom);
            self.line(&format!("// looked at only while {name} is in {low}..{high}"));
        }
    }

    /// Variables that become one array.
    fn memory(&mut self, memory: &Memory) {
        let decls = &self.program.vars[memory.decls.clone()];
        let inits: Vec<&[i128]> =
            decls.iter().flat_map(|d| d.init.iter().map(Vec::as_slice)).collect();
        let mut element = 0;
        for Decl { name, init, .. } in decls.iter().filter(|_| !memory.is_common) {
            for i in 0..init.len() {
                let part = if init.len() > 1 { format!("[{i}]") } else { String::new() };
                let name = name.escape_default();
                self.line(&format!("// {}[{element}] is {name}{part}", memory.name));
                element += 1;
            }
        }
        let domain = decls.first().and_then(|d| d.domain);
        let domain = domain.filter(|d| decls.iter().all(|decl| decl.domain == Some(*d)));
        let text = self.declaration(&memory.name, Some(inits.len()), domain, &inits);
        self.line(&format!("var {text}"));
    }

    /// `x`, `x: 0..3 = 1`, `a[2] = [0, 1]`.
    pub(super) fn declaration(
        &self,
        name: &str,
        len: Option<usize>,
        domain: Option<Domain>,
        inits: &[&[i128]],
    ) -> String {
        let mut text = name.to_owned();
        if let Some(len) = len {
            text += &format!("[{len}]");
        }
        if let Some(domain) = domain {
            text += &format!(": {}", self.domain(domain));
        }
        let first = match domain {
            Some(Domain::Range(low, _)) => low,
            _ => 0,
        };
        match inits {
            [] => {}
            [values, rest @ ..] if rest.iter().all(|init| init == values) => {
                if **values != [first] {
                    text += &format!(" = {}", self.init(domain, values));
                }
            }
            _ => {
                let list: Vec<_> = inits.iter().map(|init| self.init(domain, init)).collect();
                text += &format!(" = [{}]", list.join(", "));
            }
        }
        text
    }

    fn domain(&self, domain: Domain) -> String {
        match domain {
            Domain::Range(low, high) => range(low, high),
            Domain::Bool => "bool".to_owned(),
            Domain::Enum(id) => self.names.enums[id.index()].0.clone(),
            Domain::Int(int) => int.name().to_owned(),
        }
    }

    fn bounds(&self, domain: Option<Domain>) -> (i128, i128) {
        match domain {
            Some(Domain::Range(low, high)) => (low, high),
            Some(Domain::Bool) => (0, 1),
            Some(Domain::Enum(id)) => (0, self.names.enums[id.index()].1.len() as i128 - 1),
            Some(Domain::Int(int)) => (int.low(), int.high()),
            None => (0, 0),
        }
    }

    fn init(&self, domain: Option<Domain>, values: &[i128]) -> String {
        let (low, high) = self.bounds(domain);
        match values {
            [value] => self.value(domain, *value),
            _ if domain.is_some() && values.iter().copied().eq(low..=high) => "any".to_owned(),
            _ => any(values),
        }
    }

    fn value(&self, domain: Option<Domain>, value: i128) -> String {
        let named = match domain {
            Some(Domain::Bool) => ["false", "true"].get(value as usize).map(|s| (*s).to_owned()),
            Some(Domain::Enum(id)) => self.names.enums[id.index()].1.get(value as usize).cloned(),
            _ => None,
        };
        named.unwrap_or_else(|| number(value))
    }
}

fn range(low: i128, high: i128) -> String {
    format!("{}..{}", number(low), number(high))
}

/// `any(0..2)` or `any(1, 3)`.
pub fn any(values: &[i128]) -> String {
    match (values.first(), values.last()) {
        (Some(&low), Some(&high)) if values.len() > 1 && values.iter().copied().eq(low..=high) => {
            format!("any({})", range(low, high))
        }
        _ => {
            let values: Vec<_> = values.iter().map(|v| number(*v)).collect();
            format!("any({})", values.join(", "))
        }
    }
}
