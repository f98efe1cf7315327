//! Functions that C programs expect to find: atomics, threads, allocation, and what verifiers add.

use std::collections::HashMap;

use lang_c::ast::{AsmStatement, BinaryOperator, Expression};
use lang_c::span::{Node, Span};
use weir_model::program::BinOp;

use super::Reader;
use crate::errors::quote;
use crate::lowering::access::Update;
use crate::lowering::types::Type;
use crate::lowering::value::{Data, Value};
use crate::lowering::{Lvalue, Order};

/// Functions that only let time pass.
pub fn is_pause(name: &str) -> bool {
    matches!(
        name,
        "sched_yield"
            | "thrd_yield"
            | "pthread_yield"
            | "sleep"
            | "usleep"
            | "nanosleep"
            | "__builtin_ia32_pause"
            | "_mm_pause"
            | "cpu_relax"
            | "__VERIFIER_loop_bound"
            | "__VERIFIER_loop_begin"
            | "__VERIFIER_spin_start"
    )
}

/// Functions that load something.
pub fn is_load(name: &str) -> bool {
    matches!(name, "atomic_load" | "atomic_load_explicit" | "__atomic_load_n" | "__builtin_expect")
}

/// Functions whose result has the type of what their first argument leads to.
pub fn is_of_target(name: &str) -> bool {
    name.starts_with("atomic_load")
        || name.starts_with("atomic_exchange")
        || name.starts_with("atomic_fetch_")
        || name.starts_with("__atomic_load_n")
        || name.starts_with("__atomic_exchange_n")
        || name.starts_with("__atomic_fetch_")
        || name.starts_with("__sync_fetch_and_")
        || name.starts_with("__sync_val_")
}

/// Functions that are not executed even if the program has its own.
pub fn is_kept(name: &str) -> bool {
    matches!(name, "reach_error" | "__VERIFIER_error" | "__VERIFIER_assert" | "__VERIFIER_assume")
}

type Arguments<'u> = [Node<Expression>];

impl<'u> Reader<'u, '_> {
    /// Calls a function of the library.
    pub(super) fn library(&mut self, name: &'u str, list: &'u Arguments<'u>, span: Span) -> Value {
        self.at(span);
        let least = least_arguments(name);
        if list.len() < least {
            let count = crate::errors::counted(least, "argument", "arguments");
            self.error(span, format!("{} takes {count}", quote(name)));
            return Value::number(0, Type::INT);
        }
        for argument in list {
            if let Expression::Identifier(name) = &argument.node
                && name.node.name.starts_with("memory_order_")
                && name.node.name != "memory_order_seq_cst"
            {
                self.b.note_order(Order::Relaxed);
            }
        }
        if let Some(value) = self.atomic(name, list, span) {
            return value;
        }
        if let Some(value) = self.threads(name, list, span) {
            return value;
        }
        let zero = Value::number(0, Type::INT);
        match name {
            "assert" | "__VERIFIER_assert" | "MODEL_ASSERT" => {
                let condition = self.value(&list[0]);
                self.at(span);
                self.b.assert(&condition);
            }
            "abort"
            | "reach_error"
            | "__VERIFIER_error"
            | "__assert_fail"
            | "__builtin_trap"
            | "__builtin_unreachable" => self.b.fail(),
            "exit" | "_exit" | "_Exit" | "quick_exit" => self.b.stop(),
            "__VERIFIER_assume" | "assume_abort_if_not" | "__VERIFIER_spin_end" => {
                let condition = self.value(&list[0]);
                self.at(span);
                self.b.assume(&condition);
            }
            "__VERIFIER_nondet_bool" | "__VERIFIER_nondet__Bool" => {
                return self.b.any(vec![0, 1], &Type::Bool);
            }
            "malloc" | "calloc" | "aligned_alloc" | "realloc" => {
                return self.allocation(name, list, None, span);
            }
            "free" => {
                let pointer = self.value(&list[0]);
                self.at(span);
                self.b.free(&pointer);
            }
            "__builtin_expect" => return self.value(&list[0]),
            "memset" => return self.clear(list, span),
            "printf" | "fprintf" | "puts" | "putchar" | "fputs" | "fflush" | "perror" | "srand"
            | "__builtin_prefetch" | "setbuf" | "setvbuf" => {
                for argument in list {
                    if !matches!(&argument.node, Expression::Identifier(name) if matches!(&*name.node.name, "stdout" | "stderr"))
                    {
                        self.printed(argument);
                    }
                }
            }
            "__VERIFIER_helped_CAS"
            | "__VERIFIER_helping_CAS"
            | "__VERIFIER_final_write"
            | "__VERIFIER_final_CAS"
            | "__VERIFIER_local_write"
            | "__VERIFIER_speculative_read" => {
                return self.value(&list[0]);
            }
            "__VERIFIER_nondet_int" | "__VERIFIER_nondet_uint" | "rand" | "random" => {
                let instead = "use `__VERIFIER_nondet_bool()`, or an expression of several of them";
                self.not_read(span, &format!("{}, which may be any number,", quote(name)), instead);
            }
            _ if is_pause(name) => {}
            _ => {
                let what = format!("the function {}", quote(name));
                self.not_read(span, &what, "define it in the file");
            }
        }
        zero
    }

    /// Reads what is printed.
    fn printed(&mut self, e: &'u Node<Expression>) {
        match &e.node {
            Expression::Cast(cast) => self.printed(&cast.node.expression),
            Expression::Constant(_) | Expression::StringLiteral(_) => {}
            _ => drop(self.value(e)),
        }
    }

    /// The place that a pointer leads to.
    fn target(&mut self, e: &'u Node<Expression>) -> Option<Lvalue> {
        let pointer = self.value(e);
        self.at(e.span);
        self.follow(&pointer)
    }

    /// A memory order that is an argument; without one it is sequentially consistent.
    fn order_of(&mut self, e: Option<&'u Node<Expression>>) -> Order {
        let Some(e) = e else { return Order::SeqCst };
        let order = match self.known(e, "a memory order") {
            0 => Order::Relaxed,
            1 | 2 => Order::Acquire,
            3 => Order::Release,
            4 => Order::AcquireRelease,
            _ => Order::SeqCst,
        };
        self.b.note_order(order);
        order
    }

    fn atomic(&mut self, name: &'u str, list: &'u Arguments<'u>, span: Span) -> Option<Value> {
        if matches!(
            name,
            "__atomic_load" | "__atomic_store" | "__atomic_exchange" | "__atomic_compare_exchange"
        ) {
            let what = format!("{}, which takes pointers to values,", quote(name));
            self.not_read(span, &what, &format!("use {}", quote(&format!("{name}_n"))));
            return Some(Value::number(0, Type::INT));
        }
        let (base, is_explicit) = match name.strip_suffix("_explicit") {
            Some(base) => (base, true),
            None => (name, name.starts_with("__atomic_")),
        };
        let word = base
            .strip_prefix("atomic_")
            .or_else(|| base.strip_prefix("__atomic_"))
            .map(|word| word.strip_suffix("_n").unwrap_or(word));
        if let Some(word) = word {
            return self.standard(word, list, is_explicit, span);
        }
        match name {
            "__sync_synchronize" => {
                self.b.fence(Order::SeqCst);
                Some(Value::void())
            }
            "__sync_lock_release" => {
                let place = self.target(&list[0])?;
                let zero = Value::number(0, Type::INT);
                self.assign(&place, zero.clone(), Order::Release);
                Some(zero)
            }
            "__sync_lock_test_and_set" => self.standard("exchange", list, false, span),
            "__sync_val_compare_and_swap" | "__sync_bool_compare_and_swap" => {
                let place = self.target(&list[0])?;
                let expected = self.value_as(&list[1], place.ty());
                let new = self.value_as(&list[2], place.ty());
                self.at(span);
                let update = Update::CompareExchange(expected.clone(), new, Order::SeqCst);
                let old = self.b.update(&place, &update, Order::SeqCst);
                Some(match name {
                    "__sync_val_compare_and_swap" => old,
                    _ => self.operate(BinOp::Eq, old, expected),
                })
            }
            _ => {
                let fetched = name.strip_prefix("__sync_fetch_and_");
                let computed =
                    name.strip_prefix("__sync_").and_then(|n| n.strip_suffix("_and_fetch"));
                let op = operator(fetched.or(computed)?)?;
                Some(self.fetch(op, list, Order::SeqCst, span, computed.is_some()))
            }
        }
    }

    /// Atomic functions of C11 and the builtins of the same names.
    fn standard(
        &mut self,
        word: &str,
        list: &'u Arguments<'u>,
        is_explicit: bool,
        span: Span,
    ) -> Option<Value> {
        let order = |n: usize| list.get(n).filter(|_| is_explicit);
        Some(match word {
            "load" => {
                let place = self.target(&list[0])?;
                let order = self.order_of(order(1));
                self.at(span);
                self.b.load(&place, order)
            }
            "store" => {
                let place = self.target(&list[0])?;
                let value = self.value(list.get(1)?);
                let order = self.order_of(order(2));
                self.at(span);
                self.assign(&place, value, order);
                Value::void()
            }
            "init" => {
                let place = self.target(&list[0])?;
                let value = self.value(list.get(1)?);
                self.at(span);
                self.assign(&place, value, Order::Relaxed);
                Value::void()
            }
            "exchange" => {
                let place = self.target(&list[0])?;
                let value = self.value_as(list.get(1)?, place.ty());
                let order = self.order_of(order(2));
                self.at(span);
                self.b.update(&place, &Update::Swap(value), order)
            }
            "compare_exchange_strong" | "compare_exchange_weak" | "compare_exchange" => {
                let is_weak = match word {
                    "compare_exchange_weak" => true,
                    // The builtin says it by its fourth argument.
                    "compare_exchange" => self.known(list.get(3)?, "whether it is weak") != 0,
                    _ => false,
                };
                let first = if word == "compare_exchange" { 4 } else { 3 };
                let success = self.order_of(order(first));
                let failure = order(first + 1).map(|e| self.order_of(Some(e)));
                let orders = (success, failure.unwrap_or(success.of_failure()));
                self.compare_exchange(list, is_weak, orders, span)?
            }
            "thread_fence" => {
                let order = self.order_of(list.first());
                self.at(span);
                self.b.fence(order);
                Value::void()
            }
            "signal_fence" => Value::void(),
            "flag_test_and_set" => {
                let flag = self.target(&list[0])?;
                let order = self.order_of(order(1));
                self.at(span);
                let word = self.b.field(&flag, 0);
                let one = Value::number(1, Type::INT);
                self.b.update(&word, &Update::Swap(one), order).with(Type::INT)
            }
            "flag_clear" => {
                let flag = self.target(&list[0])?;
                let order = self.order_of(order(1));
                self.at(span);
                let word = self.b.field(&flag, 0);
                self.b.store(&word, &Value::number(0, Type::INT), order);
                Value::void()
            }
            _ => {
                let fetched = word.strip_prefix("fetch_");
                let computed = word.strip_suffix("_fetch");
                let op = operator(fetched.or(computed)?)?;
                let order = self.order_of(order(2));
                self.fetch(op, list, order, span, computed.is_some())
            }
        })
    }

    /// The value of an expression as one of a type.
    pub(super) fn value_as(&mut self, e: &'u Node<Expression>, ty: &Type) -> Value {
        let value = self.value_for(e, ty);
        self.at(e.span);
        self.convert(value, ty)
    }

    fn fetch(
        &mut self,
        op: BinOp,
        list: &'u Arguments<'u>,
        order: Order,
        span: Span,
        is_new: bool,
    ) -> Value {
        let none = Value::number(0, Type::INT);
        let (Some(place), Some(by)) = (self.target(&list[0]), list.get(1)) else { return none };
        if matches!(place.ty().plain(), Type::Pointer(_)) {
            self.not_read(span, "atomic arithmetic on a pointer", "use an index");
            return none;
        }
        let by = self.value_as(by, place.ty());
        self.at(span);
        let old = self.b.update(&place, &Update::Fetch(op, by.clone()), order);
        if !is_new {
            return old;
        }
        let ty = old.ty.clone();
        let new = self.operate(op, old, by);
        self.convert(new, &ty)
    }

    fn compare_exchange(
        &mut self,
        list: &'u Arguments<'u>,
        is_weak: bool,
        orders: (Order, Order),
        span: Span,
    ) -> Option<Value> {
        let place = self.target(&list[0])?;
        let expected = self.target(list.get(1)?)?;
        let new = self.value_as(list.get(2)?, place.ty());
        self.at(span);
        let value = self.b.load(&expected, Order::Plain);
        let value = self.convert(value, place.ty());
        let value = self.b.copied(&value);
        if is_weak && self.b.options.spurious {
            // It may fail although the value is there.
            let key = self.b.key(("weak", span.start));
            let result = self.b.local("exchanged", &Type::INT, key);
            let tries = self.b.any(vec![0, 1], &Type::INT);
            let code = self.b.to_code(&tries.data);
            self.b.begin_if(code);
            let same = self.exchange(&place, &expected, value, new, orders);
            self.b.store(&result, &same, Order::Plain);
            self.b.begin_else();
            let found = self.b.load(&place, orders.1);
            self.b.store(&expected, &found, Order::Plain);
            self.b.store(&result, &Value::number(0, Type::INT), Order::Plain);
            self.b.end_if();
            return Some(self.b.load(&result, Order::Plain));
        }
        Some(self.exchange(&place, &expected, value, new, orders))
    }

    /// One compare-exchange. What was found goes to where the expected value was.
    fn exchange(
        &mut self,
        place: &Lvalue,
        expected: &Lvalue,
        value: Value,
        new: Value,
        (success, failure): (Order, Order),
    ) -> Value {
        let update = Update::CompareExchange(value.clone(), new, failure);
        let old = self.b.update(place, &update, success);
        let same = self.operate(BinOp::Eq, old.clone(), value);
        match expected {
            // If the value was found, this changes nothing.
            Lvalue::Locals(..) => self.b.store(expected, &old, Order::Plain),
            Lvalue::Memory { .. } => match self.b.decide(&same) {
                Ok(true) => {}
                Ok(false) => self.b.store(expected, &old, Order::Plain),
                Err(code) => {
                    self.b.begin_if(code);
                    self.b.begin_else();
                    self.b.store(expected, &old, Order::Plain);
                    self.b.end_if();
                }
            },
        }
        same
    }

    fn threads(&mut self, name: &'u str, list: &'u Arguments<'u>, span: Span) -> Option<Value> {
        let zero = Value::number(0, Type::INT);
        match name {
            "pthread_create" => {
                let handle = self.target(&list[0])?;
                self.start(handle, list.get(2)?, list.get(3), span);
            }
            "thrd_create" => {
                let handle = self.target(&list[0])?;
                self.start(handle, list.get(1)?, list.get(2), span);
            }
            "__VERIFIER_spawn" | "__VERIFIER_spawn_symmetric" => {
                let key = self.b.key(("spawn", span.start));
                let handle = self.b.local("thread", &Type::Thread, key);
                self.start(handle.clone(), &list[0], list.get(1), span);
                return Some(self.b.load(&handle, Order::Plain));
            }
            "pthread_join" | "thrd_join" | "__VERIFIER_join" => {
                let handle = self.value(&list[0]);
                if let Some(result) = list.get(1)
                    && self.value(result).known() != Some(0)
                {
                    let instead = "store the result in a variable, and join with `NULL`";
                    self.not_read(result.span, "the result of a thread", instead);
                }
                self.at(span);
                match handle.data {
                    Data::Thread(thread) => self.b.join_thread(thread),
                    _ => self.error(span, "which thread is joined here is not known"),
                }
            }
            "pthread_exit" | "thrd_exit" => self.b.exit_thread(),
            "pthread_detach"
            | "thrd_detach"
            | "pthread_attr_init"
            | "pthread_attr_destroy"
            | "pthread_attr_setdetachstate"
            | "pthread_mutexattr_init"
            | "pthread_setconcurrency"
            | "pthread_mutexattr_destroy" => {}
            "pthread_mutexattr_settype" | "pthread_mutexattr_setrobust" => {
                let name = match list.get(1).map(|e| &e.node) {
                    Some(Expression::Identifier(name)) => &*name.node.name,
                    _ => "",
                };
                if !matches!(
                    name,
                    "PTHREAD_MUTEX_NORMAL" | "PTHREAD_MUTEX_DEFAULT" | "PTHREAD_MUTEX_STALLED"
                ) {
                    let instead = "lock each mutex once";
                    self.not_read(
                        span,
                        "a mutex that a thread may lock twice, or whose errors are told,",
                        instead,
                    );
                }
            }
            "pthread_self" | "thrd_current" => {
                let thread = self.b.thread();
                return Some(Value { data: Data::Thread(thread), ty: Type::Thread });
            }
            "pthread_equal" | "thrd_equal" => {
                let (a, b) = (self.value(&list[0]), self.value(list.get(1)?));
                return Some(Value::truth(a.data == b.data, Type::INT));
            }
            "pthread_mutex_init"
            | "pthread_spin_init"
            | "mtx_init"
            | "pthread_mutex_destroy"
            | "pthread_spin_destroy"
            | "mtx_destroy"
            | "pthread_cond_init"
            | "cnd_init"
            | "pthread_cond_destroy"
            | "cnd_destroy"
            | "pthread_barrier_destroy" => {
                if name == "mtx_init"
                    && let Some(kind) = list.get(1)
                    && mentions(&kind.node, "mtx_recursive")
                {
                    self.not_read(
                        span,
                        "a mutex that a thread may lock twice",
                        "lock each mutex once",
                    );
                }
                if name.ends_with("init") {
                    let word = self.word(&list[0], span)?;
                    self.b.store(&word, &zero, Order::Relaxed);
                }
            }
            "pthread_mutex_lock" | "pthread_spin_lock" | "mtx_lock" => {
                let word = self.word(&list[0], span)?;
                let one = Value::number(1, Type::INT);
                self.b.update(&word, &Update::WaitFor(zero.clone(), one), Order::Acquire);
            }
            "pthread_mutex_unlock" | "pthread_spin_unlock" | "mtx_unlock" => {
                let word = self.word(&list[0], span)?;
                self.b.store(&word, &zero, Order::Release);
            }
            "pthread_mutex_trylock" | "pthread_spin_trylock" | "mtx_trylock" => {
                let word = self.word(&list[0], span)?;
                let one = Value::number(1, Type::INT);
                let update = Update::CompareExchange(zero, one, Order::Relaxed);
                let old = self.b.update(&word, &update, Order::Acquire);
                return Some(old.with(Type::INT));
            }
            // A thread may wake without a reason, so this is all that is promised.
            "pthread_cond_wait" | "cnd_wait" => {
                let word = self.word(list.get(1)?, span)?;
                self.b.store(&word, &zero, Order::Release);
                let one = Value::number(1, Type::INT);
                self.b.update(&word, &Update::WaitFor(zero.clone(), one), Order::Acquire);
            }
            "pthread_cond_signal" | "pthread_cond_broadcast" | "cnd_signal" | "cnd_broadcast" => {
                self.effect(&list[0]);
            }
            "pthread_barrier_init" => {
                let barrier = self.target(&list[0])?;
                let size = self.value(list.get(2)?);
                self.at(span);
                let place = self.b.field(&barrier, 2);
                self.assign(&place, size, Order::Plain);
            }
            "pthread_barrier_wait" => return self.barrier(&list[0], span),
            _ => return None,
        }
        Some(zero)
    }

    /// The word of a lock.
    fn word(&mut self, e: &'u Node<Expression>, span: Span) -> Option<Lvalue> {
        let lock = self.target(e)?;
        self.at(span);
        match lock.ty().plain() {
            Type::Struct(_) => Some(self.b.field(&lock, 0)),
            _ => Some(lock),
        }
    }

    fn barrier(&mut self, e: &'u Node<Expression>, span: Span) -> Option<Value> {
        let barrier = self.target(e)?;
        self.at(span);
        let place = |this: &mut Self, field| this.b.field(&barrier, field);
        let (count, round, size) = (place(self, 0), place(self, 1), place(self, 2));
        let one = Value::number(1, Type::INT);
        let before = self.b.load(&round, Order::Relaxed);
        let before = self.b.copied(&before);
        let size = self.b.load(&size, Order::Plain);
        let add = Update::Fetch(BinOp::Add, one.clone());
        let arrived = self.b.update(&count, &add, Order::AcquireRelease);
        let arrived = self.arithmetic(BinOp::Add, arrived, one.clone());
        let is_last = self.arithmetic(BinOp::Eq, arrived, size);
        let key = self.b.key(("barrier", span.start));
        let result = self.b.local("last", &Type::INT, key);
        let code = self.b.to_code(&is_last.data);
        self.b.begin_if(code);
        self.b.store(&count, &Value::number(0, Type::INT), Order::Relaxed);
        self.b.update(&round, &add, Order::AcquireRelease);
        self.b.store(&result, &Value::number(-1, Type::INT), Order::Plain);
        self.b.begin_else();
        let wait = self.b.begin_wait();
        let now = self.b.load(&round, Order::Acquire);
        let is_over = self.arithmetic(BinOp::Ne, now, before);
        self.b.end_wait(wait, &is_over);
        self.b.store(&result, &Value::number(0, Type::INT), Order::Plain);
        self.b.end_if();
        Some(self.b.load(&result, Order::Plain))
    }

    /// Starts a thread.
    fn start(
        &mut self,
        handle: Lvalue,
        function: &'u Node<Expression>,
        argument: Option<&'u Node<Expression>>,
        span: Span,
    ) {
        let function = self.value(function);
        let argument = match argument {
            Some(e) => self.value(e),
            None => Value::number(0, Type::pointer(Type::Void)),
        };
        self.at(span);
        let Data::Function(number) = function.data else {
            return self.error(span, "which function this thread executes is not known");
        };
        let Some(argument) = self.b.for_thread(&argument) else {
            return self
                .error(span, "the argument of a thread has to be known before the program runs");
        };
        let name = self.numbered[number];
        let thread = self.b.begin_thread(name, span.start);
        let scopes = std::mem::take(&mut self.scopes);
        let frames = std::mem::take(&mut self.frames);
        let calls = std::mem::take(&mut self.calls);
        self.begin_thread_locals();
        self.call(name, vec![argument], span);
        (self.scopes, self.frames, self.calls) = (scopes, frames, calls);
        self.at(span);
        self.b.end_thread();
        let value = Value { data: Data::Thread(thread), ty: Type::Thread };
        self.b.store(&handle, &value, Order::Plain);
    }

    /// The value of an expression that is given to something of a type: what is allocated may
    /// have the type that the pointer says.
    pub(super) fn value_for(&mut self, e: &'u Node<Expression>, ty: &Type) -> Value {
        match &e.node {
            Expression::Cast(cast) => {
                let to = self.type_name(&cast.node.type_name.node);
                if to == Type::Void {
                    return self.value(e);
                }
                let value = self.value_for(&cast.node.expression, &to);
                self.at(e.span);
                self.convert(value, &to)
            }
            Expression::Call(call) => match &call.node.callee.node {
                Expression::Identifier(name)
                    if matches!(&*name.node.name, "malloc" | "calloc" | "aligned_alloc")
                        && !self.functions.contains_key(&*name.node.name) =>
                {
                    let hint = match ty.plain() {
                        Type::Pointer(to) if **to != Type::Void => Some((**to).clone()),
                        _ => None,
                    };
                    self.allocation(&name.node.name, &call.node.arguments, hint, e.span)
                }
                _ => self.value(e),
            },
            _ => self.value(e),
        }
    }

    /// Allocates. The type is that of `sizeof`, or that of the pointer.
    fn allocation(
        &mut self,
        name: &str,
        list: &'u Arguments<'u>,
        hint: Option<Type>,
        span: Span,
    ) -> Value {
        let none = Value::number(0, Type::pointer(Type::Void));
        let (count, size) = match (name, list) {
            ("calloc", [count, size, ..]) => (self.known(count, "how much is allocated"), size),
            ("aligned_alloc", [_, size, ..]) | (_, [size, ..]) => (1, size),
            _ => return none,
        };
        let (found, times) = self.allocated(size);
        let (ty, times) = match (found, hint) {
            (Some(ty), _) => (ty, times),
            (None, Some(ty)) => {
                // So many bytes.
                let bytes = self.known(size, "how much is allocated");
                let size = self.size(&ty);
                if size <= 0 || bytes <= 0 || bytes % size != 0 {
                    let what = "an allocation of part of an object, or of more than that";
                    self.not_read(span, what, "write `malloc(n * sizeof(T))`");
                    return none;
                }
                (ty, bytes / size)
            }
            (None, None) => {
                self.not_read(span, "an allocation without a type", "write `malloc(sizeof(T))`");
                return none;
            }
        };
        let count = count.saturating_mul(times);
        let label = match ty.plain() {
            Type::Struct(id) => self.b.learned.structs.get(*id).name.clone(),
            _ => "cell".to_owned(),
        };
        self.at(span);
        if count == 1 {
            return self.b.allocate(&label, &ty, span.start);
        }
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let array = Type::Array(ty.into(), count);
        let pointer = self.b.allocate(&label, &array, span.start);
        let Some(place) = self.follow(&pointer) else { return none };
        let first = self.b.index(&place, &Value::number(0, Type::INT));
        self.b.address_of(&first)
    }

    /// The type whose size an expression is, and how many times.
    fn allocated(&mut self, e: &'u Node<Expression>) -> (Option<Type>, i128) {
        match &e.node {
            Expression::SizeOfTy(of) => (Some(self.type_name(&of.node.0.node)), 1),
            Expression::SizeOfVal(of) => (Some(self.type_of(&of.node.0)), 1),
            Expression::Cast(cast) => self.allocated(&cast.node.expression),
            Expression::BinaryOperator(op) if op.node.operator.node == BinaryOperator::Multiply => {
                match (self.allocated(&op.node.lhs), self.allocated(&op.node.rhs)) {
                    ((Some(ty), n), (None, _)) => {
                        let times = self.known(&op.node.rhs, "how much is allocated");
                        (Some(ty), n.saturating_mul(times))
                    }
                    ((None, _), (Some(ty), n)) => {
                        let times = self.known(&op.node.lhs, "how much is allocated");
                        (Some(ty), n.saturating_mul(times))
                    }
                    _ => (None, 1),
                }
            }
            _ => (None, 1),
        }
    }

    /// `memset(p, 0, …)`
    fn clear(&mut self, list: &'u Arguments<'u>, span: Span) -> Value {
        let pointer = self.value(&list[0]);
        if let Some(value) = list.get(1)
            && self.value(value).known() == Some(0)
            && let Some(place) = self.follow(&pointer)
        {
            let zero = self.zero(&place.ty().clone());
            self.at(span);
            self.b.store(&place, &zero, Order::Plain);
        } else {
            self.not_read(span, "`memset` with anything but zero", "assign the fields");
        }
        pointer
    }

    /// Inline assembly: fences, and nothing.
    pub(super) fn assembly(&mut self, asm: &'u AsmStatement, span: Span) {
        let template = match asm {
            AsmStatement::GnuBasic(text) => &text.node,
            AsmStatement::GnuExtended(asm) => &asm.template.node,
        };
        let text: String = template.concat();
        let text = text.replace(['"', ';'], " ").to_ascii_lowercase();
        match text.trim() {
            "" | "pause" | "nop" | "rep nop" | "rep   nop" => {}
            "mfence" => self.b.fence(Order::SeqCst),
            "lfence" => self.b.fence(Order::Acquire),
            "sfence" => self.b.fence(Order::Release),
            _ => self.not_read(span, "this assembly", "use `atomic_thread_fence`"),
        }
    }
}

fn operator(word: &str) -> Option<BinOp> {
    let table: HashMap<&str, BinOp> = HashMap::from([
        ("add", BinOp::Add),
        ("sub", BinOp::Sub),
        ("and", BinOp::BitAnd),
        ("or", BinOp::BitOr),
        ("xor", BinOp::BitXor),
        ("max", BinOp::Max),
        ("min", BinOp::Min),
    ]);
    table.get(word).copied()
}

/// How many arguments a function takes at least.
fn least_arguments(name: &str) -> usize {
    match name {
        "abort"
        | "reach_error"
        | "__VERIFIER_error"
        | "sched_yield"
        | "thrd_yield"
        | "pthread_yield"
        | "__sync_synchronize"
        | "__VERIFIER_nondet_bool"
        | "__VERIFIER_nondet__Bool"
        | "__VERIFIER_nondet_int"
        | "__VERIFIER_nondet_uint"
        | "pthread_self"
        | "thrd_current"
        | "rand"
        | "random"
        | "__builtin_trap"
        | "__builtin_unreachable"
        | "__assert_fail"
        | "__VERIFIER_loop_begin"
        | "__VERIFIER_spin_start"
        | "_mm_pause"
        | "__builtin_ia32_pause"
        | "cpu_relax"
        | "printf"
        | "exit" => 0,
        "pthread_create" | "__sync_val_compare_and_swap" | "__sync_bool_compare_and_swap" => 3,
        "thrd_create" => 2,
        "assert"
        | "assume_abort_if_not"
        | "MODEL_ASSERT"
        | "free"
        | "memset"
        | "malloc"
        | "calloc"
        | "realloc"
        | "aligned_alloc" => 1,
        _ => {
            let families =
                ["atomic_", "__atomic_", "__sync_", "pthread_", "thrd_", "mtx_", "cnd_", "__"];
            usize::from(families.iter().any(|family| name.starts_with(family)))
        }
    }
}

/// Whether a name stands in an expression of names.
fn mentions(e: &Expression, name: &str) -> bool {
    match e {
        Expression::Identifier(this) => this.node.name == name,
        Expression::BinaryOperator(op) => {
            mentions(&op.node.lhs.node, name) || mentions(&op.node.rhs.node, name)
        }
        _ => false,
    }
}
