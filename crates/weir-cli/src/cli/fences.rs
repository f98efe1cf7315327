//! The options of `weir fences`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use weir::MemoryModel;
use weir::fences::{Costs, Goal, kinds_of};
use weir::question::Repair;
use weir_model::program::FenceKind;

use super::options::{Format, HtmlArg, LanguageArg, ModelsArg, Programs, PropertyArgs};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  weir fences corpus/peterson-2.weir
  weir fences corpus/peterson-2.weir --model pso --patch | patch -p0
  weir fences corpus/bakery-2-fenced.weir --redundant")]
#[command(mut_arg("models", |arg| arg.help(
    "A memory model (may be given several times) [default: tso]"
)))]
pub struct Fences {
    #[command(flatten)]
    pub programs: Programs,
    #[command(flatten)]
    pub models: ModelsArg,
    #[command(flatten)]
    pub language: LanguageArg,
    #[command(flatten)]
    pub asked: PropertyArgs,
    /// Find all minimal sets
    #[arg(long, conflicts_with_all = ["cheapest", "count"])]
    pub all: bool,
    /// Find one set that costs least
    #[arg(long, conflicts_with = "count")]
    pub cheapest: bool,
    /// Find so many sets, the cheapest ones
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), default_value_t = 10)]
    pub count: u32,
    /// What the fences are for
    #[arg(long = "for", value_enum, value_name = "GOAL", default_value_t = For::Properties)]
    pub goal: For,
    /// The kinds of fences to insert [default: those that the memory model knows and the
    /// language has]
    #[arg(long, value_enum, value_name = "KINDS", value_delimiter = ',')]
    pub kinds: Vec<Kind>,
    /// What a fence of a kind costs, from 1 [default: fence=4, wfence=1, rfence=1]
    #[arg(long = "cost", value_name = "KIND=N", value_parser = cost, value_delimiter = ',')]
    pub costs: Vec<(Kind, u32)>,
    /// Say which fences of the program are not needed, instead of inserting some
    #[arg(long, conflicts_with_all = ["patch", "write", "kinds"])]
    pub redundant: bool,
    /// Print the cheapest set as a patch, for `patch -p0`, and nothing else
    #[arg(long, conflicts_with = "write")]
    pub patch: bool,
    /// Insert the cheapest set into the file, and keep the old text in `FILE.orig`, or
    /// `FILE.orig.1` and so on if that is there
    #[arg(long)]
    pub write: bool,
    /// Write the program with each set and its proof, and without each fence the run that
    /// comes back, to files in this directory
    #[arg(long, value_name = "DIR", conflicts_with = "redundant")]
    pub evidence: Option<PathBuf>,
    /// Print the run that comes back without each fence of the cheapest set
    #[arg(long, conflicts_with = "redundant")]
    pub runs: bool,
    /// Print every step of long runs, and long buffers whole
    #[arg(long)]
    pub full: bool,
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    #[command(flatten)]
    pub page: HtmlArg,
}

/// What fences are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum For {
    /// Properties hold, and no final state that is looked for is allowed
    Properties,
    /// Every run has the trace of an SC run (TSO); programs without a property are welcome
    Robust,
}

/// A kind of fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Orders everything
    Fence,
    /// Orders writes before it with writes after it
    Wfence,
    /// Orders reads before it with reads after it
    Rfence,
}

impl From<Kind> for FenceKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Fence => Self::Full,
            Kind::Wfence => Self::Write,
            Kind::Rfence => Self::Read,
        }
    }
}

/// A kind and its cost.
fn cost(text: &str) -> Result<(Kind, u32), String> {
    let (kind, cost) = text.split_once('=').ok_or("write it as `wfence=2`")?;
    let kind = <Kind as ValueEnum>::from_str(kind, false)
        .map_err(|_| format!("there is no fence `{kind}`: there are fence, wfence and rfence"))?;
    match cost.parse() {
        Ok(cost @ 1..=1_000_000) => Ok((kind, cost)),
        _ => Err("a cost is a number from 1 to 1000000".to_owned()),
    }
}

impl Fences {
    /// What is asked for under a model.
    ///
    /// # Errors
    /// If a kind of fence does nothing under it, or nothing is known about it.
    pub fn question(&self, model: MemoryModel) -> Result<Repair, String> {
        let known = [MemoryModel::SC, MemoryModel::TSO, MemoryModel::PSO, MemoryModel::NSW];
        if !known.contains(&model.normal()) {
            return Err(format!("`weir fences` is for SC, TSO, PSO and NSW, not for {model}"));
        }
        let of_model = kinds_of(model);
        let wanted: Vec<FenceKind> = self.kinds.iter().map(|&kind| kind.into()).collect();
        if let Some(kind) = wanted.iter().find(|kind| !of_model.contains(kind)) {
            return Err(format!("`{}` orders nothing under {model}", kind.name()));
        }
        let mut costs = Costs::default();
        for &(kind, cost) in &self.costs {
            match kind {
                Kind::Fence => costs.full = cost,
                Kind::Wfence => costs.write = cost,
                Kind::Rfence => costs.read = cost,
            }
        }
        let most = match (self.all || self.redundant, self.cheapest || self.patch || self.write) {
            (true, _) => None,
            (false, true) => Some(1),
            (false, false) => Some(self.count as usize),
        };
        let goal = match self.goal {
            For::Properties => Goal::Properties,
            For::Robust => Goal::Robust,
        };
        if goal == Goal::Robust && self.evidence.is_some() {
            return Err("--evidence is for properties; for robustness, apply --patch and use \
                        `weir robust --certificate`"
                .to_owned());
        }
        Ok(Repair {
            goal,
            properties: self.asked.properties.clone(),
            kinds: (!wanted.is_empty()).then_some(wanted),
            costs,
            most,
            redundant: self.redundant,
            runs: self.runs,
        })
    }
}
