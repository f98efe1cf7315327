//! Machines with one channel instead of several (Wang et al. 2021, section 4.2).
//!
//! *Idea.* The single channel `c` contains the contents of `c1`, then the delimiter `$1`,
//! then the contents of `c2`, then `$2`, and so on. To take a transition the machine
//! *scans* the channel: it receives each message and sends it again. The message that the
//! transition receives is not sent again, and a message that it sends is inserted before
//! the delimiter of its channel. At the beginning only the delimiters are sent.
//!
//! The paper says that a scan that has lost a delimiter cannot be completed. It must not
//! run for ever either, by receiving its own messages: the library would then have a run
//! without returns for every instance that reaches `s1`, and Theorem 1 would not follow.
//! So messages have two colors, `a` and `a'`. A scan receives messages of one color and
//! sends them in the other. If it misses its delimiter, it blocks at the first message of
//! its own.
//!
//! The color of a control state is the color of the messages in the channel at this
//! state. Colors are assigned along the transitions from the initial state: a transition
//! with an operation changes the color, since it is one scan, and a transition without
//! one does not. If a state is reached with both colors, a scan that only changes the
//! color is added.

use std::collections::VecDeque;

use weir_channel::{Builder, ChannelId, Machine, MachineError, MessageId, Op, StateId, Transition};

use super::CpcpError;

/// A machine with the channel `c` alone that visits the control states of a basic machine
/// in the same orders, perfect or lossy. These have their names; it has others in between.
/// Transitions without operations stay what they are, where no color changes.
///
/// # Errors
/// If the machine is not basic, or the result is too large.
///
/// ```
/// use weir_theory::{cpcp, pcp};
///
/// let two = cpcp::machine(&pcp::read("ab ba").unwrap()).unwrap();
/// let one = cpcp::one_channel(&two).unwrap();
/// assert_eq!(one.channels().count(), 1);
/// assert!(two.states().all(|s| one.state(two.state_name(s)).is_some()));
/// ```
pub fn one_channel(machine: &Machine) -> Result<Machine, CpcpError> {
    if !machine.is_basic() {
        return Err(CpcpError::NotBasic);
    }
    let mut builder = Machine::builder(format!("{}, one channel", machine.name()));
    let mut states = Vec::new();
    for state in machine.states() {
        states.push(builder.state(machine.state_name(state))?);
    }
    for label in machine.labels() {
        builder.label(machine.label_name(label))?;
    }
    let mut messages = Vec::new();
    for message in machine.messages() {
        let name = machine.message_name(message);
        messages.push([builder.message(name)?, builder.message(format!("{name}'"))?]);
    }
    let mut delimiters = Vec::new();
    for number in 1..=machine.channels().count() {
        delimiters.push(builder.message(format!("${number}"))?);
    }
    let c = builder.channel("c")?;
    let mut making = Making { machine, builder, c, messages, delimiters, sent: sent(machine) };
    let start = making.start(states[machine.initial().index()])?;
    let colors = colors(machine);
    for (number, t) in machine.transitions().iter().enumerate() {
        let (from, to) = (states[t.from.index()], states[t.to.index()]);
        let color = colors[t.from.index()];
        let changes = color != colors[t.to.index()];
        let name = format!("t{}", number + 1);
        match (has_ops(t), changes) {
            (false, false) => making.step(from, to, None, t)?,
            (_, true) => making.scan(from, to, t, color, &name)?,
            (true, false) => {
                let between = making.builder.state(format!("{name} done"))?;
                making.scan(from, between, t, color, &name)?;
                let nothing = Transition::new(t.from, t.to);
                making.scan(between, to, &nothing, !color, &format!("{name} color"))?;
            }
        }
    }
    Ok(making.builder.build(start)?)
}

fn has_ops(t: &Transition) -> bool {
    t.ops().next().is_some()
}

/// The color of each control state. A transition with an operation changes the color. If a state is
/// reached with both colors, the first one counts.
fn colors(machine: &Machine) -> Vec<bool> {
    let mut outgoing = vec![vec![]; machine.states().count()];
    machine.transitions().iter().for_each(|t| outgoing[t.from.index()].push(t));
    let mut colors = vec![None; outgoing.len()];
    colors[machine.initial().index()] = Some(false);
    let mut queue = VecDeque::from([machine.initial()]);
    while let Some(state) = queue.pop_front() {
        let color = colors[state.index()] == Some(true);
        for t in &outgoing[state.index()] {
            if colors[t.to.index()].is_none() {
                colors[t.to.index()] = Some(color != has_ops(t));
                queue.push_back(t.to);
            }
        }
    }
    colors.into_iter().map(|color| color == Some(true)).collect()
}

/// The messages that are sent on each channel, in their order.
fn sent(machine: &Machine) -> Vec<Vec<MessageId>> {
    let on = |channel: ChannelId| {
        let ops = machine.transitions().iter().filter_map(|t| t.op_on(channel));
        let sent = ops.filter_map(|op| match op {
            Op::Send { message, .. } => Some(*message),
            Op::Receive(_) => None,
        });
        let mut sent: Vec<MessageId> = sent.collect();
        sent.sort_unstable();
        sent.dedup();
        sent
    };
    machine.channels().map(on).collect()
}

/// The machine that is being made.
struct Making<'m> {
    machine: &'m Machine,
    builder: Builder,
    /// The one channel.
    c: ChannelId,
    /// Each message in both colors.
    messages: Vec<[MessageId; 2]>,
    /// The delimiter of each channel.
    delimiters: Vec<MessageId>,
    sent: Vec<Vec<MessageId>>,
}

impl Making<'_> {
    fn colored(&self, message: MessageId, color: bool) -> MessageId {
        self.messages[message.index()][usize::from(color)]
    }

    /// A transition with the label of another one.
    fn step(
        &mut self,
        from: StateId,
        to: StateId,
        op: Option<Op>,
        like: &Transition,
    ) -> Result<(), MachineError> {
        let mut step = Transition::new(from, to);
        step.label = like.label;
        if let Some(op) = op {
            step = step.op(self.c, op);
        }
        self.builder.transition(step).map(|_| ())
    }

    /// The operation, and a new control state after it.
    fn then(&mut self, from: StateId, op: Op, name: String) -> Result<StateId, MachineError> {
        let to = self.builder.state(name)?;
        self.builder.transition(Transition::new(from, to).op(self.c, op))?;
        Ok(to)
    }

    /// Sends the delimiters; gives the control state where that begins.
    fn start(&mut self, to: StateId) -> Result<StateId, MachineError> {
        let start = self.builder.state("start")?;
        let mut at = start;
        for (number, delimiter) in self.delimiters.clone().into_iter().enumerate() {
            at = self.then(at, Op::send(delimiter), format!("start {}", number + 1))?;
        }
        self.builder.transition(Transition::new(at, to))?;
        Ok(start)
    }

    /// Takes everything in a color and sends it in the other, with what a transition does.
    fn scan(
        &mut self,
        from: StateId,
        to: StateId,
        transition: &Transition,
        color: bool,
        name: &str,
    ) -> Result<(), MachineError> {
        let mut at = from;
        for channel in self.machine.channels() {
            let number = channel.index() + 1;
            let op = transition.op_on(channel).cloned();
            // Only what begins a scan has its label.
            let label = if at == from { transition } else { &Transition::new(from, to) };
            match &op {
                Some(Op::Receive(message)) => {
                    let message = self.colored(*message, color);
                    let next = self.builder.state(format!("{name} c{number}"))?;
                    self.step(at, next, Some(Op::Receive(message)), label)?;
                    at = next;
                }
                _ if at == from => {
                    let next = self.builder.state(format!("{name} c{number}"))?;
                    self.step(at, next, None, label)?;
                    at = next;
                }
                _ => {}
            }
            for message in self.sent[channel.index()].clone() {
                let held = format!("{name} c{number} {}", self.machine.message_name(message));
                let held = self.then(at, Op::Receive(self.colored(message, color)), held)?;
                let back = Op::send(self.colored(message, !color));
                self.builder.transition(Transition::new(held, at).op(self.c, back))?;
            }
            let delimiter = self.delimiters[channel.index()];
            at = self.then(at, Op::Receive(delimiter), format!("{name} ${number}"))?;
            if let Some(Op::Send { message, .. }) = op {
                let new = Op::send(self.colored(message, !color));
                at = self.then(at, new, format!("{name} ${number} sent"))?;
            }
            let next = match number == self.delimiters.len() {
                true => to,
                false => self.builder.state(format!("{name} after ${number}"))?,
            };
            let end = Transition::new(at, next).op(self.c, Op::send(delimiter));
            self.builder.transition(end)?;
            at = next;
        }
        Ok(())
    }
}
