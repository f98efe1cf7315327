//! Languages against explicit sets of words, and the paper's operations on them.

use std::collections::BTreeSet;

use weir_gen::Rng;
use weir_model::ids::{SpanId, ValueId, VarId};
use weir_model::limits::Budget;
use weir_model::program::{Decl, Program};
use weir_model::system::System;

use super::language::{LanguageId, Languages, Letter};
use super::operations::Space;

/// Words up to this length are looked at.
const LONGEST: usize = 5;

/// Letters of two variables with two values each.
const LETTERS: u32 = 4;

type Word = Vec<Letter>;
type Set = BTreeSet<Word>;

fn all_words() -> Vec<Word> {
    let mut all: Vec<Word> = vec![vec![]];
    let mut next = 0;
    while all[next].len() < LONGEST {
        for l in 0..LETTERS {
            let longer = all[next].iter().copied().chain([Letter(l)]).collect();
            all.push(longer);
        }
        next += 1;
    }
    all
}

fn concatenation(a: &Set, b: &Set) -> Set {
    let pairs = a.iter().flat_map(|u| b.iter().map(move |v| [&u[..], &v[..]].concat()));
    pairs.filter(|w| w.len() <= LONGEST).collect()
}

fn star(set: &Set) -> Set {
    let mut all: Set = [vec![]].into();
    loop {
        let more: Set = all.union(&concatenation(&all, set)).cloned().collect();
        if more == all {
            return all;
        }
        all = more;
    }
}

/// A random language, and its words as far as they are looked at.
fn random(rng: &mut Rng, languages: &mut Languages) -> (LanguageId, Set) {
    let word = |rng: &mut Rng| -> Word {
        (0..rng.below(3)).map(|_| Letter(rng.below(LETTERS as usize) as u32)).collect()
    };
    let first = word(rng);
    let mut id = languages.word(&first).unwrap();
    let mut set: Set = [first].into();
    for _ in 0..1 + rng.below(5) {
        let more = word(rng);
        let other = languages.word(&more).unwrap();
        match rng.below(3) {
            0 => {
                id = languages.union(id, other).unwrap();
                set.insert(more);
            }
            1 => {
                id = languages.then_word(id, &more).unwrap();
                set = concatenation(&set, &[more].into());
            }
            _ => {
                id = languages.then_star(id, other).unwrap();
                set = concatenation(&set, &star(&[more].into()));
            }
        }
    }
    (id, set)
}

fn words_of(languages: &Languages, id: LanguageId) -> Set {
    all_words().into_iter().filter(|w| languages.get(id).accepts(w)).collect()
}

/// Words that are one letter short of the longest: their extensions are all known.
fn short(set: &Set) -> Set {
    set.iter().filter(|w| w.len() < LONGEST).cloned().collect()
}

#[test]
fn languages_are_sets_of_words() {
    let mut rng = Rng::new(3);
    let mut languages = Languages::default();
    for _ in 0..300 {
        let (a, words_a) = random(&mut rng, &mut languages);
        let (b, words_b) = random(&mut rng, &mut languages);
        assert_eq!(words_of(&languages, a), words_a);
        let union = languages.union(a, b).unwrap();
        assert_eq!(words_of(&languages, union), &words_a | &words_b);
        let both = languages.intersection(a, b).unwrap();
        assert_eq!(words_of(&languages, both), &words_a & &words_b);
        // Words that tell two languages apart may be long, so one direction only.
        if languages.is_included(a, b).unwrap() {
            assert!(words_a.is_subset(&words_b));
            assert_eq!(union, b);
            assert_eq!(both, a);
        } else {
            assert_ne!(union, b);
            assert_ne!(both, a);
        }
        let repeated = languages.then_star(a, b).unwrap();
        assert_eq!(words_of(&languages, repeated), concatenation(&words_a, &star(&words_b)));
        let shortest = words_a.iter().min_by_key(|w| w.len());
        if let Some(shortest) = shortest {
            assert_eq!(languages.get(a).shortest().map(|w| w.len()), Some(shortest.len()));
        }
        let mut firsts = BTreeSet::new();
        for l in (0..LETTERS).map(Letter) {
            let behind = languages.suffix(a, l).unwrap();
            let expected: Set =
                words_a.iter().filter(|w| w.first() == Some(&l)).map(|w| w[1..].to_vec()).collect();
            assert_eq!(short(&words_of(&languages, behind)), short(&expected));
            if behind != LanguageId::NONE {
                firsts.insert(l);
            }
            let appended = languages.append(a, l).unwrap();
            let expected = concatenation(&words_a, &[vec![l]].into());
            assert_eq!(words_of(&languages, appended), expected);
        }
        assert_eq!(languages.first(a).into_iter().collect::<BTreeSet<_>>(), firsts);
    }
}

/// Equal languages have one number, however they came about.
#[test]
fn equal_languages_are_one() {
    let mut rng = Rng::new(5);
    let mut languages = Languages::default();
    let mut any = LanguageId::NONE;
    for letter in (0..LETTERS).map(Letter) {
        let one = languages.word(&[letter]).unwrap();
        any = languages.union(any, one).unwrap();
    }
    let mut met = Vec::new();
    let mut same = 0;
    for _ in 0..300 {
        let (a, _) = random(&mut rng, &mut languages);
        for b in &met {
            let equal =
                languages.is_included(a, *b).unwrap() && languages.is_included(*b, a).unwrap();
            assert_eq!(equal, a == *b);
            same += usize::from(equal);
        }
        met.push(a);
        // By another way: words that begin with each letter, and the empty word.
        let mut rebuilt = languages.intersection(a, LanguageId::EMPTY_WORD).unwrap();
        for letter in languages.first(a) {
            let front = languages.word(&[letter]).unwrap();
            let begins = languages.then_star(front, any).unwrap();
            let part = languages.intersection(a, begins).unwrap();
            rebuilt = languages.union(rebuilt, part).unwrap();
        }
        assert_eq!(rebuilt, a);
    }
    assert!(same > 0);
}

/// The largest set of words that can stand behind a language without leaving it.
#[test]
fn stabilizers() {
    let mut rng = Rng::new(7);
    let mut languages = Languages::default();
    let mut more = 0;
    for _ in 0..200 {
        let (a, words) = random(&mut rng, &mut languages);
        let stable = languages.stabilizer(a).unwrap();
        assert_eq!(languages.then_star(a, stable).unwrap(), a);
        for word in all_words().into_iter().filter(|w| w.len() <= 3) {
            let longer = languages.then_word(a, &word).unwrap();
            let stays = languages.is_included(longer, a).unwrap();
            assert_eq!(stays, languages.get(stable).accepts(&word), "{word:?} behind {words:?}");
            more += usize::from(stays && !word.is_empty());
        }
    }
    assert!(more > 100, "{more}");
}

/// A system with two variables of two values, whose letters are those of the tests.
fn system() -> System {
    let var = |name: &str| {
        let mut var = Decl::scalar(name, 0, SpanId::NONE);
        var.init = vec![vec![0, 1]];
        var
    };
    System::new(Program { vars: vec![var("x"), var("y")], ..Program::default() }).unwrap()
}

/// Linden and Wolper 2010, section 3: a load keeps the contents in which the last store to the
/// variable has the value and, if memory has it, those without a store to it.
#[test]
fn loads_keep_the_words_that_give_the_value() {
    let system = system();
    let mut space = Space::new(system.expanded(&Budget::new()).unwrap(), &Budget::new());
    let mut rng = Rng::new(11);
    for _ in 0..300 {
        let (id, words) = random(&mut rng, &mut space.languages);
        for x in [0, 1].map(VarId) {
            for memory in [0, 1].map(ValueId) {
                let mut parts: Set = Set::new();
                for value in [0, 1].map(ValueId) {
                    let gives = |word: &&Word| {
                        let stores = word.iter().map(|l| space.store_of(*l));
                        let last = stores.rev().find(|(var, _)| *var == x);
                        last.map_or(memory, |(_, v)| v) == value
                    };
                    let expected: Set = words.iter().filter(gives).cloned().collect();
                    let loaded = space.load(id, x, value, memory).unwrap();
                    assert_eq!(words_of(&space.languages, loaded), expected);
                    // A load that is repeated gives the same.
                    assert_eq!(space.load(loaded, x, value, memory).unwrap(), loaded);
                    parts.extend(expected);
                }
                assert_eq!(parts, words, "every content gives one value");
            }
        }
    }
}

/// What the formula in the paper says instead: behind the last `(m,d)` there may be
/// letters on `m` only. Then a store to another variable would hide the value.
#[test]
fn the_printed_load_formula_has_a_slip() {
    let system = system();
    let mut space = Space::new(system.expanded(&Budget::new()).unwrap(), &Budget::new());
    let (x, y) = (VarId(0), VarId(1));
    let (one, other) = (space.letter(x, ValueId(1)), space.letter(y, ValueId(1)));
    let word = [one, other];
    // `Σ* (m,d) (Σ \ {(y,v) | y ≠ m})*`, as printed, for m = x and d = 1.
    let printed = |word: &[Letter]| {
        let places = (0..word.len()).filter(|i| word[*i] == one);
        { places }.any(|i| word[i + 1..].iter().all(|l| space.store_of(*l).0 == x))
    };
    assert!(!printed(&word), "a buffer with a store of 1 to x would not give 1");
    assert!(printed(&[one, space.letter(x, ValueId(0))]), "and one that gives 0 would");
    let content = space.languages.word(&word).unwrap();
    assert_eq!(space.load(content, x, ValueId(1), ValueId(0)), Ok(content));
}
