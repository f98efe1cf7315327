//! Formulas of linear temporal logic, without `next`.
//!
//! A formula is about an infinite sequence of states. Whether it holds does not change if a state is
//! repeated, so it does not matter which steps of a program Weir merges.

use super::{BinOp, Expr, Formula, UnOp};

/// A formula of linear temporal logic; `F` is about single states.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum Ltl<F = Formula> {
    /// Holds now.
    State(F),
    /// Does not hold.
    Not(Box<Ltl<F>>),
    /// Both.
    And(Box<Ltl<F>>, Box<Ltl<F>>),
    /// One of both, or both.
    Or(Box<Ltl<F>>, Box<Ltl<F>>),
    /// The second one, if the first one.
    Implies(Box<Ltl<F>>, Box<Ltl<F>>),
    /// Both or none.
    Iff(Box<Ltl<F>>, Box<Ltl<F>>),
    /// From now on.
    Always(Box<Ltl<F>>),
    /// Now or later.
    Eventually(Box<Ltl<F>>),
    /// The second one now or later, and the first one until then.
    Until(Box<Ltl<F>>, Box<Ltl<F>>),
    /// The first one until the second one, or for ever.
    Unless(Box<Ltl<F>>, Box<Ltl<F>>),
    /// The second one up to and including the moment at which the first one holds, or for ever.
    Release(Box<Ltl<F>>, Box<Ltl<F>>),
}

impl<F> Ltl<F> {
    /// The parts of which it is made, one level down.
    pub fn parts(&self) -> Vec<&Self> {
        match self {
            Self::State(_) => vec![],
            Self::Not(a) | Self::Always(a) | Self::Eventually(a) => vec![a],
            Self::And(a, b)
            | Self::Or(a, b)
            | Self::Implies(a, b)
            | Self::Iff(a, b)
            | Self::Until(a, b)
            | Self::Unless(a, b)
            | Self::Release(a, b) => vec![a, b],
        }
    }

    /// Calls back with each formula about states, from left to right.
    pub fn states<'a>(&'a self, visit: &mut impl FnMut(&'a F)) {
        if let Self::State(f) = self {
            visit(f);
        }
        // Recursive: readers bound how deep formulas nest.
        for part in self.parts() {
            part.states(visit);
        }
    }

    /// How deep it nests.
    pub fn depth(&self) -> usize {
        1 + self.parts().into_iter().map(Self::depth).max().unwrap_or(0)
    }

    /// The same with other formulas about states; nothing if one of them cannot be had.
    pub fn try_map<G>(&self, map: &mut impl FnMut(&F) -> Option<G>) -> Option<Ltl<G>> {
        let mut of = |part: &Self| Some(Box::new(part.try_map(map)?));
        Some(match self {
            Self::State(f) => Ltl::State(map(f)?),
            Self::Not(a) => Ltl::Not(of(a)?),
            Self::Always(a) => Ltl::Always(of(a)?),
            Self::Eventually(a) => Ltl::Eventually(of(a)?),
            Self::And(a, b) => Ltl::And(of(a)?, of(b)?),
            Self::Or(a, b) => Ltl::Or(of(a)?, of(b)?),
            Self::Implies(a, b) => Ltl::Implies(of(a)?, of(b)?),
            Self::Iff(a, b) => Ltl::Iff(of(a)?, of(b)?),
            Self::Until(a, b) => Ltl::Until(of(a)?, of(b)?),
            Self::Unless(a, b) => Ltl::Unless(of(a)?, of(b)?),
            Self::Release(a, b) => Ltl::Release(of(a)?, of(b)?),
        })
    }
}

impl Ltl {
    /// The same, with what is about one state in one formula: the form that programs have.
    #[must_use]
    pub fn folded(self) -> Self {
        let of = |part: Box<Self>| Box::new(part.folded());
        match self {
            Self::State(_) => self,
            Self::Not(a) => match a.folded() {
                Self::State(f) => Self::State(Expr::unary(UnOp::Not, f)),
                a => Self::Not(Box::new(a)),
            },
            Self::And(a, b) => match (a.folded(), b.folded()) {
                (Self::State(f), Self::State(g)) => Self::State(Expr::binary(BinOp::And, f, g)),
                (a, b) => Self::And(Box::new(a), Box::new(b)),
            },
            Self::Or(a, b) => match (a.folded(), b.folded()) {
                (Self::State(f), Self::State(g)) => Self::State(Expr::binary(BinOp::Or, f, g)),
                (a, b) => Self::Or(Box::new(a), Box::new(b)),
            },
            Self::Implies(a, b) => match (a.folded(), b.folded()) {
                (Self::State(f), Self::State(g)) => {
                    Self::State(Expr::binary(BinOp::Or, Expr::unary(UnOp::Not, f), g))
                }
                (a, b) => Self::Implies(Box::new(a), Box::new(b)),
            },
            Self::Iff(a, b) => Self::Iff(of(a), of(b)),
            Self::Always(a) => Self::Always(of(a)),
            Self::Eventually(a) => Self::Eventually(of(a)),
            Self::Until(a, b) => Self::Until(of(a), of(b)),
            Self::Unless(a, b) => Self::Unless(of(a), of(b)),
            Self::Release(a, b) => Self::Release(of(a), of(b)),
        }
    }
}
