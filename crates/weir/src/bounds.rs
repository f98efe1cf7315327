//! Bounds that the user sets for variables and registers without a domain.

use std::fmt;
use std::str::FromStr;

use weir_front::errors::quote;
use weir_front::suggest;
use weir_model::ids::{ProcessId, RegId, VarId};
use weir_model::program::{Domain, Program};

/// `x=0..7`: a program is looked at only while `x` is from 0 to 7.
///
/// ```
/// let bound: weir::Bound = "x=-1..7".parse().unwrap();
/// assert_eq!((bound.name.as_str(), bound.low, bound.high), ("x", -1, 7));
/// assert!("x=7..1".parse::<weir::Bound>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// A variable `x`, an element `a[1]`, all of an array `a`, a register `p.r`, or
    /// the register `r` of every process that has one.
    pub name: String,
    /// The lowest value.
    pub low: i128,
    /// The highest value.
    pub high: i128,
}

/// Why a text is no bound, or a bound does not fit a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundError(String);

impl fmt::Display for BoundError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BoundError {}

impl FromStr for Bound {
    type Err = BoundError;

    fn from_str(text: &str) -> Result<Self, BoundError> {
        let wrong = || BoundError(format!("`{text}` is not a bound; write it as `x=0..7`"));
        let (name, range) = text.split_once('=').ok_or_else(wrong)?;
        let (low, high) = range.split_once("..").ok_or_else(wrong)?;
        let high = high.strip_prefix('=').unwrap_or(high);
        let number = |text: &str| text.trim().parse::<i128>().map_err(|_| wrong());
        let (name, low, high) = (name.trim().to_owned(), number(low)?, number(high)?);
        match (name.is_empty(), low <= high) {
            (false, true) => Ok(Self { name, low, high }),
            (true, _) => Err(wrong()),
            (false, false) => Err(BoundError(format!("there is no value in {low}..{high}"))),
        }
    }
}

impl Bound {
    /// Gives the bound to what it names.
    ///
    /// # Errors
    /// If there is no such thing, if it has a domain, or if it begins outside.
    pub fn apply(&self, program: &mut Program) -> Result<(), BoundError> {
        let vars = self.vars(program);
        let registers = if vars.is_empty() { self.registers(program) } else { Vec::new() };
        if vars.is_empty() && registers.is_empty() {
            return Err(BoundError(self.unknown(program)));
        }
        for var in vars {
            let (decl, element) = program.decl(var);
            let init = decl.init[element].clone();
            self.check(decl.domain, &init)?;
            program.bounds.vars.insert(var, (self.low, self.high));
        }
        for (process, register) in registers {
            let declared = &program.processes[process.index()].registers[register.index()];
            self.check(declared.domain, &[declared.init])?;
            program.bounds.registers.insert((process, register), (self.low, self.high));
        }
        Ok(())
    }

    fn check(&self, domain: Option<Domain>, init: &[i128]) -> Result<(), BoundError> {
        let Self { name, low, high } = self;
        // A type says how wide something is, not how far to look.
        if domain.is_some_and(|d| !matches!(d, Domain::Int(_))) {
            return Err(BoundError(format!("{} has a domain of its own", quote(name))));
        }
        match init.iter().find(|v| !(low..=high).contains(v)) {
            Some(value) => {
                let name = quote(name);
                Err(BoundError(format!("{name} begins with {value}, outside {low}..{high}")))
            }
            None => Ok(()),
        }
    }

    fn vars(&self, program: &Program) -> Vec<VarId> {
        let all = (0..program.var_count()).map(VarId::new);
        let fits =
            |v: &VarId| program.decl(*v).0.name == self.name || program.var_name(*v) == self.name;
        all.filter(fits).collect()
    }

    fn registers(&self, program: &Program) -> Vec<(ProcessId, RegId)> {
        let name = self.name.strip_prefix('$').unwrap_or(&self.name);
        let mut found = Vec::new();
        for (p, process) in program.processes.iter().enumerate() {
            for (r, register) in process.registers.iter().enumerate() {
                if register.name == name || register.display == self.name {
                    found.push((ProcessId::new(p), RegId::new(r)));
                }
            }
        }
        found
    }

    fn unknown(&self, program: &Program) -> String {
        let registers = program.processes.iter().flat_map(|p| &p.registers);
        let names = registers.flat_map(|r| [r.name.as_str(), r.display.as_str()]);
        let mut names: Vec<&str> =
            program.vars.iter().map(|d| d.name.as_str()).chain(names).collect();
        names.sort_unstable();
        let message = format!("there is no variable or register {}", quote(&self.name));
        match suggest::closest(&self.name, names) {
            Some(meant) => format!("{message}; did you mean {}?", quote(meant)),
            None => message,
        }
    }
}
