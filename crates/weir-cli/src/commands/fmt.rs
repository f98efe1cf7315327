//! `weir fmt`

use std::path::Path;

use weir::load::{LoadError, read_text};

use super::{Status, complain, print, write_whole};
use crate::cli::Fmt;
use crate::progress::counted;

pub fn run(args: &Fmt) -> Status {
    let mut status = Status::Fine;
    for file in &args.files {
        status = status.and(one(args, file));
    }
    if args.check && status == Status::Fine {
        print(&format!("{} in the usual form\n", counted(args.files.len(), "program")));
    }
    status
}

fn one(args: &Fmt, file: &str) -> Status {
    let text = match read_text(file) {
        Ok(text) => text,
        Err(error) => return complain(&error),
    };
    let formatted = match weir_front::weir::format(&text) {
        Ok(formatted) => formatted,
        Err(errors) => return complain(&LoadError::Wrong { name: file.to_owned(), text, errors }),
    };
    match (args.check, file) {
        (true, _) if formatted == text => Status::Fine,
        (true, _) => {
            print(&format!("{file}\n"));
            Status::Violated
        }
        (false, "-") => {
            print(&formatted);
            Status::Fine
        }
        (false, _) if formatted == text => Status::Fine,
        (false, _) => write_whole(Path::new(file), &formatted),
    }
}
