//! Expressions.

use lang_c::ast::{
    BinaryOperator, BinaryOperatorExpression, BlockItem, CallExpression, Constant, Expression,
    IntegerBase, IntegerSize, MemberExpression, MemberOperator, Statement, UnaryOperator,
    UnaryOperatorExpression,
};
use lang_c::span::{Node, Span};
use weir_model::program::{BinOp, Expr, IntType};

use super::number::{either, promoted};
use super::{Name, Reader};
use crate::Diagnostic;
use crate::errors::{did_you_mean, quote};
use crate::lowering::access::Update;
use crate::lowering::types::Type;
use crate::lowering::value::{Data, Value, binary};
use crate::lowering::{Lvalue, Order};

impl<'u> Reader<'u, '_> {
    /// Evaluates an expression whose value is not used.
    pub(super) fn effect(&mut self, e: &'u Node<Expression>) {
        match &e.node {
            Expression::UnaryOperator(op) => {
                let is_step = matches!(
                    op.node.operator.node,
                    UnaryOperator::PostIncrement | UnaryOperator::PostDecrement
                );
                self.at(e.span);
                match is_step {
                    true => drop(self.increment(&op.node, e.span, false)),
                    false => drop(self.value(e)),
                }
            }
            // `x;` is no access that anybody asked for.
            Expression::Cast(cast) => self.effect(&cast.node.expression),
            Expression::Identifier(_) | Expression::Constant(_) => {}
            _ => drop(self.value(e)),
        }
    }

    /// The order of an access to something of a type.
    pub(super) fn order(ty: &Type) -> Order {
        if ty.is_atomic() { Order::SeqCst } else { Order::Plain }
    }

    /// The value of an expression.
    pub(super) fn value(&mut self, e: &'u Node<Expression>) -> Value {
        if !self.b.errors.is_empty() {
            return Value::number(0, Type::INT);
        }
        let span = e.span;
        match &e.node {
            Expression::Constant(constant) => self.constant(&constant.node, span),
            Expression::Identifier(name) => {
                let name = &name.node.name;
                if let Some(Name::Constant(value)) = self.lookup(name) {
                    return Value::number(*value, Type::INT);
                }
                if self.lookup(name).is_none() && self.functions.contains_key(&**name) {
                    let number = self.numbered.binary_search(&&**name).unwrap_or(0);
                    return Value { data: Data::Function(number), ty: Type::Function };
                }
                self.read(e)
            }
            Expression::Member(_) => self.read(e),
            Expression::StringLiteral(_) => {
                Value { data: Data::Text(span.start), ty: Type::pointer(Type::Void) }
            }
            Expression::Call(call) => self.called(&call.node, span),
            Expression::UnaryOperator(op) => self.unary(&op.node, e),
            Expression::BinaryOperator(op) => self.binary(&op.node, e),
            Expression::Cast(cast) => {
                let ty = self.type_name(&cast.node.type_name.node);
                let value = self.value(&cast.node.expression);
                self.at(span);
                match ty {
                    Type::Void => Value::void(),
                    ty => self.convert(value, &ty),
                }
            }
            Expression::Conditional(choice) => {
                let choice = &choice.node;
                let condition = self.value(&choice.condition);
                self.at(span);
                match self.b.decide(&condition) {
                    Ok(is_true) => {
                        let a = self.type_of(&choice.then_expression);
                        let b = self.type_of(&choice.else_expression);
                        let taken =
                            if is_true { &choice.then_expression } else { &choice.else_expression };
                        let value = self.value(taken);
                        self.at(span);
                        match either(&a, &b) {
                            ty if ty.is_scalar() => self.convert(value, &ty),
                            _ => value,
                        }
                    }
                    Err(code) => {
                        let ty = self.type_of(&choice.then_expression);
                        let other = self.type_of(&choice.else_expression);
                        let ty = either(&ty, &other);
                        let key = self.b.key(("choice", span.start));
                        let place = self.b.local("choice", &ty, key);
                        self.b.begin_if(code);
                        let value = self.value(&choice.then_expression);
                        self.assign(&place, value, Order::Plain);
                        self.b.begin_else();
                        let value = self.value(&choice.else_expression);
                        self.assign(&place, value, Order::Plain);
                        self.at(span);
                        self.b.end_if();
                        self.b.load(&place, Order::Plain)
                    }
                }
            }
            Expression::Comma(list) => {
                let mut value = Value::void();
                for (i, e) in list.iter().enumerate() {
                    if i + 1 == list.len() {
                        value = self.value(e);
                    } else {
                        self.effect(e);
                    }
                }
                value
            }
            Expression::SizeOfTy(of) => {
                let ty = self.type_name(&of.node.0.node);
                let size = self.size(&ty);
                Value::number(size, Type::Int(IntType::U64))
            }
            Expression::SizeOfVal(of) => {
                let ty = self.type_of(&of.node.0);
                let size = self.size(&ty);
                Value::number(size, Type::Int(IntType::U64))
            }
            Expression::CompoundLiteral(literal) => {
                let ty = self.type_name(&literal.node.type_name.node);
                self.list(&literal.node.initializer_list, &ty)
            }
            Expression::Statement(block) => self.block_value(block),
            Expression::GenericSelection(_) => {
                self.not_read(span, "`_Generic`", "write the function that is meant");
                Value::number(0, Type::INT)
            }
            Expression::AlignOf(_) => Value::number(8, Type::Int(IntType::U64)),
            Expression::OffsetOf(_) => {
                self.not_read(span, "`offsetof`", "use the field itself");
                Value::number(0, Type::INT)
            }
            Expression::VaArg(_) => {
                self.not_read(span, "`va_arg`", "");
                Value::number(0, Type::INT)
            }
        }
    }

    /// `({ …; e; })`
    fn block_value(&mut self, block: &'u Node<Statement>) -> Value {
        let Statement::Compound(items) = &block.node else { return Value::void() };
        self.scopes.push(Default::default());
        let mut value = Value::void();
        for (i, item) in items.iter().enumerate() {
            match &item.node {
                BlockItem::Declaration(d) => self.declaration(&d.node, d.span, false),
                BlockItem::Statement(statement) => match &statement.node {
                    Statement::Expression(Some(e)) if i + 1 == items.len() => value = self.value(e),
                    _ => self.statement(statement),
                },
                BlockItem::StaticAssert(_) => {}
            }
        }
        self.scopes.pop();
        value
    }

    pub(super) fn constant(&mut self, constant: &'u Constant, span: Span) -> Value {
        match constant {
            Constant::Integer(integer) => {
                let base = match integer.base {
                    IntegerBase::Decimal => 10,
                    IntegerBase::Octal => 8,
                    IntegerBase::Hexadecimal => 16,
                    IntegerBase::Binary => 2,
                };
                let digits = match &*integer.number {
                    "" => "0",
                    digits => digits,
                };
                let Ok(value) = i128::from_str_radix(digits, base) else {
                    self.error(span, "this number is too large");
                    return Value::number(0, Type::INT);
                };
                let is_long = integer.suffix.size != IntegerSize::Int;
                let types: &[IntType] = match (is_long, integer.suffix.unsigned, base) {
                    (false, false, 10) => &[IntType::I32, IntType::I64],
                    (false, false, _) => &[IntType::I32, IntType::U32, IntType::I64, IntType::U64],
                    (false, true, _) => &[IntType::U32, IntType::U64],
                    (true, false, _) => &[IntType::I64, IntType::U64],
                    (true, true, _) => &[IntType::U64],
                };
                match types.iter().find(|int| value <= int.high()) {
                    Some(int) => Value::number(value, Type::Int(*int)),
                    None => {
                        self.error(span, "this number is too large");
                        Value::number(0, Type::INT)
                    }
                }
            }
            Constant::Character(text) => {
                let inner = text.trim_start_matches(['L', 'u', 'U', '8']).trim_matches('\'');
                let mut chars = inner.chars();
                let value = match (chars.next(), chars.next()) {
                    (Some('\\'), Some(c)) => match c {
                        'n' => 10,
                        't' => 9,
                        'r' => 13,
                        '0' => 0,
                        'a' => 7,
                        'x' => i128::from_str_radix(chars.as_str(), 16).unwrap_or(0),
                        c => i128::from(u32::from(c)),
                    },
                    (Some(c), _) => i128::from(u32::from(c)),
                    _ => 0,
                };
                Value::number(value, Type::INT)
            }
            Constant::Float(_) => {
                self.not_read(span, "a floating-point number", "use an integer");
                Value::number(0, Type::INT)
            }
        }
    }

    /// Reads what an expression names. An array is a pointer to its first element.
    fn read(&mut self, e: &'u Node<Expression>) -> Value {
        let Some(place) = self.lvalue(e) else { return Value::number(0, Type::INT) };
        self.at(e.span);
        self.read_place(&place)
    }

    fn read_place(&mut self, place: &Lvalue) -> Value {
        match place.ty().plain() {
            Type::Array(..) => {
                let zero = Value::number(0, Type::INT);
                let first = self.b.index(place, &zero);
                self.b.address_of(&first)
            }
            _ => self.b.load(place, Self::order(place.ty())),
        }
    }

    /// The place that an expression names.
    pub(super) fn lvalue(&mut self, e: &'u Node<Expression>) -> Option<Lvalue> {
        let span = e.span;
        self.at(span);
        match &e.node {
            Expression::Identifier(name) => match self.lookup(&name.node.name) {
                Some(Name::Variable(place)) => Some(place.clone()),
                Some(Name::ThreadLocal(number)) => {
                    let key = (self.b.thread(), *number);
                    self.of_threads.get(&key).cloned()
                }
                _ => {
                    self.unknown(&name.node.name, span);
                    None
                }
            },
            Expression::Member(member) => self.member(&member.node, span),
            Expression::UnaryOperator(op)
                if op.node.operator.node == UnaryOperator::Indirection =>
            {
                let pointer = self.value(&op.node.operand);
                self.at(span);
                self.follow(&pointer)
            }
            Expression::BinaryOperator(op) if op.node.operator.node == BinaryOperator::Index => {
                let op = &op.node;
                // An array is not read to index it.
                if let Some(base) = self.array(&op.lhs) {
                    let index = self.value(&op.rhs);
                    self.at(span);
                    return Some(self.b.index(&base, &index));
                }
                let pointer = self.value(&op.lhs);
                let index = self.value(&op.rhs);
                self.at(span);
                let pointer = self.b.advance(&pointer, &index);
                self.follow(&pointer)
            }
            Expression::Cast(cast) => {
                let ty = self.type_name(&cast.node.type_name.node);
                let place = self.lvalue(&cast.node.expression)?;
                place.ty().is_like(&ty).then_some(place)
            }
            Expression::CompoundLiteral(_) | Expression::Call(_) | Expression::Conditional(_) => {
                let value = self.value(e);
                let key = self.b.key(("literal", span.start));
                let place = self.b.local("literal", &value.ty, key);
                self.b.store(&place, &value, Order::Plain);
                Some(place)
            }
            _ => {
                self.error(span, "this cannot be assigned to");
                None
            }
        }
    }

    /// The place of an expression that is an array.
    fn array(&mut self, e: &'u Node<Expression>) -> Option<Lvalue> {
        let is_place = match &e.node {
            Expression::Identifier(_) | Expression::Member(_) => true,
            Expression::BinaryOperator(op) => op.node.operator.node == BinaryOperator::Index,
            Expression::UnaryOperator(op) => op.node.operator.node == UnaryOperator::Indirection,
            _ => false,
        };
        if !is_place || !matches!(self.type_of(e).plain(), Type::Array(..)) {
            return None;
        }
        self.lvalue(e)
    }

    fn unknown(&mut self, name: &str, span: Span) {
        self.at(span);
        let error =
            Diagnostic::new(format!("there is no variable {}", quote(name)), self.b.range());
        let names: Vec<String> = self
            .scopes
            .iter()
            .chain([&self.globals])
            .flat_map(|scope| scope.keys().cloned())
            .collect();
        let error = did_you_mean(error, name, names.iter().map(|name| &**name));
        self.b.errors.push(error);
    }

    /// What a pointer leads to.
    pub(super) fn follow(&mut self, pointer: &Value) -> Option<Lvalue> {
        match pointer.ty.plain().clone() {
            Type::Pointer(to) if *to == Type::Void => {
                self.b.error("a `void *` has to be cast before it is followed");
                None
            }
            Type::Pointer(to) => Some(self.b.follow(pointer, &to)),
            _ => {
                self.b.error("this is not a pointer");
                None
            }
        }
    }

    fn member(&mut self, member: &'u MemberExpression, span: Span) -> Option<Lvalue> {
        let place = match member.operator.node {
            MemberOperator::Direct => self.lvalue(&member.expression)?,
            MemberOperator::Indirect => {
                let pointer = self.value(&member.expression);
                self.at(span);
                self.follow(&pointer)?
            }
        };
        self.at(span);
        let name = &member.identifier.node.name;
        let Some(path) = self.field_path(place.ty(), name) else {
            self.error(span, format!("there is no field {}", quote(name)));
            return None;
        };
        let mut place = place;
        for field in path {
            place = self.b.field(&place, field);
        }
        Some(place)
    }

    /// The way to a field, through anonymous structs.
    pub(super) fn field_path(&self, ty: &Type, name: &str) -> Option<Vec<usize>> {
        let Type::Struct(id) = ty.plain() else { return None };
        let fields = &self.b.learned.structs.get(*id).fields;
        if let Some(field) = fields.iter().position(|(field, _)| field == name) {
            return Some(vec![field]);
        }
        for (i, (field, ty)) in fields.iter().enumerate() {
            if field.is_empty()
                && let Some(mut path) = self.field_path(ty, name)
            {
                path.insert(0, i);
                return Some(path);
            }
        }
        None
    }

    /// Gives a place a value.
    pub(super) fn assign(&mut self, place: &Lvalue, value: Value, order: Order) {
        let value = match place.ty().is_scalar() {
            true => self.convert(value, place.ty()),
            false => value,
        };
        self.b.store(place, &value, order);
    }

    fn unary(&mut self, op: &'u UnaryOperatorExpression, e: &'u Node<Expression>) -> Value {
        let span = e.span;
        match op.operator.node {
            UnaryOperator::Address => {
                if let Expression::Identifier(name) = &op.operand.node
                    && self.lookup(&name.node.name).is_none()
                {
                    return self.value(&op.operand);
                }
                let Some(place) = self.lvalue(&op.operand) else {
                    return Value::number(0, Type::pointer(Type::Void));
                };
                self.at(span);
                self.b.address_of(&place)
            }
            UnaryOperator::Indirection => {
                if self.type_of(&op.operand) == Type::Function {
                    return self.value(&op.operand);
                }
                self.read(e)
            }
            UnaryOperator::Plus => {
                let value = self.value(&op.operand);
                let ty = promoted(&value.ty);
                self.convert(value, &ty)
            }
            UnaryOperator::Minus => {
                let value = self.value(&op.operand);
                self.at(span);
                self.negated(value)
            }
            UnaryOperator::Complement => {
                let value = self.value(&op.operand);
                self.at(span);
                self.complement(value)
            }
            UnaryOperator::Negate => {
                let value = self.value(&op.operand);
                self.at(span);
                self.not(&value)
            }
            UnaryOperator::PostIncrement
            | UnaryOperator::PostDecrement
            | UnaryOperator::PreIncrement
            | UnaryOperator::PreDecrement => self.increment(op, span, true),
        }
    }

    /// `x++` and the like.
    fn increment(&mut self, op: &'u UnaryOperatorExpression, span: Span, is_needed: bool) -> Value {
        let Some(place) = self.lvalue(&op.operand) else { return Value::number(0, Type::INT) };
        self.at(span);
        let (is_post, is_up) = match op.operator.node {
            UnaryOperator::PostIncrement => (true, true),
            UnaryOperator::PostDecrement => (true, false),
            UnaryOperator::PreIncrement => (false, true),
            _ => (false, false),
        };
        let step = if is_up { BinOp::Add } else { BinOp::Sub };
        let one = Value::number(1, Type::INT);
        if place.ty().is_atomic() && matches!(place, Lvalue::Memory { .. }) {
            let old = self.b.update(&place, &Update::Fetch(step, one.clone()), Order::SeqCst);
            return match is_post {
                true => old,
                false => {
                    let ty = old.ty.clone();
                    let new = self.arithmetic(step, old, one);
                    self.convert(new, &ty)
                }
            };
        }
        let old = self.b.load(&place, Self::order(place.ty()));
        let old = if is_post && is_needed { self.b.copied(&old) } else { old };
        let new = self.sum(step, old.clone(), one);
        self.assign(&place, new.clone(), Self::order(place.ty()));
        match (is_post, &place) {
            (true, _) => old,
            (false, Lvalue::Locals(..)) => self.b.load(&place, Order::Plain),
            (false, _) => self.convert(new, place.ty()),
        }
    }

    /// `a + b` and `a - b` of numbers and pointers.
    fn sum(&mut self, op: BinOp, a: Value, b: Value) -> Value {
        match (a.ty.plain().clone(), b.ty.plain().clone()) {
            (Type::Pointer(x), Type::Pointer(_)) if op == BinOp::Sub && *x != Type::Void => {
                let (a, b) = (a.data.clone(), b.data.clone());
                let (a, b) = (self.b.to_code(&a), self.b.to_code(&b));
                Value::code(binary(BinOp::Sub, a, b), Type::Int(IntType::I64))
            }
            (Type::Pointer(to), _) if *to != Type::Void => {
                let by = if op == BinOp::Sub { self.negated(b) } else { b };
                self.b.advance(&a, &by)
            }
            (_, Type::Pointer(to)) if *to != Type::Void => self.b.advance(&b, &a),
            _ => self.arithmetic(op, a, b),
        }
    }

    fn binary(&mut self, op: &'u BinaryOperatorExpression, e: &'u Node<Expression>) -> Value {
        use BinaryOperator as B;
        let span = e.span;
        let simple = match op.operator.node {
            B::Index => return self.read(e),
            B::LogicalAnd => return self.logical(op, true, span),
            B::LogicalOr => return self.logical(op, false, span),
            B::Assign => {
                let Some(place) = self.lvalue(&op.lhs) else { return Value::number(0, Type::INT) };
                let value = match &place {
                    Lvalue::Memory { .. } if !place.ty().is_scalar() => self.value(&op.rhs),
                    _ => self.value_for(&op.rhs, place.ty()),
                };
                self.at(span);
                self.assign(&place, value.clone(), Self::order(place.ty()));
                return match &place {
                    Lvalue::Locals(..) if place.ty().is_scalar() => {
                        self.b.load(&place, Order::Plain)
                    }
                    _ if place.ty().is_scalar() => self.convert(value, place.ty()),
                    _ => value,
                };
            }
            B::Multiply | B::AssignMultiply => BinOp::Mul,
            B::Divide | B::AssignDivide => BinOp::Div,
            B::Modulo | B::AssignModulo => BinOp::Mod,
            B::Plus | B::AssignPlus => BinOp::Add,
            B::Minus | B::AssignMinus => BinOp::Sub,
            B::ShiftLeft | B::AssignShiftLeft => BinOp::Shl,
            B::ShiftRight | B::AssignShiftRight => BinOp::Shr,
            B::BitwiseAnd | B::AssignBitwiseAnd => BinOp::BitAnd,
            B::BitwiseXor | B::AssignBitwiseXor => BinOp::BitXor,
            B::BitwiseOr | B::AssignBitwiseOr => BinOp::BitOr,
            B::Less => BinOp::Lt,
            B::Greater => BinOp::Gt,
            B::LessOrEqual => BinOp::Le,
            B::GreaterOrEqual => BinOp::Ge,
            B::Equals => BinOp::Eq,
            B::NotEquals => BinOp::Ne,
        };
        let is_assignment = matches!(
            op.operator.node,
            B::AssignMultiply
                | B::AssignDivide
                | B::AssignModulo
                | B::AssignPlus
                | B::AssignMinus
                | B::AssignShiftLeft
                | B::AssignShiftRight
                | B::AssignBitwiseAnd
                | B::AssignBitwiseXor
                | B::AssignBitwiseOr
        );
        if is_assignment {
            return self.compound(simple, op, span);
        }
        let a = self.value(&op.lhs);
        let b = self.value(&op.rhs);
        self.at(span);
        self.operate(simple, a, b)
    }

    /// `a op b`.
    pub(super) fn operate(&mut self, op: BinOp, a: Value, b: Value) -> Value {
        let is_pointer = |v: &Value| matches!(v.ty.plain(), Type::Pointer(_) | Type::Function);
        match op {
            BinOp::Add | BinOp::Sub => self.sum(op, a, b),
            BinOp::Eq | BinOp::Ne if is_pointer(&a) || is_pointer(&b) => {
                let same = self.b.same_pointer(&a, &b);
                let same = Value::code(same, Type::INT);
                if op == BinOp::Eq { same } else { self.not(&same) }
            }
            BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge if is_pointer(&a) && is_pointer(&b) => {
                let (a, b) = (self.b.to_code(&a.data), self.b.to_code(&b.data));
                Value::code(binary(op, a, b), Type::INT)
            }
            _ => self.arithmetic(op, a, b),
        }
    }

    /// `x op= e`
    fn compound(&mut self, op: BinOp, e: &'u BinaryOperatorExpression, span: Span) -> Value {
        let Some(place) = self.lvalue(&e.lhs) else { return Value::number(0, Type::INT) };
        let value = self.value(&e.rhs);
        self.at(span);
        let is_fetch =
            !matches!(op, BinOp::Div | BinOp::Mod | BinOp::Shl | BinOp::Shr | BinOp::Mul);
        if place.ty().is_atomic() && matches!(place, Lvalue::Memory { .. }) {
            if !is_fetch {
                let what = "an assignment with this operator to an atomic variable";
                self.not_read(span, what, "write a loop with a compare-exchange");
                return Value::number(0, Type::INT);
            }
            let value = self.convert(value, place.ty());
            let old = self.b.update(&place, &Update::Fetch(op, value.clone()), Order::SeqCst);
            let ty = old.ty.clone();
            let new = self.arithmetic(op, old, value);
            return self.convert(new, &ty);
        }
        let old = self.b.load(&place, Self::order(place.ty()));
        let new = self.operate(op, old, value);
        self.assign(&place, new.clone(), Self::order(place.ty()));
        match &place {
            Lvalue::Locals(..) => self.b.load(&place, Order::Plain),
            _ => self.convert(new, place.ty()),
        }
    }

    /// `a && b`, `a || b`
    fn logical(&mut self, e: &'u BinaryOperatorExpression, is_and: bool, span: Span) -> Value {
        let a = self.value(&e.lhs);
        self.at(span);
        let code = match self.b.decide(&a) {
            Ok(known) if known != is_and => return Value::truth(known, Type::INT),
            Ok(_) => {
                let b = self.value(&e.rhs);
                return self.truth(&b);
            }
            Err(code) => code,
        };
        let op = if is_and { BinOp::And } else { BinOp::Or };
        if self.is_eager && self.is_quiet(&e.rhs) || self.is_local(&e.rhs) {
            let b = self.value(&e.rhs);
            let b = self.truth(&b);
            let b = self.b.to_code(&b.data);
            let a = crate::weir::fold::truth(code);
            return Value::code(binary(op, a, b), Type::INT);
        }
        let key = self.b.key(("logical", span.start));
        let place = self.b.local("holds", &Type::INT, key);
        self.b.begin_if(code);
        let other = Value::truth(!is_and, Type::INT);
        if is_and {
            let b = self.value(&e.rhs);
            let b = self.truth(&b);
            self.b.store(&place, &b, Order::Plain);
            self.b.begin_else();
            self.b.store(&place, &other, Order::Plain);
        } else {
            self.b.store(&place, &other, Order::Plain);
            self.b.begin_else();
            let b = self.value(&e.rhs);
            let b = self.truth(&b);
            self.b.store(&place, &b, Order::Plain);
        }
        self.at(span);
        self.b.end_if();
        self.b.load(&place, Order::Plain)
    }

    fn called(&mut self, call: &'u CallExpression, span: Span) -> Value {
        if let Expression::Identifier(name) = &call.callee.node
            && self.lookup(&name.node.name).is_none()
        {
            let name = &*name.node.name;
            if name.starts_with("__VERIFIER_atomic") {
                let instead = "use a mutex, or an atomic operation";
                self.not_read(span, &format!("{}, which is one step,", quote(name)), instead);
                return Value::number(0, Type::INT);
            }
            if self.functions.contains_key(name) && !super::library::is_kept(name) {
                let arguments = call.arguments.iter().map(|e| self.value(e)).collect();
                return self.call(name, arguments, span);
            }
            return self.library(name, &call.arguments, span);
        }
        let function = self.value(&call.callee);
        let Data::Function(number) = function.data else {
            self.error(span, "which function is called here is only known when the program runs");
            return Value::number(0, Type::INT);
        };
        let arguments = call.arguments.iter().map(|e| self.value(e)).collect();
        self.call(self.numbered[number], arguments, span)
    }

    /// A number that is known, or an error.
    pub(super) fn known(&mut self, e: &'u Node<Expression>, what: &str) -> i128 {
        let value = self.value(e);
        match value.data {
            Data::Code(Expr::Const(value)) => value,
            _ => {
                self.error(e.span, format!("{what} has to be known before the program runs"));
                0
            }
        }
    }
}
