//! `weir cc` and `weir c++`: in the place of clang in a build.

use std::ffi::OsString;
use std::process::ExitCode;

use weir_compile::database::cc;
use weir_compile::{Kind, Options, Tools};

use super::fail;
use crate::output::note;

/// Does what clang is told, and writes modules. The exit code is that of clang.
pub fn run(kind: Kind, arguments: &[OsString]) -> ExitCode {
    match cc(kind, arguments, &Tools::default(), &Options::default()) {
        Ok(built) => {
            for text in built.notes {
                note(&format!("weir: {text}"));
            }
            ExitCode::from(u8::try_from(built.status).unwrap_or(1))
        }
        Err(error) => fail(&error.to_string()).into(),
    }
}

/// The kind of compiler that a command of this name is.
pub fn kind(word: &OsString) -> Option<Kind> {
    match word.to_str() {
        Some("cc") => Some(Kind::C),
        Some("c++") => Some(Kind::Cpp),
        _ => None,
    }
}
