//! What Weir makes of random Memorax and Trencher programs is what the manuals say.
//!
//! A random program is written as text for Weir, and run here by the rules of the
//! manuals: memory, a buffer for each process, and instructions that are possible or
//! not. The two share no code. The question is always whether all processes can come
//! to their ends together.

use std::collections::HashSet;
use std::fmt::Write as _;

use weir::{Loaded, MemoryModel, Verdict};
use weir_engine::SearchOptions;
use weir_gen::Rng;

/// Registers and variables are numbered: `$r0`, `$r1`; `x0`, `x1`.
const REGISTERS: usize = 2;
const VARS: usize = 2;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum E {
    Number(i128),
    Register(usize),
    Plus(usize, i128),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Test {
    sign: &'static str,
    left: E,
    right: E,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Loc {
    Var(usize),
    Pointer(E),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum I {
    Nop,
    Assign(usize, E),
    Assume(Test),
    ReadIs(Loc, E),
    Read(usize, Loc),
    Write(&'static str, Loc, E),
    Cas(Loc, E, E),
    Fence(&'static str),
    If(Test, Vec<I>, Vec<I>),
    Either(Vec<Vec<I>>),
    Locked(Vec<Vec<I>>),
    End,
}

type Domain = Option<(i128, i128)>;

#[derive(Debug)]
struct P {
    vars: Vec<Domain>,
    registers: Vec<Domain>,
    text: Vec<Vec<I>>,
}

/// Makes programs; `plain` ones are such as Trencher can say.
struct Maker<'r> {
    rng: &'r mut Rng,
    plain: bool,
}

impl Maker<'_> {
    fn program(&mut self) -> P {
        let vars = (0..VARS).map(|_| self.domain()).collect();
        let registers = (0..REGISTERS).map(|_| self.domain()).collect();
        let mut text: Vec<Vec<I>> = (0..2).map(|_| self.block(4, 0)).collect();
        // Where this is around the rest, buffers may show.
        if self.rng.once_in(2) {
            for (p, text) in text.iter_mut().enumerate() {
                let zero = Test { sign: "=", left: E::Register(0), right: E::Number(0) };
                text.insert(0, I::Write("", Loc::Var(p), E::Number(1)));
                text.extend([I::Read(0, Loc::Var(1 - p)), I::Assume(zero)]);
            }
        }
        P { vars, registers, text }
    }

    fn domain(&mut self) -> Domain {
        match self.rng.below(3) {
            _ if self.plain => None,
            0 => None,
            1 => Some((0, 1)),
            _ => Some((-1, 2)),
        }
    }

    fn block(&mut self, most: usize, depth: usize) -> Vec<I> {
        (0..1 + self.rng.below(most)).map(|_| self.instruction(depth)).collect()
    }

    fn instruction(&mut self, depth: usize) -> I {
        match self.rng.below(if depth < 2 { 16 } else { 12 }) {
            0 => I::Nop,
            1 => I::Assign(self.register(), self.e()),
            2 if self.rng.once_in(2) => I::Assume(self.test()),
            3 | 4 if !self.plain => I::ReadIs(self.loc(), self.e()),
            2..=6 => I::Read(self.register(), self.loc()),
            7..=9 => I::Write("", self.loc(), self.e()),
            10 => {
                let kind =
                    if self.plain { "locked " } else { *self.rng.pick(&["locked ", "slocked "]) };
                I::Write(kind, self.loc(), self.e())
            }
            11 if !self.plain && self.rng.once_in(2) => I::Cas(self.loc(), self.e(), self.e()),
            11 => I::Fence("fence"),
            12 => I::If(self.test(), self.block(2, depth + 1), self.block(2, depth + 1)),
            13 => I::Either((0..2).map(|_| self.block(2, depth + 1)).collect()),
            _ => self.locked(),
        }
    }

    /// Accesses to one place only; registers may change on the way. A pointer is to a
    /// place only before that.
    fn locked(&mut self) -> I {
        if self.rng.once_in(4) {
            let way = vec![I::Read(self.register(), self.loc()), I::Assume(self.test())];
            return I::Locked(vec![way]);
        }
        let var = self.rng.below(VARS);
        let choices = if self.plain { 1 } else { 1 + self.rng.below(2) };
        let way = |this: &mut Self| {
            let mut written = false;
            let mut way = Vec::new();
            for _ in 0..1 + this.rng.below(4) {
                let loc = Loc::Var(var);
                way.push(match this.rng.below(7) {
                    0 => I::Assign(this.register(), this.e()),
                    1 => I::Assume(this.test()),
                    2 if !this.plain => I::ReadIs(loc, this.e()),
                    5 if !this.plain => I::Cas(loc, this.e(), this.e()),
                    4 | 6 if !(this.plain && written) => {
                        written = true;
                        I::Write("", loc, this.e())
                    }
                    _ => I::Read(this.register(), loc),
                });
            }
            way
        };
        I::Locked((0..choices).map(|_| way(self)).collect())
    }

    fn register(&mut self) -> usize {
        self.rng.below(REGISTERS)
    }

    fn e(&mut self) -> E {
        match self.rng.below(4) {
            0 => E::Register(self.register()),
            1 => E::Plus(self.register(), 1 - 2 * self.rng.below(2) as i128),
            _ => E::Number(self.rng.below(3) as i128),
        }
    }

    fn test(&mut self) -> Test {
        let sign = *self.rng.pick(&["=", "!=", "<", ">", "<=", ">="]);
        Test { sign, left: self.e(), right: self.e() }
    }

    fn loc(&mut self) -> Loc {
        match self.e() {
            // A constant that points nowhere is an error for Trencher.
            E::Number(_) if self.plain => Loc::Var(self.rng.below(VARS)),
            e if self.rng.once_in(4) => Loc::Pointer(e),
            _ => Loc::Var(self.rng.below(VARS)),
        }
    }
}

/// A state, by the manual.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    memory: Vec<i128>,
    threads: Vec<Thread>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Thread {
    rest: Vec<I>,
    registers: Vec<i128>,
    /// Oldest first.
    buffer: Vec<(usize, i128)>,
}

impl Thread {
    fn value(&self, e: &E) -> i128 {
        match e {
            E::Number(n) => *n,
            E::Register(r) => self.registers[*r],
            E::Plus(r, n) => self.registers[*r] + n,
        }
    }

    fn holds(&self, test: &Test) -> bool {
        let (a, b) = (self.value(&test.left), self.value(&test.right));
        match test.sign {
            "=" => a == b,
            "!=" => a != b,
            "<" => a < b,
            ">" => a > b,
            "<=" => a <= b,
            _ => a >= b,
        }
    }

    fn place(&self, loc: &Loc) -> Option<usize> {
        match loc {
            Loc::Var(x) => Some(*x),
            Loc::Pointer(e) => usize::try_from(self.value(e)).ok().filter(|x| *x < VARS),
        }
    }

    fn sees(&self, memory: &[i128], x: usize) -> i128 {
        let own = self.buffer.iter().rev().find(|(y, _)| *y == x);
        own.map_or(memory[x], |(_, value)| *value)
    }
}

fn within(domain: Domain, value: i128) -> bool {
    domain.is_none_or(|(low, high)| (low..=high).contains(&value))
}

impl P {
    fn initial(&self) -> State {
        let thread = |text: &Vec<I>| Thread {
            rest: text.iter().cloned().chain([I::End]).collect(),
            registers: vec![0; REGISTERS],
            buffer: vec![],
        };
        State { memory: vec![0; VARS], threads: self.text.iter().map(thread).collect() }
    }

    /// Whether all threads can be at their ends together.
    fn can_end(&self, buffers: bool) -> bool {
        let mut seen: HashSet<State> = HashSet::new();
        let mut work = vec![self.initial()];
        while let Some(state) = work.pop() {
            if !seen.insert(state.clone()) {
                continue;
            }
            if state.threads.iter().all(|t| t.rest == [I::End]) {
                return true;
            }
            for t in 0..state.threads.len() {
                if let Some((x, value)) = state.threads[t].buffer.first().copied() {
                    let mut next = state.clone();
                    next.threads[t].buffer.remove(0);
                    next.memory[x] = value;
                    work.push(next);
                }
                let mut popped = state.clone();
                let instruction = popped.threads[t].rest.remove(0);
                work.extend(self.step(&popped, t, &instruction, buffers));
            }
        }
        false
    }

    /// The states after one instruction.
    fn step(&self, state: &State, t: usize, instruction: &I, buffers: bool) -> Vec<State> {
        let thread = &state.threads[t];
        let mut next = state.clone();
        let go = |possible: bool, next: State| if possible { vec![next] } else { vec![] };
        match instruction {
            I::Nop => vec![next],
            I::End => vec![],
            I::Assign(r, e) => {
                let value = thread.value(e);
                next.threads[t].registers[*r] = value;
                go(within(self.registers[*r], value), next)
            }
            I::Assume(test) => go(thread.holds(test), next),
            I::ReadIs(loc, e) => {
                let x = thread.place(loc);
                let seen = x.map(|x| thread.sees(&state.memory, x));
                go(seen == Some(thread.value(e)), next)
            }
            I::Read(r, loc) => {
                let Some(x) = thread.place(loc) else { return vec![] };
                let value = thread.sees(&state.memory, x);
                next.threads[t].registers[*r] = value;
                go(within(self.registers[*r], value), next)
            }
            I::Write(kind, loc, e) => {
                let Some(x) = thread.place(loc) else { return vec![] };
                let value = thread.value(e);
                let possible = within(self.vars[x], value);
                if buffers && *kind != "locked " {
                    next.threads[t].buffer.push((x, value));
                    return go(possible, next);
                }
                next.memory[x] = value;
                go(possible && thread.buffer.is_empty(), next)
            }
            I::Cas(loc, expected, new) => {
                let read = I::ReadIs(loc.clone(), expected.clone());
                let write = I::Write("", loc.clone(), new.clone());
                self.at_once(state, t, &[vec![read, write]])
            }
            I::Fence(_) => go(thread.buffer.is_empty(), next),
            I::If(test, then, other) => {
                let taken = if thread.holds(test) { then } else { other };
                next.threads[t].rest.splice(0..0, taken.iter().cloned());
                vec![next]
            }
            I::Either(choices) => choices
                .iter()
                .map(|choice| {
                    let mut next = state.clone();
                    next.threads[t].rest.splice(0..0, choice.iter().cloned());
                    next
                })
                .collect(),
            I::Locked(choices) => self.at_once(state, t, choices),
        }
    }

    fn at_once(&self, state: &State, t: usize, choices: &[Vec<I>]) -> Vec<State> {
        let writes = |i: &I| matches!(i, I::Write(..) | I::Cas(..));
        let fence = choices.iter().flatten().any(writes);
        if fence && !state.threads[t].buffer.is_empty() {
            return vec![];
        }
        let run = |choice: &Vec<I>| {
            let mut states = vec![state.clone()];
            for instruction in choice {
                states = states.iter().flat_map(|s| self.step(s, t, instruction, false)).collect();
            }
            states
        };
        choices.iter().flat_map(run).collect()
    }
}

/// Text for Memorax.
mod rmm {
    use super::*;

    fn e(e: &E) -> String {
        match e {
            E::Number(n) => n.to_string(),
            E::Register(r) => format!("$r{r}"),
            E::Plus(r, n) if *n < 0 => format!("$r{r} - {}", -n),
            E::Plus(r, n) => format!("($r{r} + {n})"),
        }
    }

    fn test(t: &Test) -> String {
        format!("{} {} {}", e(&t.left), t.sign, e(&t.right))
    }

    fn loc(l: &Loc) -> String {
        match l {
            Loc::Var(x) => format!("x{x}"),
            Loc::Pointer(address) => format!("[{}]", e(address)),
        }
    }

    fn choices(blocks: &[Vec<I>]) -> String {
        blocks.iter().map(|b| block(b)).collect::<Vec<_>>().join(" or ")
    }

    fn block(block: &[I]) -> String {
        block.iter().map(instruction).collect::<Vec<_>>().join("; ")
    }

    fn instruction(i: &I) -> String {
        match i {
            I::Nop => "nop".to_owned(),
            I::Assign(r, v) => format!("$r{r} := {}", e(v)),
            I::Assume(t) => format!("assume: {}", test(t)),
            I::ReadIs(l, v) => format!("read: {} = {}", loc(l), e(v)),
            I::Read(r, l) => format!("read: $r{r} := {}", loc(l)),
            I::Write(kind, l, v) => format!("{kind}write: {} := {}", loc(l), e(v)),
            I::Cas(l, a, b) => format!("cas({}, {}, {})", loc(l), e(a), e(b)),
            I::Fence(f) => (*f).to_owned(),
            I::If(t, a, b) => {
                format!("if {} then {{ {} }} else {{ {} }}", test(t), block(a), block(b))
            }
            I::Either(c) => format!("either {{ {} }}", choices(c)),
            I::Locked(c) => format!("locked {{ {} }}", choices(c)),
            I::End => "END: nop".to_owned(),
        }
    }

    fn domain(d: Domain) -> String {
        d.map_or_else(String::new, |(low, high)| format!(" : [{low}:{high}]"))
    }

    pub fn text(p: &P) -> String {
        let mut out = String::from("forbidden END END\ndata\n");
        for (x, d) in p.vars.iter().enumerate() {
            let _ = writeln!(out, "  x{x} = 0{}", domain(*d));
        }
        for text in &p.text {
            let _ = writeln!(out, "process\nregisters");
            for (r, d) in p.registers.iter().enumerate() {
                let _ = writeln!(out, "  $r{r} = 0{}", domain(*d));
            }
            let _ = writeln!(out, "text\n  {};\n  END: nop", block(text));
        }
        out
    }
}

/// Text for Trencher.
mod trencher {
    use super::*;

    fn e(e: &E) -> String {
        match e {
            E::Number(n) => n.to_string(),
            E::Register(r) => format!("r{r}"),
            E::Plus(r, n) if *n < 0 => format!("- r{r} {}", -n),
            E::Plus(r, n) => format!("+ r{r} {n}"),
        }
    }

    fn test(t: &Test) -> String {
        let sign = if t.sign == "=" { "==" } else { t.sign };
        format!("{sign} {} {}", e(&t.left), e(&t.right))
    }

    fn loc(l: &Loc) -> String {
        match l {
            Loc::Var(x) => x.to_string(),
            Loc::Pointer(address) => e(address),
        }
    }

    struct Writer {
        out: String,
        states: usize,
    }

    impl Writer {
        fn new_state(&mut self) -> usize {
            self.states += 1;
            self.states
        }

        fn arrow(&mut self, from: usize, to: usize, what: &str) {
            let _ = writeln!(self.out, "  transition q{from} q{to} {what}");
        }

        /// From one state to another.
        fn block(&mut self, block: &[I], from: usize, to: usize) {
            let mut at = from;
            for (i, instruction) in block.iter().enumerate() {
                let next = if i + 1 == block.len() { to } else { self.new_state() };
                self.instruction(instruction, at, next);
                at = next;
            }
        }

        fn instruction(&mut self, i: &I, from: usize, to: usize) {
            match i {
                I::Nop => self.arrow(from, to, "noop"),
                I::Assign(r, v) => self.arrow(from, to, &format!("local r{r} {}", e(v))),
                I::Assume(t) => self.arrow(from, to, &format!("check {}", test(t))),
                I::Read(r, l) => self.arrow(from, to, &format!("read r{r} {}", loc(l))),
                I::Write("locked ", l, v) => {
                    let inner = I::Write("", l.clone(), v.clone());
                    self.instruction(&I::Locked(vec![vec![inner]]), from, to);
                }
                I::Write(_, l, v) => self.arrow(from, to, &format!("write {} {}", e(v), loc(l))),
                I::Fence(_) => self.arrow(from, to, "mfence"),
                I::If(t, a, b) => {
                    let (yes, no) = (self.new_state(), self.new_state());
                    self.arrow(from, yes, &format!("check {}", test(t)));
                    self.arrow(from, no, &format!("check ! {}", test(t)));
                    self.block(a, yes, to);
                    self.block(b, no, to);
                }
                I::Either(choices) => {
                    for choice in choices {
                        self.block(choice, from, to);
                    }
                }
                I::Locked(choices) => {
                    let (first, last) = (self.new_state(), self.new_state());
                    self.arrow(from, first, "lock");
                    self.block(&choices[0], first, last);
                    self.arrow(last, to, "unlock");
                }
                I::ReadIs(..) | I::Cas(..) | I::End => unreachable!("not in plain programs"),
            }
        }
    }

    pub fn text(p: &P) -> String {
        let mut writer = Writer { out: format!("memory_size {VARS}\n"), states: 0 };
        for (t, text) in p.text.iter().enumerate() {
            let (first, last) = (writer.new_state(), writer.new_state());
            let _ = writeln!(writer.out, "thread t{t}\n  initial q{first}\n  final q{last}");
            // A name that is never assigned would be an address.
            let begin = writer.new_state();
            let middle = writer.new_state();
            writer.arrow(first, middle, "local r0 0");
            writer.arrow(middle, begin, "local r1 0");
            writer.block(text, begin, last);
            let _ = writeln!(writer.out, "end");
        }
        writer.out
    }
}

/// A fence is one even without a write in Trencher's locks.
fn fenced(mut p: P) -> P {
    fn all(block: &mut Vec<I>) {
        let mut i = 0;
        while i < block.len() {
            match &mut block[i] {
                I::If(_, a, b) => {
                    all(a);
                    all(b);
                }
                I::Either(choices) => choices.iter_mut().for_each(all),
                I::Locked(_) => {
                    block.insert(i, I::Fence("fence"));
                    i += 1;
                }
                _ => {}
            }
            i += 1;
        }
    }
    p.text.iter_mut().for_each(all);
    p
}

/// Compares; says how often the ends are reached under each model.
fn compare(plain: bool, seeds: u64) -> [u32; 2] {
    let mut reached = [0; 2];
    for seed in 0..seeds {
        let mut rng = Rng::new(seed);
        let program = Maker { rng: &mut rng, plain }.program();
        let (name, text) = match plain {
            true => ("random.txt", trencher::text(&program)),
            false => ("random.rmm", rmm::text(&program)),
        };
        let loaded = Loaded::from_text(name, &text, None)
            .unwrap_or_else(|e| panic!("seed {seed}: {}", e.render(false)));
        let program = if plain { fenced(program) } else { program };
        for (i, model) in [MemoryModel::SC, MemoryModel::TSO].into_iter().enumerate() {
            let (answers, _) =
                weir::solver::check(&loaded.system, model, &SearchOptions::default()).unwrap();
            let expected = program.can_end(model == MemoryModel::TSO);
            reached[i] += u32::from(expected);
            // `forbidden` is violated if they are reached, `ends` holds.
            let expected = if expected == plain { Verdict::Holds } else { Verdict::Violated };
            let found = answers[0].verdict;
            assert_eq!(found, expected, "seed {seed} under {model}\n{text}\n{program:?}");
        }
    }
    reached
}

#[test]
fn random_rmm_programs_agree_with_the_manual() {
    let [sc, tso] = compare(false, 1500);
    assert!(sc > 200 && tso > sc + 20 && tso < 1300, "{sc} {tso}");
}

#[test]
fn random_trencher_programs_agree_with_the_manual() {
    let [sc, tso] = compare(true, 1000);
    assert!(sc > 200 && tso > sc + 20 && tso < 950, "{sc} {tso}");
}
