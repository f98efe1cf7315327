//! The first fields of every file of evidence.

use weir_model::program::Program;

use crate::Rejected;

/// Checks that a file has a format and a version, and was made for a program.
pub(crate) fn check(
    (format, version, fingerprint): (&str, u32, &str),
    expected: (&'static str, u32),
    program: &Program,
) -> Result<(), Rejected> {
    if (format, version) != expected {
        return Err(Rejected::Format { found: (format.to_owned(), version), expected });
    }
    if fingerprint != program.fingerprint() {
        return Err(Rejected::Other { what: "program" });
    }
    Ok(())
}
