//! Rounds of messages, on timely dataflow.
//!
//! The dataflow has one operator, the inbox of each worker. Its timestamps are the numbers of
//! rounds: a worker sends packets in a round, closes it, and goes on when timely's progress
//! tracking says that no packet of the round is under way anywhere. So a round is over for a
//! worker only if every worker has closed it, and everything that was sent to it has arrived.
//!
//! A worker that is ahead may send packets of the next round before others know that the last
//! one is over. They wait in the inbox.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::Write;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use timely::Accountable;
use timely::bytes::arc::Bytes;
use timely::communication::Push;
use timely::container::NoopBuilder;
use timely::dataflow::channels::pact::DistributorPact;
use timely::dataflow::channels::pushers::exchange::Distributor;
use timely::dataflow::channels::{ContainerBytes, Message};
use timely::dataflow::operators::generic::Operator;
use timely::dataflow::operators::{Input, Probe};
use timely::dataflow::{InputHandle, ProbeHandle};
use timely::worker::Worker;

use crate::fault::Fault;

/// How long a worker sleeps at most while it waits.
const NAP: Duration = Duration::from_millis(20);

/// What a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// Configurations that were reached.
    Reached,
    /// What a worker says about a round.
    Report,
    /// How far a worker is, for the progress line.
    Progress,
    /// A limit was reached: everybody stops.
    Stop,
    /// Anything else, by agreement.
    Data,
}

const TOPICS: [Topic; 5] =
    [Topic::Reached, Topic::Report, Topic::Progress, Topic::Stop, Topic::Data];

/// A message from one worker to another.
#[derive(Clone, Default)]
pub struct Packet {
    to: u32,
    from: u32,
    /// One more than the number of the topic; 0 if it is empty.
    topic: u32,
    body: Body,
}

#[derive(Clone)]
enum Body {
    Own(Vec<u8>),
    /// As it came from another process: how much of the bytes, and where it begins.
    Shared(Bytes, usize, usize),
}

impl Default for Body {
    fn default() -> Self {
        Self::Own(Vec::new())
    }
}

impl Packet {
    /// Whose it is.
    pub fn from(&self) -> usize {
        self.from as usize
    }

    /// What it is; `None` if it is nothing that a worker of this version sends.
    pub fn topic(&self) -> Option<Topic> {
        TOPICS.get((self.topic as usize).checked_sub(1)?).copied()
    }

    /// What it says.
    pub fn bytes(&self) -> &[u8] {
        match &self.body {
            Body::Own(bytes) => bytes,
            Body::Shared(bytes, begin, end) => bytes.get(*begin..*end).unwrap_or_default(),
        }
    }
}

impl Accountable for Packet {
    fn record_count(&self) -> i64 {
        i64::from(self.topic != 0)
    }
}

/// What stands before the bytes of a packet: four numbers.
const HEAD: usize = 24;

impl ContainerBytes for Packet {
    fn from_bytes(bytes: Bytes) -> Self {
        let word = |i: usize| {
            let four = bytes.get(4 * i..4 * i + 4).and_then(|four| four.try_into().ok());
            four.map_or(0, u32::from_le_bytes)
        };
        let (to, from, topic) = (word(0), word(1), word(2));
        let len = (word(3) as usize) | ((word(4) as usize) << 32);
        let end = HEAD.saturating_add(len).min(bytes.len());
        Self { to, from, topic, body: Body::Shared(bytes, HEAD, end) }
    }

    fn length_in_bytes(&self) -> usize {
        (HEAD + self.bytes().len()).next_multiple_of(8)
    }

    fn into_bytes<W: Write>(&self, writer: &mut W) {
        let len = self.bytes().len();
        let words = [self.to, self.from, self.topic, len as u32, (len >> 32) as u32, 0];
        let padding = self.length_in_bytes() - HEAD - len;
        let mut write = |bytes: &[u8]| writer.write_all(bytes).expect("there is room for it");
        words.iter().for_each(|word| write(&word.to_le_bytes()));
        write(self.bytes());
        write(&[0; 8][..padding]);
    }
}

/// Sends every packet to its worker at once.
struct Post;

impl Distributor<Packet> for Post {
    fn partition<T: Clone, P: Push<Message<T, Packet>>>(
        &mut self,
        packet: &mut Packet,
        time: &T,
        pushers: &mut [P],
    ) {
        let to = packet.to as usize % pushers.len();
        Message::push_at(packet, time.clone(), &mut pushers[to]);
    }

    fn flush<T: Clone, P: Push<Message<T, Packet>>>(&mut self, _: &T, _: &mut [P]) {}
}

fn parity(round: u64) -> usize {
    (round % 2) as usize
}

/// A worker's connection to all workers.
pub struct Net<'w> {
    worker: &'w mut Worker,
    input: InputHandle<u64, NoopBuilder<Packet>>,
    probe: ProbeHandle<u64>,
    /// Packets of this round and the next one, by whether its number is odd.
    inbox: Rc<RefCell<[VecDeque<Packet>; 2]>>,
    round: u64,
    /// Another worker of this process has failed.
    failed: &'w AtomicBool,
    /// The bytes of packets for workers of other processes, and for others of this one.
    pub sent: u64,
}

impl<'w> Net<'w> {
    /// Builds the dataflow.
    pub fn new(worker: &'w mut Worker, failed: &'w AtomicBool) -> Self {
        let mut input = InputHandle::new_with_builder();
        let probe = ProbeHandle::new();
        let inbox: Rc<RefCell<[VecDeque<Packet>; 2]>> = Rc::default();
        let filled = inbox.clone();
        worker.dataflow::<u64, _, _>(|scope| {
            scope
                .input_from(&mut input)
                .unary::<NoopBuilder<Packet>, _, _, _>(
                    DistributorPact(|_| Post),
                    "inbox",
                    move |_, _| {
                        move |input, _| {
                            input.for_each(|time, packet| {
                                let packet = std::mem::take(packet);
                                let place = parity(*time.time());
                                filled.borrow_mut()[place].push_back(packet);
                            });
                        }
                    },
                )
                .probe_with(&probe);
        });
        Self { worker, input, probe, inbox, round: 0, failed, sent: 0 }
    }

    /// The number of this worker.
    pub fn index(&self) -> usize {
        self.worker.index()
    }

    /// The number of workers.
    pub fn peers(&self) -> usize {
        self.worker.peers()
    }

    /// The number of the round.
    pub fn round(&self) -> u64 {
        self.round
    }

    /// Sends a packet in this round.
    pub fn send(&mut self, to: usize, topic: Topic, bytes: Vec<u8>) {
        self.sent += bytes.len() as u64;
        let topic = TOPICS.iter().position(|t| *t == topic).expect("it is listed") as u32 + 1;
        let from = self.index() as u32;
        let mut packet = Packet { to: to as u32, from, topic, body: Body::Own(bytes) };
        self.input.send_batch(&mut packet);
    }

    /// Sends the same to all other workers.
    pub fn tell_others(&mut self, topic: Topic, bytes: &[u8]) {
        let me = self.index();
        for to in (0..self.peers()).filter(|to| *to != me) {
            self.send(to, topic, bytes.to_vec());
        }
    }

    /// Lets packets come and go.
    ///
    /// # Errors
    /// If another worker of this process has failed.
    pub fn step(&mut self) -> Result<(), Fault> {
        self.worker.step();
        self.check()
    }

    fn check(&self) -> Result<(), Fault> {
        match self.failed.load(Ordering::Relaxed) {
            true => Err(Fault::Elsewhere),
            false => Ok(()),
        }
    }

    /// A packet of this round that has arrived.
    pub fn take(&mut self) -> Option<Packet> {
        self.inbox.borrow_mut()[parity(self.round)].pop_front()
    }

    /// Closes the round and hands over everything that is sent in it, until it is over for all.
    ///
    /// # Errors
    /// If another worker has failed, or `take` fails.
    pub fn close(
        &mut self,
        take: &mut dyn FnMut(&mut Self, Packet) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.begin_close();
        while !self.is_closed()? {
            while let Some(packet) = self.take() {
                take(self, packet)?;
            }
        }
        while let Some(packet) = self.take() {
            take(self, packet)?;
        }
        self.end_close();
        Ok(())
    }

    /// Says that this worker sends nothing more in this round.
    pub fn begin_close(&mut self) {
        self.input.advance_to(self.round + 1);
    }

    /// Waits a little for packets of this round; whether all of them have arrived.
    ///
    /// # Errors
    /// If another worker of this process has failed.
    pub fn is_closed(&mut self) -> Result<bool, Fault> {
        let next = self.round + 1;
        if self.probe.less_than(&next) {
            self.worker.step_or_park(Some(NAP));
            self.check()?;
        }
        Ok(!self.probe.less_than(&next))
    }

    /// Goes on to the next round, after everything of this one was taken.
    pub fn end_close(&mut self) {
        self.round += 1;
    }

    /// Everybody tells everybody something: what each worker said, in their order.
    ///
    /// # Errors
    /// If a worker has failed or said something else.
    pub fn gather(&mut self, topic: Topic, own: Vec<u8>) -> Result<Vec<Vec<u8>>, Fault> {
        let mut all: Vec<Option<Vec<u8>>> = vec![None; self.peers()];
        self.tell_others(topic, &own);
        let me = self.index();
        all[me] = Some(own);
        self.close(&mut |_, packet| {
            let slot = all.get_mut(packet.from()).filter(|slot| slot.is_none());
            match slot.filter(|_| packet.topic() == Some(topic)) {
                Some(slot) => *slot = Some(packet.bytes().to_vec()),
                None => return Err(Fault::confused()),
            }
            Ok(())
        })?;
        all.into_iter().collect::<Option<Vec<_>>>().ok_or_else(Fault::confused)
    }

    /// The same for a value of each worker.
    ///
    /// # Errors
    /// If a worker has failed or said something else.
    pub fn gather_values<T: Serialize + DeserializeOwned>(
        &mut self,
        own: &T,
    ) -> Result<Vec<T>, Fault> {
        let own = serde_json::to_vec(own).map_err(|_| Fault::garbled())?;
        let all = self.gather(Topic::Data, own)?;
        all.iter()
            .map(|bytes| serde_json::from_slice(bytes).map_err(|_| Fault::garbled()))
            .collect()
    }

    /// Ends the dataflow: nothing more is sent.
    pub fn end(self) {
        let Self { worker, input, .. } = self;
        input.close();
        while worker.has_dataflows() && !self.failed.load(Ordering::Relaxed) {
            worker.step_or_park(Some(NAP));
        }
    }
}
