//! What evaluating an expression can do besides giving a value: nothing, reads, or more.

use lang_c::ast::{BinaryOperator, Expression, MemberOperator, UnaryOperator};
use lang_c::span::Node;

use super::{Name, Reader};
use crate::lowering::Lvalue;

impl<'u> Reader<'u, '_> {
    /// Whether an expression only looks at local variables and constants, and cannot fail.
    pub(super) fn is_local(&self, e: &'u Node<Expression>) -> bool {
        match &e.node {
            Expression::Constant(_) => true,
            Expression::Identifier(name) => match self.lookup(&name.node.name) {
                Some(Name::Variable(place)) => {
                    matches!(place, Lvalue::Locals(..)) && place.ty().is_scalar()
                }
                Some(Name::Constant(_)) => true,
                _ => false,
            },
            Expression::UnaryOperator(op) => {
                op.node.operator.node == UnaryOperator::Negate && self.is_local(&op.node.operand)
            }
            Expression::BinaryOperator(op) => {
                let is_test = matches!(
                    op.node.operator.node,
                    BinaryOperator::Equals
                        | BinaryOperator::NotEquals
                        | BinaryOperator::Less
                        | BinaryOperator::Greater
                        | BinaryOperator::LessOrEqual
                        | BinaryOperator::GreaterOrEqual
                        | BinaryOperator::LogicalAnd
                        | BinaryOperator::LogicalOr
                );
                is_test && self.is_local(&op.node.lhs) && self.is_local(&op.node.rhs)
            }
            _ => false,
        }
    }

    /// Whether an expression only reads, and cannot fail: then it does not matter whether it is
    /// evaluated.
    pub(super) fn is_quiet(&self, e: &'u Node<Expression>) -> bool {
        match &e.node {
            Expression::Constant(_) => true,
            Expression::Identifier(_) => true,
            Expression::Member(member) => match member.node.operator.node {
                MemberOperator::Direct => self.is_quiet(&member.node.expression),
                MemberOperator::Indirect => self.is_known(&member.node.expression),
            },
            Expression::UnaryOperator(op) => match op.node.operator.node {
                UnaryOperator::Negate
                | UnaryOperator::Minus
                | UnaryOperator::Plus
                | UnaryOperator::Address => self.is_quiet(&op.node.operand),
                UnaryOperator::Indirection => self.is_known(&op.node.operand),
                _ => false,
            },
            Expression::BinaryOperator(op) => match op.node.operator.node {
                BinaryOperator::Index => {
                    self.is_quiet(&op.node.lhs)
                        && (self.is_local(&op.node.rhs) || self.is_index(&op.node.rhs))
                }
                BinaryOperator::LogicalAnd
                | BinaryOperator::LogicalOr
                | BinaryOperator::Equals
                | BinaryOperator::NotEquals
                | BinaryOperator::Less
                | BinaryOperator::Greater
                | BinaryOperator::LessOrEqual
                | BinaryOperator::GreaterOrEqual
                | BinaryOperator::Plus
                | BinaryOperator::Minus
                | BinaryOperator::BitwiseAnd
                | BinaryOperator::BitwiseOr => {
                    self.is_quiet(&op.node.lhs) && self.is_quiet(&op.node.rhs)
                }
                _ => false,
            },
            Expression::Cast(cast) => self.is_quiet(&cast.node.expression),
            Expression::Call(call) => match &call.node.callee.node {
                Expression::Identifier(name) => {
                    super::library::is_load(&name.node.name)
                        && !self.functions.contains_key(&*name.node.name)
                        && call.node.arguments.iter().all(|a| self.is_quiet(a) || self.is_known(a))
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether an index is a sum of local variables and constants.
    fn is_index(&self, e: &'u Node<Expression>) -> bool {
        match &e.node {
            Expression::BinaryOperator(op) => {
                let is_sum =
                    matches!(op.node.operator.node, BinaryOperator::Plus | BinaryOperator::Minus);
                is_sum && self.is_index(&op.node.lhs) && self.is_index(&op.node.rhs)
            }
            _ => self.is_local(e),
        }
    }

    /// Whether an expression is a pointer variable whose target is known.
    fn is_known(&self, e: &'u Node<Expression>) -> bool {
        match &e.node {
            Expression::Identifier(name) => match self.lookup(&name.node.name) {
                Some(Name::Variable(Lvalue::Locals(locals, _))) => self.b.is_fixed(*locals),
                _ => false,
            },
            Expression::UnaryOperator(op) => {
                op.node.operator.node == UnaryOperator::Address && self.is_quiet(&op.node.operand)
            }
            _ => false,
        }
    }
}
