//! Places in texts of Rust: where fences can be inserted, and where memory orders are written.

pub mod gaps;
pub mod names;
pub mod orders;
mod syntax;
