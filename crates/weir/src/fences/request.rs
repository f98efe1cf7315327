//! What is asked for.

use weir_engine::SearchOptions;
use weir_front::Language;
use weir_model::memory_model::MemoryModel;
use weir_model::program::FenceKind;

use super::costs::Costs;
use super::search::Ask;
use crate::error::Error;
use crate::load::Reading;

/// When a program is repaired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goal {
    /// No reachable state settles a question.
    #[default]
    Properties,
    /// Every run under TSO has the trace of a run under SC.
    Robust,
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// What fences are for.
    pub goal: Goal,
    /// The names of the properties that are asked; all if there are none.
    pub properties: Vec<String>,
    /// How to read the program, and for which model.
    pub reading: Reading,
    /// The kinds of fences that may be inserted; `None` for those that the model knows and the
    /// language has. Under C11 that is none if orders may change.
    pub kinds: Option<Vec<FenceKind>>,
    /// Whether orders may change, which C11 alone knows; `None` if that is for the program to say: whether it has
    /// orders.
    pub orders: Option<bool>,
    /// What fences cost.
    pub costs: Costs,
    /// How many sets to look for, the cheapest ones; `None` for all.
    pub most: Option<usize>,
    /// How far to search for each answer.
    pub options: SearchOptions,
}

impl Request {
    /// All sets, of all kinds of fences.
    pub fn new(model: MemoryModel) -> Self {
        Self {
            goal: Goal::Properties,
            properties: vec![],
            reading: Reading { model, ..Reading::default() },
            kinds: None,
            orders: None,
            costs: Costs::default(),
            most: None,
            options: SearchOptions::default(),
        }
    }

    pub(super) fn ask(&self) -> Ask<'_> {
        let Self { goal, properties, reading, .. } = self;
        Ask { goal: *goal, model: reading.model, properties, settled: None }
    }

    /// The kinds of fences that may be inserted into a text of a language.
    ///
    /// # Errors
    /// If the language does not have one that is asked for.
    pub fn kinds_in(&self, language: &Language) -> Result<Vec<FenceKind>, Error> {
        let is_known = |kind: &FenceKind| (language.fence)(*kind).is_some();
        match &self.kinds {
            None => Ok(kinds_of(self.reading.model).into_iter().filter(is_known).collect()),
            Some(kinds) => match kinds.iter().find(|kind| !is_known(kind)) {
                Some(kind) => Err(Error::NoFence(language.name, *kind)),
                None => Ok(kinds.clone()),
            },
        }
    }
}

/// The kinds of fences that can make a difference under a model.
pub fn kinds_of(model: MemoryModel) -> Vec<FenceKind> {
    match model.normal() {
        m if m == MemoryModel::SC || m == MemoryModel::TSO => vec![FenceKind::Full],
        m if m == MemoryModel::PSO => vec![FenceKind::Full, FenceKind::Write],
        _ => vec![FenceKind::Full, FenceKind::Write, FenceKind::Read],
    }
}
