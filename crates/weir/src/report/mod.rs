//! What a person, or another program, sees of an answer.

pub mod explain;
pub mod herd;
pub mod json;
pub mod run;
pub mod table;
