//! Random machines, and settings of random tests.

#![allow(dead_code)]

use weir_channel::semantics::{Contents, Goal};
use weir_channel::{
    ChannelId, Class, LabelId, Machine, MessageId, Op, Regex, SearchOptions, StateId, Substitution,
    Transition, lossy,
};
use weir_gen::{Rng, setting};
use weir_model::limits::Budget;

/// Runs a test on many seeds, and says which one failed.
pub fn with_seeds(cases: u64, run: impl Fn(&mut Rng) + std::panic::RefUnwindSafe) {
    let first = setting("WEIR_SEED", 1);
    for seed in first..first + setting("WEIR_CASES", cases) {
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            run(&mut Rng::new(seed));
        }));
        if let Err(panic) = result {
            eprintln!("WEIR_SEED={seed} fails");
            std::panic::resume_unwind(panic);
        }
    }
}

/// What random machines look like.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub states: usize,
    pub channels: usize,
    pub messages: usize,
    pub labels: usize,
    pub transitions: usize,
    pub guards: bool,
    pub substitutions: bool,
    pub strong: bool,
}

/// Small machines without anything special.
pub const BASIC: Shape = Shape {
    states: 4,
    channels: 2,
    messages: 2,
    labels: 1,
    transitions: 7,
    guards: false,
    substitutions: false,
    strong: false,
};

/// The kinds of machines, each with a name.
pub const SHAPES: [(&str, Shape); 5] = [
    ("basic", BASIC),
    ("guards", Shape { guards: true, ..BASIC }),
    ("substitutions", Shape { substitutions: true, messages: 3, ..BASIC }),
    ("strong", Shape { strong: true, messages: 3, ..BASIC }),
    ("everything", Shape { guards: true, substitutions: true, strong: true, messages: 3, ..BASIC }),
];

pub fn regex(rng: &mut Rng, messages: &[MessageId], depth: usize) -> Regex {
    let leaf = depth == 0 || rng.once_in(3);
    if leaf {
        return match rng.below(6) {
            0 => Regex::class(Class::all()),
            1 => Regex::anything(),
            2 => Regex::class(Class::but([*rng.pick(messages)])).star(),
            3 => Regex::epsilon(),
            _ => Regex::one(*rng.pick(messages)),
        };
    }
    let mut part = || regex(rng, messages, depth - 1);
    let (a, b) = (part(), part());
    match rng.below(7) {
        0 => Regex::union([a, b]),
        1 => a.star(),
        2 => a.plus(),
        3 => a.optional(),
        4 => Regex::has(*rng.pick(messages)),
        _ => Regex::concat([a, b]),
    }
}

/// A random machine; its channels begin with `prefix`.
pub fn machine(rng: &mut Rng, shape: &Shape, prefix: &str) -> Machine {
    loop {
        if let Some(machine) = attempt(rng, shape, prefix) {
            return machine;
        }
    }
}

/// `None` if it asks for more strong messages than there may be.
fn attempt(rng: &mut Rng, shape: &Shape, prefix: &str) -> Option<Machine> {
    let mut builder = Machine::builder(format!("random {prefix}"));
    let count = |rng: &mut Rng, most: usize| 1 + rng.below(most);
    let states: Vec<StateId> =
        (0..shape.states).map(|i| builder.state(format!("{prefix}q{i}")).unwrap()).collect();
    let channels: Vec<ChannelId> = (0..count(rng, shape.channels))
        .map(|i| builder.channel(format!("{prefix}{i}")).unwrap())
        .collect();
    let messages: Vec<MessageId> = ["a", "b", "c", "d"][..shape.messages]
        .iter()
        .map(|m| builder.message(*m).unwrap())
        .collect();
    let labels: Vec<LabelId> =
        ["x", "y"][..shape.labels].iter().map(|l| builder.label(*l).unwrap()).collect();
    if shape.strong {
        // `a` is always strong, so that machines agree if they are multiplied.
        builder.strong([messages[0]], 1 + rng.below(2)).unwrap();
    }
    for _ in 0..2 + rng.below(shape.transitions) {
        let mut transition = Transition::new(*rng.pick(&states), *rng.pick(&states));
        if !labels.is_empty() && rng.once_in(3) {
            transition = transition.label(*rng.pick(&labels));
        }
        for &channel in &channels {
            if shape.guards && rng.once_in(4) {
                transition = transition.guard(channel, regex(rng, &messages, 2));
            }
            let message = *rng.pick(&messages);
            match rng.below(5) {
                0 | 1 => {
                    let mut substitution = Substitution::identity();
                    if shape.substitutions && rng.once_in(2) {
                        substitution =
                            substitution.with(*rng.pick(&messages), *rng.pick(&messages));
                    }
                    transition = transition.op(channel, Op::Send { substitution, message });
                }
                2 | 3 => transition = transition.op(channel, Op::Receive(message)),
                _ => {}
            }
        }
        builder.transition(transition).unwrap();
    }
    builder.build(states[0]).ok()
}

/// Whether a state is reached, by the backward search; it must know.
pub fn is_reached(machine: &Machine, state: StateId, contents: Contents) -> bool {
    let goal = Goal { state, contents };
    match lossy::reach(machine, &goal, &SearchOptions::default(), &mut |_| {}).0 {
        lossy::Reach::Reached(_) => true,
        lossy::Reach::NotReached(_) => false,
        lossy::Reach::Unknown(reason) => {
            panic!("{reason}\n{}", weir_channel::text::print(machine))
        }
    }
}

/// The same with empty channels, unless it takes too much. Nothing bounds the search by
/// the size of a machine, and basic forms are large. Memory is what is limited: that
/// is the same on every computer.
pub fn is_reached_cheaply(machine: &Machine, state: StateId) -> Option<bool> {
    let goal = Goal { state, contents: Contents::Empty };
    let options =
        SearchOptions { budget: Budget::new().with_store(1 << 20), ..SearchOptions::default() };
    match lossy::reach(machine, &goal, &options, &mut |_| {}).0 {
        lossy::Reach::Reached(_) => Some(true),
        lossy::Reach::NotReached(_) => Some(false),
        lossy::Reach::Unknown(_) => None,
    }
}

/// A machine without channels that has one trace: it is in its last state after it.
pub fn monitor(trace: &[&str], labels: &[&str]) -> Machine {
    let mut builder = Machine::builder("monitor");
    for label in labels {
        builder.label(*label).unwrap();
    }
    let states: Vec<StateId> =
        (0..=trace.len()).map(|i| builder.state(format!("m{i}")).unwrap()).collect();
    let machine = builder.clone().build(states[0]).unwrap();
    for (i, label) in trace.iter().enumerate() {
        let label = machine.label(label).unwrap();
        builder.transition(Transition::new(states[i], states[i + 1]).label(label)).unwrap();
    }
    builder.build(states[0]).unwrap()
}
