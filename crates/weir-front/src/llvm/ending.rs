//! What the first thread asserts after it has joined all others is a question about final states.

use weir_model::program::Property;

use super::Reader;

impl Reader<'_> {
    /// The properties of final states, if the first thread ends like that.
    pub(super) fn ending(&mut self) -> Vec<Property> {
        Vec::new()
    }
}
