//! Cycles on the stack, and the effect of repeating them (Linden and Wolper 2010, section
//! 4).

use rustc_hash::FxHashMap;
use weir_model::ids::{ProcessId, ValueId};
use weir_model::program::FenceKind;
use weir_model::system::Op;

use super::language::{LanguageId, Letter, Unmade};
use super::operations::{Action, Space, State};

/// How cycles are folded in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folding {
    /// Not at all.
    Never,
    /// As in the paper: `L · (W^c(L) ∪ {w})*`. It may add contents that no run
    /// leads to.
    Paper,
    /// Only cycles that can be taken again right there, any number of times and in
    /// any order. It adds only what runs lead to.
    Repeatable,
}

/// A cycle of one process: what it stores, and how. It can be taken wherever it was
/// folded in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The stores, in order.
    pub word: Vec<Letter>,
    /// What happens.
    pub path: Vec<Action>,
}

/// A language that took the place of another when a cycle was found.
#[derive(Clone, Debug)]
pub struct Fold {
    /// Whose buffer it is.
    pub process: ProcessId,
    /// The contents before.
    pub before: LanguageId,
    /// The cycles that can be taken any number of times in the state where the cycle
    /// begins.
    pub cycles: Vec<Cycle>,
    /// The contents now.
    pub after: LanguageId,
}

/// Cycles of a process from a control state that were met before.
#[derive(Debug, Default)]
pub struct Cycles {
    known: FxHashMap<(ProcessId, u32), Vec<Cycle>>,
}

/// More cycles from one control state are not remembered.
const MOST_CYCLES: usize = 16;

/// The process in whose buffer alone two states differ: condition 1.
fn differing(from: &State, to: &State) -> Option<ProcessId> {
    if from.head != to.head {
        return None;
    }
    let pairs = from.buffers.iter().zip(&to.buffers);
    let mut differ = pairs.enumerate().filter(|(_, (a, b))| a != b).map(|(p, _)| p);
    let one = differ.next()?;
    differ.next().is_none().then(|| ProcessId::new(one))
}

impl Space<'_> {
    /// The word `w` with `big = small · {w}`, if there is one: condition 2.
    fn extension(
        &mut self,
        small: LanguageId,
        big: LanguageId,
    ) -> Result<Option<Vec<Letter>>, Unmade> {
        let shortest = |id| self.languages.get(id).shortest();
        let (Some(before), Some(after)) = (shortest(small), shortest(big)) else { return Ok(None) };
        if after.len() <= before.len() {
            return Ok(None);
        }
        // The shortest word of the one is a shortest of the other with `w` behind it.
        let word = after[before.len()..].to_vec();
        let extended = self.languages.then_word(small, &word)?;
        Ok((extended == big).then_some(word))
    }

    /// Whether loads have the same results with and without the word: condition 3.
    /// Every content has to give the value of the last store in it already.
    fn is_load_equivalent(
        &mut self,
        state: &State,
        process: ProcessId,
        word: &[Letter],
    ) -> Result<bool, Unmade> {
        let buffer = state.buffers[process.index()];
        for (i, letter) in word.iter().enumerate() {
            let (var, value) = self.store_of(*letter);
            if word[i + 1..].iter().any(|l| self.store_of(*l).0 == var) {
                continue;
            }
            let memory = ValueId(self.memory(state)[var.index()]);
            if self.load(buffer, var, value, memory)? != buffer {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a process only adds to its buffer on a path: the condition that the paper
    /// leaves out. One that commits its own stores, or waits until there are none, takes
    /// other steps when there are more of them.
    fn only_adds(&self, process: ProcessId, path: &[Action]) -> bool {
        let only_adds = |action: &Action| match *action {
            Action::Commit(p, _) => p != process,
            Action::Take(p, id) => {
                let op = self.system.transition(p, id).op;
                p != process || !matches!(op, Op::Arw(..) | Op::Fence(FenceKind::Full))
            }
        };
        path.iter().all(only_adds)
    }

    /// Whether a cycle that only adds to the buffer can be taken from a state any number of times:
    /// from every content it leads to the same content with the word appended, and loads have the
    /// same results. Then any sequence of such cycles can be taken.
    fn is_repeatable(
        &mut self,
        state: &State,
        process: ProcessId,
        cycle: &Cycle,
    ) -> Result<bool, Unmade> {
        if !self.is_load_equivalent(state, process, &cycle.word)? {
            return Ok(false);
        }
        let mut at = state.clone();
        for action in &cycle.path {
            match self.successor(&at, *action)? {
                Some(next) => at = next,
                None => return Ok(false),
            }
        }
        let mut expected = state.clone();
        let buffer = &mut expected.buffers[process.index()];
        *buffer = self.languages.then_word(*buffer, &cycle.word)?;
        Ok(at == expected)
    }

    /// The effect of repeating the cycle that leads from one state on the stack to
    /// another, if it is one: `cycleCondition` and `cycle` of the paper. `path` is how
    /// it came about.
    ///
    /// # Errors
    /// If an automaton is too large.
    pub fn fold(
        &mut self,
        cycles: &mut Cycles,
        folding: Folding,
        from: &State,
        to: &State,
        path: impl FnOnce() -> Vec<Action>,
    ) -> Result<Option<Fold>, Unmade> {
        if folding == Folding::Never {
            return Ok(None);
        }
        let Some(process) = differing(from, to) else { return Ok(None) };
        let (small, big) = (from.buffers[process.index()], to.buffers[process.index()]);
        let Some(word) = self.extension(small, big)? else { return Ok(None) };
        if !self.is_load_equivalent(from, process, &word)? {
            return Ok(None);
        }
        let new = Cycle { word, path: path() };
        if !self.only_adds(process, &new.path) {
            return Ok(None);
        }
        let is_new_repeatable = self.is_repeatable(from, process, &new)?;
        let known = cycles.known.entry((process, from.head[process.index()])).or_default();
        let mut folded = Vec::new();
        for cycle in known.iter() {
            if *cycle != new && self.is_repeatable(from, process, cycle)? {
                folded.push(cycle.clone());
            }
        }
        if is_new_repeatable {
            folded.push(new.clone());
            if known.len() < MOST_CYCLES && !known.contains(&new) {
                known.push(new.clone());
            }
        }
        let repeated = match folding {
            Folding::Paper => {
                let before = self.languages.stabilizer(small)?;
                let word = self.languages.word(&new.word)?;
                self.languages.union(before, word)?
            }
            Folding::Repeatable if is_new_repeatable => {
                let mut all = LanguageId::NONE;
                for cycle in &folded {
                    let word = self.languages.word(&cycle.word)?;
                    all = self.languages.union(all, word)?;
                }
                all
            }
            Folding::Repeatable | Folding::Never => return Ok(None),
        };
        let after = self.languages.then_star(small, repeated)?;
        Ok(Some(Fold { process, before: big, cycles: folded, after }))
    }
}
