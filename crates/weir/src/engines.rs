//! The engines: the one table of them.
//!
//! `--engine` and its help, `weir graph`, `weir bench` and the pages list what is here. A new
//! engine is a module that implements [`Engine`] and a row of [`ENGINES`].

use weir_channel::decide::Channels;
use weir_engine::explicit::Folded;
use weir_engine::{Automata, Backward, Engine, Explicit, Views};

use crate::portfolio::{Auto, Turn};

/// All engines. The first one is the default.
pub static ENGINES: [&dyn Engine; 7] =
    [&Auto, &Explicit, &Views, &Backward, &Channels, &AUTOMATA[0], &Folded];

/// The turns of the portfolio, each as an engine of its own: for comparisons, and in no list.
pub static TURNS: [&dyn Engine; 4] = [&Turn::Slice, &Turn::Robust, &Turn::Pairs, &Turn::Inclusion];

/// The engine of a name.
pub fn engine(name: &str) -> Option<&'static dyn Engine> {
    ENGINES.into_iter().chain(TURNS).find(|engine| engine.name() == name)
}

/// The automata engine, with what can be switched off.
static AUTOMATA: [Automata; 4] = [
    Automata { sleep_sets: true, acceleration: true, ..Automata::DEFAULT },
    Automata { sleep_sets: true, acceleration: false, ..Automata::DEFAULT },
    Automata { sleep_sets: false, acceleration: true, ..Automata::DEFAULT },
    Automata { sleep_sets: false, acceleration: false, ..Automata::DEFAULT },
];

/// The automata engine with or without sleep sets and acceleration.
pub fn automata(wanted: Automata) -> &'static dyn Engine {
    AUTOMATA.iter().find(|engine| **engine == wanted).expect("there are all four")
}
