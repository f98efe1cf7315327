//! The names under which things are printed: their own where the language
//! allows them, otherwise ones that are made from them and unique.

use std::collections::{HashMap, HashSet};

use weir_model::program::{Atom, Place, Process, Program, Stmt, StmtKind};

use crate::weir::lexer::is_taken_word;

/// All names of a program, as they are printed.
pub struct Names {
    /// Each enum and its members.
    pub enums: Vec<(String, Vec<String>)>,
    /// The declarations of variables.
    pub decls: Vec<String>,
    /// Each variable: `x`, `a[1]` or `mem[1]`.
    pub vars: Vec<String>,
    /// The name of the array that all variables become, if they have to.
    pub memory: Option<String>,
    /// `p` or `p[0]`.
    pub processes: Vec<String>,
    /// The registers of each process.
    pub registers: Vec<Vec<String>>,
    /// The labels of each process.
    pub labels: Vec<Vec<String>>,
    /// The properties that have names.
    pub properties: Vec<Option<String>>,
    /// The games that have names.
    pub games: Vec<Option<String>>,
}

impl Names {
    /// Names for everything in a program.
    pub fn new(program: &Program) -> Self {
        let mut scope = Scope::default();
        let enums = program
            .enums
            .iter()
            .map(|e| (scope.name(&e.name), e.members.iter().map(|m| scope.name(m)).collect()))
            .collect();
        let mut memory = None;
        let mut decls = Vec::new();
        if has_wide_index(program) {
            memory = Some(scope.name("mem"));
        } else {
            decls = program.vars.iter().map(|decl| scope.name(&decl.name)).collect();
        }
        let vars = match &memory {
            Some(memory) => (0..program.var_count()).map(|i| format!("{memory}[{i}]")).collect(),
            None => elements(program, &decls),
        };
        let processes = processes(program, &mut scope);
        let inside = |outer: &Scope, names: fn(&Process) -> Vec<&str>| {
            let each = program.processes.iter().map(names);
            each.map(|names| {
                let mut scope = outer.clone();
                names.into_iter().map(|name| scope.name(name)).collect()
            })
            .collect()
        };
        let registers = inside(&scope, |p| p.registers.iter().map(|r| r.name.as_str()).collect());
        let labels =
            inside(&Scope::default(), |p| p.labels.iter().map(|l| l.name.as_str()).collect());
        let mut scope = Scope::default();
        let properties = program
            .properties
            .iter()
            .map(|property| property.name.as_ref().map(|name| scope.name(name)))
            .collect();
        let games = program
            .games
            .iter()
            .map(|game| game.name.as_ref().map(|name| scope.name(name)))
            .collect();
        Self { enums, decls, vars, memory, processes, registers, labels, properties, games }
    }

    /// An atom of a formula.
    pub fn atom(&self, atom: Atom) -> String {
        match atom {
            Atom::Var(var) => self.vars[var.index()].clone(),
            Atom::Reg(process, register) => format!(
                "{}.{}",
                self.processes[process.index()],
                self.registers[process.index()][register.index()]
            ),
            Atom::At(process, label) => format!(
                "{}@{}",
                self.processes[process.index()],
                self.labels[process.index()][label.index()]
            ),
        }
    }

    /// The array that a place with an index chooses from.
    pub fn array(&self, program: &Program, place: &Place) -> &str {
        array_at(program, place).map_or("mem", |decl| &self.decls[decl])
    }
}

/// The names that are taken.
#[derive(Clone, Default)]
struct Scope {
    taken: HashSet<String>,
}

impl Scope {
    /// `name` itself if it can be, otherwise something like it.
    fn name(&mut self, name: &str) -> String {
        let legal = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let mut base: String = name.chars().map(legal).collect();
        if base.is_empty() || base.starts_with(|c: char| c.is_ascii_digit()) {
            base.insert(0, '_');
        }
        let numbered = (2..).map(|i| format!("{base}_{i}"));
        let mut candidates = std::iter::once(base.clone()).chain(numbered);
        let free = |name: &String| !self.taken.contains(name) && !is_taken_word(name);
        let name = candidates.find(free).unwrap_or(base);
        self.taken.insert(name.clone());
        name
    }
}

/// `x` for a single variable, `a[0]`, `a[1]`, … for an array.
fn elements(program: &Program, decls: &[String]) -> Vec<String> {
    let mut vars = Vec::new();
    for (decl, name) in program.vars.iter().zip(decls) {
        match decl.len {
            None => vars.push(name.clone()),
            Some(_) => vars.extend((0..decl.init.len()).map(|i| format!("{name}[{i}]"))),
        }
    }
    vars
}

/// Processes; the members of a family share their name.
fn processes(program: &Program, scope: &mut Scope) -> Vec<String> {
    let mut families: HashMap<&str, String> = HashMap::new();
    let mut printed = HashSet::new();
    let mut names = Vec::new();
    for process in &program.processes {
        let member = process.name.strip_suffix(']').and_then(|s| s.split_once('['));
        let member = member.and_then(|(base, n)| Some((base, n.parse::<i64>().ok()?)));
        let text = member.map(|(base, number)| {
            let base = families.entry(base).or_insert_with(|| scope.name(base));
            format!("{base}[{number}]")
        });
        let text = text.filter(|text| printed.insert(text.clone()));
        names.push(text.unwrap_or_else(|| scope.name(&process.name)));
    }
    names
}

/// The array that a place's index ranges over, if it is exactly one.
fn array_at(program: &Program, place: &Place) -> Option<usize> {
    let mut first = 0;
    for (i, decl) in program.vars.iter().enumerate() {
        if first == place.first.index() {
            let fits = decl.len.is_some() && decl.init.len() == place.len as usize;
            return fits.then_some(i);
        }
        first += decl.init.len();
    }
    None
}

/// Whether some index ranges over anything but one array.
fn has_wide_index(program: &Program) -> bool {
    let wide = |place: &Place| place.index.is_some() && array_at(program, place).is_none();
    let mut blocks: Vec<&[Stmt]> = program.processes.iter().map(|p| p.body.as_slice()).collect();
    while let Some(block) = blocks.pop() {
        for stmt in block {
            match &stmt.kind {
                StmtKind::Load(_, place)
                | StmtKind::Store(place, _)
                | StmtKind::Rmw(_, place, _)
                    if wide(place) =>
                {
                    return true;
                }
                StmtKind::If(_, then, other) => blocks.extend([then.as_slice(), other.as_slice()]),
                StmtKind::Loop(body) | StmtKind::Await(body, _) => blocks.push(body),
                StmtKind::Choose(choices) => blocks.extend(choices.iter().map(Vec::as_slice)),
                _ => {}
            }
        }
    }
    false
}
