//! From a machine to a basic one: Proposition 1 (Atig et al. 2010, section 4.3).
//!
//! *Problem.* Given an `(S, k)`-LCM `M = (Q, C, Σ, Λ, Δ)`, construct a basic LCM `M' =
//! (Q', C, Σ', Λ, Δ')` with `Q ⊆ Q'` and `Σ ⊆ Σ'` that has the same traces between
//! control states of `Q`: one without guards, substitutions and strong messages.
//!
//! *Idea.* `M'` keeps the sequences of strong messages of all channels in its control
//! state; `q` with empty sequences is `q` itself. A step of `M` becomes a *channel
//! rotation* of each channel that it tests or changes: send a marker `♯`, then receive,
//! check or substitute, and send back, one message at a time, until `♯` is received. If
//! something does not match, `M'` blocks.
//!
//! *Differences from the text of the paper.*
//!
//! 1. *A single rotation.* The paper checks the guard, executes the operation, and then
//!    rotates all channels to check that no strong message is missing. Between these,
//!    messages can be lost, and then `M'` does what `M` cannot: with `u = b·a` (`a` is
//!    the oldest) and the transition `c ∈ b·a, c?b`, the guard holds, `a` is lost, and
//!    `b` is received. `M` has to receive from the word that the guard has tested, which
//!    begins with `a`. Likewise, a strong message may be lost before the guard is tested,
//!    and the loss is never noticed if the operation substitutes it by a message that is
//!    not strong. So guard, substitution, receive and strong messages are checked in the
//!    same rotation of the same word.
//! 2. *The automaton is that of the mirrored language.* A rotation reads the oldest
//!    message first, which is the last of the word.
//! 3. *Substitutions change what is strong.* `σ` may make a strong message of one
//!    that was not, so the new sequence is not known from the old one. It is
//!    collected while the rotation reads.
//! 4. *Channels that a step does not use are not rotated.* A missing strong message is
//!    noticed when its channel is next rotated. Until then it makes no difference, and a
//!    run that ends with empty sequences has checked all of them.
//! 5. *There is no blocking control state.* A state without transitions blocks as well.
//!
//! If `♯` itself is lost, the rotation never ends, so no wrong state is reached.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use weir_channel::automaton::{Automaton, Places};
use weir_channel::{
    Builder, ChannelId, Machine, MachineError, MessageId, Op, Regex, StateId, Transition,
    TransitionId, Word,
};
use weir_model::limits::{Budget, Stop};

/// The basic machine is too large.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooLarge(MachineError);

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the basic machine is too large: {}", self.0)
    }
}

impl std::error::Error for TooLarge {}

impl TooLarge {
    /// The limit that was reached, if that is it.
    pub fn stop(&self) -> Option<Stop> {
        self.0.stop()
    }
}

impl From<MachineError> for TooLarge {
    fn from(error: MachineError) -> Self {
        Self(error)
    }
}

/// The strong messages that channels should hold, the newest first. Channels that
/// should hold none are left out: there may be many.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Sequences(BTreeMap<ChannelId, Word>);

impl Sequences {
    fn get(&self, channel: ChannelId) -> &[MessageId] {
        self.0.get(&channel).map_or(&[], Vec::as_slice)
    }

    fn set(&mut self, channel: ChannelId, word: Word) {
        if word.is_empty() {
            self.0.remove(&channel);
        } else {
            self.0.insert(channel, word);
        }
    }

    /// A strong message is sent.
    fn add(&mut self, channel: ChannelId, message: MessageId) {
        self.0.entry(channel).or_default().insert(0, message);
    }
}

/// What a control state of `M'` stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Point {
    /// A control state of `M` and the strong messages in the channels.
    State(StateId, Sequences),
    /// Inside a transition: about to send `♯` to the next channel.
    Begin(TransitionId, usize, Sequences),
    /// Reading what is in the channel.
    Rotate(TransitionId, Sequences, Rotation),
    /// About to send a message back.
    Return(TransitionId, Sequences, Rotation, MessageId),
    /// About to send what the transition sends; the rotation is over.
    Send(TransitionId, usize, Sequences),
}

/// How far a rotation is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Rotation {
    /// Which of the channels that the transition rotates.
    number: usize,
    /// Where the automaton of the guard is.
    places: Places,
    /// How many of the strong messages that should be there have been.
    seen: usize,
    /// The strong messages that have been sent back, the oldest first.
    kept: Word,
    /// Whether the message that the transition receives has been taken.
    taken: bool,
}

struct Simulation<'m> {
    machine: &'m Machine,
    builder: Builder,
    /// `♯`.
    marker: MessageId,
    /// For each transition, the channels that it rotates, with the automaton of
    /// the mirrored guard.
    rotated: Vec<Vec<(ChannelId, Automaton)>>,
    /// For each control state, the transitions from there.
    outgoing: Vec<Vec<TransitionId>>,
    points: HashMap<Point, StateId>,
    work: Vec<Point>,
}

/// The basic machine that does what a machine does (Proposition 1). The control
/// states of the machine are its first ones, under the same ids.
///
/// ```
/// use weir_channel::text;
/// use weir_model::limits::Budget;
/// use weir_theory::basic;
///
/// let machine = text::read("
///     machine guarded;  messages a, b;  channels c;  states s, t;  initial s;
///     s -> s do c!a;
///     s -> t when c in a a;
/// ").unwrap();
/// let simple = basic::basic(&machine, &Budget::new()).unwrap();
/// assert!(!machine.is_basic());
/// assert!(simple.is_basic());
/// assert_eq!(simple.state("t"), machine.state("t"));
/// ```
///
/// # Errors
/// If it has more control states or transitions than a machine may have, or a limit is
/// reached.
pub fn basic(machine: &Machine, budget: &Budget) -> Result<Machine, TooLarge> {
    let mut builder = Machine::builder(machine.name()).within(budget);
    for channel in machine.channels() {
        builder.channel(machine.channel_name(channel))?;
    }
    for message in machine.messages() {
        builder.message(machine.message_name(message))?;
    }
    let general = !machine.is_basic();
    let marker = match general {
        true => builder.fresh_message("♯")?,
        false => MessageId(0),
    };
    for label in machine.labels() {
        builder.label(machine.label_name(label))?;
    }
    let mut outgoing = vec![vec![]; machine.states().count()];
    for id in machine.transition_ids() {
        outgoing[machine.transition(id).from.index()].push(id);
    }
    let mut simulation = Simulation {
        machine,
        builder,
        marker,
        rotated: machine.transitions().iter().map(|t| rotated(machine, t)).collect(),
        outgoing,
        points: HashMap::new(),
        work: vec![],
    };
    for state in machine.states() {
        simulation.at(Point::State(state, Sequences::default()))?;
    }
    // In the order of the states, so that what belongs together stands together.
    simulation.work.reverse();
    while let Some(point) = simulation.work.pop() {
        simulation.steps(&point)?;
    }
    Ok(simulation.builder.build(machine.initial())?)
}

/// The channels that have to be rotated for a transition.
fn rotated(machine: &Machine, transition: &Transition) -> Vec<(ChannelId, Automaton)> {
    let has_strong = machine.strong().next().is_some();
    let needs = |channel: ChannelId| {
        transition.guard_on(channel).is_some()
            || match transition.op_on(channel) {
                Some(Op::Send { substitution, .. }) => !substitution.is_identity(),
                // What is received has to be the oldest, and a strong message that
                // was lost may have been older.
                Some(Op::Receive(_)) => has_strong,
                None => false,
            }
    };
    let automaton = |channel| {
        let guard = transition.guard_on(channel).cloned().unwrap_or_else(Regex::anything);
        (channel, Automaton::new(&guard.mirrored()))
    };
    let guarded = transition.guards().map(|(c, _)| c);
    let touched: BTreeSet<ChannelId> = guarded.chain(transition.ops().map(|(c, _)| c)).collect();
    touched.into_iter().filter(|c| needs(*c)).map(automaton).collect()
}

impl Simulation<'_> {
    /// The control state of a point.
    fn at(&mut self, point: Point) -> Result<StateId, MachineError> {
        if let Some(id) = self.points.get(&point) {
            return Ok(*id);
        }
        let name = self.name(&point);
        let id = self.builder.fresh_state(name)?;
        self.points.insert(point.clone(), id);
        self.work.push(point);
        Ok(id)
    }

    /// What a control state of `M'` is called.
    fn name(&self, point: &Point) -> String {
        let machine = self.machine;
        let channel = |t: &TransitionId, number: usize| {
            machine.channel_name(self.rotated[t.index()][number].0)
        };
        // Numbered, because what else they know would make long names.
        let inside = |t: &TransitionId, what: String| {
            format!("t{} {what} {}", t.index() + 1, self.points.len())
        };
        match point {
            Point::State(state, sequences) => {
                let state = machine.state_name(*state);
                let full: Vec<String> = sequences
                    .0
                    .iter()
                    .map(|(c, word)| {
                        let word: Vec<&str> =
                            word.iter().map(|m| machine.message_name(*m)).collect();
                        format!("{}: {}", machine.channel_name(*c), word.join(" "))
                    })
                    .collect();
                match full.as_slice() {
                    [] => state.to_owned(),
                    full => format!("({state}, {})", full.join(", ")),
                }
            }
            Point::Begin(t, number, _) => inside(t, format!("begins {}", channel(t, *number))),
            Point::Rotate(t, _, r) => inside(t, format!("rotates {}", channel(t, r.number))),
            Point::Return(t, _, r, message) => {
                let message = machine.message_name(*message);
                inside(t, format!("returns {message} to {}", channel(t, r.number)))
            }
            Point::Send(t, number, _) => inside(t, format!("sends to {}", channel(t, *number))),
        }
    }

    fn add(
        &mut self,
        from: StateId,
        to: Point,
        op: Option<(ChannelId, Op)>,
    ) -> Result<(), MachineError> {
        let mut transition = Transition::new(from, self.at(to)?);
        if let Some((channel, op)) = op {
            transition = transition.op(channel, op);
        }
        self.builder.transition(transition).map(|_| ())
    }

    /// The transitions from a point.
    fn steps(&mut self, point: &Point) -> Result<(), MachineError> {
        let from = self.at(point.clone())?;
        match point {
            Point::State(state, sequences) => {
                for id in self.outgoing[state.index()].clone() {
                    self.first(from, id, sequences)?;
                }
            }
            Point::Begin(id, number, sequences) => {
                let channel = self.rotated[id.index()][*number].0;
                let to = self.rotation(*id, *number, sequences.clone());
                self.add(from, to, Some((channel, Op::send(self.marker))))?;
            }
            Point::Rotate(id, sequences, rotation) => {
                for message in self.machine.messages() {
                    self.read(from, *id, sequences, rotation, message)?;
                }
                self.end(from, *id, sequences, rotation)?;
            }
            Point::Return(id, sequences, rotation, message) => {
                let channel = self.rotated[id.index()][rotation.number].0;
                let to = Point::Rotate(*id, sequences.clone(), rotation.clone());
                self.add(from, to, Some((channel, Op::send(*message))))?;
            }
            Point::Send(id, number, sequences) => {
                let channel = self.rotated[id.index()][*number].0;
                if let Some(Op::Send { message, .. }) = self.machine.transition(*id).op_on(channel)
                {
                    let to = self.begin(*id, number + 1, sequences.clone());
                    self.add(from, to, Some((channel, Op::send(*message))))?;
                }
            }
        }
        Ok(())
    }

    /// The first step of a transition. It has the label, does what needs no rotation,
    /// and begins the first rotation.
    fn first(
        &mut self,
        from: StateId,
        id: TransitionId,
        sequences: &Sequences,
    ) -> Result<(), MachineError> {
        let machine = self.machine;
        let of = machine.transition(id);
        let mut sequences = sequences.clone();
        let mut ops = Vec::new();
        for (channel, op) in of.ops() {
            if self.rotated[id.index()].iter().any(|(c, _)| *c == channel) {
                continue;
            }
            if let Op::Send { message, .. } = op
                && machine.is_strong(*message)
            {
                sequences.add(channel, *message);
                if sequences.get(channel).len() > machine.strong_bound() {
                    return Ok(());
                }
            }
            ops.push((channel, op.clone()));
        }
        let to = match self.rotated[id.index()].first() {
            Some((channel, _)) => {
                ops.push((*channel, Op::send(self.marker)));
                self.rotation(id, 0, sequences)
            }
            None => Point::State(of.to, sequences),
        };
        let mut transition = Transition::new(from, self.at(to)?);
        transition.label = of.label;
        for (channel, op) in ops {
            transition = transition.op(channel, op);
        }
        self.builder.transition(transition).map(|_| ())
    }

    /// Where a rotation begins, or where the transition ends if there is none left.
    fn begin(&self, id: TransitionId, number: usize, sequences: Sequences) -> Point {
        if number < self.rotated[id.index()].len() {
            Point::Begin(id, number, sequences)
        } else {
            Point::State(self.machine.transition(id).to, sequences)
        }
    }

    /// The marker has been sent.
    fn rotation(&self, id: TransitionId, number: usize, sequences: Sequences) -> Point {
        let places = self.rotated[id.index()][number].1.start();
        let rotation = Rotation { number, places, seen: 0, kept: vec![], taken: false };
        Point::Rotate(id, sequences, rotation)
    }

    /// A message is received.
    fn read(
        &mut self,
        from: StateId,
        id: TransitionId,
        sequences: &Sequences,
        rotation: &Rotation,
        message: MessageId,
    ) -> Result<(), MachineError> {
        let machine = self.machine;
        let (channel, automaton) = &self.rotated[id.index()][rotation.number];
        let channel = *channel;
        let mut next = rotation.clone();
        next.places = automaton.after(&rotation.places, message);
        if next.places.is_empty() {
            return Ok(());
        }
        if machine.is_strong(message) {
            // The next one that should be there, from the oldest on.
            let expected = sequences.get(channel).iter().rev().nth(rotation.seen);
            if expected != Some(&message) {
                return Ok(());
            }
            next.seen += 1;
        }
        let back = match machine.transition(id).op_on(channel) {
            Some(Op::Receive(wanted)) if !rotation.taken => {
                if *wanted != message {
                    return Ok(());
                }
                next.taken = true;
                None
            }
            Some(Op::Send { substitution, .. }) => Some(substitution.apply(message)),
            Some(Op::Receive(_)) | None => Some(message),
        };
        if let Some(back) = back.filter(|m| machine.is_strong(*m)) {
            next.kept.push(back);
            if next.kept.len() > machine.strong_bound() {
                return Ok(());
            }
        }
        let to = match back {
            Some(back) => Point::Return(id, sequences.clone(), next, back),
            None => Point::Rotate(id, sequences.clone(), next),
        };
        self.add(from, to, Some((channel, Op::Receive(message))))
    }

    /// The marker is received: everything has to fit.
    fn end(
        &mut self,
        from: StateId,
        id: TransitionId,
        sequences: &Sequences,
        rotation: &Rotation,
    ) -> Result<(), MachineError> {
        let machine = self.machine;
        let (channel, automaton) = &self.rotated[id.index()][rotation.number];
        let channel = *channel;
        let op = machine.transition(id).op_on(channel);
        let receives = matches!(op, Some(Op::Receive(_)));
        if !automaton.accepts_at(&rotation.places)
            || rotation.seen != sequences.get(channel).len()
            || rotation.taken != receives
        {
            return Ok(());
        }
        let mut sequences = sequences.clone();
        sequences.set(channel, rotation.kept.iter().rev().copied().collect());
        let to = if let Some(Op::Send { message, .. }) = op {
            if machine.is_strong(*message) {
                sequences.add(channel, *message);
            }
            if sequences.get(channel).len() > machine.strong_bound() {
                return Ok(());
            }
            Point::Send(id, rotation.number, sequences)
        } else {
            self.begin(id, rotation.number + 1, sequences)
        };
        self.add(from, to, Some((channel, Op::Receive(self.marker))))
    }
}
