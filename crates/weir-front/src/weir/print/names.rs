//! The names under which things are printed: their own where the language
//! allows them, otherwise ones that are made from them and unique.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use weir_model::program::{Atom, Decl, Label, Place, Program, Register, Stmt, StmtKind};

use crate::weir::lexer::is_taken_word;

/// All names of a program, as they are printed.
pub struct Names {
    /// Each enum and its members.
    pub enums: Vec<(String, Vec<String>)>,
    /// The declarations of variables.
    pub decls: Vec<String>,
    /// Each variable: `x`, `a[1]` or `mem[1]`.
    pub vars: Vec<String>,
    /// The arrays that variables become which have to be one.
    pub memories: Vec<Memory>,
    /// `p` or `p[0]`.
    pub processes: Vec<String>,
    /// The object, if there is one.
    pub object: String,
    /// Its methods.
    pub methods: Vec<String>,
    /// The registers of each process, then of each method.
    pub registers: Vec<Vec<String>>,
    /// The labels of each process, then of each method.
    pub labels: Vec<Vec<String>>,
    /// The properties that have names.
    pub properties: Vec<Option<String>>,
    /// The games that have names.
    pub games: Vec<Option<String>>,
    /// The same for what is asked about infinite runs.
    pub live: Vec<Option<String>>,
}

/// Variables that become one array, because an index ranges over several
/// declarations.
pub struct Memory {
    /// What it is called.
    pub name: String,
    /// Whether the name says what its variables are called.
    pub is_common: bool,
    /// The declarations.
    pub decls: Range<usize>,
    /// The variables.
    pub vars: Range<usize>,
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
        let memories: Vec<Memory> = hulls(program)
            .into_iter()
            .map(|(decls, vars)| {
                let common = common_name(&program.vars[decls.clone()]);
                let name = scope.name(common.as_deref().unwrap_or("mem"));
                Memory { name, is_common: common.is_some(), decls, vars }
            })
            .collect();
        let inside = |i: usize| memories.iter().find(|m| m.decls.contains(&i));
        let decls: Vec<String> = program
            .vars
            .iter()
            .enumerate()
            .map(|(i, decl)| match inside(i) {
                Some(memory) => memory.name.clone(),
                None => scope.name(&decl.name),
            })
            .collect();
        let mut vars = elements(program, &decls);
        for memory in &memories {
            for (element, var) in memory.vars.clone().enumerate() {
                vars[var] = format!("{}[{element}]", memory.name);
            }
        }
        let processes = processes(program, &mut scope);
        let object = program.object.as_ref();
        let object_name = object.map_or(String::new(), |o| scope.name(&o.name));
        let all = || object.into_iter().flat_map(|o| &o.methods);
        let methods = all().map(|m| scope.name(&m.name)).collect();
        let named = |outer: &Scope, names: &mut dyn Iterator<Item = &str>| -> Vec<String> {
            let mut scope = outer.clone();
            names.map(|name| scope.name(name)).collect()
        };
        let registers = |list: &[Register]| named(&scope, &mut list.iter().map(|r| &*r.name));
        let labels = |list: &[Label]| named(&Scope::labels(), &mut list.iter().map(|l| &*l.name));
        let of_processes =
            program.processes.iter().map(|p| (registers(&p.registers), labels(&p.labels)));
        let of_methods = all().map(|m| (registers(&m.registers), labels(&m.labels)));
        let (registers, labels) = of_processes.chain(of_methods).unzip();
        let mut scope = Scope::default();
        let mut named = |name: &Option<String>| name.as_ref().map(|name| scope.name(name));
        let properties = program.properties.iter().map(|p| named(&p.name)).collect();
        let live = program.live.iter().map(|l| named(&l.name)).collect();
        let games = program.games.iter().map(|g| named(&g.name)).collect();
        Self {
            enums,
            decls,
            vars,
            memories,
            processes,
            object: object_name,
            methods,
            registers,
            labels,
            properties,
            live,
            games,
        }
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

/// The names that are taken. What it gives is printed as it is, in the same order.
///
/// ```
/// use weir_front::weir::print::Scope;
///
/// let mut scope = Scope::default();
/// assert_eq!(["q", "q 1", "q-1", "loop"].map(|n| scope.name(n)), ["q", "q_1", "q_1_2", "loop_2"]);
/// ```
#[derive(Clone, Debug)]
pub struct Scope {
    taken: HashSet<String>,
    /// What a name begins with that would begin with a digit.
    prefix: char,
}

impl Default for Scope {
    fn default() -> Self {
        Self { taken: HashSet::new(), prefix: '_' }
    }
}

impl Scope {
    fn labels() -> Self {
        Self { prefix: 'L', ..Self::default() }
    }

    /// `name` itself if it can be, otherwise something like it.
    pub fn name(&mut self, name: &str) -> String {
        let legal = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        // `flag[1]` is to be `flag_1`, and `&node` is to be `node`.
        let name = name.trim_start_matches('&');
        let mut base: String = name.chars().filter(|c| *c != ']').map(legal).collect();
        if base.is_empty() || base.starts_with(|c: char| c.is_ascii_digit()) {
            base.insert(0, self.prefix);
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
        let member = member.and_then(|(base, n)| Some((base, n.parse::<i128>().ok()?)));
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

/// What the names of declarations have in common: `nodes.next` for `nodes[0].next` and `nodes[1].next`.
fn common_name(decls: &[Decl]) -> Option<String> {
    let without_indices = |name: &str| -> String {
        let parts = name.split('[');
        parts.map(|part| part.split_once(']').map_or(part, |(_, rest)| rest)).collect()
    };
    let mut names = decls.iter().map(|decl| without_indices(&decl.name));
    names.next().filter(|first| names.all(|name| name == *first))
}

/// The declarations and variables over which an index ranges, for each index that ranges over
/// anything but one array. Two such ranges are equal or disjoint.
fn hulls(program: &Program) -> Vec<(Range<usize>, Range<usize>)> {
    let mut wanted: Vec<Range<usize>> = Vec::new();
    let mut widen = |place: &Place| {
        if place.index.is_some() && array_at(program, place).is_none() {
            let first = place.first.index();
            wanted.push(first..first + place.len as usize);
        }
    };
    let methods = program.object.iter().flat_map(|o| &o.methods).map(|m| m.body.as_slice());
    let processes = program.processes.iter().map(|p| p.body.as_slice());
    let mut blocks: Vec<&[Stmt]> = processes.chain(methods).collect();
    while let Some(block) = blocks.pop() {
        for stmt in block {
            match &stmt.kind {
                StmtKind::Load(_, place)
                | StmtKind::Store(place, _)
                | StmtKind::Rmw(_, place, _) => widen(place),
                kind => blocks.extend(kind.blocks().into_iter().map(Vec::as_slice)),
            }
        }
    }
    wanted.sort_unstable_by_key(|range| (range.start, range.end));
    wanted.dedup();
    // Whole declarations only.
    let mut hulls: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    let mut wanted = wanted.into_iter().peekable();
    let mut first = 0;
    // How far the last hull has to go.
    let mut end = 0;
    for (i, decl) in program.vars.iter().enumerate() {
        let last = first + decl.init.len();
        let goes_on = first < end;
        while let Some(range) = wanted.next_if(|range| range.start < last) {
            end = end.max(range.end);
        }
        match hulls.last_mut() {
            Some((decls, vars)) if goes_on => {
                decls.end = i + 1;
                vars.end = last;
            }
            _ if first < end => hulls.push((i..i + 1, first..last)),
            _ => {}
        }
        first = last;
    }
    hulls
}
