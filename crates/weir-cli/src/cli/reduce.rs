//! The command line of `weir reduce`.

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
pub struct Reduce {
    #[command(subcommand)]
    pub command: ReduceCommand,
}

#[derive(Debug, Subcommand)]
pub enum ReduceCommand {
    /// Print the game of a perfect channel system
    Pcs(ReducePcs),
    /// Print the machine or the library of a cyclic instance of Post's problem
    Cpcp(ReduceCpcp),
}

#[derive(Debug, Args)]
#[command(after_help = "\
With update fairness the process player wins the game, and with process fairness the
update player does, if and only if the system reaches the state.

Example: weir reduce pcs examples/games/ping.chm --reach done --fairness update")]
pub struct ReducePcs {
    /// A machine (`.chm`) with one channel, no guards and no substitutions; `-` is
    /// standard input
    pub file: String,
    /// The control state in question
    #[arg(long, value_name = "STATE")]
    pub reach: String,
    /// The fairness condition of the game
    #[arg(long, value_enum)]
    pub fairness: ReduceFairness,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReduceFairness {
    /// Section 7 of Spengler 2024: a game to reach
    Update,
    /// Section 8 of Spengler 2024: a game to avoid
    Process,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The instance has a cyclic solution if and only if the machines, with lossy channels, visit
s1 infinitely often, if and only if the program does under TSO, and if and only if the
library is not lock-free under TSO. Each text has the question: a comment of the machines
says how to ask, and the program has a `live` property.

Example: weir reduce cpcp examples/cpcp/rotation.pcp | weir live - --model sc")]
pub struct ReduceCpcp {
    /// Pairs of words (`.pcp`); `-` is standard input
    pub file: String,
    /// What to print
    #[arg(long, value_enum, default_value_t = ReduceCpcpTo::Library)]
    pub to: ReduceCpcpTo,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReduceCpcpTo {
    /// The machine with two channels
    Machine,
    /// The machine with one channel
    OneChannel,
    /// The library, an object with two methods
    Library,
    /// The program of the machine with two channels, which asks for s1 infinitely often
    Program,
}
