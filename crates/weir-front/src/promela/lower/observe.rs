//! What questions see of a message that is handed over.
//!
//! In Spin a message without a buffer is sent and received in one step. Here the receiver takes it
//! in a step of its own, after the sender's (see [`channel`](super::channel)). No question should
//! observe the moment in between. Where only the place of the receiver shows it, a question about
//! one of its labels asks where the receiver is after it has taken the message. Where a process has
//! to go on at once (`Context::hand`), questions are not asked in between.

use std::collections::HashMap;

use weir_model::ids::{LabelId, ProcessId, VarId};
use weir_model::program::{Atom, BinOp, Expr, Formula, LiveKind, Ltl, Program, PropertyKind, UnOp};

use super::Context;
use super::process::Body;

/// How questions see messages that are handed over.
#[derive(Debug, Default)]
pub struct Observed {
    /// What a process being at a label means, where it is not just that.
    labels: HashMap<(ProcessId, LabelId), Formula>,
    /// The variable that is not 0 while a process has to go on.
    hand: Option<VarId>,
}

impl Observed {
    pub(super) fn new(cx: &Context<'_, '_>, bodies: &[Body<'_, '_>]) -> Self {
        let mut labels = HashMap::new();
        if cx.hand.is_some() {
            return Self { labels, hand: cx.hand };
        }
        for (p, body) in bodies.iter().enumerate() {
            let Some(meeting) = body.meeting else { continue };
            let process = ProcessId::new(p);
            let got = || Expr::Atom(Atom::Var(meeting.got));
            for node in &body.graph.nodes {
                for name in &node.labels {
                    let written = body.label_ids.get(name).map(|(id, _)| id.index());
                    let now = written.and_then(|id| cx.relabeled.get(p)?.get(id).copied()?);
                    let Some(label) = now else { continue };
                    let here = Expr::Atom(Atom::At(process, label));
                    let mut at = Expr::binary(BinOp::And, here, Expr::unary(UnOp::Not, got()));
                    for (i, receive) in body.receives.iter().enumerate() {
                        let to = &body.graph.nodes[receive.to()];
                        if to.labels.contains(name) {
                            let took = Expr::Const(i as i128 + 1);
                            let took = Expr::binary(BinOp::Eq, got(), took);
                            at = Expr::binary(BinOp::Or, at, took);
                        }
                    }
                    labels.insert((process, label), at);
                }
            }
        }
        Self { labels, hand: None }
    }

    /// Changes what a program asks.
    pub fn apply(&self, program: &mut Program) {
        for property in &mut program.properties {
            match &mut property.kind {
                PropertyKind::Never(formula) => self.state(formula),
                // A run that ends has no message on its way.
                PropertyKind::NoDeadlock(_)
                | PropertyKind::Final { .. }
                | PropertyKind::Assertions => {}
            }
        }
        for live in &mut program.live {
            match &mut live.kind {
                LiveKind::Exists(f) | LiveKind::Never(f) | LiveKind::Always(f) => self.state(f),
                LiveKind::Ltl { formula, .. } => {
                    let seen = formula.try_map(&mut |f| {
                        let mut f = f.clone();
                        self.replace(&mut f);
                        Some(f)
                    });
                    let seen = seen.expect("every formula has been mapped");
                    *formula = match self.hand {
                        Some(hand) => later(&seen, hand),
                        None => seen,
                    };
                }
                LiveKind::Terminates => {}
            }
        }
    }

    fn replace(&self, formula: &mut Formula) {
        formula.replace(&|atom| match atom {
            Atom::At(process, label) => self.labels.get(&(*process, *label)).cloned(),
            _ => None,
        });
    }

    fn state(&self, formula: &mut Formula) {
        self.replace(formula);
        if let Some(hand) = self.hand {
            let whole = std::mem::replace(formula, Expr::Const(0));
            *formula = Expr::binary(BinOp::And, nobody(hand), whole);
        }
    }
}

/// No process has to go on.
fn nobody(hand: VarId) -> Formula {
    Expr::unary(UnOp::Not, Expr::Atom(Atom::Var(hand)))
}

/// The formula that ignores the moments at which some process has to go on: at such a moment, the truth
/// of a part is that at the next moment at which no process has to.
///
/// Recursive: readers bound how deep formulas nest.
fn later(formula: &Ltl, hand: VarId) -> Ltl {
    let of = |part: &Ltl| Box::new(later(part, hand));
    match formula {
        Ltl::State(f) => {
            let goes_on = Ltl::State(Expr::Atom(Atom::Var(hand)));
            let then = Ltl::State(Expr::binary(BinOp::And, nobody(hand), f.clone()));
            Ltl::Until(goes_on.into(), then.into())
        }
        Ltl::Not(a) => Ltl::Not(of(a)),
        Ltl::Always(a) => Ltl::Always(of(a)),
        Ltl::Eventually(a) => Ltl::Eventually(of(a)),
        Ltl::And(a, b) => Ltl::And(of(a), of(b)),
        Ltl::Or(a, b) => Ltl::Or(of(a), of(b)),
        Ltl::Implies(a, b) => Ltl::Implies(of(a), of(b)),
        Ltl::Iff(a, b) => Ltl::Iff(of(a), of(b)),
        Ltl::Until(a, b) => Ltl::Until(of(a), of(b)),
        Ltl::Unless(a, b) => Ltl::Unless(of(a), of(b)),
        Ltl::Release(a, b) => Ltl::Release(of(a), of(b)),
    }
}
