//! What there is without the feature `cluster`: a message.

use weir::Verifier;
use weir::question::Properties;
use weir_engine::Engine;

use crate::cli::Check;
use crate::commands::ask::Asking;

/// There is none.
pub enum Cluster {}

impl Cluster {
    /// The engine that has the workers.
    pub fn engine(&self) -> &'static dyn Engine {
        match *self {}
    }

    /// Asks, and reports in the first process; whether this is that process.
    pub fn ask(&self, _: &mut Asking<'_>, _: &Properties, _: &Verifier) -> bool {
        match *self {}
    }
}

/// The workers that `weir check` is to use, if it is to use any.
///
/// # Errors
/// If it is: there are none.
pub fn of(args: &Check) -> Result<Option<Cluster>, String> {
    match args.cluster.is_given() {
        false => Ok(None),
        true => Err("this `weir` was built without searches with several workers; \
                     `cargo install --path crates/weir-cli --features cluster` installs one with them"
            .to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};

    /// Without the feature, `weir` says how to get it.
    #[test]
    fn workers_need_the_feature() {
        for option in ["--stats", "--workers=2", "--processes=2", "--wait=1"] {
            let words = ["weir", "check", "peterson.weir", option].map(Into::into);
            let (cli, _) = Cli::parse_with_matches(words.to_vec()).unwrap();
            let Command::Check(args) = cli.command else { panic!("it is `check`") };
            match of(&args) {
                Ok(found) => assert!(option == "--stats" && found.is_none()),
                Err(message) => assert!(message.contains("--features cluster"), "{message}"),
            }
        }
    }
}
