//! Minimal predecessors of words, as words of sets.
//!
//! *Problem.* Given a guard `c ∈ L`, an operation `op` and a word `w`: which words `v` of
//! `L` does `op` take to a word above `w`? Every word above such a `v` can lose the rest
//! and take the step, so the backward search needs only the minimal ones.
//!
//! *Words of sets.* A guard such as `[a b] [a b] [a b]` has eight minimal words, and with `n`
//! parts `2^n`. So a letter is a *set* of messages ([`SetId`]), and a word of sets stands for all
//! words that have a message of each set in its place. A word of sets `C` is below another one `D`
//! if there are places in `D`, in order, whose sets are subsets of those of `C`: then every word of
//! `D` is above a word of `C`. Strong messages are in sets of one message, so that two words are
//! compared only if they have the same ones. There are finitely many sets, so Higman's lemma applies
//! as before.
//!
//! *Idea.* Read `v` from its newest message on with the automaton of `L`, and count how
//! much of `w` has been found in `op(v)`. Messages that the automaton reads in one step and that
//! make the same difference are one set. If two prefixes reach the same state of the
//! automaton and have found the same part of `w`, every completion of one completes the
//! other: the larger one is dropped. Prefixes are tried by length, and only finitely many
//! are not above another, since `⪯ₛᵏ` is a well-quasi-order (Atig et al. 2010, section
//! 4.5).

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use weir_model::limits::{Budget, Stop};

use crate::automaton::{Automaton, NodeId};
use crate::ids::MessageId;
use crate::machine::{Machine, Op, Word};

/// A set of messages. Those of one message come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SetId(u32);

impl From<MessageId> for SetId {
    fn from(message: MessageId) -> Self {
        Self(u32::from(message.0))
    }
}

/// A word of sets.
pub(crate) type SetWord = Vec<SetId>;

/// All sets of messages that were needed.
pub(crate) struct Sets<'m> {
    machine: &'m Machine,
    /// How many messages there are.
    single: u32,
    /// The sets of several messages, sorted.
    several: Vec<Word>,
    known: HashMap<Word, SetId>,
}

impl<'m> Sets<'m> {
    pub fn new(machine: &'m Machine) -> Self {
        let single = machine.messages().count() as u32;
        Self { machine, single, several: vec![], known: HashMap::new() }
    }

    /// The set of these messages, of which there is at least one; they are sorted.
    fn id(&mut self, messages: Word) -> SetId {
        if let [one] = messages[..] {
            return one.into();
        }
        if let Some(id) = self.known.get(&messages) {
            return *id;
        }
        let id = SetId(self.single + self.several.len() as u32);
        self.several.push(messages.clone());
        self.known.insert(messages, id);
        id
    }

    /// The messages of a set.
    pub fn messages(&self, id: SetId) -> Word {
        match self.several(id) {
            Some(messages) => messages.clone(),
            None => vec![MessageId::new(id.0 as usize)],
        }
    }

    fn several(&self, id: SetId) -> Option<&Word> {
        id.0.checked_sub(self.single).map(|number| &self.several[number as usize])
    }

    fn contains(&self, id: SetId, message: MessageId) -> bool {
        match self.several(id) {
            Some(messages) => messages.binary_search(&message).is_ok(),
            None => id == message.into(),
        }
    }

    /// Whether every message of the first is in the second.
    fn is_subset(&self, small: SetId, big: SetId) -> bool {
        small == big
            || self.several(big).is_some()
                && self.messages(small).iter().all(|m| self.contains(big, *m))
    }

    pub fn is_strong(&self, id: SetId) -> bool {
        id.0 < self.single && self.machine.is_strong(MessageId::new(id.0 as usize))
    }

    fn strong_in(&self, word: &[SetId]) -> usize {
        word.iter().filter(|id| self.is_strong(**id)).count()
    }

    /// Whether one word is below another: every word that the other stands for is above one that
    /// it stands for.
    pub fn is_below(&self, small: &[SetId], big: &[SetId]) -> bool {
        // Matching as early as possible loses nothing, as for words of messages.
        let mut rest = small;
        for &set in big {
            match rest.split_first() {
                Some((first, others)) if self.is_subset(set, *first) => rest = others,
                _ if self.is_strong(set) => return false,
                _ => {}
            }
        }
        rest.is_empty()
    }
}

/// Where the reading of a word stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct At {
    place: NodeId,
    /// How much of the word after the step has been found.
    found: usize,
    /// Whether the message that is received, the last one, has been read.
    last: bool,
}

/// The words with which a place was visited. They come in the order of their lengths.
#[derive(Default)]
struct Known {
    shorter: Vec<SetWord>,
    /// The words of the length that is visited now.
    newest: HashSet<SetWord>,
    length: usize,
}

impl Known {
    /// Adds a word, unless a shorter one is below it or it is there.
    fn adds(&mut self, sets: &Sets<'_>, word: &SetWord) -> bool {
        if word.len() > self.length {
            self.shorter.extend(self.newest.drain());
            self.length = word.len();
        }
        !self.newest.contains(word)
            && !self.shorter.iter().any(|b| sets.is_below(b, word))
            && self.newest.insert(word.clone())
    }
}

/// Why minimal words are not known.
pub(crate) enum Unlisted {
    /// A limit was reached.
    Stopped(Stop),
    /// There are too many.
    TooMany,
}

impl From<Stop> for Unlisted {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

/// The minimal words before a guard that is not trivial, or a substitution, unless more than so
/// many words have to be read to find them.
pub(crate) fn guarded(
    sets: &mut Sets<'_>,
    guard: &Automaton,
    op: Option<&Op>,
    after: &[SetId],
    most: usize,
    budget: &Budget,
) -> Result<Vec<SetWord>, Unlisted> {
    let machine = sets.machine;
    let receives = matches!(op, Some(Op::Receive(_)));
    let begun = match op {
        Some(Op::Send { message, .. }) => advance(sets, after, 0, *message),
        Some(Op::Receive(_)) | None => Some(0),
    };
    let Some(begun) = begun else { return Ok(vec![]) };
    let mut known: HashMap<At, Known> = HashMap::new();
    let mut queue: VecDeque<(At, SetWord)> = VecDeque::new();
    let mut found = Vec::new();
    let mut visit = |sets: &Sets<'_>, at: At, word: &SetWord, queue: &mut VecDeque<_>| {
        let known = known.entry(at).or_default();
        budget.work(1 + known.shorter.len() / 8)?;
        if known.adds(sets, word) {
            queue.push_back((at, word.clone()));
        }
        Ok::<(), Stop>(())
    };
    for place in guard.start() {
        visit(sets, At { place, found: begun, last: false }, &vec![], &mut queue)?;
    }
    let mut read = 0;
    while let Some((at, word)) = queue.pop_front() {
        read += 1;
        if read > most {
            return Err(Unlisted::TooMany);
        }
        let Some((class, next)) = guard.read(at.place) else {
            if at.found == after.len() && at.last == receives {
                add_minimal(sets, &mut found, word);
            }
            continue;
        };
        if at.last {
            continue;
        }
        let full = sets.strong_in(&word) == machine.strong_bound();
        let places = guard.places([next]);
        // Messages that lead to the same places: how much is found then, and whether it is last.
        let mut groups: BTreeMap<(usize, bool), Word> = BTreeMap::new();
        let mut alone: Vec<(MessageId, usize, bool)> = Vec::new();
        for message in machine.messages().filter(|m| class.contains(*m)) {
            let becomes = match op {
                Some(Op::Send { substitution, .. }) => substitution.apply(message),
                Some(Op::Receive(_)) | None => message,
            };
            let kept = advance(sets, after, at.found, becomes).map(|found| (found, false));
            let taken = (op == Some(&Op::Receive(message))).then_some((at.found, true));
            for (found, last) in kept.into_iter().chain(taken) {
                match machine.is_strong(message) {
                    true if full => {}
                    true => alone.push((message, found, last)),
                    false => groups.entry((found, last)).or_default().push(message),
                }
            }
        }
        let weak = groups.into_iter().map(|((found, last), set)| (sets.id(set), found, last));
        let steps: Vec<(SetId, usize, bool)> =
            alone.into_iter().map(|(m, found, last)| (m.into(), found, last)).collect();
        let steps: Vec<_> = weak.chain(steps).collect();
        for (set, found, last) in steps {
            let longer = [word.as_slice(), &[set]].concat();
            for &place in &places {
                visit(sets, At { place, found, last }, &longer, &mut queue)?;
            }
        }
    }
    Ok(found)
}

/// How much of `after` is found once one more message is there; `None` if the
/// message is strong and should not be there.
fn advance(sets: &Sets<'_>, after: &[SetId], found: usize, message: MessageId) -> Option<usize> {
    match after.get(found) {
        Some(next) if sets.contains(*next, message) => Some(found + 1),
        _ => (!sets.machine.is_strong(message)).then_some(found),
    }
}

fn add_minimal(sets: &Sets<'_>, words: &mut Vec<SetWord>, word: SetWord) {
    if !words.iter().any(|w| sets.is_below(w, &word)) {
        words.retain(|w| !sets.is_below(&word, w));
        words.push(word);
    }
}

/// The minimal word before an operation without guard and substitution, if there
/// is one: the rules of Abdulla and Jonsson 1996a for basic machines.
pub(crate) fn unguarded(sets: &Sets<'_>, op: Option<&Op>, after: &[SetId]) -> Option<SetWord> {
    match op {
        None => Some(after.to_vec()),
        Some(Op::Receive(message)) => {
            let mut word = after.to_vec();
            word.push((*message).into());
            (sets.strong_in(&word) <= sets.machine.strong_bound()).then_some(word)
        }
        Some(Op::Send { message, .. }) => match after.split_first() {
            Some((first, rest)) if sets.contains(*first, *message) => Some(rest.to_vec()),
            _ => (!sets.machine.is_strong(*message)).then(|| after.to_vec()),
        },
    }
}

/// What a word becomes by losses before a step whose guard it has to satisfy, and what is left of
/// it after the step and more losses: a word that `after` stands for. `None` if there is no such
/// way.
pub(crate) fn forward(
    sets: &Sets<'_>,
    guard: &Automaton,
    op: Option<&Op>,
    word: &[MessageId],
    after: &[SetId],
) -> Option<(Word, Word)> {
    let machine = sets.machine;
    let receives = matches!(op, Some(Op::Receive(_)));
    // What was kept of the word, and which messages of that were found after the step.
    type Way = (usize, At, Word, Word);
    let mut begun = Word::new();
    let found = match op {
        Some(Op::Send { message, .. }) => {
            let found = advance(sets, after, 0, *message)?;
            begun.extend((found == 1).then_some(*message));
            found
        }
        Some(Op::Receive(_)) | None => 0,
    };
    let mut seen: HashSet<(usize, At)> = HashSet::new();
    let first = guard.start().into_iter().map(|place| At { place, found, last: false });
    let mut work: Vec<Way> = first.map(|at| (0, at, vec![], begun.clone())).collect();
    while let Some((read, at, kept, left)) = work.pop() {
        if !seen.insert((read, at)) {
            continue;
        }
        let next = guard.read(at.place);
        let Some(&message) = word.get(read) else {
            if next.is_none() && at.found == after.len() && at.last == receives {
                return Some((kept, left));
            }
            continue;
        };
        if !machine.is_strong(message) {
            work.push((read + 1, at, kept.clone(), left.clone()));
        }
        let Some((_, next)) = next.filter(|(class, _)| !at.last && class.contains(message)) else {
            continue;
        };
        let becomes = match op {
            Some(Op::Send { substitution, .. }) => substitution.apply(message),
            Some(Op::Receive(_)) | None => message,
        };
        let kept = [kept.as_slice(), &[message]].concat();
        for place in guard.places([next]) {
            if op == Some(&Op::Receive(message)) {
                let at = At { place, found: at.found, last: true };
                work.push((read + 1, at, kept.clone(), left.clone()));
            }
            if let Some(found) = advance(sets, after, at.found, becomes) {
                let mut left = left.clone();
                left.extend((found > at.found).then_some(becomes));
                work.push((read + 1, At { place, found, last: false }, kept.clone(), left));
            }
        }
    }
    None
}
