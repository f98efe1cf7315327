//! `weir convert`

use weir::load::{program, read_text};

use super::{Status, complain, print, write_whole};
use crate::cli::{Convert, Target};

pub fn run(args: &Convert) -> Status {
    let reading = args.language.reading();
    let read = read_text(&args.file)
        .and_then(|text| program(args.language.name_of(&args.file), &text, &reading));
    let program = match read {
        Ok((program, _)) => program,
        Err(error) => return complain(&error),
    };
    let text = match args.to {
        Target::Weir => weir_front::weir::print(&program),
    };
    match &args.output {
        Some(path) => write_whole(path, &text),
        None => {
            print(&text);
            Status::Fine
        }
    }
}
