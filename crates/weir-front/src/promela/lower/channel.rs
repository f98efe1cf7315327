//! Channels and messages.
//!
//! A channel with room for messages is a length and, for each field, an array of slots; the oldest
//! message is in the first slot. What is beyond the length is 0.
//!
//! A channel without room hands messages over: sending and receiving are one step. A process that
//! can receive so says in memory at which place it stands (`Meeting::at`) and what it wants there.
//! A sender waits until a process wants the message, stores it, and says which receive it is for
//! (`Meeting::got`). The receiver takes it from there before it does anything else; usually other
//! processes cannot observe when. Where they could (the receive is in an `atomic` sequence, the
//! message goes to an element of a global array, an `else` stands beside a send, or a formula is
//! about the variables of a process), no other process takes a step in between: `Context::hand`
//! names the process that has to go on. [`observe`](super::observe) has what formulas see of it.

use weir_model::ids::VarId;
use weir_model::program::{BinOp, Code, Domain, Expr, IntType, Place, StmtKind};

use super::expression::memory_place;
use super::graph::{Action, Edge, NodeId};
use super::place::Lowering;
use super::process::{Begin, Body, Meeting};
use super::value::{Bounds, Value, all, any, binary, not};
use super::variable::{Leaf, Storage};
use super::{Context, MAX_ARRAY};
use crate::errors::quote;
use crate::promela::tree::{
    self, Declared, Expr as Written, ExprKind, Pattern, Receive, Send, Shape, Type,
};
use crate::weir::tree::Span;

/// The most messages of a channel.
const MAX_CAPACITY: i128 = 255;

/// A channel.
#[derive(Clone, Debug)]
pub struct Channel {
    pub capacity: u32,
    pub fields: Vec<Type>,
    /// How many messages are in it, if it has room for any.
    pub len: Option<VarId>,
    /// For each field the first slot.
    slots: Vec<VarId>,
}

impl Channel {
    /// The variable of a field of the message in a slot.
    pub fn slot(&self, field: usize, slot: usize) -> Option<VarId> {
        Some(VarId::new(self.slots.get(field)?.index() + slot))
    }
}

/// How a message gets from or to a channel.
#[derive(Clone, Debug)]
pub enum Transfer {
    /// Appended, or put where it belongs.
    Put(usize),
    /// Taken from that slot.
    Take(usize, usize),
    /// Handed over to a receive of another process.
    Meet(WaitingReceive),
    /// Got by a receive of this process.
    Pick(usize),
    /// The message has another number of fields than the channel, which is an error when it happens.
    Misfit(usize),
}

/// A receive that another process waits at.
#[derive(Clone, Debug)]
pub struct WaitingReceive {
    process: usize,
    number: usize,
}

/// A receive from a channel without room.
#[derive(Clone, Debug)]
pub struct Rendezvous<'m, 't> {
    pub node: NodeId,
    receive: &'m Receive<'t>,
    edge: Edge<'m, 't>,
    /// The channels that it may be from.
    channels: Vec<usize>,
    /// Those of them whose messages have another number of fields.
    misfits: Vec<usize>,
    /// Which of the values that the process says it wants it needs: the channel, and for fields.
    wanted: Vec<Need>,
}

impl Rendezvous<'_, '_> {
    /// Where it leads.
    pub fn to(&self) -> NodeId {
        self.edge.to
    }
}

/// What a sender has to compare.
#[derive(Clone, Debug)]
enum Need {
    /// The channel, in this slot.
    Channel(usize),
    /// A field, in this slot.
    Field(usize, usize),
}

/// A part of a message as it is received.
enum Part<'m, 't> {
    Ignored,
    /// It has to be this.
    Match(&'m Written<'t>),
    Member(i128),
    Into(&'m tree::Place<'t>, Leaf<'t>),
}

impl<'m, 't> Context<'m, 't> {
    /// Makes a channel; gives its number.
    pub fn new_channel(
        &mut self,
        name: &str,
        capacity: &Written<'t>,
        shapes: &[Shape<'t>],
        declared: &Declared<'t>,
    ) -> Option<i128> {
        let room = self.constant(capacity)?;
        if !(0..=MAX_CAPACITY).contains(&room) {
            let message =
                format!("a channel has room for 0 to {MAX_CAPACITY} messages, not {room}");
            self.error_at(message, capacity.token);
            return None;
        }
        let mut fields = Vec::new();
        for shape in shapes {
            for (_, dims, kind) in self.leaves(*shape, None, declared.name.text, 0)? {
                let count: usize = dims.iter().map(|d| d.unwrap_or(1) as usize).product();
                fields.extend(std::iter::repeat_n(kind, count));
            }
        }
        if fields.len() as i128 * room.max(1) > MAX_ARRAY {
            self.error_at("the messages of this channel are too long", declared.name.token);
            return None;
        }
        let span = self.span(declared.span);
        let mut channel = Channel { capacity: room as u32, fields, len: None, slots: Vec::new() };
        if room > 0 {
            let len = format!("{name}.len");
            channel.len =
                Some(self.new_var(len, None, Some(Domain::Int(IntType::U8)), vec![0], span)?);
            for (i, kind) in channel.fields.clone().into_iter().enumerate() {
                // Any number may be sent where an `mtype` is expected.
                let domain = if kind == Type::Mtype { None } else { self.domain(kind) };
                let slots = vec![0; room as usize];
                let name = format!("{name}.{i}");
                channel.slots.push(self.new_var(name, Some(room as u32), domain, slots, span)?);
            }
        }
        self.channels.push(channel);
        if self.channels.len() > 255 {
            self.error_at("a model may have at most 255 channels", declared.name.token);
            return None;
        }
        Some(self.channels.len() as i128)
    }

    /// The channels that a place may mean.
    fn possible(&self, body: &Body<'m, 't>, scope: usize, place: &tree::Place<'t>) -> Vec<usize> {
        let variable =
            body.local(scope, place.name.text).or_else(|| self.globals.get(place.name.text));
        let Some(leaf) = variable.and_then(|v| v.leaf(place)) else { return Vec::new() };
        match &leaf.storage {
            Storage::Constants(list) => {
                let index = match place.index.as_deref().map(|e| &e.kind) {
                    Some(ExprKind::Number(n)) => usize::try_from(*n).ok(),
                    Some(_) => None,
                    None => Some(0),
                };
                let chosen: Vec<i128> = match index {
                    Some(i) if leaf.dims.len() == 1 => list.get(i).copied().into_iter().collect(),
                    _ => list.clone(),
                };
                let known =
                    |v: i128| usize::try_from(v - 1).ok().filter(|c| *c < self.channels.len());
                chosen.into_iter().filter_map(known).collect()
            }
            _ => (0..self.channels.len()).collect(),
        }
    }

    /// How many fields a variable has as a part of a message: a record has several.
    fn width(&self, body: &Body<'m, 't>, scope: usize, place: &tree::Place<'t>) -> usize {
        let variable =
            body.local(scope, place.name.text).or_else(|| self.globals.get(place.name.text));
        match variable.filter(|v| v.leaf(place).is_none() && place.field.is_none()) {
            Some(record) => {
                let inner = |leaf: &Leaf<'t>| {
                    leaf.dims[1..].iter().map(|d| d.unwrap_or(1)).product::<u32>()
                };
                record.leaves.iter().map(inner).sum::<u32>() as usize
            }
            None => 1,
        }
    }

    fn width_of_receive(&self, body: &Body<'m, 't>, scope: usize, receive: &Receive<'t>) -> usize {
        let of = |pattern: &Pattern<'t>| match pattern {
            Pattern::Place(place) => self.width(body, scope, place),
            Pattern::Value(_) => 1,
        };
        receive.patterns.iter().map(of).sum()
    }

    fn width_of_send(&self, body: &Body<'m, 't>, scope: usize, send: &Send<'t>) -> usize {
        let of = |e: &Written<'t>| match &e.kind {
            ExprKind::Place(place) => self.width(body, scope, place),
            _ => 1,
        };
        send.values.iter().map(of).sum()
    }

    /// Finds the receives from channels without room, and gives the processes that have some the
    /// variables that they need.
    pub fn meet(&mut self, mut bodies: Vec<Body<'m, 't>>) -> Vec<Body<'m, 't>> {
        if self.channels.iter().all(|c| c.capacity > 0) {
            return bodies;
        }
        // A formula about a variable of a process sees when something is received into it.
        let mut needs_hand = self.is_observed;
        for body in &mut bodies {
            let mut found: Vec<Rendezvous<'m, 't>> = Vec::new();
            let (mut fields, mut most) = (0, 0);
            for (node, place) in body.graph.nodes.iter().enumerate() {
                let mut wanted_here = 0;
                for edge in &place.edges {
                    let all = std::iter::once(edge.clone()).chain(
                        edge.escapes
                            .iter()
                            .flat_map(|e| body.graph.nodes[body.graph.resolve(*e)].edges.clone()),
                    );
                    for edge in all {
                        let Action::Receive(receive) = edge.action else { continue };
                        let possible = self.possible(body, edge.scope, &receive.channel);
                        let width = self.width_of_receive(body, edge.scope, receive);
                        let (channels, misfits): (Vec<usize>, Vec<usize>) = possible
                            .into_iter()
                            .filter(|c| self.channels[*c].capacity == 0)
                            .partition(|c| width == self.channels[*c].fields.len());
                        let is_known = |r: &Rendezvous<'m, 't>| {
                            r.node == node && std::ptr::eq(r.receive, receive)
                        };
                        if channels.is_empty() && misfits.is_empty() || found.iter().any(is_known) {
                            continue;
                        }
                        let mut wanted = Vec::new();
                        if channels.len() + misfits.len() > 1 {
                            wanted.push(Need::Channel(wanted_here));
                            wanted_here += 1;
                        }
                        for (i, pattern) in receive.patterns.iter().enumerate() {
                            if let Pattern::Value(e) = pattern
                                && !matches!(e.kind, ExprKind::Number(_))
                            {
                                wanted.push(Need::Field(i, wanted_here));
                                wanted_here += 1;
                            }
                            if let Pattern::Place(place) = pattern
                                && body.local(edge.scope, place.name.text).is_none()
                                && let Some(variable) = self.globals.get(place.name.text)
                            {
                                needs_hand |= variable.leaf(place).is_none_or(|l| l.count() > 1);
                            }
                        }
                        fields = fields.max(
                            channels
                                .iter()
                                .map(|c| self.channels[*c].fields.len())
                                .max()
                                .unwrap_or(0),
                        );
                        needs_hand |= edge.region.is_some()
                            && body.graph.nodes[edge.to].region == edge.region;
                        found.push(Rendezvous { node, receive, edge, channels, misfits, wanted });
                    }
                    if let Action::Else(_) = edge.action {
                        // Whether a process waits for a message has to be known at once.
                        needs_hand |= place.edges.iter().any(|e| match e.action {
                            Action::Send(send) => {
                                let possible = self.possible(body, e.scope, &send.channel);
                                possible.iter().any(|c| self.channels[*c].capacity == 0)
                            }
                            _ => false,
                        });
                    }
                }
                most = most.max(wanted_here);
            }
            if found.is_empty() {
                continue;
            }
            let name = body.name.clone();
            let start = body.graph.start;
            let begins = found.iter().any(|r| r.node == start && r.wanted.is_empty());
            let at = match (&body.begin, begins) {
                (Begin::AtOnce, true) => start as i128 + 1,
                _ => 0,
            };
            if matches!(body.begin, Begin::AtOnce)
                && found.iter().any(|r| r.node == start && !r.wanted.is_empty())
            {
                let token = found[0].edge.token;
                let message = "a process may not begin with a receive of a value that is not constant, \
                               from a channel without room";
                self.errors.push(token.error(message).help("put `skip` before it"));
            }
            let none = bodies_span();
            let mut var = |what: &str, count: usize, init: i128| {
                let len = (count > 1).then_some(count as u32);
                self.new_var(format!("{name}.{what}"), len, None, vec![init; count.max(1)], none)
            };
            let made = (|| {
                Some(Meeting {
                    at: var("at", 1, at)?,
                    got: var("got", 1, 0)?,
                    fields: var("message", fields.max(1), 0)?,
                    wanted: var("wanted", most.max(1), 0)?,
                })
            })();
            body.meeting = made;
            body.receives = found;
        }
        if needs_hand && bodies.iter().any(|b| b.meeting.is_some()) {
            self.hand = self.new_var("_hand".to_owned(), None, None, vec![0], bodies_span());
        }
        bodies
    }
}

fn bodies_span() -> weir_model::ids::SpanId {
    weir_model::ids::SpanId::NONE
}

impl<'m, 't> Body<'m, 't> {
    /// Whether a message may be handed over to the process at a place.
    pub fn meets_at(&self, node: NodeId) -> bool {
        self.receives.iter().any(|r| r.node == node)
    }
}

impl<'m, 't> Lowering<'_, 'm, 't> {
    /// The channels that a place may mean, each with the condition for it.
    pub fn channels(&mut self, place: &tree::Place<'t>, span: Span) -> Option<Vec<(Code, usize)>> {
        let leaf = self.leaf(place)?;
        if leaf.kind != Type::Chan {
            let message = format!("{} is not a channel", quote(place.name.text));
            self.cx.error_at(message, place.name.token);
            return None;
        }
        let body = &self.bodies[self.me];
        let possible = self.cx.possible(body, self.scope, place);
        if let (Storage::Constants(_), [one]) = (&leaf.storage, &possible[..]) {
            self.index(place, &leaf)?;
            return Some(vec![(Expr::Const(1), *one)]);
        }
        if possible.is_empty() {
            let message = format!("{} is no channel that is declared", quote(place.name.text));
            self.cx.error_at(message, place.name.token);
            return None;
        }
        let value = self.read_place(place, place.name.token)?;
        let value = self.simple(value, span)?;
        let mut ways = Vec::new();
        for number in possible {
            let is = binary(BinOp::Eq, value.code.clone(), Expr::Const(number as i128 + 1));
            ways.push((is, number));
        }
        Some(ways)
    }

    /// The values of a message, as many as the channel has fields.
    fn message(&mut self, send: &Send<'t>, number: usize, span: Span) -> Option<Vec<Value>> {
        let fields = self.cx.channels[number].fields.clone();
        let mut values = Vec::new();
        for e in &send.values {
            // A record is all its fields.
            if let ExprKind::Place(place) = &e.kind
                && let Some(variable) = self.variable(place.name.text)
                && variable.leaf(place).is_none()
                && place.field.is_none()
            {
                let leaves = variable.leaves.clone();
                let outer = match &place.index {
                    Some(index) => Some(self.value(index)?),
                    None => None,
                };
                for leaf in &leaves {
                    let inner: usize =
                        leaf.dims[1..].iter().map(|d| d.unwrap_or(1) as usize).product();
                    for i in 0..inner {
                        let index = part_index(leaf, &outer, inner, i);
                        values.push(self.read_leaf(leaf, index, span)?);
                    }
                }
                continue;
            }
            let value = self.value(e)?;
            values.push(value);
        }
        let mut fitted = Vec::new();
        for (value, kind) in values.into_iter().zip(&fields) {
            let code = self.bounded(kind.fit(value), send.channel.name.token)?;
            fitted.push(self.simple(Value { code, bounds: kind.bounds() }, span)?);
        }
        Some(fitted)
    }

    fn read_leaf(&mut self, leaf: &Leaf<'t>, index: Option<Value>, span: Span) -> Option<Value> {
        let bounds = leaf.kind.bounds();
        Some(match &leaf.storage {
            Storage::Global(first, _) => {
                let register = self.load(memory_place(*first, leaf, index), span)?;
                Value { code: Expr::Atom(register), bounds }
            }
            Storage::Registers(list) => {
                let list: Vec<Code> = list.iter().map(|r| Expr::Atom(*r)).collect();
                let index = index.unwrap_or(Value::constant(0));
                let index = self.simple(index, span)?;
                Value { code: super::expression::element(&list, &index), bounds }
            }
            Storage::Constants(list) => {
                let list: Vec<Code> = list.iter().map(|v| Expr::Const(*v)).collect();
                let index = index.unwrap_or(Value::constant(0));
                let index = self.simple(index, span)?;
                Value { code: super::expression::element(&list, &index), bounds }
            }
        })
    }

    /// The ways to send a message.
    pub fn sends(&mut self, send: &Send<'t>, span: Span) -> Option<Vec<(Code, Transfer)>> {
        let mut ways = Vec::new();
        for (condition, number) in self.channels(&send.channel, span)? {
            let channel = self.cx.channels[number].clone();
            let bodies = self.bodies;
            let width = self.cx.width_of_send(&bodies[self.me], self.scope, send);
            let is_misfit = width != channel.fields.len();
            if let Some(len) = channel.len {
                let len = Expr::Atom(self.load(Place::var(len), span)?);
                let has_room = binary(BinOp::Lt, len, Expr::Const(i128::from(channel.capacity)));
                let transfer =
                    if is_misfit { Transfer::Misfit(width) } else { Transfer::Put(number) };
                ways.push((all(&[condition, has_room]), transfer));
                continue;
            }
            if is_misfit {
                // Spin finds out before it looks for a receiver.
                ways.push((condition, Transfer::Misfit(width)));
                continue;
            }
            let values = self.message(send, number, span)?;
            for (process, body) in bodies.iter().enumerate() {
                let Some(meeting) = body.meeting.filter(|_| process != self.me) else { continue };
                for (i, receive) in body.receives.iter().enumerate() {
                    let is_misfit = receive.misfits.contains(&number);
                    if !is_misfit && !receive.channels.contains(&number) {
                        continue;
                    }
                    let at = Expr::Atom(self.load(Place::var(meeting.at), span)?);
                    let here = Expr::Const(receive.node as i128 + 1);
                    let mut conditions = vec![condition.clone(), binary(BinOp::Eq, at, here)];
                    if self.cx.hand.is_none() {
                        let got = Expr::Atom(self.load(Place::var(meeting.got), span)?);
                        conditions.push(not(got));
                    }
                    for (field, pattern) in receive.receive.patterns.iter().enumerate() {
                        let wanted = match pattern {
                            Pattern::Value(Written { kind: ExprKind::Number(n), .. }) => *n,
                            Pattern::Place(place)
                                if place.field.is_none() && place.index.is_none() =>
                            {
                                let scope = receive.edge.scope;
                                let is_variable = body.local(scope, place.name.text).is_some()
                                    || self.cx.globals.contains_key(place.name.text);
                                match self.cx.constants.get(place.name.text) {
                                    Some(value) if !is_variable => *value,
                                    _ => continue,
                                }
                            }
                            _ => continue,
                        };
                        let Some(value) = values.get(field) else { continue };
                        let value = value.code.clone();
                        conditions.push(binary(BinOp::Eq, value, Expr::Const(wanted)));
                    }
                    for need in &receive.wanted {
                        let (slot, value) = match need {
                            Need::Channel(slot) => (*slot, Expr::Const(number as i128 + 1)),
                            Need::Field(field, slot) => match values.get(*field) {
                                Some(value) => (*slot, value.code.clone()),
                                None => continue,
                            },
                        };
                        let wanted = VarId::new(meeting.wanted.index() + slot);
                        let wanted = Expr::Atom(self.load(Place::var(wanted), span)?);
                        conditions.push(binary(BinOp::Eq, wanted, value));
                    }
                    let transfer = match is_misfit {
                        true => {
                            let (scope, receive) = (receive.edge.scope, receive.receive);
                            Transfer::Misfit(self.cx.width_of_receive(body, scope, receive))
                        }
                        false => Transfer::Meet(WaitingReceive { process, number: i }),
                    };
                    ways.push((all(&conditions), transfer));
                }
            }
        }
        Some(ways)
    }

    /// The ways to receive a message at a place.
    pub fn receives(
        &mut self,
        receive: &'m Receive<'t>,
        node: NodeId,
        edge: &Edge<'m, 't>,
    ) -> Option<Vec<(Code, Transfer)>> {
        let span = edge.span;
        let mut ways = Vec::new();
        for (condition, number) in self.channels(&receive.channel, span)? {
            if self.cx.channels[number].capacity == 0 {
                continue;
            }
            let body = &self.bodies[self.me];
            let width = self.cx.width_of_receive(body, self.scope, receive);
            let is_misfit = width != self.cx.channels[number].fields.len();
            for (matches, slot) in self.matches(receive, number, span)? {
                let transfer = match is_misfit {
                    true => Transfer::Misfit(width),
                    false => Transfer::Take(number, slot),
                };
                ways.push((all(&[condition.clone(), matches]), transfer));
            }
        }
        let bodies = self.bodies;
        let body = &bodies[self.me];
        let is_this = |r: &Rendezvous<'m, 't>| r.node == node && std::ptr::eq(r.receive, receive);
        if let (Some(i), Some(meeting)) = (body.receives.iter().position(is_this), body.meeting)
            && !body.receives[i].channels.is_empty()
        {
            self.parts(receive)?;
            let got = Expr::Atom(self.load(Place::var(meeting.got), span)?);
            let is = binary(BinOp::Eq, got, Expr::Const(i as i128 + 1));
            ways.push((is, Transfer::Pick(i)));
        }
        Some(ways)
    }

    /// What each field of a message is received by.
    fn parts<'a>(&mut self, receive: &'a Receive<'t>) -> Option<Vec<Part<'a, 't>>> {
        let mut parts = Vec::new();
        for pattern in &receive.patterns {
            match pattern {
                Pattern::Value(e) => parts.push(Part::Match(e)),
                Pattern::Place(place) => {
                    let name = place.name.text;
                    let variable = self.variable(name).cloned();
                    if name == "_" {
                        parts.push(Part::Ignored);
                    } else if let (None, Some(value)) = (&variable, self.cx.constants.get(name)) {
                        parts.push(Part::Member(*value));
                    } else if let Some(variable) =
                        variable.filter(|v| v.leaf(place).is_none() && place.field.is_none())
                    {
                        for leaf in &variable.leaves {
                            let inner: usize =
                                leaf.dims[1..].iter().map(|d| d.unwrap_or(1) as usize).product();
                            for _ in 0..inner {
                                parts.push(Part::Into(place, leaf.clone()));
                            }
                        }
                    } else {
                        let leaf = self.leaf(place)?;
                        parts.push(Part::Into(place, leaf));
                    }
                }
            }
        }
        Some(parts)
    }

    /// The slots from which a message may be received, each with the condition for it.
    pub fn matches(
        &mut self,
        receive: &Receive<'t>,
        number: usize,
        span: Span,
    ) -> Option<Vec<(Code, usize)>> {
        let channel = self.cx.channels[number].clone();
        let Some(len) = channel.len else { return Some(Vec::new()) };
        let parts = self.parts(receive)?;
        let mut wanted = Vec::new();
        for (field, part) in parts.iter().enumerate().take(channel.fields.len()) {
            match part {
                Part::Member(value) => wanted.push((field, Expr::Const(*value))),
                Part::Match(e) => {
                    let value = self.value(e)?;
                    wanted.push((field, self.simple(value, span)?.code));
                }
                Part::Ignored | Part::Into(..) => {}
            }
        }
        let len = Expr::Atom(self.load(Place::var(len), span)?);
        let slots = if receive.is_random { channel.capacity as usize } else { 1 };
        let mut found: Vec<(Code, usize)> = Vec::new();
        let mut before = Vec::new();
        for slot in 0..slots {
            let mut conditions = vec![binary(BinOp::Gt, len.clone(), Expr::Const(slot as i128))];
            for (field, value) in &wanted {
                let at = VarId::new(channel.slots[*field].index() + slot);
                let at = Expr::Atom(self.load(Place::var(at), span)?);
                conditions.push(binary(BinOp::Eq, at, value.clone()));
            }
            let matches = all(&conditions);
            let first = all(&[matches.clone(), not(any(&before))]);
            found.push((self.bounded(first, receive.channel.name.token)?, slot));
            before.push(matches);
            if wanted.is_empty() {
                break;
            }
        }
        Some(found)
    }

    /// Moves a message.
    pub fn transfer(&mut self, transfer: &Transfer, edge: &Edge<'m, 't>) -> Option<()> {
        let span = edge.span;
        match (transfer, edge.action) {
            (Transfer::Put(number), Action::Send(send)) => self.put(send, *number, span),
            (Transfer::Take(number, slot), Action::Receive(receive)) => {
                self.take(receive, *number, *slot, span)
            }
            (Transfer::Meet(wanted), Action::Send(send)) => self.hand_over(send, wanted, span),
            (Transfer::Pick(i), Action::Receive(receive)) => self.pick(receive, *i, span),
            (Transfer::Misfit(width), _) => {
                let fields = if *width == 1 { "field" } else { "fields" };
                let message = format!(
                    "the message here has {width} {fields}, and the channel has another number of them"
                );
                let id = self.cx.span(span);
                self.cx.program.messages.insert(id, message);
                self.emit(StmtKind::Assert(Expr::Const(0)), span);
                Some(())
            }
            _ => Some(()),
        }
    }

    fn put(&mut self, send: &Send<'t>, number: usize, span: Span) -> Option<()> {
        let channel = self.cx.channels[number].clone();
        let values = self.message(send, number, span)?;
        let len_var = channel.len?;
        let len = Expr::Atom(self.load(Place::var(len_var), span)?);
        let mut carried: Vec<Code> = values.iter().map(|v| v.code.clone()).collect();
        if send.is_sorted {
            carried = self.insert(&channel, &len, carried, span)?;
        }
        for (first, value) in channel.slots.iter().zip(carried) {
            let place = match channel.capacity {
                1 => Place::var(*first),
                n => Place::element(*first, n, len.clone()),
            };
            self.emit(StmtKind::Store(place, value), span);
        }
        let more = binary(BinOp::Add, len, Expr::Const(1));
        self.emit(StmtKind::Store(Place::var(len_var), more), span);
        self.loaded.clear();
        Some(())
    }

    /// Puts a message before the first one that is greater, and gives the one that is last then.
    fn insert(
        &mut self,
        channel: &Channel,
        len: &Code,
        values: Vec<Code>,
        span: Span,
    ) -> Option<Vec<Code>> {
        let is_put = self.temporary(span)?;
        self.emit(StmtKind::Assign(is_put, Expr::Const(0)), span);
        let mut carried = Vec::new();
        for value in &values {
            let register = self.temporary(span)?;
            self.emit(StmtKind::Assign(register, value.clone()), span);
            carried.push(register);
        }
        for slot in 0..channel.capacity as usize {
            let (block, done) = self.nested(|this| {
                let mut old = Vec::new();
                for first in &channel.slots {
                    let register = this.temporary(span)?;
                    let at = VarId::new(first.index() + slot);
                    this.emit(StmtKind::Load(register, Place::var(at)), span);
                    old.push(register);
                }
                let mut less = Expr::Const(0);
                for (value, old) in values.iter().zip(&old).rev() {
                    let (old, value) = (Expr::Atom(*old), value.clone());
                    let below = binary(BinOp::Lt, value.clone(), old.clone());
                    let same = all(&[binary(BinOp::Eq, value, old), less]);
                    less = any(&[below, same]);
                }
                let (mark, ()) = this.nested(|this| {
                    this.emit(StmtKind::Assign(is_put, Expr::Const(1)), span);
                });
                this.emit(StmtKind::If(less, mark, Vec::new()), span);
                let (shift, ()) = this.nested(|this| {
                    for ((first, carried), old) in channel.slots.iter().zip(&carried).zip(&old) {
                        let at = VarId::new(first.index() + slot);
                        this.emit(StmtKind::Store(Place::var(at), Expr::Atom(*carried)), span);
                        this.emit(StmtKind::Assign(*carried, Expr::Atom(*old)), span);
                    }
                });
                this.emit(StmtKind::If(Expr::Atom(is_put), shift, Vec::new()), span);
                Some(())
            });
            done?;
            let is_there = binary(BinOp::Gt, len.clone(), Expr::Const(slot as i128));
            self.emit(StmtKind::If(is_there, block, Vec::new()), span);
        }
        Some(carried.into_iter().map(Expr::Atom).collect())
    }

    fn take(
        &mut self,
        receive: &Receive<'t>,
        number: usize,
        slot: usize,
        span: Span,
    ) -> Option<()> {
        let channel = self.cx.channels[number].clone();
        let mut values = Vec::new();
        for (first, kind) in channel.slots.iter().zip(&channel.fields) {
            let at = VarId::new(first.index() + slot);
            let register = self.load(Place::var(at), span)?;
            values.push(Value { code: Expr::Atom(register), bounds: kind.bounds() });
        }
        if !receive.keeps {
            let len_var = channel.len?;
            let len = Expr::Atom(self.load(Place::var(len_var), span)?);
            for next in slot + 1..channel.capacity as usize {
                let (block, done) = self.nested(|this| {
                    for first in &channel.slots {
                        let register = this.temporary(span)?;
                        let at = |slot: usize| Place::var(VarId::new(first.index() + slot));
                        this.emit(StmtKind::Load(register, at(next)), span);
                        this.emit(StmtKind::Store(at(next - 1), Expr::Atom(register)), span);
                    }
                    Some(())
                });
                done?;
                let is_there = binary(BinOp::Gt, len.clone(), Expr::Const(next as i128));
                self.emit(StmtKind::If(is_there, block, Vec::new()), span);
            }
            let fewer = binary(BinOp::Sub, len, Expr::Const(1));
            for first in &channel.slots {
                let place = match channel.capacity {
                    1 => Place::var(*first),
                    n => Place::element(*first, n, fewer.clone()),
                };
                self.emit(StmtKind::Store(place, Expr::Const(0)), span);
            }
            self.emit(StmtKind::Store(Place::var(len_var), fewer), span);
        }
        self.loaded.clear();
        self.keep(receive, &values, span, |_| true)
    }

    /// Stores the fields of a message where they are received into, if `is_ours` says so.
    fn keep(
        &mut self,
        receive: &Receive<'t>,
        values: &[Value],
        span: Span,
        is_ours: impl Fn(&Leaf<'t>) -> bool,
    ) -> Option<()> {
        let parts = self.parts(receive)?;
        let mut done: Vec<(*const tree::Place<'t>, Vec<&'t str>, usize)> = Vec::new();
        for (part, value) in parts.iter().zip(values) {
            let Part::Into(place, leaf) = part else { continue };
            if !is_ours(leaf) {
                continue;
            }
            if leaf.path.len() == place.path().len() - 1 {
                self.assign(place, value.clone(), false, span)?;
                continue;
            }
            // One field of a record.
            let inner: usize = leaf.dims[1..].iter().map(|d| d.unwrap_or(1) as usize).product();
            let key = |p: &(*const tree::Place<'t>, Vec<&'t str>, usize)| {
                p.0 == std::ptr::from_ref(*place) && p.1 == leaf.path
            };
            let i = match done.iter_mut().find(|p| key(p)) {
                Some(entry) => {
                    entry.2 += 1;
                    entry.2
                }
                None => {
                    done.push((std::ptr::from_ref(*place), leaf.path.clone(), 0));
                    0
                }
            };
            let outer = match &place.index {
                Some(index) => Some(self.value(index)?),
                None => None,
            };
            let index = part_index(leaf, &outer, inner, i);
            self.set(leaf, index, value.clone(), false, span)?;
        }
        Some(())
    }

    /// Gives a message to another process.
    fn hand_over(&mut self, send: &Send<'t>, wanted: &WaitingReceive, span: Span) -> Option<()> {
        let bodies = self.bodies;
        let body = &bodies[wanted.process];
        let meeting = body.meeting?;
        let receive = &body.receives[wanted.number];
        let number = receive.channels[0];
        let values = self.message(send, number, span)?;
        for (i, value) in values.iter().enumerate() {
            let at = VarId::new(meeting.fields.index() + i);
            self.emit(StmtKind::Store(Place::var(at), value.code.clone()), span);
        }
        let got = Expr::Const(wanted.number as i128 + 1);
        self.emit(StmtKind::Store(Place::var(meeting.got), got), span);
        self.emit(StmtKind::Store(Place::var(meeting.at), Expr::Const(0)), span);
        match self.cx.hand {
            Some(hand) => {
                let who = Expr::Const(wanted.process as i128 + 1);
                self.emit(StmtKind::Store(Place::var(hand), who), span);
            }
            // Others see at once what is received into their variables.
            None => {
                let (me, scope) = (self.me, self.scope);
                (self.me, self.scope) = (wanted.process, receive.edge.scope);
                let is_global = |leaf: &Leaf<'t>| matches!(leaf.storage, Storage::Global(..));
                let done = self.keep(receive.receive, &values, span, is_global);
                (self.me, self.scope) = (me, scope);
                done?;
            }
        }
        self.loaded.clear();
        Some(())
    }

    /// Takes a message that was handed over.
    fn pick(&mut self, receive: &Receive<'t>, i: usize, span: Span) -> Option<()> {
        let bodies = self.bodies;
        let body = &bodies[self.me];
        let meeting = body.meeting?;
        let number = body.receives[i].channels[0];
        let kinds = self.cx.channels[number].fields.clone();
        let mut values = Vec::new();
        for (field, kind) in kinds.iter().enumerate() {
            let at = VarId::new(meeting.fields.index() + field);
            let register = self.load(Place::var(at), span)?;
            values.push(Value { code: Expr::Atom(register), bounds: kind.bounds() });
        }
        for field in 0..kinds.len() {
            let at = VarId::new(meeting.fields.index() + field);
            self.emit(StmtKind::Store(Place::var(at), Expr::Const(0)), span);
        }
        self.emit(StmtKind::Store(Place::var(meeting.got), Expr::Const(0)), span);
        if let Some(hand) = self.cx.hand {
            self.emit(StmtKind::Store(Place::var(hand), Expr::Const(0)), span);
        }
        let has_hand = self.cx.hand.is_some();
        let is_ours = |leaf: &Leaf<'t>| has_hand || !matches!(leaf.storage, Storage::Global(..));
        self.keep(receive, &values, span, is_ours)?;
        self.loaded.clear();
        Some(())
    }

    /// Says that the process stands at a place at which messages may be handed over to it.
    pub fn enter(&mut self, node: NodeId, span: Span) -> Option<()> {
        let bodies = self.bodies;
        let body = &bodies[self.me];
        let meeting = body.meeting?;
        for receive in body.receives.iter().filter(|r| r.node == node) {
            self.scope = receive.edge.scope;
            for need in &receive.wanted {
                let (slot, value) = match need {
                    Need::Channel(slot) => {
                        let place = &receive.receive.channel;
                        (*slot, self.read_place(place, place.name.token)?)
                    }
                    Need::Field(field, slot) => match &receive.receive.patterns[*field] {
                        Pattern::Value(e) => {
                            let mut is_global = false;
                            e.visit(&mut |e| {
                                if let ExprKind::Place(place) = &e.kind {
                                    let scope = receive.edge.scope;
                                    is_global |= body.local(scope, place.name.text).is_none()
                                        && self.cx.globals.contains_key(place.name.text);
                                }
                            });
                            if is_global {
                                let message = "`eval` of a global variable is not supported for a \
                                               channel without room";
                                self.cx.error_at(message, e.token);
                                return None;
                            }
                            (*slot, self.value(e)?)
                        }
                        Pattern::Place(_) => continue,
                    },
                };
                let at = VarId::new(meeting.wanted.index() + slot);
                self.emit(StmtKind::Store(Place::var(at), value.code), span);
            }
        }
        let here = Expr::Const(node as i128 + 1);
        self.emit(StmtKind::Store(Place::var(meeting.at), here), span);
        self.loaded.clear();
        Some(())
    }
}

/// The index of a part of an element of an array of records.
fn part_index(leaf: &Leaf<'_>, outer: &Option<Value>, inner: usize, i: usize) -> Option<Value> {
    let i = Value::constant(i as i128);
    match outer {
        Some(outer) => {
            let first = Value::binary(BinOp::Mul, outer.clone(), Value::constant(inner as i128));
            let code = Value::binary(BinOp::Add, first, i);
            Some(Value { bounds: Bounds { low: 0, high: leaf.count() as i128 - 1 }, ..code })
        }
        None if leaf.count() > 1 => Some(i),
        None => None,
    }
}
