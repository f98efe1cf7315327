//! Memory models: sets of relaxations (Atig et al. 2012, section 3 and figures 1, 2), and the model of
//! C, C++ and Rust.
//!
//! A relaxation permits a reordering: `w->r` lets a read overtake an earlier write of the
//! same process to another variable, and so on. SC is the empty set; TSO, PSO and NSW are
//! names for sets. Every relaxation but RWF allows more; RWF allows less, since partial
//! fences order something only where it is in the set. [`MemoryModel::may_overtake`] implements all rewrite rules that swap
//! neighbors (Atig et al. 2012, section 3.3, rules 1 and 2). The two rules that do more
//! than swap, RLWE and RRWE, are in the semantics.
//!
//! Two points that the sources leave open are settled here, for every semantics:
//!
//! * *Partial fences without RWF.* "RWF" says that partial fences exist. In a
//!   model without it `rfence` and `wfence` order nothing. (TSO with and
//!   without RWF are thus the same model, as Atig et al. 2012 say they should be.)
//! * *`wfence` next to `rfence`.* Rules (2) of Atig et al. 2012 let a `wfence` swap with
//!   reads and an `rfence` with writes, and do not mention the pair of the two fences.
//!   Taken literally, `wfence; rfence` would order a write before it with a read after
//!   it, which neither the text, nor the operational models of the paper, nor hardware
//!   does. Here the two swap.

use std::fmt;
use std::str::FromStr;

/// One relaxation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relaxation {
    /// `w->r`: a read may overtake a write.
    WriteRead,
    /// `w->w`: a write may overtake a write.
    WriteWrite,
    /// `r->r`: a read may overtake a read.
    ReadRead,
    /// `r->w`: a write may overtake a read.
    ReadWrite,
    /// `RLWE`: a process may read its own write before it reaches memory.
    Rlwe,
    /// `RRWE`: a process may read another's write before it reaches memory.
    Rrwe,
    /// `RWF`: partial fences `rfence` and `wfence` exist.
    Rwf,
}

impl Relaxation {
    /// All of them, in the order in which sets are printed.
    pub const ALL: [Self; 7] = [
        Self::WriteRead,
        Self::WriteWrite,
        Self::ReadRead,
        Self::ReadWrite,
        Self::Rlwe,
        Self::Rrwe,
        Self::Rwf,
    ];

    /// Its name in the papers.
    pub fn name(self) -> &'static str {
        match self {
            Self::WriteRead => "w->r",
            Self::WriteWrite => "w->w",
            Self::ReadRead => "r->r",
            Self::ReadWrite => "r->w",
            Self::Rlwe => "RLWE",
            Self::Rrwe => "RRWE",
            Self::Rwf => "RWF",
        }
    }

    /// What it lets a machine do, in a line.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::WriteRead => "a read may overtake an earlier write to another variable",
            Self::WriteWrite => "a write may overtake an earlier write to another variable",
            Self::ReadRead => "a read may overtake an earlier read of another variable",
            Self::ReadWrite => "a write may overtake an earlier read of another variable",
            Self::Rlwe => "a process may read its own write before it reaches memory",
            Self::Rrwe => "a process may read another's write before it reaches memory",
            Self::Rwf => "the partial fences rfence and wfence exist",
        }
    }

    fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// A memory model: a set of relaxations, or the model of C, C++ and Rust.
///
/// ```
/// use weir_model::memory_model::MemoryModel;
///
/// let model: MemoryModel = "w->r, rlwe".parse().unwrap();
/// assert_eq!(model, MemoryModel::TSO);
/// assert_eq!("TSO + r->w".parse::<MemoryModel>().unwrap().to_string(), "TSO+r->w");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemoryModel(u8);

/// An operation as the rewrite rules see it: what it accesses, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access<V> {
    /// A read of a variable.
    Read(V),
    /// A write to a variable.
    Write(V),
    /// `rfence`.
    ReadFence,
    /// `wfence`.
    WriteFence,
    /// `fence` and atomic read-writes: never reordered with anything.
    Full,
}

/// What is known about deciding reachability under a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decidability {
    /// Decidable, and where that is shown.
    Decidable(&'static str),
    /// Undecidable, and where that is shown.
    Undecidable(&'static str),
    /// Open, and where that is said, if a paper says so.
    Open(Option<&'static str>),
}

impl MemoryModel {
    const fn of(relaxations: &[Relaxation]) -> Self {
        let mut set = 0;
        let mut i = 0;
        while i < relaxations.len() {
            set |= 1 << relaxations[i] as u8;
            i += 1;
        }
        Self(set)
    }

    /// Sequential consistency: no relaxation.
    pub const SC: Self = Self::of(&[]);
    /// Total store order, x86: `{w->r, RLWE}`.
    pub const TSO: Self = Self::of(&[Relaxation::WriteRead, Relaxation::Rlwe]);
    /// Partial store order: TSO with `w->w` and partial fences.
    pub const PSO: Self = Self::TSO.with(Relaxation::WriteWrite).with(Relaxation::Rwf);
    /// Non-speculative writes: PSO with `r->r`.
    pub const NSW: Self = Self::PSO.with(Relaxation::ReadRead);
    /// The guess/validate model of Atig et al. 2010, section 8.1: TSO with `r->r` and `r->w`.
    pub const GUESS: Self = Self::TSO.with(Relaxation::ReadRead).with(Relaxation::ReadWrite);
    /// The guess/validate model of Atig et al. 2010, section 8.2: the same with `w->w`.
    pub const GUESS_WW: Self = Self::GUESS.with(Relaxation::WriteWrite);

    /// TSO with `r->r`: NSW in which writes stay in order.
    pub const TSO_RR: Self = Self::TSO.with(Relaxation::ReadRead);

    /// TSO with `r->w` (Atig et al. 2012, section 3.4).
    pub const TSO_RW: Self = Self::TSO.with(Relaxation::ReadWrite);

    /// The memory model of C11, C++20 and Rust. It is no set of relaxations: what may be reordered depends
    /// on the memory orders of the program ([`semantics::c11`](crate::semantics)).
    pub const C11: Self = Self(1 << 7);

    /// What people call it.
    pub const C11_NAMES: [&'static str; 6] = ["c11", "c++20", "c++11", "c", "c++", "rust"];

    /// The models that have a name, strongest first.
    pub const NAMED: [(&'static str, Self); 4] =
        [("SC", Self::SC), ("TSO", Self::TSO), ("PSO", Self::PSO), ("NSW", Self::NSW)];

    /// The models of which the papers say something: the rows of Atig et al. 2012, figure 2,
    /// with SC above them, TSO with `r->r`, which is NSW with write fences, `{w->r/w, r->r/w}` (Atig et al. 2010, theorem 7), and TSO with RRWE,
    /// which Atig et al. 2012, section 8, leave open.
    pub const STUDIED: [Self; 11] = [
        Self::SC,
        Self::TSO,
        Self::TSO.with(Relaxation::WriteWrite),
        Self::PSO,
        Self::NSW,
        Self::TSO_RR,
        Self::TSO_RW,
        Self::GUESS,
        Self::GUESS_WW,
        Self::NSW.with(Relaxation::Rrwe),
        Self::TSO.with(Relaxation::Rrwe),
    ];

    /// The set with one more relaxation.
    #[must_use]
    pub const fn with(self, relaxation: Relaxation) -> Self {
        Self(self.0 | 1 << relaxation as u8)
    }

    /// The set without a relaxation.
    #[must_use]
    pub const fn without(self, relaxation: Relaxation) -> Self {
        Self(self.0 & !(1 << relaxation as u8))
    }

    /// Every set of relaxations.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..1 << Relaxation::ALL.len()).map(Self)
    }

    /// Whether the relaxation is in the set.
    pub fn has(self, relaxation: Relaxation) -> bool {
        self.0 & relaxation.bit() != 0
    }

    /// Whether a read may return a value that is written only later, so that it has to
    /// be guessed (Atig et al. 2010, section 8.1; Atig et al. 2012, section 3.6).
    pub fn guesses_reads(self) -> bool {
        self.has(Relaxation::ReadWrite) || self.has(Relaxation::Rrwe)
    }

    /// The relaxations of the set, in their usual order.
    pub fn relaxations(self) -> impl Iterator<Item = Relaxation> {
        Relaxation::ALL.into_iter().filter(move |r| self.has(*r))
    }

    /// The name of the set, if it has one.
    pub fn name(self) -> Option<&'static str> {
        if self == Self::C11 {
            return Some("C11");
        }
        Self::NAMED.into_iter().find(|(_, m)| *m == self).map(|(name, _)| name)
    }

    /// The set as the papers write it: `{w->r, RLWE}`.
    pub fn set(self) -> String {
        if self == Self::C11 {
            return self.to_string();
        }
        let names: Vec<_> = self.relaxations().map(Relaxation::name).collect();
        format!("{{{}}}", names.join(", "))
    }

    /// The same model with what makes no difference left out, so that sets
    /// that mean the same get the same semantics.
    ///
    /// * Partial fences order reads with reads and writes with writes: without
    ///   `r->r` and without `w->w` they do nothing.
    /// * Where nothing may overtake a write, every read sees it in memory.
    #[must_use]
    pub fn normal(self) -> Self {
        use Relaxation::{ReadRead, ReadWrite, Rlwe, Rrwe, Rwf, WriteRead, WriteWrite};
        let mut model = self;
        if !model.has(WriteWrite) && !model.has(ReadRead) {
            model = model.without(Rwf);
        }
        let swaps = [WriteRead, WriteWrite, ReadRead, ReadWrite];
        if !model.has(Rrwe) && !swaps.into_iter().any(|r| model.has(r)) {
            model = model.without(Rlwe);
        }
        model
    }

    /// Whether `second` may be performed before `first`, where `first` comes
    /// earlier in the program of the same process: the rewrite rules (1) and
    /// (2) of Atig et al. 2012, section 3.3.
    pub fn may_overtake<V: PartialEq>(self, first: &Access<V>, second: &Access<V>) -> bool {
        use Access::{Full, Read, ReadFence, Write, WriteFence};
        let swaps = |r, x: &V, y: &V| self.has(r) && x != y;
        match (first, second) {
            (Full, _) | (_, Full) => false,
            (Write(x), Read(y)) => swaps(Relaxation::WriteRead, x, y),
            (Write(x), Write(y)) => swaps(Relaxation::WriteWrite, x, y),
            (Read(x), Read(y)) => swaps(Relaxation::ReadRead, x, y),
            (Read(x), Write(y)) => swaps(Relaxation::ReadWrite, x, y),
            _ if !self.has(Relaxation::Rwf) => true,
            (WriteFence, Write(_) | WriteFence) | (Write(_), WriteFence) => false,
            (ReadFence, Read(_) | ReadFence) | (Read(_), ReadFence) => false,
            (WriteFence, Read(_) | ReadFence) | (Read(_), WriteFence) => true,
            (ReadFence, Write(_) | WriteFence) | (Write(_), ReadFence) => true,
        }
    }

    /// Whether reachability under the model can be decided, and the source.
    pub fn decidability(self) -> Decidability {
        use Decidability::{Decidable, Open, Undecidable};
        if self == Self::C11 {
            return Undecidable("Abdulla et al. 2019");
        }
        let model = self.normal();
        // A program without partial fences is the same with and without RWF.
        let fenceless = model.without(Relaxation::Rwf);
        match () {
            () if model == Self::SC => Decidable("finitely many states"),
            () if model == Self::TSO => Decidable("Atig et al. 2010, theorem 1"),
            () if model == Self::PSO.without(Relaxation::Rwf) => {
                Decidable("Atig et al. 2010, theorem 2")
            }
            () if model == Self::PSO || model.with(Relaxation::Rwf) == Self::NSW => {
                Decidable("Atig et al. 2012, corollary 12")
            }
            // With a write fence before each write, NSW keeps writes in order.
            () if fenceless == Self::TSO_RR => {
                Decidable("Atig et al. 2012, corollary 12, with write fences")
            }
            () if fenceless == Self::GUESS => Undecidable("Atig et al. 2010, theorem 6"),
            () if fenceless == Self::GUESS_WW => Undecidable("Atig et al. 2010, theorem 7"),
            () if model == Self::TSO_RW => Undecidable("Atig et al. 2012, theorem 2"),
            () if model == Self::NSW.with(Relaxation::Rrwe) => {
                Undecidable("Atig et al. 2012, theorem 13")
            }
            () if model == Self::TSO.with(Relaxation::Rrwe) => {
                Open(Some("Atig et al. 2012, section 8"))
            }
            () => Open(None),
        }
    }

    /// The source that shows that reachability is decidable if every process has a bounded number
    /// of guessed reads at a time, if there is one.
    ///
    /// Theorem 8 is about `{w->r, r->r/w}` and `{w->r/w, r->r/w}`: stored reads become strong
    /// symbols. The argument covers `{w->r, r->w}` as well. That reads are validated in their
    /// order is a condition on the strong symbols only, and so is the condition of *Read own
    /// write* ([`semantics::guess`](crate::semantics)).
    pub fn bounded_guesses(self) -> Option<&'static str> {
        match self.normal() {
            Self::GUESS | Self::GUESS_WW => Some("Atig et al. 2010, theorem 8"),
            Self::TSO_RW => Some("the proof of Atig et al. 2010, theorem 8"),
            _ => None,
        }
    }

    /// How hard reachability is, where it is decidable and that is known, and the source.
    pub fn complexity(self) -> Option<(&'static str, &'static str)> {
        const NON_PRIMITIVE: &str = "non-primitive recursive";
        let model = self.normal();
        match () {
            () if model == Self::SC => Some(("PSPACE-complete", "Atig et al. 2010, section 10")),
            () if model == Self::TSO => Some((NON_PRIMITIVE, "Atig et al. 2010, theorem 4")),
            () if model.with(Relaxation::Rwf) == Self::PSO => {
                Some((NON_PRIMITIVE, "Atig et al. 2010, theorem 5"))
            }
            () if [Self::NSW, Self::TSO_RR.with(Relaxation::Rwf)]
                .contains(&model.with(Relaxation::Rwf)) =>
            {
                Some((NON_PRIMITIVE, "the proof of Atig et al. 2010, theorem 5"))
            }
            () => None,
        }
    }

    /// Whether repeated reachability under the model can be decided, and the source.
    ///
    /// In the program of Atig et al. 2010, theorem 3, each process writes one variable and reads
    /// one other, and there are no fences. So `w->w` makes no difference, which is theorem 5, and
    /// neither does `r->r`, so the proof is one for NSW too.
    pub fn repeated(self) -> Decidability {
        match (self.decidability(), self.complexity()) {
            (Decidability::Decidable(by), _) if self.normal() == Self::SC => {
                Decidability::Decidable(by)
            }
            (Decidability::Decidable(_), Some((_, by))) => Decidability::Undecidable(by),
            (Decidability::Undecidable(_), _) => {
                Decidability::Undecidable("reachability is undecidable")
            }
            _ => Decidability::Open(None),
        }
    }
}

impl fmt::Display for MemoryModel {
    /// `TSO`, `TSO+r->w`, or the bare relaxations when no named model is inside.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::C11 {
            return f.write_str("C11");
        }
        let inside = |m: Self| self.0 & m.0 == m.0;
        let (name, base) =
            Self::NAMED.into_iter().rev().find(|(_, m)| inside(*m)).expect("SC is in every set");
        f.write_str(name)?;
        Self(self.0 & !base.0).relaxations().try_for_each(|r| write!(f, "+{}", r.name()))
    }
}

impl fmt::Debug for MemoryModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// An unknown word in the name of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownModel {
    /// The word.
    pub word: String,
}

impl fmt::Display for UnknownModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.word.as_str() {
            "" => f.write_str("a memory model or a relaxation is missing"),
            word if MemoryModel::is_c11(word) => {
                write!(f, "`{word}` stands alone: it is no set of relaxations, and takes none")
            }
            word => write!(f, "`{word}` is neither a memory model nor a relaxation"),
        }
    }
}

impl std::error::Error for UnknownModel {}

impl MemoryModel {
    /// Whether a word is a name of the model of C, C++ and Rust.
    pub fn is_c11(word: &str) -> bool {
        Self::C11_NAMES.iter().any(|name| name.eq_ignore_ascii_case(word))
    }

    /// The words that [`MemoryModel::from_str`] knows.
    pub fn words() -> impl Iterator<Item = &'static str> {
        let models = Self::NAMED.into_iter().map(|(name, _)| name).chain(["C11"]);
        models.chain(Relaxation::ALL.into_iter().map(Relaxation::name)).chain(["r->r/w", "w->r/w"])
    }
}

impl FromStr for MemoryModel {
    type Err = UnknownModel;

    /// Names of models and relaxations in any case and order, joined by `,` or
    /// `+`; braces around them are fine. The model of C, C++ and Rust stands alone.
    fn from_str(text: &str) -> Result<Self, UnknownModel> {
        let text = text.trim();
        let inner = text.strip_prefix('{').and_then(|t| t.strip_suffix('}')).unwrap_or(text);
        if inner.trim().is_empty() {
            return if text.is_empty() {
                Err(UnknownModel { word: String::new() })
            } else {
                Ok(Self::SC)
            };
        }
        if Self::is_c11(inner.trim()) {
            return Ok(Self::C11);
        }
        let mut model = Self::SC;
        for word in inner.split([',', '+']) {
            let plain = word.trim().replace('→', "->").replace(' ', "");
            let named = Self::NAMED.into_iter().find(|(n, _)| n.eq_ignore_ascii_case(&plain));
            let single =
                Relaxation::ALL.into_iter().find(|r| r.name().eq_ignore_ascii_case(&plain));
            model = match (named, single, plain.to_ascii_lowercase().as_str()) {
                (Some((_, named)), ..) => Self(model.0 | named.0),
                (_, Some(relaxation), _) => model.with(relaxation),
                (.., "r->r/w") => model.with(Relaxation::ReadRead).with(Relaxation::ReadWrite),
                (.., "w->r/w") => model.with(Relaxation::WriteRead).with(Relaxation::WriteWrite),
                _ => return Err(UnknownModel { word: word.trim().to_owned() }),
            };
        }
        Ok(model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_any_case_and_order() {
        let parse = |s: &str| s.parse::<MemoryModel>().unwrap();
        assert_eq!(parse(" C11 "), MemoryModel::C11);
        for text in ["c11+rlwe", "tso,rust"] {
            let error = text.parse::<MemoryModel>().unwrap_err();
            assert!(error.to_string().contains("stands alone"), "{text}: {error}");
        }
        assert_eq!(parse("rwf, W->W , w->r,RLWE"), MemoryModel::PSO);
        assert_eq!(parse("{w → r, RLWE}"), MemoryModel::TSO);
        assert_eq!(parse("{}"), MemoryModel::SC);
        assert_eq!(parse("tso,r->r/w"), MemoryModel::GUESS);
        assert_eq!("tos".parse::<MemoryModel>().unwrap_err().word, "tos");
        assert!("".parse::<MemoryModel>().is_err());
        for model in MemoryModel::all() {
            assert_eq!(parse(&model.to_string()), model, "{model}");
            assert_eq!(parse(&model.set()), model, "{model}");
        }
    }

    #[test]
    fn what_the_papers_say() {
        use Decidability::{Decidable, Open, Undecidable};
        let known = MemoryModel::STUDIED.map(|model| model.decidability());
        let expected = [
            Decidable("finitely many states"),
            Decidable("Atig et al. 2010, theorem 1"),
            Decidable("Atig et al. 2010, theorem 2"),
            Decidable("Atig et al. 2012, corollary 12"),
            Decidable("Atig et al. 2012, corollary 12"),
            Decidable("Atig et al. 2012, corollary 12, with write fences"),
            Undecidable("Atig et al. 2012, theorem 2"),
            Undecidable("Atig et al. 2010, theorem 6"),
            Undecidable("Atig et al. 2010, theorem 7"),
            Undecidable("Atig et al. 2012, theorem 13"),
            Open(Some("Atig et al. 2012, section 8")),
        ];
        assert_eq!(known, expected);
        let repeated = MemoryModel::STUDIED.map(|model| model.repeated());
        assert_eq!(repeated[0], Decidable("finitely many states"));
        assert_eq!(repeated[1], Undecidable("Atig et al. 2010, theorem 4"));
        assert!(repeated[2..4].iter().all(|r| *r == Undecidable("Atig et al. 2010, theorem 5")));
        assert!(repeated[4..10].iter().all(|r| matches!(r, Undecidable(_))), "{repeated:?}");
        assert_eq!(repeated[10], Open(None));
        let bounded = MemoryModel::all().filter(|m| m.bounded_guesses().is_some());
        let same: Vec<MemoryModel> = bounded.map(MemoryModel::normal).collect();
        assert!(same.contains(&MemoryModel::TSO_RW) && same.contains(&MemoryModel::GUESS_WW));
        assert!(same.iter().all(|m| m.guesses_reads()));
    }

    /// Partial fences order nothing without RWF, so RWF is the one relaxation that can forbid.
    #[test]
    fn every_relaxation_but_rwf_allows_more() {
        let accesses = [
            Access::Read(0),
            Access::Read(1),
            Access::Write(0),
            Access::Write(1),
            Access::ReadFence,
            Access::WriteFence,
            Access::Full,
        ];
        let pairs = || accesses.iter().flat_map(|a| accesses.iter().map(move |b| (a, b)));
        let mut forbidden = 0;
        for model in MemoryModel::all() {
            for relaxation in Relaxation::ALL {
                let larger = model.with(relaxation);
                let lost = pairs()
                    .filter(|(a, b)| model.may_overtake(a, b) && !larger.may_overtake(a, b))
                    .count();
                assert!(lost == 0 || relaxation == Relaxation::Rwf, "{model} {relaxation:?}");
                forbidden += lost;
            }
        }
        assert!(forbidden > 0, "RWF forbids something");
    }
}
