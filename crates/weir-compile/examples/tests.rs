//! Lists the tests of a package and their modules: `cargo run -p weir-compile --example tests --
//! Cargo.toml [--loom] [options of cargo]`.

use std::path::PathBuf;
use weir_compile::{Options, Tools, package};

fn main() -> Result<(), weir_compile::Error> {
    let mut arguments = std::env::args_os().skip(1);
    let manifest = PathBuf::from(arguments.next().unwrap_or_else(|| "Cargo.toml".into()));
    let (loom, cargo): (Vec<_>, Vec<_>) = arguments.partition(|a| a == "--loom");
    let options = package::PackageOptions { cargo, loom: !loom.is_empty(), ..Default::default() };
    let built = package::package(&manifest, &Tools::default(), &Options::default(), &options)?;
    for binary in &built.binaries {
        println!(
            "{} {} ({}): {}",
            binary.kind,
            binary.name,
            binary.package,
            binary.modules[0].display()
        );
        println!("  modules: {:?}", binary.modules);
        for test in &binary.tests {
            println!(
                "  {}{}: {:?}",
                test.name,
                if test.ignored { " (ignored)" } else { "" },
                test.symbol
            );
        }
    }
    println!("{} libraries", built.libraries.len());
    Ok(())
}
