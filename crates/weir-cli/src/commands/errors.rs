//! `weir errors`: what is wrong with a text, for `weir serve` and `weir lsp`, which read texts in
//! processes of their own.

use weir::load::{program, read_text};
use weir::report::json::ErrorReport;
use weir::{LoadError, Reading};

use super::{Status, print_json};
use crate::cli::Errors;

pub fn run(args: &Errors) -> Status {
    let reading = Reading { bounds: vec![], ..args.language.reading() };
    let name = args.language.name_of(&args.file);
    let found = read_text(&args.file).and_then(|text| program(name, &text, &reading));
    let errors = found.as_ref().err().map(ErrorReport::of_load).unwrap_or_default();
    print_json(&errors);
    match found {
        Ok(_) => Status::Fine,
        Err(LoadError::Stopped { .. }) => Status::Unknown,
        Err(_) => Status::Wrong,
    }
}
