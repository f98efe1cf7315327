//! The command line of `weir game`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use weir_model::game::{Buffers, Player};

use super::options::{Format, HtmlArg, LanguageArg};

#[derive(Debug, Args)]
#[command(after_help = "\
Exit status: 0 the process player wins, 1 the update player wins, 2 the input or the
command line is wrong, 3 unknown. With --play, 0 in any case.

Examples: weir game examples/games/handshake.weir
          weir game examples/games/figure-6.weir --fairness process --semantics load-buffer
          weir game examples/games/handshake.weir --play update")]
pub struct Game {
    /// A program (`.weir`) with a `game`; `-` is standard input
    pub file: String,
    #[command(flatten)]
    pub language: LanguageArg,
    /// Only the game of this name
    #[arg(long, value_name = "NAME")]
    pub game: Option<String>,
    /// A fairness condition
    #[arg(long, value_enum, default_value_t = Fairness::None)]
    pub fairness: Fairness,
    /// The kind of buffers between processes and memory
    #[arg(long, value_enum, default_value_t = GameSemantics::StoreBuffer)]
    pub semantics: GameSemantics,
    /// The maximal size of a buffer, with fairness or load buffers [default: the number of
    /// writes with store buffers if that is finite, otherwise 4]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub bound: Option<u16>,
    /// Write the winning strategy to this file, for `weir certify`
    #[arg(long, value_name = "FILE")]
    pub strategy: Option<PathBuf>,
    /// Write the strategy to this file as a graph in DOT, the language of Graphviz
    #[arg(long, value_name = "FILE")]
    pub dot: Option<PathBuf>,
    /// Write the strategy to this file as an SVG picture
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Play this player yourself, against the strategy
    #[arg(long, value_enum, value_name = "PLAYER", conflicts_with_all = ["format", "strategy", "dot", "svg", "html"])]
    pub play: Option<PlayerArg>,
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    #[command(flatten)]
    pub page: HtmlArg,
}

impl Game {
    pub fn options(&self) -> weir_game::Options {
        let buffers = match self.semantics {
            GameSemantics::StoreBuffer => Buffers::Store,
            GameSemantics::LoadBuffer => Buffers::Load,
        };
        weir_game::Options { fairness: self.fairness.into(), buffers }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Fairness {
    /// None; these games are decidable
    None,
    /// The update player may not leave the program in a deadlock with non-empty buffers
    Update,
    /// A process that is enabled infinitely often is played infinitely often
    Process,
}

impl From<Fairness> for weir_model::game::Fairness {
    fn from(fairness: Fairness) -> Self {
        match fairness {
            Fairness::None => Self::None,
            Fairness::Update => Self::Update,
            Fairness::Process => Self::Process,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GameSemantics {
    /// Writes on their way to memory
    StoreBuffer,
    /// Values on their way from memory
    LoadBuffer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PlayerArg {
    /// Who picks instructions
    Process,
    /// Who picks what happens to buffers
    Update,
}

impl From<PlayerArg> for Player {
    fn from(player: PlayerArg) -> Self {
        match player {
            PlayerArg::Process => Self::Process,
            PlayerArg::Update => Self::Update,
        }
    }
}
