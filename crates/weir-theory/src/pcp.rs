//! Post's correspondence problem as a program (Atig et al. 2010, section 9.1).
//!
//! *Problem.* Pairs of words `(u1, v1), …, (un, vn)`. Is there a sequence of indices
//! `i1 … ik`, at least one, with `u_i1 … u_ik = v_i1 … v_ik`? This is undecidable (Post 1946).
//!
//! *Idea.* If writes and reads may overtake reads, a process can write for ever and guess
//! what it reads: the guesses wait in its buffer, and none of them is lost. `p1` guesses
//! indices. For each it writes the word `u` to `x1`, reads it from `x3`, writes the index
//! to `x2` and reads it from `x4`. `p2` does the same with `v`, `x3`, `x1`, `x4` and
//! `x2`. If the buffers become empty, each process has read exactly the writes of the
//! other, in order; so they have guessed the same indices and written the same word
//! (Lemma 5). The marker `♯` after each symbol prevents double reads.
//!
//! The rules are those of the paper. Its words have the newest symbol first, as its
//! buffers do: of `ν(u) = ♯·a1 … ♯·am` the last symbol is written first, of the solution
//! the last index is chosen first, and at the end all variables in memory are `♯`, as in
//! Lemma 5. To end, a process leaves its loop.
//!
//! [`solve`] looks for solutions letter by letter (`leads`), and then among all runs.
//!
//! With `w->w` the construction is the same (Theorem 7), and much smaller buffers
//! suffice: a symbol that waits to be read does not delay the index, nor vice versa.

mod leads;
mod text;

use std::time::Instant;

use weir_engine::{Engine, Explicit, Progress, SearchOptions, Stats, Task, explicit};
use weir_model::answer::{Evidence, Run, Verdict};
use weir_model::ids::{ProcessId, SpanId, VarId};
use weir_model::limits::Stop;
use weir_model::memory_model::MemoryModel;
use weir_model::program::{
    Atom, BinOp, Decl, Expr, Process, Program, Property, PropertyKind, Quantifier, Stmt, StmtKind,
};
use weir_model::system::{Op, System};

pub use text::{MAX_LETTERS, MAX_PAIRS, read};

use leads::{Letters, Limits};

use crate::code::{self, FIRST_ENUM, Writer, choose, members, stmt};

/// An instance: pairs of words, none of them empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    pairs: Vec<[String; 2]>,
}

impl Instance {
    /// The pairs `(u, v)`.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs.iter().map(|[u, v]| (u.as_str(), v.as_str()))
    }

    /// The word that a sequence of indices, from 1, spells on both sides, if it is a
    /// solution.
    ///
    /// ```
    /// let instance = weir_theory::pcp::read("a baa\nab aa\nbba bb").unwrap();
    /// assert_eq!(instance.spell(&[3, 2, 3, 1]).as_deref(), Some("bbaabbbaa"));
    /// assert_eq!(instance.spell(&[3, 2, 3]), None);
    /// assert_eq!(instance.spell(&[]), None);
    /// ```
    pub fn spell(&self, indices: &[usize]) -> Option<String> {
        let side = |side: usize| -> Option<String> {
            let word = |i: &usize| Some(self.pairs.get(i.checked_sub(1)?)?[side].as_str());
            indices.iter().map(word).collect()
        };
        side(0).filter(|u| !u.is_empty() && Some(u) == side(1).as_ref())
    }

    /// All letters, in order.
    pub(crate) fn letters(&self) -> Vec<char> {
        let mut letters: Vec<char> = self.pairs.iter().flatten().flat_map(|w| w.chars()).collect();
        letters.sort_unstable();
        letters.dedup();
        letters
    }
}

/// The data `-`, of which memory is full at first.
const NONE: i128 = 0;
/// The data `♯`.
const MARK: i128 = 1;

const X1: VarId = VarId(0);
const X2: VarId = VarId(1);
const X3: VarId = VarId(2);
const X4: VarId = VarId(3);
const P1: ProcessId = ProcessId(0);

/// For each process, the variables to which it writes words and from which it reads them, and
/// the same for indices.
const VARS: [[VarId; 4]; 2] = [[X1, X3, X2, X4], [X3, X1, X4, X2]];

/// The program of an instance. Under the models of section 8, [`is_asked_under`], its
/// property holds if and only if there is a solution.
pub fn program(instance: &Instance) -> Program {
    let letters = instance.letters();
    let names = ["none".to_owned(), "mark".to_owned()].into_iter();
    let names = names.chain(letters.iter().map(char::to_string));
    let names = names.chain((1..=instance.pairs.len()).map(|l| format!("i{l}")));
    let phases = |side: usize| {
        let statement = |access: &Access| match *access {
            Access::Write(x, d) => code::write(x, d),
            Access::Read(x, d) => code::read(x, d),
        };
        let phase =
            |pair: usize| phase(instance, &letters, side, pair).iter().map(statement).collect();
        (0..instance.pairs.len()).map(phase).collect::<Vec<Vec<Stmt>>>()
    };
    let marked = |x: VarId| Expr::binary(BinOp::Eq, Expr::Atom(Atom::Var(x)), Expr::Const(MARK));
    let all = [X2, X3, X4].into_iter().map(marked);
    let all = all.fold(marked(X1), |a, b| Expr::binary(BinOp::And, a, b));
    let variable =
        |name| Decl { domain: Some(FIRST_ENUM), ..Decl::scalar(name, NONE, SpanId::NONE) };
    Program {
        name: "pcp".to_owned(),
        vars: ["x1", "x2", "x3", "x4"].map(variable).into(),
        enums: vec![members("Data", names)],
        processes: vec![process("p1", phases(0)), process("p2", phases(1))],
        properties: vec![Property {
            name: Some("solution".to_owned()),
            kind: PropertyKind::Final(Quantifier::Exists, all),
            span: SpanId::NONE,
        }],
        ..Program::default()
    }
}

/// What a process does with a variable and a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Write(VarId, i128),
    Read(VarId, i128),
}

/// Writes `ν(s)` to a variable and reads it from another, the last symbol first.
fn exchange(out: VarId, back: VarId, s: &[i128]) -> Vec<Access> {
    let symbols: Vec<i128> = s.iter().rev().flat_map(|d| [*d, MARK]).collect();
    let writes = symbols.iter().map(|d| Access::Write(out, *d));
    writes.chain(symbols.iter().map(|d| Access::Read(back, *d))).collect()
}

/// What a process does for a pair, by its number from 0. The first process has the first words.
fn phase(instance: &Instance, letters: &[char], side: usize, pair: usize) -> Vec<Access> {
    let value = |letter: char| {
        let place = letters.iter().position(|l| *l == letter).expect("all letters are there");
        MARK + 1 + place as i128
    };
    let index = MARK + 1 + (letters.len() + pair) as i128;
    let [word_out, word_in, index_out, index_in] = VARS[side];
    let word: Vec<i128> = instance.pairs[pair][side].chars().map(value).collect();
    [exchange(word_out, word_in, &word), exchange(index_out, index_in, &[index])].concat()
}

/// What a process does for a solution, by indices from 1: for its last pair first.
fn accesses(instance: &Instance, side: usize, indices: &[usize]) -> Vec<Access> {
    let letters = instance.letters();
    let pairs = indices.iter().rev().map(|i| i - 1);
    pairs.flat_map(|pair| phase(instance, &letters, side, pair)).collect()
}

/// A process that executes any number of the phases.
fn process(name: &str, mut phases: Vec<Vec<Stmt>>) -> Process {
    let mut writer = Writer::new(name, Some(FIRST_ENUM));
    phases.push(vec![stmt(StmtKind::Break)]);
    writer.add([stmt(StmtKind::Loop(vec![choose(phases)]))]);
    writer.finish()
}

/// What a search for a solution has found.
#[derive(Clone, Debug)]
pub enum Solved {
    /// A solution, by indices from 1, and the run that it was read off.
    Solution(Vec<usize>, Run),
    /// There is none: there are finitely many leads, and none of them leads to a solution. This is
    /// their number. Not every instance without a solution has finitely many leads.
    Nothing(usize),
    /// There may be one; why it is not known.
    Unknown(String),
}

/// Whether the program means the instance under a model: those of sections 8.1 and 8.2.
pub fn is_asked_under(model: MemoryModel) -> bool {
    [MemoryModel::GUESS, MemoryModel::GUESS_WW].contains(&model.normal())
}

/// Looks for a solution: first letter by letter, with a run of the program for the solution
/// that is found, and then among all runs of the program, with buffers that may hold more and
/// more, up to the bound in `options`. That bound does not limit the first search. Without a
/// bound, longer and longer words follow, until a limit of the budget is reached.
///
/// The system is that of [`program`], the model one of [`is_asked_under`].
pub fn solve(
    instance: &Instance,
    system: &System,
    model: MemoryModel,
    options: &SearchOptions,
    progress: Progress<'_>,
) -> (Solved, Stats) {
    let began = Instant::now();
    let letters = |limits| match by_letters(instance, system, model, (limits, options)) {
        Ok(found) => found.map(|(solved, stored)| {
            let elapsed = began.elapsed();
            (solved, Stats { engine: LETTERS, stored, elapsed, ..Stats::default() })
        }),
        Err(stop) => {
            let stopped = Some(stop.to_string());
            let stats = Stats { engine: LETTERS, stopped, ..Stats::default() };
            Some((Solved::Unknown(stop.to_string()), stats))
        }
    };
    if let Some(found) = letters(Limits::FIRST) {
        return found;
    }
    let most = options.bound.unwrap_or(explicit::DEFAULT_BOUND);
    let mut last = Stats { engine: Explicit.name(), ..Stats::default() };
    let mut reason = "nothing was tried".to_owned();
    for bound in 1..=most {
        let within = SearchOptions { bound: Some(bound), ..options.clone() };
        let (answers, stats) = match Explicit.check(Task::new(system, model, &within), progress) {
            Ok(found) => found,
            Err(refusal) => return (Solved::Unknown(refusal.to_string()), last),
        };
        last = Stats { elapsed: began.elapsed(), ..stats };
        let stopped = last.stopped.clone();
        match answers.into_iter().next().map(|a| (a.verdict, a.evidence)) {
            Some((Verdict::Holds, Evidence::Run(run))) => {
                let indices = indices(instance, system, &run);
                return match instance.spell(&indices) {
                    Some(_) => (Solved::Solution(indices, run), last),
                    None => (Solved::Unknown("the run that was found is no solution".into()), last),
                };
            }
            _ => reason = format!("there is no solution with buffers of up to {bound}"),
        }
        if let Some(stopped) = stopped {
            let before = match bound - 1 {
                0 => String::new(),
                done => format!("; there is no solution with buffers of up to {done}"),
            };
            return (Solved::Unknown(stopped + &before), last);
        }
    }
    if options.bound.is_some() {
        return (Solved::Unknown(reason), last);
    }
    let mut limits = Limits::FIRST;
    loop {
        let done = limits.lead;
        limits = limits.more();
        match letters(limits) {
            Some((Solved::Unknown(stopped), stats)) => {
                let reason = format!(
                    "{stopped}; there is no solution in which one word is ahead of the other by \
                     at most {done} letters, as far as these were tried"
                );
                return (Solved::Unknown(reason), stats);
            }
            Some(found) => return found,
            None => {}
        }
    }
}

/// What finds solutions letter by letter, in statistics.
const LETTERS: &str = "letters";

/// What a search letter by letter tells, if it tells something: a solution with its run, or that
/// there is none; and how many leads were visited.
fn by_letters(
    instance: &Instance,
    system: &System,
    model: MemoryModel,
    (limits, options): (Limits, &SearchOptions),
) -> Result<Option<(Solved, usize)>, Stop> {
    let (found, visited) = leads::search(instance, limits, &options.budget)?;
    let found = match found {
        Letters::Solution(found) => found,
        Letters::Nothing => return Ok(Some((Solved::Nothing(visited), visited))),
        Letters::Cut => return Ok(None),
    };
    let run = leads::run(instance, &found, system, model, &options.budget)?;
    let run = run.filter(|run| indices(instance, system, run) == found);
    Ok(run.map(|run| (Solved::Solution(found, run), visited)))
}

/// The indices that `p1` has written to `x2` in a run; the last one comes first there.
fn indices(instance: &Instance, system: &System, run: &Run) -> Vec<usize> {
    let first = MARK + 1 + instance.letters().len() as i128;
    let taken = run.steps.iter().filter(|step| step.process == P1);
    let written = taken.filter_map(|step| {
        let transition = step.transition?;
        match system.transition(P1, transition).op {
            Op::Write(x, d) if x == X2 => usize::try_from(system.value(x, d) - first).ok(),
            _ => None,
        }
    });
    let mut indices: Vec<usize> = written.map(|l| l + 1).collect();
    indices.reverse();
    indices
}
