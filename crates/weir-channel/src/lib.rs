//! Channel machines: finite control and FIFO channels, perfect or lossy.
//!
//! The definitions are those of Atig et al. 2010, section 4. A **channel machine** `(Q,
//! C, Σ, Λ, Δ)` has control states, channels, messages, labels and transitions. A
//! transition tests a regular **guard** on each channel, and sends or receives. A send
//! may first apply a **substitution** to what is in the channel. In an **`(S, k)`-lossy**
//! machine all messages can be lost but the **strong** ones of `S`, of which a channel
//! holds at most `k`. A machine with none of these extras is
//! **basic**.
//!
//! The word of a channel is written with the newest message first, as in the
//! paper: `c!a` makes `a·u` of `u`, and `c?a` makes `u` of `u·a`.
//!
//! * [`Machine`] is a machine, [`semantics`] defines its steps.
//! * [`text`] reads and writes machines.
//! * [`lossy`] decides whether a lossy machine reaches a control state.
//! * [`explicit`] searches perfect and lossy machines with channels up to a bound.
//! * [`replay()`] checks a run, independently of the searches.
//! * [`Translation`] is the machine of a program, and [`decide`] is the engine that uses
//!   it.
//! * [`tso`] and [`pso`] translate programs to machines.
//! * [`product()`] makes one machine of several, and [`automaton`] has the automata of guards.
//! * [`evidence`] has the files of runs and of upward-closed sets, and checks them.
//!
//! ```
//! use weir_channel::lossy::{Reach, reach};
//! use weir_channel::semantics::{Contents, Goal};
//! use weir_channel::{SearchOptions, text};
//!
//! let machine = text::read("
//!     machine token;
//!     messages data, token;
//!     strong token at most 1;        // never lost, and never two in a channel
//!     channels wire;
//!     states idle, lost;
//!     initial idle;
//!     idle -> idle do wire!data;
//!     idle -> idle when wire only data do wire!token;
//!     idle -> lost when wire in token token;
//! ");
//! let error = &machine.unwrap_err()[0];
//! assert!(error.message.contains("more strong messages than the channel may hold"));
//!
//! let machine = text::read("
//!     machine token;
//!     messages data, token;
//!     strong token at most 1;
//!     channels wire;
//!     states idle, sent, lost;
//!     initial idle;
//!     idle -> sent do wire!token;
//!     sent -> sent do wire!data;
//!     sent -> lost do wire?data;     // the token is older, so it would have to be lost
//! ").unwrap();
//! let goal = Goal { state: machine.state("lost").unwrap(), contents: Contents::Any };
//! let (answer, _) = reach(&machine, &goal, &SearchOptions::default(), &mut |_| {});
//! assert!(matches!(answer, Reach::NotReached(_)));
//! ```

pub mod automaton;
mod before;
pub mod decide;
pub mod evidence;
pub mod explicit;
mod forward;
mod guess;
mod ids;
pub mod lossy;
mod machine;
mod pending;
mod product;
pub mod pso;
mod regex;
mod replay;
pub mod semantics;
pub mod text;
mod translation;
pub mod tso;

pub use ids::{ChannelId, LabelId, MessageId, StateId, TransitionId};
pub use machine::{
    Builder, Configuration, MAX_CHANNELS, MAX_DEPTH, MAX_LABELS, MAX_MESSAGES, MAX_STATES,
    MAX_STRONG, MAX_TRANSITIONS, Machine, MachineError, Op, Substitution, Transition, Word,
};
pub use product::{ProductError, product};
pub use regex::{Class, Regex};
pub use replay::{ReplayError, replay};
pub use translation::{Place, Translation, TranslationError};
pub use weir_engine::{SearchOptions, Stats};
