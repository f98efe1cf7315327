//! What is known about memory models.

use serde::Serialize;
use weir_model::memory_model::{Decidability, MemoryModel, Relaxation};
use weir_model::semantics::Form;

/// All models that have been studied.
#[derive(Debug, Serialize)]
pub struct ModelsReport {
    schema: &'static str,
    /// The models.
    pub models: Vec<ModelRow>,
}

impl Default for ModelsReport {
    fn default() -> Self {
        let models = MemoryModel::STUDIED.into_iter().chain([MemoryModel::C11]);
        let models = models.map(row).collect();
        Self { schema: "weir-models-2", models }
    }
}

/// What is known about a model.
#[derive(Debug, Serialize)]
pub struct ModelRow {
    /// Its name.
    pub model: String,
    /// Its set.
    pub relaxations: Vec<&'static str>,
    /// `decidable`, `undecidable` or `open`.
    pub reachability: &'static str,
    /// The source.
    pub reference: Option<&'static str>,
    /// How hard reachability is.
    pub complexity: Option<Known>,
    /// Whether reachability is decidable with a bound on guesses, if reads are guessed.
    pub bounded_guesses: Option<Known>,
    /// The same about repeated reachability.
    pub repeated: Known,
    /// Its operational forms; engines use the first.
    pub semantics: Vec<&'static str>,
    /// The same as options name them.
    pub forms: Vec<&'static str>,
    /// What Weir decides.
    pub decides: &'static str,
}

/// What is known, and who says so.
#[derive(Debug, Serialize)]
pub struct Known {
    /// What is known.
    pub known: &'static str,
    /// The source.
    pub reference: Option<&'static str>,
}

impl Known {
    fn by(known: &'static str, reference: &'static str) -> Self {
        Self { known, reference: Some(reference) }
    }
}

impl From<Decidability> for Known {
    fn from(decidability: Decidability) -> Self {
        match decidability {
            Decidability::Decidable(by) => Self::by("decidable", by),
            Decidability::Undecidable(by) => Self::by("undecidable", by),
            Decidability::Open(reference) => Self { known: "open", reference },
        }
    }
}

fn row(model: MemoryModel) -> ModelRow {
    let Known { known: reachability, reference } = model.decidability().into();
    ModelRow {
        model: model.to_string(),
        relaxations: model.relaxations().map(Relaxation::name).collect(),
        reachability,
        reference,
        complexity: model.complexity().map(|(known, by)| Known::by(known, by)),
        bounded_guesses: model.bounded_guesses().map(|by| Known::by("decidable", by)),
        repeated: model.repeated().into(),
        semantics: Form::of(model).into_iter().map(Form::name).collect(),
        forms: Form::of(model).into_iter().map(Form::word).collect(),
        decides: match reachability {
            "decidable" => "everything",
            _ if model == MemoryModel::C11 => {
                "programs whose loops only read, and programs whose locations have no more \
                 writes than the bound; nothing can decide the rest"
            }
            "undecidable" => {
                "programs without loops, and programs whose buffers stay within the bound; \
                 nothing can decide the rest"
            }
            _ => "programs without loops, and programs whose buffers stay within the bound",
        },
    }
}
