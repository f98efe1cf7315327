//! Places in texts of C and C++: where fences can be inserted, and where memory orders are written.
//!
//! Texts are read token by token, before the preprocessor. Whoever changes a text has a compiler read it again.

pub mod gaps;
pub mod orders;
mod token;
