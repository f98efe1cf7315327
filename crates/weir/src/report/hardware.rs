//! What a processor was observed to do with a litmus test, beside what models allow.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

/// The observations of one test.
#[derive(Debug, Serialize)]
pub struct ObservedReport {
    /// The schema of such reports: [`ObservedReport::SCHEMA`].
    pub schema: &'static str,
    /// The name of the test.
    pub program: String,
    /// Its file.
    pub file: String,
    /// Its text.
    pub text: String,
    /// How often it ran.
    pub instances: u64,
    /// The seed of the run.
    pub seed: u64,
    /// Whether all final states of every model are known.
    pub exact: bool,
    /// How often a final state was observed that TSO does not allow.
    pub outside_tso: u64,
    /// Every final state that was observed or that some model allows.
    pub states: Vec<ObservedState>,
}

impl ObservedReport {
    /// The schema.
    pub const SCHEMA: &'static str = "weir-observed-2";
}

/// A final state.
#[derive(Debug, Serialize)]
pub struct ObservedState {
    /// What is observed, by its name.
    pub state: Map<String, Value>,
    /// How often it was observed.
    pub count: u64,
    /// Whether it satisfies the condition of the test.
    pub condition: bool,
    /// Whether each model allows it.
    pub allowed: BTreeMap<String, bool>,
}
