//! All tests of this crate in one program, which is linked once.

mod common;
#[path = "common/evidence.rs"]
mod evidence;
#[path = "common/server.rs"]
mod server;

mod answers;
mod at_hand;
mod automata;
mod batch;
mod bounds;
mod channel;
mod claims;
mod cli;
mod cluster;
mod compiled;
mod crates;
mod docs;
mod editor;
mod fences;
mod games;
mod guesses;
mod hostile;
mod litmus_generated;
mod litmus_run;
mod live;
mod long_names;
mod models;
mod mutate;
mod output;
mod packages;
mod pages;
mod places;
mod public;
mod reduce;
mod robust;
mod runs;
mod schema;
mod serve;
mod settled;
mod sources;
mod step;
mod tables;
mod tamper;
mod threads;
mod values;
mod words;
mod written;
