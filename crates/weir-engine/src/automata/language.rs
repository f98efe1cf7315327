//! Regular languages of buffer contents, identified by numbers: equal languages have the
//! same number.
//!
//! Every operation builds a deterministic automaton, brings it into canonical form
//! (`dfa`), and looks it up among the known ones. Results of operations are cached.

use std::ops::Range;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use weir_model::limits::{Budget, Stop};

pub use super::dfa::{Dfa, Letter, Unmade};

/// A language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LanguageId(u32);

impl LanguageId {
    /// No words.
    pub const NONE: Self = Self(0);
    /// The empty word alone.
    pub const EMPTY_WORD: Self = Self(1);

    /// The id as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// All languages that were met, and what became of them.
///
/// ```
/// use weir_engine::automata::language::{LanguageId, Languages, Letter};
///
/// let (a, b) = (Letter(0), Letter(1));
/// let mut languages = Languages::default();
/// let ab = languages.word(&[a, b])?;
/// let repeated = languages.then_star(LanguageId::EMPTY_WORD, ab)?;
/// assert!(languages.get(repeated).accepts(&[a, b, a, b]));
/// // What is left of (ab)* behind an a is b(ab)*, and a before that is (ab)+.
/// let rest = languages.suffix(repeated, a)?;
/// let b_alone = languages.word(&[b])?;
/// assert_eq!(rest, languages.then_star(b_alone, ab)?);
/// assert_eq!(languages.is_included(ab, repeated), Ok(true));
/// # Ok::<(), weir_engine::automata::language::Unmade>(())
/// ```
#[derive(Debug)]
pub struct Languages {
    all: Vec<Rc<Dfa>>,
    ids: FxHashMap<Rc<Dfa>, LanguageId>,
    known: FxHashMap<Operation, LanguageId>,
    included: FxHashMap<(LanguageId, LanguageId), bool>,
    bytes: usize,
    work: usize,
    budget: Budget,
}

/// An operation on languages, with what it is applied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Operation {
    Append(LanguageId, Letter),
    Suffix(LanguageId, Letter),
    Union(LanguageId, LanguageId),
    Intersection(LanguageId, LanguageId),
    /// The words whose last letter of the group of a letter is that letter; with the flag, also the words
    /// without a letter of the group.
    Last(LanguageId, Letter, bool),
    Without(LanguageId, u32),
    Stabilizer(LanguageId),
    ThenStar(LanguageId, LanguageId),
}

impl Default for Languages {
    fn default() -> Self {
        Self::new(&Budget::new())
    }
}

impl Languages {
    /// No languages but the two that have constants, within limits.
    pub fn new(budget: &Budget) -> Self {
        let mut languages = Self {
            all: vec![],
            ids: FxHashMap::default(),
            known: FxHashMap::default(),
            included: FxHashMap::default(),
            bytes: 0,
            work: 0,
            budget: budget.clone(),
        };
        languages.intern(Dfa::of_the_empty_word(false));
        languages.intern(Dfa::of_the_empty_word(true));
        languages
    }

    /// The automaton of a language.
    pub fn get(&self, id: LanguageId) -> &Rc<Dfa> {
        &self.all[id.index()]
    }

    /// About what all of them take up, in bytes.
    pub fn bytes(&self) -> usize {
        const ENTRY: usize = 32;
        self.bytes + (self.known.len() + self.included.len()) * ENTRY
    }

    /// About how much has been computed. To minimize an automaton takes up to the square of
    /// its size.
    pub fn work(&self) -> usize {
        self.work
    }

    fn intern(&mut self, dfa: Dfa) -> LanguageId {
        if let Some(id) = self.ids.get(&dfa) {
            return *id;
        }
        let id = LanguageId(u32::try_from(self.all.len()).expect("fewer than 2^32 languages"));
        self.bytes += dfa.bytes() + 64;
        let dfa = Rc::new(dfa);
        self.all.push(dfa.clone());
        self.ids.insert(dfa, id);
        id
    }

    fn remember(
        &mut self,
        operation: Operation,
        compute: impl FnOnce(&Self) -> Result<Dfa, Unmade>,
    ) -> Result<LanguageId, Unmade> {
        if let Some(id) = self.known.get(&operation) {
            return Ok(*id);
        }
        let (len, capacity) = (self.known.len(), self.known.capacity());
        self.budget.check_growth(len, capacity, size_of::<(Operation, LanguageId)>())?;
        let dfa = compute(self)?;
        self.work += dfa.len() * dfa.len() / 64;
        let id = self.intern(dfa);
        self.known.insert(operation, id);
        Ok(id)
    }

    /// The language of one word.
    ///
    /// # Errors
    /// If the word is too long.
    pub fn word(&mut self, word: &[Letter]) -> Result<LanguageId, Unmade> {
        self.then_word(LanguageId::EMPTY_WORD, word)
    }

    /// Words of `language` with `word` behind them.
    ///
    /// # Errors
    /// If the automaton is too large.
    pub fn then_word(
        &mut self,
        language: LanguageId,
        word: &[Letter],
    ) -> Result<LanguageId, Unmade> {
        word.iter().try_fold(language, |all, letter| self.append(all, *letter))
    }

    /// Words of `language` with `letter` behind them: `L · {letter}`.
    ///
    /// # Errors
    /// If the automaton is too large.
    pub fn append(&mut self, language: LanguageId, letter: Letter) -> Result<LanguageId, Unmade> {
        self.remember(Operation::Append(language, letter), |all| {
            let dfa = all.get(language);
            if dfa.is_empty() {
                return Ok((**dfa).clone());
            }
            // Where the word would go on, and whether it may just have ended.
            let start = (Some(0), false);
            let edges = |(at, _): &(Option<u32>, bool)| {
                let Some(at) = *at else { return vec![] };
                let ends = dfa.accepts_at(at);
                let mut out: Vec<(Letter, (Option<u32>, bool))> = Vec::new();
                for &(l, to) in dfa.edges(at) {
                    out.push((l, (Some(to), ends && l == letter)));
                }
                if ends && dfa.step(at, letter).is_none() {
                    out.push((letter, (None, true)));
                }
                out
            };
            Dfa::build(start, edges, |(_, ended)| *ended, &all.budget)
        })
    }

    /// What is left of the words that begin with `letter` behind it: the paper's
    /// `suffix¹(L ∩ letter·Σ*)`.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn suffix(&mut self, language: LanguageId, letter: Letter) -> Result<LanguageId, Unmade> {
        self.remember(Operation::Suffix(language, letter), |all| {
            let dfa = all.get(language);
            let start = if dfa.is_empty() { None } else { dfa.step(0, letter) };
            let edges = |at: &Option<u32>| match at {
                Some(at) => dfa.edges(*at).iter().map(|&(l, to)| (l, Some(to))).collect(),
                None => vec![],
            };
            Dfa::build(start, edges, |at| at.is_some_and(|at| dfa.accepts_at(at)), &all.budget)
        })
    }

    /// The letters that words of a language begin with.
    pub fn first(&self, language: LanguageId) -> Vec<Letter> {
        let dfa = self.get(language);
        match dfa.is_empty() {
            true => vec![],
            false => dfa.edges(0).iter().map(|(letter, _)| *letter).collect(),
        }
    }

    /// Words of either language.
    ///
    /// # Errors
    /// If the automaton is too large.
    pub fn union(&mut self, a: LanguageId, b: LanguageId) -> Result<LanguageId, Unmade> {
        let (a, b) = (a.min(b), a.max(b));
        self.remember(Operation::Union(a, b), |all| {
            let (left, right) = (all.get(a), all.get(b));
            let start = |dfa: &Dfa| (!dfa.is_empty()).then_some(0);
            Dfa::build(
                (start(left), start(right)),
                |&(l, r)| {
                    let mut letters: Vec<Letter> = Vec::new();
                    letters.extend(l.iter().flat_map(|l| left.edges(*l)).map(|(x, _)| *x));
                    letters.extend(r.iter().flat_map(|r| right.edges(*r)).map(|(x, _)| *x));
                    letters.sort_unstable();
                    letters.dedup();
                    let step = |x: Letter| {
                        let to =
                            (l.and_then(|l| left.step(l, x)), r.and_then(|r| right.step(r, x)));
                        (x, to)
                    };
                    letters.into_iter().map(step).collect()
                },
                |&(l, r)| {
                    l.is_some_and(|l| left.accepts_at(l)) || r.is_some_and(|r| right.accepts_at(r))
                },
                &all.budget,
            )
        })
    }

    /// Words of both languages.
    ///
    /// # Errors
    /// If the automaton is too large.
    pub fn intersection(&mut self, a: LanguageId, b: LanguageId) -> Result<LanguageId, Unmade> {
        let (a, b) = (a.min(b), a.max(b));
        self.remember(Operation::Intersection(a, b), |all| {
            let (left, right) = (all.get(a), all.get(b));
            if left.is_empty() || right.is_empty() {
                return Ok(Dfa::of_the_empty_word(false));
            }
            Dfa::build(
                (0, 0),
                |&(l, r)| {
                    let both = left
                        .edges(l)
                        .iter()
                        .filter_map(|&(x, to)| Some((x, (to, right.step(r, x)?))));
                    both.collect()
                },
                |&(l, r)| left.accepts_at(l) && right.accepts_at(r),
                &all.budget,
            )
        })
    }

    /// Whether every word of `small` is one of `big`.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn is_included(&mut self, small: LanguageId, big: LanguageId) -> Result<bool, Stop> {
        if small == big || small == LanguageId::NONE {
            return Ok(true);
        }
        if let Some(known) = self.included.get(&(small, big)) {
            return Ok(*known);
        }
        let (len, capacity) = (self.included.len(), self.included.capacity());
        self.budget.check_growth(len, capacity, size_of::<(Operation, bool)>())?;
        let (left, right) = (self.get(small), self.get(big));
        let mut seen: FxHashSet<(u32, u32)> = FxHashSet::default();
        let mut queue = vec![(0, 0)];
        let mut is_included = !right.is_empty();
        // States of canonical automata all lead to an accepted word, so a letter that
        // `big` does not know is a word that it lacks.
        while let Some((l, r)) = queue.pop().filter(|_| is_included) {
            self.budget.work(1 + left.edges(l).len() / 64)?;
            is_included = !left.accepts_at(l) || right.accepts_at(r);
            for &(letter, to) in left.edges(l) {
                match right.step(r, letter) {
                    Some(there) if seen.insert((to, there)) => queue.push((to, there)),
                    Some(_) => {}
                    None => is_included = false,
                }
            }
        }
        self.included.insert((small, big), is_included);
        Ok(is_included)
    }

    /// Whether each language is included in the other of its pair.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn are_included<'l>(
        &mut self,
        pairs: impl Iterator<Item = (&'l LanguageId, &'l LanguageId)>,
    ) -> Result<bool, Stop> {
        self.budget.tick()?;
        for (small, big) in pairs {
            if !self.is_included(*small, *big)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Words of which the last letter of `group` is `letter` and, if `or_none`, those
    /// without a letter of the group: what a load leaves of buffer contents.
    ///
    /// # Errors
    /// If the automaton is too large.
    pub fn last(
        &mut self,
        language: LanguageId,
        group: Range<u32>,
        letter: Letter,
        or_none: bool,
    ) -> Result<LanguageId, Unmade> {
        self.remember(Operation::Last(language, letter, or_none), |all| {
            // Whether the last letter of the group was the one; at first there is none.
            all.restrict(
                language,
                None,
                |was, l| if group.contains(&l.0) { Some(l == letter) } else { was },
                |was| was.unwrap_or(or_none),
            )
        })
    }

    /// Words without a letter of `group`.
    ///
    /// # Errors
    /// If the automaton is too large.
    pub fn without(
        &mut self,
        language: LanguageId,
        group: Range<u32>,
    ) -> Result<LanguageId, Unmade> {
        self.remember(Operation::Without(language, group.start), |all| {
            all.restrict(language, false, |met, l| met || group.contains(&l.0), |met| !met)
        })
    }

    /// The intersection with the language of a small automaton that has a state for
    /// every letter.
    fn restrict<T: Copy + Eq + std::hash::Hash>(
        &self,
        language: LanguageId,
        start: T,
        step: impl Fn(T, Letter) -> T,
        accepts: impl Fn(T) -> bool,
    ) -> Result<Dfa, Unmade> {
        let dfa = self.get(language);
        if dfa.is_empty() {
            return Ok((**dfa).clone());
        }
        Dfa::build(
            (0, start),
            |&(at, t)| dfa.edges(at).iter().map(|&(l, to)| (l, (to, step(t, l)))).collect(),
            |&(at, t)| dfa.accepts_at(at) && accepts(t),
            &self.budget,
        )
    }

    /// The words that can stand behind any word of a language without leaving it:
    /// the largest `W` with `L · W* ⊆ L`, which the paper calls `W^c(L)`.
    ///
    /// # Errors
    /// If the automaton is too large.
    pub fn stabilizer(&mut self, language: LanguageId) -> Result<LanguageId, Unmade> {
        self.remember(Operation::Stabilizer(language), |all| {
            let dfa = all.get(language);
            let ends: Vec<u32> = (0..dfa.len() as u32).filter(|s| dfa.accepts_at(*s)).collect();
            let edges = |set: &Vec<u32>| {
                let Some(&one) = set.first() else { return vec![] };
                let letters = dfa.edges(one).iter().map(|(l, _)| *l);
                let all = letters.filter_map(|l| {
                    let to: Option<Vec<u32>> = set.iter().map(|s| dfa.step(*s, l)).collect();
                    let mut to = to?;
                    to.sort_unstable();
                    to.dedup();
                    Some((l, to))
                });
                all.collect()
            };
            let accepts = |set: &Vec<u32>| set.iter().all(|s| dfa.accepts_at(*s));
            Dfa::build(ends, edges, accepts, &all.budget)
        })
    }

    /// Words of `language` with any number of words of `repeated` behind them:
    /// `L · R*`.
    ///
    /// # Errors
    /// If the automaton is too large.
    pub fn then_star(
        &mut self,
        language: LanguageId,
        repeated: LanguageId,
    ) -> Result<LanguageId, Unmade> {
        self.remember(Operation::ThenStar(language, repeated), |all| {
            let (first, again) = (all.get(language), all.get(repeated));
            if first.is_empty() || again.is_empty() {
                return Ok((**first).clone());
            }
            type At = (Option<u32>, Vec<u32>);
            let ends = |(at, set): &At| {
                at.is_some_and(|at| first.accepts_at(at))
                    || set.iter().any(|s| again.accepts_at(*s))
            };
            // Where a word ends another can begin.
            let closed = |mut state: At| {
                if ends(&state) {
                    state.1.push(0);
                }
                state.1.sort_unstable();
                state.1.dedup();
                state
            };
            let edges = |(at, set): &At| {
                let mut letters: Vec<Letter> = Vec::new();
                letters.extend(at.iter().flat_map(|at| first.edges(*at)).map(|(l, _)| *l));
                letters.extend(set.iter().flat_map(|s| again.edges(*s)).map(|(l, _)| *l));
                letters.sort_unstable();
                letters.dedup();
                let step = |l: Letter| {
                    let next = set.iter().filter_map(|s| again.step(*s, l)).collect();
                    (l, closed((at.and_then(|at| first.step(at, l)), next)))
                };
                letters.into_iter().map(step).collect()
            };
            Dfa::build(closed((Some(0), vec![])), edges, ends, &all.budget)
        })
    }
}
