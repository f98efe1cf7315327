//! Values that were never set: what may be one, and what happens if something depends on it.

use weir_model::program::{BinOp, Code, Expr, Stmt, StmtKind};

use super::Reader;
use super::explore::code_of;
use super::number::{UNSET, binary, number};
use super::objects::Val;

/// What is said of memory that was never set.
pub(super) const NEVER_SET: &str = "memory is used that was never set";

impl Reader<'_> {
    /// Something depends on a value that only the run knows: it must have been set.
    pub(super) fn must_be_set(&mut self, value: Val, out: &mut Vec<Stmt>) {
        if let Val::Reg(register) = value
            && self.may_be_unset(value)
        {
            let is_set = binary(BinOp::Ne, Expr::Atom(register), number(UNSET));
            self.check(is_set, NEVER_SET, out);
        }
    }

    /// Whether a register may have a value that was never set.
    pub(super) fn may_be_unset(&self, value: Val) -> bool {
        self.knows_unset && matches!(value, Val::Reg(_)) && self.addresses_of(value).is_unset
    }

    /// A value of which some bits may never have been set, as a number: those are 0.
    pub(super) fn or_zero(&mut self, value: Val, out: &mut Vec<Stmt>) -> Val {
        if value == Val::Undef && self.knows_unset {
            self.reads_zero = true;
            return Val::Known(0);
        }
        if let Val::Reg(register) = value
            && self.may_be_unset(value)
        {
            self.reads_zero = true;
            let is_unset = binary(BinOp::Eq, Expr::Atom(register), number(UNSET));
            let mut zero = Vec::new();
            self.emit(&mut zero, StmtKind::Assign(register, number(0)));
            self.emit(out, StmtKind::If(is_unset, zero, Vec::new()));
        }
        value
    }

    /// A value that is copied, as code.
    pub(super) fn copied(&self, value: Val) -> Code {
        match value {
            Val::Undef if self.knows_unset => number(UNSET),
            value => code_of(value),
        }
    }
}
