//! PSO and NSW by two levels of FIFO buffers and a history (Atig et al. 2012, section 5.2).
//!
//! *Configuration*: control states and newest memory; then for each process
//! the writes in its per-variable buffers `WB(i,1..m)` and those in its
//! serializing buffer `WB(i,m+1)`, oldest first; then, for NSW, what its
//! pointers see of the history.
//!
//! *Deviations from the paper*, none of which changes what is reachable:
//!
//! 1. The per-variable buffers of a process are one run of cells, ordered by
//!    variable: order between variables means nothing.
//! 2. A process never reads two variables of the same past memory state: the pointers
//!    `π(i,j)` move independently. So instead of memory states with pointers, each pair
//!    keeps the *word* of values that `x_j` had from `π(i,j)` on, without repetitions and
//!    without the newest, which is in memory. Pairs that the process never reads keep no
//!    word.
//! 3. *Move pointer* (rule 8) happens inside the rules that need it: *Read* moves to the
//!    earliest position with its value, which leaves most for later reads; *Read fence*
//!    and *ARW* move to the end.
//! 4. PSO is NSW with an `rfence` after every read. Then the words are empty and are
//!    omitted.

use std::ops::Range;

use super::alphabet::Alphabet;
use super::layout::Layout;
use super::{Event, Head, Rule, Semantics, Step, Visit, control};
use crate::ids::{Cell, ProcessId, ValueId, VarId};
use crate::memory_model::{MemoryModel, Relaxation};
use crate::program::FenceKind;
use crate::symmetry::Automorphism;
use crate::system::{Op, Seen, System, Transition};

pub(super) struct Fifo<'s> {
    system: &'s System,
    head: Head,
    alphabet: Alphabet,
    bound: usize,
    /// Whether partial fences exist.
    partial_fences: bool,
    /// Whether processes read from a history: for NSW, not for PSO.
    has_history: bool,
    /// For each process the variables that have a word; empty for PSO.
    words: Vec<Vec<VarId>>,
}

/// Where the buffers of one process are.
struct Buffers {
    /// `WB(i,1..m)`, ordered by variable.
    first: Range<usize>,
    /// `WB(i,m+1)`.
    second: Range<usize>,
}

/// What a step does to the words of the history.
#[derive(Clone, Copy)]
enum Words {
    Keep,
    /// The process's word for the variable loses this many values.
    Advance(ProcessId, VarId, usize),
    /// The process sees the newest memory.
    Newest(ProcessId),
    /// Memory changes: the old value enters the words of the others. The
    /// process itself sees the newest value of the variable.
    Changed(ProcessId, VarId, ValueId),
    /// Both of these, for an atomic read-write.
    NewestChanged(ProcessId, VarId, ValueId),
}

impl<'s> Fifo<'s> {
    pub fn new(system: &'s System, model: MemoryModel, bound: usize) -> Self {
        let nsw = model.has(Relaxation::ReadRead);
        Self {
            system,
            head: Head::new(system),
            alphabet: Alphabet::of_stores(system),
            bound,
            partial_fences: model.has(Relaxation::Rwf),
            has_history: nsw,
            words: system
                .process_ids()
                .map(|p| if nsw { system.accesses(p).reads } else { vec![] })
                .collect(),
        }
    }

    /// The buffers of each process, and where the words begin.
    fn parts(&self, config: &[Cell]) -> (Vec<Buffers>, usize) {
        let mut at = self.head.len();
        let mut next = || {
            let start = at + 1;
            at = start + config[at] as usize;
            start..at
        };
        let buffers =
            (0..self.head.processes).map(|_| Buffers { first: next(), second: next() }).collect();
        (buffers, at)
    }

    /// Where the words begin.
    fn words_at(&self, config: &[Cell]) -> usize {
        let buffers = 0..2 * self.head.processes;
        buffers.fold(self.head.len(), |at, _| at + 1 + config[at] as usize)
    }

    /// The buffers of one process.
    #[inline]
    fn buffers(&self, config: &[Cell], process: ProcessId) -> Buffers {
        let mut at = self.head.len();
        for _ in 0..2 * process.index() {
            at += 1 + config[at] as usize;
        }
        let first = at + 1..at + 1 + config[at] as usize;
        let second = first.end + 1..first.end + 1 + config[first.end] as usize;
        Buffers { first, second }
    }

    /// The word of a process for a variable: past values, oldest first.
    fn word<'c>(
        &self,
        config: &'c [Cell],
        mut at: usize,
        process: ProcessId,
        var: VarId,
    ) -> &'c [Cell] {
        for (p, vars) in self.words.iter().enumerate() {
            for &x in vars {
                let word = at + 1..at + 1 + config[at] as usize;
                if p == process.index() && x == var {
                    return &config[word];
                }
                at = word.end;
            }
        }
        &[]
    }

    /// Appends the words after a step. `false` if one had to be shortened to
    /// stay within the bound.
    fn write_words(
        &self,
        config: &[Cell],
        mut at: usize,
        edit: Words,
        out: &mut Vec<Cell>,
    ) -> bool {
        let mut complete = true;
        for (p, vars) in self.words.iter().enumerate() {
            for &x in vars {
                let mut word = &config[at + 1..at + 1 + config[at] as usize];
                at += 1 + word.len();
                let mut push = None;
                match edit {
                    Words::Advance(q, y, k) if q.index() == p && x == y => word = &word[k..],
                    Words::Newest(q) if q.index() == p => word = &[],
                    Words::Changed(q, y, _) if q.index() == p && x == y => word = &[],
                    Words::NewestChanged(q, ..) if q.index() == p => word = &[],
                    Words::Changed(_, y, old) | Words::NewestChanged(_, y, old) if x == y => {
                        push = Some(old.0);
                    }
                    _ => {}
                }
                if push.is_some() && word.len() >= self.bound {
                    complete = false;
                    word = &word[1..];
                }
                out.push(word.len() as u32 + u32::from(push.is_some()));
                out.extend_from_slice(word);
                out.extend(push);
            }
        }
        complete
    }

    /// Writes the configuration after the oldest write of a serializing buffer has reached
    /// memory. `false` if a word had to be shortened to stay within the bound.
    fn update(
        &self,
        config: &[Cell],
        process: ProcessId,
        (oldest, words_at): (usize, usize),
        updated: &mut Vec<Cell>,
    ) -> bool {
        let event = self.alphabet.decode(config[oldest]);
        updated.clear();
        updated.extend_from_slice(&config[..words_at]);
        updated[oldest - 1] -= 1;
        updated.remove(oldest);
        let words = match self.write_memory(updated, event.var, event.value) {
            Some(old) => Words::Changed(process, event.var, old),
            None => {
                let word = self.word(config, words_at, process, event.var);
                Words::Advance(process, event.var, word.len())
            }
        };
        self.write_words(config, words_at, words, updated)
    }

    /// Whether a process is before a write fence: it has to transfer all its writes now.
    fn is_before_write_fence(&self, config: &[Cell], process: ProcessId) -> bool {
        self.partial_fences && self.system.fences_writes(process, control(config, process))
    }

    /// Writes to memory and says what this does to the words.
    fn write_memory(&self, config: &mut [Cell], var: VarId, value: ValueId) -> Option<ValueId> {
        let old = self.head.get(config, var);
        self.head.set(config, var, value);
        (old != value).then_some(old)
    }
}

impl Layout for Fifo<'_> {
    fn initial_rest(&self, config: &mut Vec<Cell>) {
        config.extend(self.words.iter().flat_map(|_| [0, 0]));
        config.extend(self.words.iter().flatten().map(|_| 0));
    }

    fn is_drained(&self, config: &[Cell]) -> bool {
        // Whatever is in a buffer makes the words begin later.
        self.words_at(config) == self.head.len() + 2 * self.head.processes
    }

    fn pending(&self, config: &[Cell]) -> Vec<Vec<Event>> {
        let (buffers, _) = self.parts(config);
        let letters = |r: &Range<usize>| config[r.clone()].to_vec();
        buffers
            .iter()
            .map(|b| {
                let all = letters(&b.second).into_iter().chain(letters(&b.first));
                all.map(|l| self.alphabet.decode(l)).collect()
            })
            .collect()
    }

    fn transferred(&self, config: &[Cell]) -> Option<Vec<usize>> {
        let (buffers, _) = self.parts(config);
        Some(buffers.iter().map(|b| b.second.len()).collect())
    }

    fn unread(&self, config: &[Cell]) -> Option<Vec<Vec<(VarId, usize)>>> {
        if !self.has_history {
            return None;
        }
        let mut at = self.words_at(config);
        let mut next = |x: &VarId| {
            let len = config[at] as usize;
            at += 1 + len;
            (*x, len)
        };
        Some(self.words.iter().map(|vars| vars.iter().map(&mut next).collect()).collect())
    }
}

impl Semantics for Fifo<'_> {
    fn system(&self) -> &System {
        self.system
    }

    fn layout(&self) -> &dyn Layout {
        self
    }

    fn successors(&self, config: &[Cell], scratch: &mut Vec<Cell>, visit: Visit<'_>) -> bool {
        let head = self.head;
        let (buffers, words_at) = self.parts(config);
        let mut complete = true;
        let decode = |i: usize| self.alphabet.decode(config[i]);
        for p in self.system.process_ids() {
            let Buffers { first, second } = &buffers[p.index()];
            let empty = first.is_empty() && second.is_empty();
            let see = |x: VarId, atomic: bool| {
                if atomic {
                    return Seen::One(head.get(config, x));
                }
                let last =
                    |buffer: &Range<usize>| buffer.clone().rev().map(decode).find(|e| e.var == x);
                match last(first).or_else(|| last(second)) {
                    Some(own) => Seen::One(own.value),
                    None => {
                        let word = self.word(config, words_at, p, x);
                        let newest = head.get(config, x);
                        match word.is_empty() {
                            true => Seen::One(newest),
                            false => Seen::among(word.iter().map(|&v| ValueId(v)).chain([newest])),
                        }
                    }
                }
            };
            for (id, t) in self.system.steps(p, control(config, p), see) {
                let mut insert = None;
                let mut written = None;
                let mut words = Words::Keep;
                let rule = match t.op {
                    // 1. Nop
                    Op::Nop => Rule::Nop,
                    // 2. Write
                    Op::Write(x, d) => {
                        if first.len() + second.len() >= self.bound {
                            complete = false;
                            continue;
                        }
                        let at = first.clone().find(|&i| decode(i).var > x).unwrap_or(first.end);
                        insert = Some((at, self.alphabet.encode(Event::write(x, d))));
                        Rule::Write
                    }
                    // 3. Write fence
                    Op::Fence(FenceKind::Write) => {
                        if self.partial_fences && !first.is_empty() {
                            continue;
                        }
                        Rule::WriteFence
                    }
                    Op::Read(x, d) => {
                        let last = |buffer: &Range<usize>| {
                            buffer.clone().rev().map(decode).find(|e| e.var == x)
                        };
                        match last(first).or_else(|| last(second)) {
                            // 5., 6. RLWE
                            Some(w) if w.value == d => Rule::ReadOwnWrite,
                            Some(_) => continue,
                            // 8. Move pointer, 7. Read
                            None => {
                                let word = self.word(config, words_at, p, x);
                                match word.iter().position(|&v| v == d.0) {
                                    Some(k) => {
                                        words = Words::Advance(p, x, k);
                                        Rule::ReadHistory
                                    }
                                    None if head.get(config, x) == d => {
                                        words = Words::Advance(p, x, word.len());
                                        Rule::ReadMemory
                                    }
                                    None => continue,
                                }
                            }
                        }
                    }
                    // 9. ARW
                    Op::Arw(x, d, e) => {
                        if !empty || head.get(config, x) != d {
                            continue;
                        }
                        words =
                            if d == e { Words::Newest(p) } else { Words::NewestChanged(p, x, d) };
                        written = Some((x, e));
                        Rule::Arw
                    }
                    Op::Fence(FenceKind::Full) => {
                        if !empty {
                            continue;
                        }
                        words = Words::Newest(p);
                        Rule::Fence
                    }
                    // 10. Read fence
                    Op::Fence(FenceKind::Read) => {
                        if self.partial_fences {
                            words = Words::Newest(p);
                        }
                        Rule::ReadFence
                    }
                };
                scratch.clear();
                scratch.extend_from_slice(&config[..words_at]);
                scratch[p.index()] = t.to.0;
                if let Some((at, letter)) = insert {
                    scratch[first.start - 1] += 1;
                    scratch.insert(at, letter);
                }
                if let Some((x, d)) = written {
                    head.set(scratch, x, d);
                }
                complete &= self.write_words(config, words_at, words, scratch);
                visit(Step::take(p, rule, id), scratch);
            }
            // 4. Transfer write: the oldest write of each variable.
            let mut last_var = None;
            for i in first.clone() {
                let event = decode(i);
                if last_var.replace(event.var) == Some(event.var) {
                    continue;
                }
                scratch.clear();
                scratch.extend_from_slice(config);
                scratch[second.start - 1] += 1;
                scratch.insert(second.end, config[i]);
                scratch.remove(i);
                scratch[first.start - 1] -= 1;
                visit(Step::memory(p, Rule::TransferWrite, event), scratch);
            }
            // 11. Memory update
            if !second.is_empty() {
                let event = decode(second.start);
                complete &= self.update(config, p, (second.start, words_at), scratch);
                visit(Step::memory(p, Rule::Update, event), scratch);
            }
        }
        complete
    }

    /// A write need not be transferred before it can reach memory, unless a write fence waits for
    /// it: no process can observe the difference.
    fn can_wait(&self, config: &[Cell], step: &Step) -> bool {
        step.rule == Rule::TransferWrite
            && !self.buffers(config, step.process).second.is_empty()
            && !self.is_before_write_fence(config, step.process)
    }

    fn complete(
        &self,
        config: &mut Vec<Cell>,
        step: &Step,
        space: &mut Vec<Cell>,
    ) -> Option<(Step, bool)> {
        if step.rule != Rule::TransferWrite || self.is_before_write_fence(config, step.process) {
            return None;
        }
        let (oldest, words_at) =
            (self.buffers(config, step.process).second.start, self.words_at(config));
        let event = self.alphabet.decode(config[oldest]);
        let is_whole = self.update(config, step.process, (oldest, words_at), space);
        std::mem::swap(config, space);
        Some((Step::memory(step.process, Rule::Update, event), is_whole))
    }

    fn image(&self, config: &[Cell], g: &Automorphism, image: &mut Vec<Cell>) -> Option<()> {
        image.clear();
        g.head(self.system, config, image)?;
        let of = |letter: Cell| {
            let event = g.event(self.system, self.alphabet.decode(letter))?;
            Some(self.alphabet.encode(event))
        };
        for p in self.system.process_ids() {
            let Buffers { first, second } = self.buffers(config, g.process_source(p));
            image.push(first.len() as Cell);
            let begin = image.len();
            for letter in first {
                image.push(of(config[letter])?);
            }
            image[begin..].sort_by_key(|letter| self.alphabet.decode(*letter).var);
            image.push(second.len() as Cell);
            for letter in second {
                image.push(of(config[letter])?);
            }
        }
        let words_at = self.words_at(config);
        for (p, vars) in self.words.iter().enumerate() {
            let source = g.process_source(ProcessId::new(p));
            for x in vars.iter().map(|x| g.var_source(*x)) {
                self.words[source.index()].contains(&x).then_some(())?;
                let word = self.word(config, words_at, source, x);
                image.push(word.len() as Cell);
                for &value in word {
                    image.push(g.value(self.system, x, ValueId(value))?.0);
                }
            }
        }
        Some(())
    }

    /// A fence that takes the process to the newest memory leaves longer words of history if it
    /// is passed early; what can be read with shorter ones can be read with them.
    fn take_quietly(
        &self,
        config: &mut Vec<Cell>,
        process: ProcessId,
        t: &Transition,
    ) -> Option<Rule> {
        let Buffers { first, second } = self.buffers(config, process);
        let mut newest = false;
        let rule = match t.op {
            Op::Nop => Rule::Nop,
            Op::Write(x, d) if first.len() + second.len() < self.bound => {
                let later = |&i: &usize| self.alphabet.decode(config[i]).var > x;
                let place = first.clone().find(later).unwrap_or(first.end);
                config[first.start - 1] += 1;
                config.insert(place, self.alphabet.encode(Event::write(x, d)));
                Rule::Write
            }
            Op::Fence(FenceKind::Write) if !self.partial_fences || first.is_empty() => {
                Rule::WriteFence
            }
            Op::Fence(FenceKind::Full) if first.is_empty() && second.is_empty() => {
                newest = true;
                Rule::Fence
            }
            Op::Fence(FenceKind::Read) => {
                newest = self.partial_fences;
                Rule::ReadFence
            }
            Op::Write(..) | Op::Fence(_) | Op::Read(..) | Op::Arw(..) => return None,
        };
        if newest && !self.words[process.index()].is_empty() {
            let words_at = self.words_at(config);
            let words = config.split_off(words_at);
            let _ = self.write_words(&words, 0, Words::Newest(process), config);
        }
        config[process.index()] = t.to.0;
        Some(rule)
    }

    fn sees(&self, config: &[Cell], process: ProcessId, var: VarId) -> Option<ValueId> {
        if !self.words[process.index()].is_empty() {
            return None;
        }
        let Buffers { first, second } = self.buffers(config, process);
        let last = |buffer: Range<usize>| {
            let mut events = config[buffer].iter().rev().map(|&l| self.alphabet.decode(l));
            events.find(|e| e.var == var)
        };
        let own = last(first).or_else(|| last(second));
        Some(own.map_or_else(|| self.head.get(config, var), |e| e.value))
    }

    fn has_under_way(&self, config: &[Cell], process: ProcessId, var: VarId) -> bool {
        let Buffers { first, second } = self.buffers(config, process);
        config[first.start..second.end].iter().enumerate().any(|(i, &l)| {
            first.start + i != second.start - 1 && self.alphabet.decode(l).var == var
        })
    }

    fn update_quietly(
        &self,
        config: &mut Vec<Cell>,
        process: ProcessId,
        may: &dyn Fn(&[Cell], VarId) -> bool,
    ) -> Option<Step> {
        if self.words.iter().any(|words| !words.is_empty()) {
            return None;
        }
        let Buffers { first, second } = self.buffers(config, process);
        let letter = |config: &[Cell], at: usize| self.alphabet.decode(config[at]);
        if !second.is_empty() {
            let event = letter(config, second.start);
            if may(config, event.var) {
                config[second.start - 1] -= 1;
                config.remove(second.start);
                self.head.set(config, event.var, event.value);
                return Some(Step::memory(process, Rule::Update, event));
            }
        }
        // The first write to a variable is the oldest: they are ordered by variable.
        let at = first.clone().find(|&i| may(config, letter(config, i).var))?;
        let event = letter(config, at);
        let moved = config[at];
        config[second.start - 1] += 1;
        config.insert(second.end, moved);
        config.remove(at);
        config[first.start - 1] -= 1;
        Some(Step::memory(process, Rule::TransferWrite, event))
    }
}
