//! The first fields of every file of evidence.

use weir_model::program::Program;

/// Checks that a file has a format and a version, and was made for a program.
pub(crate) fn check(
    (format, version, fingerprint): (&str, u32, &str),
    expected: (&str, u32),
    program: &Program,
) -> Result<(), String> {
    if (format, version) != expected {
        let (name, number) = expected;
        return Err(format!("this is {format} version {version}, not {name} version {number}"));
    }
    if fingerprint != program.fingerprint() {
        return Err("it was made for another program".to_owned());
    }
    Ok(())
}
