//! Options of a search with several workers.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::options::seconds;

/// What the options are called together.
const HEADING: &str = "Many machines";

/// With which workers a search is done.
#[derive(Clone, Debug, Default, Args)]
pub struct ClusterArgs {
    /// Search with so many workers in each process [default: 1]
    #[arg(help_heading = HEADING, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub workers: Option<u16>,
    /// Search with so many processes on this machine [default: 1]
    #[arg(help_heading = HEADING, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256), conflicts_with = "hosts")]
    pub processes: Option<u16>,
    /// Search with a process at each address of this file, one in a line; the same
    /// command is started on every host
    #[arg(help_heading = HEADING, long, value_name = "FILE", requires = "process", requires = "secret")]
    pub hosts: Option<PathBuf>,
    /// Which line of the hosts file this process is, counted from 0; process 0 prints the report
    #[arg(help_heading = HEADING, long, value_name = "I", requires = "hosts")]
    pub process: Option<u16>,
    /// A file with the secret that all processes know; only its owner may be able to read it
    #[arg(help_heading = HEADING, long, value_name = "FILE", requires = "hosts")]
    pub secret: Option<PathBuf>,
    /// How many seconds to wait for the other processes [default: 30]
    #[arg(help_heading = HEADING, long, value_name = "SECONDS", value_parser = seconds)]
    pub wait: Option<Duration>,
    /// After how many seconds without a sign of life another process is taken to be dead
    /// [default: 10]
    #[arg(help_heading = HEADING, long, value_name = "SECONDS", value_parser = seconds)]
    pub silence: Option<Duration>,
}

impl ClusterArgs {
    /// Whether a search with several workers is asked for.
    pub fn is_given(&self) -> bool {
        let Self { workers, processes, hosts, process, secret, wait, silence } = self;
        workers.is_some()
            || processes.is_some()
            || hosts.is_some()
            || process.is_some()
            || secret.is_some()
            || wait.is_some()
            || silence.is_some()
    }
}
