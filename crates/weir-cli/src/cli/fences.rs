//! The options of `weir fences`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use weir::MemoryModel;
use weir::fences::{self, Costs, Goal, kinds_of};
use weir::question::Repair;
use weir_model::program::{FenceKind, Order};

use super::options::{Format, HtmlArg, LanguageArg, ModelsArg, Programs, PropertyArgs};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  weir fences corpus/peterson-2.weir
  weir fences corpus/peterson-2.weir --model pso --patch | patch -p0
  weir fences corpus/bakery-2-fenced.weir --redundant
  weir fences examples/rust/mailbox.rs
  weir fences examples/rust/spsc.rs --weaken")]
#[command(mut_arg("models", |arg| arg.help(
    "A memory model (may be given several times) [default: `c11` for C, C++, Rust and for orders, `tso` for others]"
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
    /// What to change: fences of these kinds are inserted, orders become stronger (C11)
    /// [default: the fences that the memory model knows and the language has; under C11
    /// orders, if the program has some]
    #[arg(long, value_enum, value_name = "KINDS", value_delimiter = ',')]
    pub kinds: Vec<Kind>,
    /// What a fence of a kind costs, from 1, or an order (acquire=1) [default: those of the
    /// target]
    #[arg(long = "cost", value_name = "KIND=N", value_parser = cost, value_delimiter = ',')]
    pub costs: Vec<(Priced, u32)>,
    /// The processor that decides what fences and orders cost
    #[arg(long, value_enum, value_name = "TARGET", default_value_t = Target::Any)]
    pub target: Target,
    /// Say which orders of the program can be weaker (C11), instead of making some stronger
    #[arg(long, conflicts_with_all = ["redundant", "kinds"])]
    pub weaken: bool,
    /// Say which fences of the program are not needed, instead of inserting some
    #[arg(long, conflicts_with_all = ["patch", "write", "kinds"])]
    pub redundant: bool,
    /// Print the cheapest set as a patch, for `patch -p0`, and nothing else
    #[arg(long, conflicts_with = "write")]
    pub patch: bool,
    /// Change the file by the cheapest set, and keep the old text in `FILE.orig`, or
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

/// What changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Orders become stronger (C11)
    Orders,
    /// Orders everything
    Fence,
    /// Orders writes before it with writes after it
    Wfence,
    /// Orders reads before it with reads after it
    Rfence,
}

impl Kind {
    /// The fence, if it is one.
    fn fence(self) -> Option<FenceKind> {
        match self {
            Self::Orders => None,
            Self::Fence => Some(FenceKind::Full),
            Self::Wfence => Some(FenceKind::Write),
            Self::Rfence => Some(FenceKind::Read),
        }
    }
}

/// What has a cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priced {
    /// A fence that is inserted.
    Fence(FenceKind),
    /// An order.
    Order(Order),
}

/// What a program is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Target {
    /// No particular processor
    Any,
    /// x86
    X86,
    /// ARMv8
    Arm,
    /// RISC-V
    Riscv,
    /// POWER
    Power,
}

impl From<Target> for fences::Target {
    fn from(target: Target) -> Self {
        match target {
            Target::Any => Self::Any,
            Target::X86 => Self::X86,
            Target::Arm => Self::Arm,
            Target::Riscv => Self::Riscv,
            Target::Power => Self::Power,
        }
    }
}

/// A fence or an order and its cost.
fn cost(text: &str) -> Result<(Priced, u32), String> {
    let (name, cost) = text.split_once('=').ok_or("write it as `wfence=2`")?;
    let kind = <Kind as ValueEnum>::from_str(name, false).ok().and_then(Kind::fence);
    let mut orders = Order::NAMED.into_iter().filter(|(_, order)| *order > Order::Relaxed);
    let order = orders.find(|(word, _)| *word == name).map(|(_, order)| order);
    let priced = kind.map(Priced::Fence).or(order.map(Priced::Order)).ok_or_else(|| {
        format!(
            "there is no fence or order `{name}`: there are fence, wfence, rfence, acquire, release, \
             acq_rel and seq_cst"
        )
    })?;
    match (priced, cost.parse()) {
        (Priced::Fence(_), Ok(cost @ 1..=1_000_000)) => Ok((priced, cost)),
        (Priced::Order(_), Ok(cost @ 0..=1_000_000)) => Ok((priced, cost)),
        (Priced::Fence(_), _) => Err("a cost is a number from 1 to 1000000".to_owned()),
        (Priced::Order(_), _) => {
            Err("the cost of an order is a number from 0 to 1000000".to_owned())
        }
    }
}

impl Fences {
    /// Whether orders may change.
    fn asks_orders(&self) -> bool {
        self.weaken || self.kinds.contains(&Kind::Orders)
    }

    /// The model if none is named.
    pub fn default_model(&self, file: &str) -> MemoryModel {
        let is_about_processors = self.redundant || matches!(self.goal, For::Robust);
        match () {
            () if self.asks_orders() => MemoryModel::C11,
            () if is_about_processors => MemoryModel::TSO,
            () => self.language.model_of(file, None),
        }
    }

    /// What is asked for under a model.
    ///
    /// # Errors
    /// If a kind of fence does nothing under it, or nothing is known about it.
    pub fn question(&self, model: MemoryModel) -> Result<Repair, String> {
        let known = [MemoryModel::SC, MemoryModel::TSO, MemoryModel::PSO, MemoryModel::NSW];
        let is_c11 = model == MemoryModel::C11;
        if !known.contains(&model.normal()) && !is_c11 {
            return Err(format!("`weir fences` is for SC, TSO, PSO, NSW and C11, not for {model}"));
        }
        if self.asks_orders() && !is_c11 {
            return Err(format!("orders are for C11, not for {model}"));
        }
        if is_c11 && self.redundant {
            return Err(
                "`--redundant` is about fences of processors; under C11, `--weaken` says which \
                        fences and orders are not needed"
                    .to_owned(),
            );
        }
        let of_model = kinds_of(model);
        let wanted: Vec<FenceKind> = self.kinds.iter().filter_map(|kind| kind.fence()).collect();
        if let Some(kind) = wanted.iter().find(|kind| !of_model.contains(kind)) {
            return Err(format!("`{}` orders nothing under {model}", kind.name()));
        }
        let mut costs = Costs { target: self.target.into(), ..Costs::default() };
        for &(priced, cost) in &self.costs {
            match priced {
                Priced::Fence(kind) => costs.fences.push((kind, cost)),
                Priced::Order(order) => costs.orders.push((order, cost)),
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
            orders: (!self.kinds.is_empty()).then(|| self.kinds.contains(&Kind::Orders)),
            kinds: (!wanted.is_empty()).then_some(wanted),
            costs,
            most,
            redundant: self.redundant,
            weaken: self.weaken,
            runs: self.runs,
        })
    }
}
