//! Types of expressions that are not evaluated, and sizes of types.

use lang_c::ast::{
    BinaryOperator, BlockItem, CallExpression, DerivedDeclarator, Expression, Statement,
    UnaryOperator,
};
use lang_c::span::Node;
use weir_model::program::IntType;

use super::number::{common, either, promoted};
use super::{Name, Reader};
use crate::lowering::types::Type;

impl<'u> Reader<'u, '_> {
    /// The type of an expression, which is not evaluated.
    pub(super) fn type_of(&mut self, e: &'u Node<Expression>) -> Type {
        match &e.node {
            Expression::Identifier(name) => match self.lookup(&name.node.name) {
                Some(Name::Variable(place)) => place.ty().clone(),
                Some(Name::ThreadLocal(number)) => self.thread_locals[*number].ty.clone(),
                Some(Name::Constant(_)) => Type::INT,
                _ if self.functions.contains_key(&*name.node.name) => Type::Function,
                _ => Type::INT,
            },
            Expression::Member(member) => {
                let of = self.type_of(&member.node.expression);
                let of = match of.plain() {
                    Type::Pointer(to) | Type::Array(to, _) => (**to).clone(),
                    other => other.clone(),
                };
                let mut ty = of;
                for field in
                    self.field_path(&ty, &member.node.identifier.node.name).unwrap_or_default()
                {
                    let Type::Struct(id) = ty.plain() else { break };
                    ty = self.b.learned.structs.get(*id).fields[field].1.clone();
                }
                ty
            }
            Expression::UnaryOperator(op) => {
                let of = self.type_of(&op.node.operand);
                match op.node.operator.node {
                    UnaryOperator::Address => Type::pointer(of),
                    UnaryOperator::Indirection => match of.plain() {
                        Type::Pointer(to) | Type::Array(to, _) => (**to).clone(),
                        other => other.clone(),
                    },
                    UnaryOperator::Negate => Type::INT,
                    UnaryOperator::Minus | UnaryOperator::Plus | UnaryOperator::Complement => {
                        promoted(&of)
                    }
                    _ => of,
                }
            }
            Expression::BinaryOperator(op) => {
                let a = self.type_of(&op.node.lhs);
                match op.node.operator.node {
                    BinaryOperator::Index => match a.plain() {
                        Type::Pointer(to) | Type::Array(to, _) => (**to).clone(),
                        other => other.clone(),
                    },
                    BinaryOperator::Plus | BinaryOperator::Minus => {
                        let b = self.type_of(&op.node.rhs);
                        match (a.plain(), b.plain()) {
                            (Type::Pointer(_), Type::Pointer(_)) => Type::Int(IntType::I64),
                            (Type::Pointer(_), _) => a,
                            (Type::Array(to, _), _) => Type::Pointer(to.clone()),
                            (_, Type::Pointer(_)) => b,
                            _ => common(&a, &b),
                        }
                    }
                    BinaryOperator::Less
                    | BinaryOperator::Greater
                    | BinaryOperator::LessOrEqual
                    | BinaryOperator::GreaterOrEqual
                    | BinaryOperator::Equals
                    | BinaryOperator::NotEquals
                    | BinaryOperator::LogicalAnd
                    | BinaryOperator::LogicalOr => Type::INT,
                    BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight => promoted(&a),
                    BinaryOperator::Multiply
                    | BinaryOperator::Divide
                    | BinaryOperator::Modulo
                    | BinaryOperator::BitwiseAnd
                    | BinaryOperator::BitwiseXor
                    | BinaryOperator::BitwiseOr => {
                        let b = self.type_of(&op.node.rhs);
                        common(&a, &b)
                    }
                    // Assignments.
                    _ => a,
                }
            }
            Expression::Cast(cast) => self.type_name(&cast.node.type_name.node),
            Expression::CompoundLiteral(l) => self.type_name(&l.node.type_name.node),
            Expression::Constant(constant) => self.constant(&constant.node, e.span).ty,
            Expression::Conditional(choice) => {
                let a = self.type_of(&choice.node.then_expression);
                let b = self.type_of(&choice.node.else_expression);
                either(&a, &b)
            }
            Expression::Comma(list) => match list.last() {
                Some(last) => self.type_of(last),
                None => Type::Void,
            },
            Expression::SizeOfTy(_) | Expression::SizeOfVal(_) | Expression::AlignOf(_) => {
                Type::Int(IntType::U64)
            }
            Expression::Call(call) => self.type_of_call(&call.node),
            Expression::StringLiteral(_) => Type::pointer(Type::Void),
            Expression::Statement(block) => match &block.node {
                Statement::Compound(items) => match items.last().map(|item| &item.node) {
                    Some(BlockItem::Statement(statement)) => match &statement.node {
                        Statement::Expression(Some(e)) => self.type_of(e),
                        _ => Type::Void,
                    },
                    _ => Type::Void,
                },
                _ => Type::Void,
            },
            _ => Type::INT,
        }
    }

    fn type_of_call(&mut self, call: &'u CallExpression) -> Type {
        let Expression::Identifier(name) = &call.callee.node else { return Type::INT };
        let name = &*name.node.name;
        if let Some(function) = self.functions.get(name).copied() {
            let parts = function.specifiers.iter().filter_map(super::types::specifier);
            let mut ty = self.base_type(parts);
            for derived in &function.declarator.node.derived {
                if matches!(derived.node, DerivedDeclarator::Pointer(_)) {
                    ty = Type::pointer(ty);
                }
            }
            return ty;
        }
        let first = call.arguments.first();
        match (super::library::is_of_target(name), first) {
            (true, Some(first)) => match self.type_of(first).plain() {
                Type::Pointer(to) | Type::Array(to, _) => to.plain().clone(),
                other => other.clone(),
            },
            _ => Type::INT,
        }
    }

    /// The size of a type in bytes.
    pub(super) fn size(&self, ty: &Type) -> i128 {
        match ty.plain() {
            Type::Void | Type::Bool => 1,
            Type::Int(int) => i128::from(int.bits() / 8),
            Type::Array(element, len) => self.size(element).saturating_mul(i128::from(*len)),
            Type::Struct(id) => {
                let fields = &self.b.learned.structs.get(*id).fields;
                let (mut size, mut largest) = (0, 1);
                for (_, ty) in fields {
                    let align = self.alignment(ty);
                    largest = largest.max(align);
                    size = (size + align - 1) / align * align + self.size(ty);
                }
                (size + largest - 1) / largest * largest
            }
            _ => 8,
        }
    }

    fn alignment(&self, ty: &Type) -> i128 {
        match ty.plain() {
            Type::Array(element, _) => self.alignment(element),
            Type::Struct(id) => {
                let fields = &self.b.learned.structs.get(*id).fields;
                fields.iter().map(|(_, ty)| self.alignment(ty)).max().unwrap_or(1)
            }
            other => self.size(other).max(1),
        }
    }
}
