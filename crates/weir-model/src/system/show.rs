//! What the parts of a system are called in reports.

use super::{Mark, Op, System, Transition};
use crate::ids::{ProcessId, RegId, ValueId, VarId};
use crate::program::Atom;

impl System {
    /// A value of a variable as a person would write it.
    pub fn show_value(&self, var: VarId, value: ValueId) -> String {
        self.program.show_value(self.vars[var.index()].domain, self.value(var, value))
    }

    /// What a person calls a game.
    pub fn game_name(&self, index: usize) -> String {
        let games = &self.program.games;
        match &games[index].name {
            Some(name) => name.clone(),
            None if games.iter().filter(|g| g.name.is_none()).count() < 2 => "game".to_owned(),
            None => {
                let number = games[..=index].iter().filter(|g| g.name.is_none()).count();
                format!("game #{number}")
            }
        }
    }

    /// What an atom is called in reports.
    pub fn atom_name(&self, atom: Atom) -> String {
        match atom {
            Atom::Var(var) => self.vars[var.index()].name.clone(),
            Atom::Reg(p, r) => self.register(p, r).display.clone(),
            Atom::At(p, l) => {
                let process = &self.program.processes[p.index()];
                format!("{}@{}", process.name, process.labels[l.index()].name)
            }
        }
    }

    /// The declaration of a register.
    pub fn register(&self, process: ProcessId, reg: RegId) -> &crate::program::Register {
        &self.program.processes[process.index()].registers[reg.index()]
    }

    /// An operation as the papers write it, with names.
    pub fn show_op(&self, op: Op) -> String {
        let name = |x: VarId| &self.vars[x.index()].name;
        match op {
            Op::Nop => "nop".to_owned(),
            Op::Read(x, d) => format!("r({},{})", name(x), self.show_value(x, d)),
            Op::Write(x, d) => format!("w({},{})", name(x), self.show_value(x, d)),
            Op::Arw(x, d, e) => {
                format!("arw({},{},{})", name(x), self.show_value(x, d), self.show_value(x, e))
            }
            Op::Fence(kind) => kind.name().to_owned(),
        }
    }

    /// The beginning or end of a call as the papers write it, with names.
    pub fn show_mark(&self, mark: Mark) -> String {
        let (word, method, value) = match mark {
            Mark::Call(method, value) => ("call", method, value),
            Mark::Return(method, value) => ("return", method, value),
        };
        let known = self.program.object.as_ref().and_then(|o| o.methods.get(method.index()));
        let name = known.map_or("?", |m| &m.name);
        let argument = known.and_then(|m| m.registers.first()).and_then(|r| r.domain);
        let domain = argument.filter(|_| matches!(mark, Mark::Call(..)));
        match value {
            Some(value) => format!("{word}({name},{})", self.program.show_value(domain, value)),
            None => format!("{word}({name})"),
        }
    }

    /// What a transition does as the papers write it, with names.
    pub fn show_transition(&self, t: &Transition) -> String {
        t.mark.map_or_else(|| self.show_op(t.op), |mark| self.show_mark(mark))
    }
}
