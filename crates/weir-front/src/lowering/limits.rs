//! Limits that the user sets. A run that reaches one is not followed further, and every `holds`
//! becomes `unknown`.

use weir_model::program::{BinOp, Expr, StmtKind};

use super::access::Order;
use super::lvalue::Lvalue;
use super::types::Type;
use super::value::{Value, binary};
use super::{Builder, Key};

impl Builder {
    /// A loop begins: it has had no rounds.
    pub fn reset_rounds(&mut self, key: Key) {
        let count = self.counter(key, "rounds");
        self.store(&count, &Value::number(0, Type::pointer(Type::Void)), Order::Plain);
    }

    /// One more round of a loop.
    pub fn count_round(&mut self, key: Key) {
        let Some(most) = self.options.unroll else { return };
        self.count(key, "rounds", i128::from(most));
    }

    /// Counts one up, to a limit. Returns the register that counts.
    pub(super) fn count(
        &mut self,
        key: Key,
        what: &str,
        most: i128,
    ) -> Option<weir_model::ids::RegId> {
        let count = self.counter(key, what);
        let used = self.load(&count, Order::Plain);
        let used = self.to_code(&used.data);
        let Lvalue::Locals(locals, _) = count else { return None };
        let next = binary(BinOp::Add, used, Expr::Const(1));
        let register = self.hold_register(locals.slot);
        self.emit(StmtKind::Assign(register, next));
        let process = self.current;
        if !self.limits.iter().any(|l| (l.0, l.1) == (process, register)) {
            self.limits.push((process, register, most));
        }
        Some(register)
    }
}
