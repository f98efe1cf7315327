//! `weir completions` and `weir man`: what a shell and `man` know about the command line.

use std::path::Path;

use clap::{Command, CommandFactory};

use super::{Status, fail, print, write_whole};
use crate::cli::{Cli, Completions, Man};
use crate::progress::counted;

pub fn completions(args: &Completions) -> Status {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "weir", &mut script);
    match String::from_utf8(script) {
        Ok(script) => {
            print(&script);
            Status::Fine
        }
        Err(_) => fail("the script is not UTF-8"),
    }
}

pub fn man(args: &Man) -> Status {
    let mut command = Cli::command();
    command.build();
    let pages = match pages(&command) {
        Ok(pages) => pages,
        Err(error) => return fail(&format!("the pages cannot be written: {error}")),
    };
    let Some(folder) = &args.output else {
        print(&pages[0].1);
        return Status::Fine;
    };
    write(folder, &pages)
}

/// One file for each page.
fn write(folder: &Path, pages: &[(String, String)]) -> Status {
    if let Err(error) = std::fs::create_dir_all(folder) {
        return fail(&format!("cannot make `{}`: {error}", folder.display()));
    }
    for (name, text) in pages {
        let status = write_whole(&folder.join(format!("{name}.1")), text);
        if status != Status::Fine {
            return status;
        }
    }
    print(&format!("{} in {}\n", counted(pages.len(), "page"), folder.display()));
    Status::Fine
}

/// The pages of a command and of those in it, each with its name.
fn pages(command: &Command) -> std::io::Result<Vec<(String, String)>> {
    let mut pages = Vec::new();
    let mut open = vec![(command.get_name().to_owned(), command.clone())];
    while let Some((name, command)) = open.pop() {
        let mut text = Vec::new();
        clap_mangen::Man::new(command.clone()).render(&mut text)?;
        let inner: Vec<Command> =
            command.get_subcommands().filter(|c| c.get_name() != "help").cloned().collect();
        let inner = inner.into_iter().map(|c| (format!("{name}-{}", c.get_name()), c));
        open.extend(inner.rev());
        pages.push((name, String::from_utf8_lossy(&text).into_owned()));
    }
    Ok(pages)
}
