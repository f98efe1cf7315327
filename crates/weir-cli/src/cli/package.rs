//! Options of Cargo packages: what is built, as Cargo names it, and which of the tests are checked, as the test harness of Rust
//! names it.

use std::path::PathBuf;

use clap::Args;
use weir::PackageSettings;

/// What the options of packages are called together.
const HEADING: &str = "Cargo packages";

/// The options that are about packages only, by their ids: the process of a single test is not given them.
pub const OF_PACKAGES: [&str; 20] = [
    "entry",
    "package",
    "workspace",
    "lib",
    "bins",
    "tests",
    "test",
    "features",
    "all_features",
    "no_default_features",
    "loom",
    "locked",
    "offline",
    "target_dir",
    "built",
    "as_cargo",
    "exact",
    "skip",
    "ignored",
    "include_ignored",
];

/// What is built.
#[derive(Debug, Args)]
pub struct PackageArgs {
    /// The tests of this package of the workspace (may be given several times)
    #[arg(help_heading = HEADING, long, short, value_name = "SPEC")]
    pub package: Vec<String>,
    /// The tests of all packages of the workspace
    #[arg(help_heading = HEADING, long)]
    pub workspace: bool,
    /// The tests in the library
    #[arg(help_heading = HEADING, long)]
    pub lib: bool,
    /// The tests in programs
    #[arg(help_heading = HEADING, long)]
    pub bins: bool,
    /// All files of tests, and tests in the library and in programs
    #[arg(help_heading = HEADING, long)]
    pub tests: bool,
    /// The tests in this file of tests (may be given several times)
    #[arg(help_heading = HEADING, long, value_name = "NAME")]
    pub test: Vec<String>,
    /// Switch on features, separated by commas
    #[arg(help_heading = HEADING, long, value_name = "FEATURES")]
    pub features: Vec<String>,
    /// Switch on all features
    #[arg(help_heading = HEADING, long)]
    pub all_features: bool,
    /// Leave the default features off
    #[arg(help_heading = HEADING, long)]
    pub no_default_features: bool,
    /// Compile with `--cfg loom`, for tests with loom
    #[arg(help_heading = HEADING, long)]
    pub loom: bool,
    /// Fail if the lock file would change
    #[arg(help_heading = HEADING, long)]
    pub locked: bool,
    /// Do not use the network
    #[arg(help_heading = HEADING, long)]
    pub offline: bool,
    /// Where Cargo keeps what it builds [default: a folder in the cache]
    #[arg(help_heading = HEADING, long, value_name = "DIR")]
    pub target_dir: Option<PathBuf>,
    /// A description of tests that have been built
    #[arg(hide = true, long, value_name = "FILE")]
    pub built: Option<PathBuf>,
}

impl PackageArgs {
    /// The same for the library.
    pub fn settings(&self) -> PackageSettings {
        let mut cargo = Vec::new();
        let switches = [
            ("--workspace", self.workspace),
            ("--lib", self.lib),
            ("--bins", self.bins),
            ("--tests", self.tests),
            ("--all-features", self.all_features),
            ("--no-default-features", self.no_default_features),
            ("--locked", self.locked),
            ("--offline", self.offline),
        ];
        cargo.extend(
            switches.iter().filter(|(_, is_on)| *is_on).map(|(name, _)| (*name).to_owned()),
        );
        let named =
            [("--package", &self.package), ("--test", &self.test), ("--features", &self.features)];
        for (option, values) in named {
            cargo.extend(values.iter().map(|value| format!("{option}={value}")));
        }
        PackageSettings {
            cargo,
            loom: self.loom,
            target: self.target_dir.clone(),
            built: self.built.clone(),
        }
    }
}

/// Which tests are checked.
#[derive(Debug, Args)]
pub struct TestsArgs {
    /// Take names of tests in place of files, as `cargo weir` does
    #[arg(hide = true, long)]
    pub as_cargo: bool,
    /// Where the `Cargo.toml` is, with --as-cargo
    #[arg(hide = true, long, value_name = "PATH", requires = "as_cargo")]
    pub manifest_path: Option<String>,
    /// Check tests with this in their names (may be given several times)
    #[arg(help_heading = HEADING, long = "filter", value_name = "TEXT")]
    pub filters: Vec<String>,
    /// The names of --filter and --skip are whole names
    #[arg(help_heading = HEADING, long)]
    pub exact: bool,
    /// Leave out tests with this in their names (may be given several times)
    #[arg(help_heading = HEADING, long, value_name = "TEXT")]
    pub skip: Vec<String>,
    /// Check only tests with `#[ignore]`
    #[arg(help_heading = HEADING, long, conflicts_with = "include_ignored")]
    pub ignored: bool,
    /// Check tests with `#[ignore]` too
    #[arg(help_heading = HEADING, long)]
    pub include_ignored: bool,
}
