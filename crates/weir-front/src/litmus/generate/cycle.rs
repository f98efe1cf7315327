//! Cycles: edges that fit together, in one of their rotations.

use std::fmt;
use std::str::FromStr;

use super::edge::{Access, Edge, Link, Place, Scope};
use super::error::GenerateError;
use super::{MAX_EDGES, MAX_THREADS, REGISTERS, name, print, values};

/// An access of a cycle, and why it comes before the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Step {
    pub access: Access,
    pub link: Link,
}

impl Step {
    pub(super) fn leaves_thread(self) -> bool {
        self.link == Link::Communication(Scope::External)
    }

    pub(super) fn leaves_location(self) -> bool {
        matches!(self.link, Link::Program(_, Place::Different))
    }
}

/// A cycle of edges that a test can be made of.
///
/// Rotations of a cycle are the same cycle. It begins where the well-known test
/// of its shape begins.
///
/// ```
/// use weir_front::litmus::generate::Cycle;
///
/// let cycle: Cycle = "Rfe PodRR Fre PodWW".parse().unwrap();
/// assert_eq!(cycle.name(), "MP");
/// assert_eq!(cycle.to_string(), "PodWW Rfe PodRR Fre");
/// assert_eq!(cycle.threads(), 2);
///
/// let error = "PodWR Rfe".parse::<Cycle>().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "`PodWR` ends in a read, but `Rfe`, which comes next, begins with a write"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cycle {
    /// From the beginning of a thread to the end of one.
    steps: Vec<Step>,
}

impl Cycle {
    /// The cycle of these edges, the last of which leads to the first.
    ///
    /// # Errors
    /// If they do not fit together, or no test can show that they happened.
    pub fn new(edges: &[Edge]) -> Result<Self, GenerateError> {
        if edges.len() > MAX_EDGES {
            return Err(GenerateError::TooLong(edges.len()));
        }
        let next = edges.iter().cycle().skip(1);
        let mut steps = vec![];
        for (&edge, &next) in edges.iter().zip(next) {
            let access = edge.meet(next).ok_or(GenerateError::Mismatch(edge, next))?;
            steps.push(Step { access, link: next.link() });
        }
        check_threads(&steps)?;
        check_locations(edges)?;
        let cycle = Self { steps: name::canonical(&steps) };
        cycle.check_sizes()?;
        Ok(cycle)
    }

    /// Whether there are enough registers.
    fn check_sizes(&self) -> Result<(), GenerateError> {
        let uses_register = |step: &&Step| step.access != Access::Write;
        let needed = self.runs().map(|run| run.iter().filter(uses_register).count()).max();
        if let Some(needed) = needed.filter(|n| *n > REGISTERS.len()) {
            return Err(GenerateError::TooManyRegisters(needed));
        }
        let writes = values::of(&self.steps).writes.into_iter().max();
        match writes.filter(|w| *w > REGISTERS.len() + 1) {
            Some(writes) => Err(GenerateError::TooManyWrites(writes)),
            None => Ok(()),
        }
    }

    /// The edges, from the beginning of the first thread.
    pub fn edges(&self) -> impl Iterator<Item = Edge> {
        let next = self.steps.iter().cycle().skip(1);
        self.steps.iter().zip(next).filter_map(|(s, n)| Edge::new(s.access, s.link, n.access))
    }

    /// How many threads it goes through.
    pub fn threads(&self) -> usize {
        self.runs().count()
    }

    /// What people call it, such as `SB+mfence+po`. No two cycles have the same
    /// name, and it can be the name of a file.
    pub fn name(&self) -> String {
        name::name(&self.steps)
    }

    /// The text of its test, in the X86 dialect. The condition holds of a final
    /// state exactly if the cycle happened.
    ///
    /// ```
    /// use weir_front::litmus::generate::Cycle;
    ///
    /// let cycle: Cycle = "PodWRAP Fre MFencedWR Fre".parse().unwrap();
    /// let expected = r#"X86 SB+mfence+xchg
    /// "MFencedWR FrePA PodWRAP Fre"
    /// Generator=weir
    /// Cycle=MFencedWR FrePA PodWRAP Fre
    /// { x=0; y=0; }
    ///  P0          | P1           ;
    ///  MOV [x],$1  | MOV EAX,$1   ;
    ///  MFENCE      | XCHG [y],EAX ;
    ///  MOV EAX,[y] | MOV EBX,[x]  ;
    /// exists (0:EAX=0 /\ 1:EBX=0)
    /// "#;
    /// assert_eq!(cycle.text(), expected);
    /// ```
    pub fn text(&self) -> String {
        print::print(self)
    }

    /// The accesses of each thread.
    pub(super) fn runs(&self) -> impl Iterator<Item = &[Step]> {
        runs(&self.steps)
    }

    pub(super) fn steps(&self) -> &[Step] {
        &self.steps
    }
}

/// Cuts steps that begin at the beginning of a thread into threads.
pub(super) fn runs(steps: &[Step]) -> impl Iterator<Item = &[Step]> {
    steps.split_inclusive(|step| step.leaves_thread())
}

fn check_threads(steps: &[Step]) -> Result<(), GenerateError> {
    match steps.iter().filter(|step| step.leaves_thread()).count() {
        0 | 1 => Err(GenerateError::OneThread),
        threads if threads > MAX_THREADS => Err(GenerateError::TooManyThreads(threads)),
        _ => Ok(()),
    }
}

fn check_locations(edges: &[Edge]) -> Result<(), GenerateError> {
    let changes: Vec<Edge> = edges.iter().copied().filter(|e| !e.is_same_location()).collect();
    let is_program = |e: &Edge| matches!(e.link(), Link::Program(..));
    match changes[..] {
        [only] => Err(GenerateError::OneChange(only)),
        [] if !edges.iter().any(is_program) => Err(GenerateError::NoProgramOrder),
        _ => Ok(()),
    }
}

/// The names of the edges, with spaces between them.
impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, edge) in self.edges().enumerate() {
            let space = if i == 0 { "" } else { " " };
            write!(f, "{space}{edge}")?;
        }
        Ok(())
    }
}

impl FromStr for Cycle {
    type Err = GenerateError;

    fn from_str(text: &str) -> Result<Self, GenerateError> {
        let edges: Result<Vec<Edge>, _> = text.split_whitespace().map(str::parse).collect();
        Self::new(&edges?)
    }
}
