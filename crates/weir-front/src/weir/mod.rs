//! x
use crate::{Diagnostic, Source};
use weir_model::program::Program;
/// x
pub fn read(name: &str, text: &str) -> Result<(Program, Source), Vec<Diagnostic>> {
    let _ = (name, text);
    Err(vec![])
}
