//! The names of tests.
//!
//! A name is a shape and, unless each thread has just its two accesses in a row,
//! what stands between them, thread by thread: `SB+mfence+po`, or `SB+mfences`
//! where all are the same.

use super::cycle::{Step, runs};
use super::edge::{Access, Barrier, Direction, Link, Place, Scope};

/// Shapes that have a name, by the first and last access of each thread.
/// Communication follows from these: a write to a read is `Rfe`, a read to a
/// write `Fre`, and a write to a write `Coe`.
const SHAPES: [(&str, &str); 32] = [
    ("W+RR", "CoRR"),
    ("W+RW", "CoRW2"),
    ("W+WR", "CoWR"),
    ("WW+RR", "MP"),
    ("WR+WR", "SB"),
    ("RW+RW", "LB"),
    ("WW+RW", "S"),
    ("WW+WR", "R"),
    ("WW+WW", "2+2W"),
    ("W+RW+RR", "WRC"),
    ("W+RW+RW", "WWC"),
    ("W+RR+WR", "RWC"),
    ("W+RW+WR", "WRW+WR"),
    ("W+RR+WW", "WRR+2W"),
    ("W+RW+WW", "WRW+2W"),
    ("WW+RW+RR", "ISA2"),
    ("WR+WR+WR", "3.SB"),
    ("RW+RW+RW", "3.LB"),
    ("WW+WW+WW", "3.2W"),
    ("WW+RR+WR", "W+RWC"),
    ("WW+RW+WR", "Z6.0"),
    ("WW+WW+RW", "Z6.1"),
    ("WW+RW+RW", "Z6.2"),
    ("WW+WW+RR", "Z6.3"),
    ("WW+WR+WR", "Z6.4"),
    ("WW+WW+WR", "Z6.5"),
    ("W+RR+W+RR", "IRIW"),
    ("W+RR+W+RW", "IRRWIW"),
    ("W+RW+W+RW", "IRWIW"),
    ("WR+WR+WR+WR", "4.SB"),
    ("RW+RW+RW+RW", "4.LB"),
    ("WW+WW+WW+WW", "4.2W"),
];

/// The rotation that a cycle is known by: one that begins with a thread and
/// whose shape has a name. Otherwise writes come first. Where that leaves a
/// choice, what stands in the threads is in the order of the alphabet.
pub(super) fn canonical(steps: &[Step]) -> Vec<Step> {
    let begins = |i: usize| steps[(i + steps.len() - 1) % steps.len()].leaves_thread();
    let rotations = (0..steps.len()).filter(|&i| begins(i)).map(|i| {
        let mut rotation = steps.to_vec();
        rotation.rotate_left(i);
        rotation
    });
    let key = |steps: &Vec<Step>| {
        let shape = shape(steps);
        (known(&text(&shape)).is_none(), shape, every_word(steps))
    };
    rotations.min_by_key(key).unwrap_or_default()
}

/// The name of a cycle in its canonical rotation.
pub(super) fn name(steps: &[Step]) -> String {
    let shape = text(&shape(steps));
    let name = known(&shape).unwrap_or(&shape);
    match words(steps).as_slice() {
        [] => name.to_owned(),
        words => format!("{name}+{}", words.join("+")),
    }
}

fn known(shape: &str) -> Option<&'static str> {
    SHAPES.iter().find(|(key, _)| *key == shape).map(|(_, name)| *name)
}

/// The directions of the first and last access of each thread, or of its only
/// one.
fn shape(steps: &[Step]) -> Vec<Vec<Direction>> {
    let ends = |run: &[Step]| match run {
        [] => vec![],
        [only] => vec![only.access.direction()],
        [first, .., last] => vec![first.access.direction(), last.access.direction()],
    };
    runs(steps).map(ends).collect()
}

fn text(shape: &[Vec<Direction>]) -> String {
    let threads = shape.iter().map(|thread| thread.iter().map(|d| d.letter()).collect());
    threads.collect::<Vec<String>>().join("+")
}

/// What is said after the shape.
///
/// A thread of one access is left out, unless one of them is atomic: then all
/// threads have their word, so that it is clear whose each word is.
fn words(steps: &[Step]) -> Vec<String> {
    let is_odd = |run: &[Step]| run.len() == 1 && run[0].access == Access::Exchange;
    if runs(steps).any(is_odd) {
        return every_word(steps);
    }
    let words: Vec<String> = runs(steps).filter(|run| run.len() > 1).map(word).collect();
    match words.split_first() {
        // Nothing else closes a cycle that has but one such thread.
        Some((first, [])) if first == "po-loc" => vec![],
        Some((first, [])) => vec![first.clone()],
        Some((first, rest)) if rest.iter().all(|w| w == first) => match first.as_str() {
            "po" => vec![],
            _ => vec![format!("{first}s")],
        },
        _ => words,
    }
}

fn every_word(steps: &[Step]) -> Vec<String> {
    runs(steps).map(word).collect()
}

/// What stands between the first and the last access of a thread, and which of
/// its accesses are atomic.
fn word(run: &[Step]) -> String {
    let exchange = |step: &Step| (step.access == Access::Exchange).then(|| "xchg".to_owned());
    match run {
        [] => String::new(),
        [only] => exchange(only).unwrap_or_else(|| direction(only).to_owned()),
        // An exchange says that there is program order.
        [first, last]
            if first.access == Access::Exchange
                && first.link == Link::Program(Barrier::None, Place::Different) =>
        {
            exchange(first).into_iter().chain(exchange(last)).collect::<Vec<_>>().join("-")
        }
        [first, rest @ ..] => {
            let mut parts: Vec<String> = exchange(first).into_iter().collect();
            for (step, next) in run.iter().zip(rest) {
                parts.push(link(step, next));
                parts.extend(exchange(next).or_else(|| between(step, next)));
            }
            parts.join("-")
        }
    }
}

fn direction(step: &Step) -> &'static str {
    match step.access.direction() {
        Direction::Write => "w",
        Direction::Read => "r",
    }
}

/// The direction of an access in the midst of a thread, where neither of the
/// two edges that meet there tells.
fn between(before: &Step, step: &Step) -> Option<String> {
    let is_program = |step: &Step| matches!(step.link, Link::Program(..));
    (is_program(before) && is_program(step)).then(|| direction(step).to_owned())
}

fn link(step: &Step, next: &Step) -> String {
    match step.link {
        Link::Communication(scope) => {
            let kind = match (step.access.direction(), next.access.direction()) {
                (Direction::Write, Direction::Write) => "co",
                (Direction::Write, Direction::Read) => "rf",
                (Direction::Read, _) => "fr",
            };
            format!("{kind}{}", if scope == Scope::External { "e" } else { "i" })
        }
        Link::Program(barrier, place) => {
            let kind = barrier.instruction().map_or("po".to_owned(), str::to_lowercase);
            format!("{kind}{}", if place == Place::Same { "-loc" } else { "" })
        }
    }
}
