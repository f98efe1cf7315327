//! The first fields of every file of evidence about a program.

use serde::{Deserialize, Serialize};
use weir_model::program::Program;

use crate::Rejected;

/// What a file of evidence begins with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The name of the format.
    pub format: String,
    /// The version of the format.
    pub version: u32,
    /// The name of the program, for the reader.
    pub program: String,
    /// The program that the file was made for ([`Program::fingerprint`]).
    pub fingerprint: String,
}

impl Header {
    /// The header of a file that is made for a program.
    pub fn new(format: &str, version: u32, program: &Program) -> Self {
        Self {
            format: format.to_owned(),
            version,
            program: program.name.clone(),
            fingerprint: program.fingerprint(),
        }
    }

    /// Checks that a file has a format and a version, and was made for a program.
    pub(crate) fn check(
        &self,
        expected: (&'static str, u32),
        program: &Program,
    ) -> Result<(), Rejected> {
        if (self.format.as_str(), self.version) != expected {
            return Err(Rejected::Format { found: (self.format.clone(), self.version), expected });
        }
        if self.fingerprint != program.fingerprint() {
            return Err(Rejected::Other { what: "program" });
        }
        Ok(())
    }
}
