//! Places in memory, and which values fit where.

use weir_model::ids::VarId;
use weir_model::program::{BinOp, Code, Expr, Place, UnOp};

use super::memory::Range;
use super::process::Lowering;
use super::tree::Loc;
use crate::locked::conjunction;

/// A place with its domains.
pub struct Target {
    pub place: Place,
    /// Each variable that it can be, with its number for pointers.
    pub vars: Vec<(Option<i128>, Option<Range>)>,
    /// What has to hold for a pointer to point anywhere.
    pub guard: Option<Code>,
    /// The pointer, if it is one.
    index: Option<Code>,
}

impl Lowering<'_, '_, '_> {
    /// The place that a location stands for. `None` after an error.
    pub fn target(&mut self, place: &Loc) -> Option<Target> {
        let Loc::Pointer(address, at) = place else {
            let var = self.memory.var(self.cx, place, self.number)?;
            let vars = vec![(None, self.memory.domains[var.index()])];
            return Some(Target { place: Place::var(var), vars, guard: None, index: None });
        };
        let address = self.code(address)?;
        let count = self.memory.global_count;
        if count == 0 {
            let message = "there is no global variable that this could point to";
            self.cx.error(self.cx.tokens[*at].error(message));
            return None;
        }
        let all = |i: usize| (Some(i as i128), self.memory.domains[i]);
        if let Expr::Const(value) = address {
            // One that points nowhere waits for ever.
            let var = usize::try_from(value).ok().filter(|v| *v < count);
            let guard = var.is_none().then_some(Expr::Const(0));
            let var = var.unwrap_or(0);
            let place = Place::var(VarId::new(var));
            return Some(Target { place, vars: vec![(None, all(var).1)], guard, index: None });
        }
        let guard = self.within(&address, Some((0, count as i128 - 1)));
        let len = u32::try_from(count).ok()?;
        let place = Place::element(VarId(0), len, address.clone());
        Some(Target { place, vars: (0..count).map(all).collect(), guard, index: Some(address) })
    }

    /// What has to hold for a value to be in the domain of a place.
    pub fn fits(&self, target: &Target, e: &Code) -> Vec<Code> {
        let alike = target.vars.iter().all(|(_, d)| *d == target.vars[0].1);
        let Some(index) = target.index.as_ref().filter(|_| !alike) else {
            return self.within(e, target.vars[0].1).into_iter().collect();
        };
        let each = target.vars.iter().filter_map(|(number, domain)| {
            let fits = self.within(e, *domain)?;
            let other = Expr::binary(BinOp::Ne, index.clone(), Expr::Const((*number)?));
            Some(Expr::binary(BinOp::Or, other, fits))
        });
        each.collect()
    }

    /// What has to hold for a value to be in a domain, if anything has to.
    pub fn within(&self, e: &Code, domain: Option<Range>) -> Option<Code> {
        let (low, high) = domain?;
        let (least, most) = self.extent(e);
        let above = Expr::binary(BinOp::Ge, e.clone(), Expr::Const(low));
        let below = Expr::binary(BinOp::Le, e.clone(), Expr::Const(high));
        let above = (least < low).then_some(above);
        let below = (most > high).then_some(below);
        conjunction(above.into_iter().chain(below))
    }

    /// The least and the most that the value of an expression can be.
    fn extent(&self, e: &Code) -> (i128, i128) {
        let any = (i128::MIN, i128::MAX);
        match e {
            Expr::Const(c) => (*c, *c),
            Expr::Atom(r) => self.domains[r.index()].unwrap_or(any),
            Expr::Unary(UnOp::Neg, e) => {
                let (least, most) = self.extent(e);
                (most.saturating_neg(), least.saturating_neg())
            }
            Expr::Binary(op @ (BinOp::Add | BinOp::Sub), a, b) => {
                let ((a, c), (b, d)) = (self.extent(a), self.extent(b));
                match op {
                    BinOp::Add => (a.saturating_add(b), c.saturating_add(d)),
                    _ => (a.saturating_sub(d), c.saturating_sub(b)),
                }
            }
            _ => any,
        }
    }
}

/// Whether all values of one domain are in another.
pub fn contains(domain: Option<Range>, of: Option<Range>) -> bool {
    match (domain, of) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some((low, high)), Some((least, most))) => low <= least && most <= high,
    }
}
