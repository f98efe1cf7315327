//! The cyclic form of Post's correspondence problem as a lossy machine and as a library
//! (Wang et al. 2021, section 4).
//!
//! *Problem.* Pairs of words `(α1, β1), …, (αm, βm)`. Is there a sequence of indices
//! `I = i1 … ik`, at least one, such that `α_I = α_i1 … α_ik` and `β_I` are equal up to
//! rotation: `α_I = l1·l2` and `β_I = l2·l1`? This is undecidable (Ruohonen 1983).
//!
//! *Machine.* [`machine`] is `CM_(A,B)` of section 4.2, after Abdulla and Jonsson 1996b: there
//! is a solution if and only if it visits `s1` infinitely often, with lossy channels.
//!
//! | rule, for each pair `i` | phase |
//! | --- | --- |
//! | `s0 –c1!αi, c2!βi→ s0` | guess |
//! | `s0 –nop→ s1` | |
//! | `s1 –c1!αi·c1?βi, c2!βi·c2?αi→ s1` | check |
//! | `s1 –nop→ s_trap` | |
//!
//! A word is sent letter by letter, the first letter first, on both channels at a time.
//! Section 4.2 does not say what `s_trap` is for. Here it is the state in which the check
//! is given up, and no transition leaves it.
//!
//! *Correctness.* Whenever the machine returns to `s1`, each channel has gained the
//! length that the other has lost, so the total number of messages has not grown. So a
//! run that returns for ever loses nothing from some moment on, and repeats a
//! configuration. In between it chose indices `J`, and `w` in `c1` became `w` again:
//! `w·α_J = β_J·w`. So `α_J` and `β_J` are equal up to rotation. Conversely, given a
//! solution `I`, guess `I` twice, and lose messages until `l2·l1·l2` is in `c1` and
//! `l1·l2·l1` in `c2`: every check of `I` restores these contents.
//!
//! [`one_channel()`] is `CM'_(A,B)`, and [`library()`] is `L(A,B)` of section 4.3.

mod library;
mod one_channel;

use std::fmt;

use weir_channel::{Builder, ChannelId, Machine, MachineError, MessageId, Op, StateId, Transition};
use weir_model::program::Program;

pub use library::library;
pub use one_channel::one_channel;

use crate::pcp::Instance;
use crate::program::ProgramError;

/// The control state that is visited again and again.
pub const AGAIN: &str = "s1";

/// Why there is no machine, or no library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CpcpError {
    /// Only basic machines have a form with one channel.
    NotBasic,
    /// It would be too large, or have a name twice.
    Machine(MachineError),
    /// The library would have more rules than a variable may have values.
    Rules(usize),
    /// There is no program.
    Program(ProgramError),
}

impl fmt::Display for CpcpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotBasic => {
                f.write_str("the machine is not basic; `weir channel basic` makes it so")
            }
            Self::Machine(error) => write!(f, "too large for a channel machine: {error}"),
            Self::Rules(count) => {
                write!(f, "too large for a library: the machine has {count} transitions")
            }
            Self::Program(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CpcpError {}

impl From<MachineError> for CpcpError {
    fn from(error: MachineError) -> Self {
        Self::Machine(error)
    }
}

/// The machine `CM_(A,B)` of an instance, where `A` are the first words of its pairs and
/// `B` the second ones.
///
/// # Errors
/// If it is too large for a machine.
///
/// ```
/// use weir_channel::semantics::Semantics;
/// use weir_channel::{SearchOptions, explicit};
/// use weir_theory::{cpcp, pcp};
///
/// // `ab` and `ba` are equal up to rotation.
/// let machine = cpcp::machine(&pcp::read("ab ba").unwrap()).unwrap();
/// let s1 = machine.state(cpcp::AGAIN).unwrap();
/// let options = SearchOptions { bound: Some(4), ..SearchOptions::default() };
/// let (answer, _) = explicit::again(&machine, Semantics::Lossy, s1, &options, &mut |_| {});
/// assert!(matches!(answer, explicit::Again::Visited(_)));
/// ```
pub fn machine(instance: &Instance) -> Result<Machine, CpcpError> {
    let mut builder = Machine::builder("cpcp");
    let channels = [builder.channel("c1")?, builder.channel("c2")?];
    let letters = instance.letters();
    let mut messages = Vec::new();
    for letter in &letters {
        messages.push(builder.message(letter.to_string())?);
    }
    let word = |text: &str| -> Vec<MessageId> {
        let place = |c| letters.binary_search(&c).expect("all letters are there");
        text.chars().map(|c| messages[place(c)]).collect()
    };
    let s0 = builder.state("s0")?;
    let s1 = builder.state(AGAIN)?;
    let trap = builder.state("s_trap")?;
    for (i, (alpha, beta)) in instance.pairs().enumerate() {
        let (alpha, beta) = (word(alpha), word(beta));
        let sends = side_by_side(channels, &alpha, &beta, Op::send);
        let receives = side_by_side(channels, &beta, &alpha, Op::Receive);
        path(&mut builder, s0, &format!("guess {}", i + 1), &sends)?;
        path(&mut builder, s1, &format!("check {}", i + 1), &[sends, receives].concat())?;
    }
    builder.transition(Transition::new(s0, s1))?;
    builder.transition(Transition::new(s1, trap))?;
    Ok(builder.build(s0)?)
}

/// The program of the machine of an instance, which asks whether some run visits [`AGAIN`]
/// infinitely often (Atig et al. 2010, theorem 3).
///
/// # Errors
/// If it would be too large.
///
/// # Panics
/// If the machine is not that of an instance.
pub fn program(machine: &Machine) -> Result<Program, CpcpError> {
    let again = machine.state(AGAIN).expect("the machine of an instance has the state");
    crate::program::again(machine, &[again]).map_err(CpcpError::Program)
}

/// What is done on channels in one transition.
type Ops = Vec<(ChannelId, Op)>;

/// Sends or receives a word on each of two channels, letter by letter.
fn side_by_side(
    [c1, c2]: [ChannelId; 2],
    first: &[MessageId],
    second: &[MessageId],
    op: impl Fn(MessageId) -> Op,
) -> Vec<Ops> {
    let nth = |n: usize| {
        let both = [(c1, first.get(n)), (c2, second.get(n))];
        both.into_iter().filter_map(|(c, m)| Some((c, op(*m?)))).collect()
    };
    (0..first.len().max(second.len())).map(nth).collect()
}

/// Transitions one after the other, from a control state back to it.
fn path(builder: &mut Builder, home: StateId, name: &str, all: &[Ops]) -> Result<(), MachineError> {
    let mut from = home;
    for (n, ops) in all.iter().enumerate() {
        let to = match n + 1 == all.len() {
            true => home,
            false => builder.state(format!("{name}.{}", n + 1))?,
        };
        let step = Transition::new(from, to);
        builder.transition(ops.iter().fold(step, |t, (c, op)| t.op(*c, op.clone())))?;
        from = to;
    }
    Ok(())
}
