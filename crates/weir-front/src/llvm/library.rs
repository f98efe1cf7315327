//! The functions that programs expect to find.

use weir_model::program::{AtomicKind, BinOp, Expr, Order, Stmt, StmtKind};

use super::Reader;
use super::explore::{State, Then, code_of};
use super::names::plain_name;
use super::number::{binary, number};
use super::objects::Val;

/// The most values that a choice among any numbers has.
const MAX_ANY: i128 = 4096;

/// The longest text of a failure.
const MAX_TEXT: usize = 300;

impl Reader<'_> {
    /// A function that is not in the module.
    pub(super) fn library(
        &mut self,
        state: &mut State,
        name: &str,
        arguments: &[Val],
        result: Option<u32>,
        out: &mut Vec<Stmt>,
        depth: usize,
    ) -> Option<bool> {
        let argument = |i: usize| arguments.get(i).copied().unwrap_or(Val::Known(0));
        // What a call gives, if it goes on. Those that end the way return at once.
        let given = match name {
            "pthread_create" | "thrd_create" => {
                let first = if name == "thrd_create" { 1 } else { 2 };
                let thread = self.start_at(state, argument(first), argument(first + 1), out)?;
                let value = Val::Known(thread as i128);
                if self.write_scalar(state, argument(0), 8, value, Order::Plain, out).is_none() {
                    return Some(false);
                }
                Val::Known(0)
            }
            "weir_spawn" => {
                Val::Known(self.start_at(state, argument(0), argument(1), out)? as i128)
            }
            "pthread_join" | "thrd_join" => {
                let asks = argument(1) != Val::Known(0);
                let into = asks.then(|| result.unwrap_or(u32::MAX));
                let Some(value) = self.join(argument(0), into, state, out) else {
                    return Some(false);
                };
                if asks {
                    let size = if name == "thrd_join" { 4 } else { 8 };
                    if self
                        .write_scalar(state, argument(1), size, value, Order::Plain, out)
                        .is_none()
                    {
                        return Some(false);
                    }
                }
                Val::Known(0)
            }
            "weir_join" => {
                if self.join(argument(0), None, state, out).is_none() {
                    return Some(false);
                }
                Val::Known(0)
            }
            "_ZNSt6thread4joinEv" => {
                let into = self.temporary();
                let Some(handle) = self.read_scalar(state, argument(0), 8, Order::Plain, into, out)
                else {
                    return Some(false);
                };
                if self.join(handle, None, state, out).is_none()
                    || self
                        .write_scalar(state, argument(0), 8, Val::Known(0), Order::Plain, out)
                        .is_none()
                {
                    return Some(false);
                }
                Val::Known(0)
            }
            _ if name.starts_with("_ZNSt6thread15_M_start_thread") => {
                if self.start_cpp(state, argument(0), argument(1), out)?.is_none() {
                    return Some(false);
                }
                Val::Known(0)
            }
            "_ZNSt6thread20hardware_concurrencyEv" | "sysconf" => Val::Known(2),
            "pthread_self" | "thrd_current" | "weir_current" => Val::Known(self.current as i128),
            "pthread_equal" | "thrd_equal" => {
                let same = binary(BinOp::Eq, code_of(argument(0)), code_of(argument(1)));
                self.made(state, same, Some(result?), out)?
            }
            "pthread_exit" | "thrd_exit" | "weir_exit" => {
                let value = (name != "weir_exit").then(|| argument(0));
                self.end_thread(value, &state.begun, out);
                return Some(false);
            }
            "exit" | "_exit" | "_Exit" | "quick_exit" => {
                self.has_assume = true;
                self.emit(out, StmtKind::Assume(number(0)));
                return Some(false);
            }
            "abort" | "_ZSt9terminatev" | "__clang_call_terminate" | "__stack_chk_fail" => {
                return self.fail("the program is aborted", out);
            }
            "__VERIFIER_error" | "reach_error" => return self.fail("an error is reached", out),
            "__assert_fail" | "__assert" | "__assert_rtn" => {
                let place = if name == "__assert_rtn" { 3 } else { 0 };
                let words = match self.text_at(arguments.get(place), None) {
                    Some(text) => format!("the assertion `{text}` does not hold"),
                    None => "an assertion does not hold".to_owned(),
                };
                return self.fail(&words, out);
            }
            "weir_fail" => {
                let length = match argument(1) {
                    Val::Known(n) => usize::try_from(n).ok(),
                    _ => None,
                };
                let words = self
                    .text_at(arguments.first(), length)
                    .unwrap_or_else(|| "a failure".to_owned());
                return self.fail(&words, out);
            }
            "weir_assume" | "__VERIFIER_assume" | "assume_abort_if_not" => {
                match self.truth(argument(0)) {
                    Expr::Const(n) if n != 0 => {}
                    code => {
                        self.has_assume = true;
                        let ends = code == number(0);
                        self.emit(out, StmtKind::Assume(code));
                        if ends {
                            return Some(false);
                        }
                    }
                }
                Val::Known(0)
            }
            "__VERIFIER_nondet_bool" | "__VERIFIER_nondet__Bool" => {
                self.any(state, vec![0, 1], result, out)?
            }
            "__VERIFIER_nondet_char" => self.any(state, (-128..128).collect(), result, out)?,
            "__VERIFIER_nondet_uchar" => self.any(state, (-128..128).collect(), result, out)?,
            "weir_any" => match (argument(0), argument(1)) {
                (Val::Known(low), Val::Known(high)) if low <= high && high - low < MAX_ANY => {
                    self.any(state, (low..=high).collect(), result, out)?
                }
                _ => {
                    self.refuse(format!(
                        "`weir_any` needs a known range of at most {MAX_ANY} values"
                    ));
                    return None;
                }
            },
            "weir_atomic_begin" | "__VERIFIER_atomic_begin" => {
                let mut inside = state.clone();
                inside.top().at += 1;
                return self.atomic_block(state, inside, out, depth);
            }
            "weir_atomic_end" | "__VERIFIER_atomic_end" => {
                if state.is_atomic {
                    state.is_atomic = false;
                    state.top().at += 1;
                    // What follows is no longer part of the block.
                    if !self.is_alone {
                        let state = state.clone();
                        self.point(state, out);
                        return Some(false);
                    }
                    return Some(true);
                }
                Val::Known(0)
            }
            _ if is_pause(name) => Val::Known(0),
            // Rust's `main`: the first argument is an object with the function that is called.
            _ if name.contains("lang_start_internal") => {
                let into = self.temporary();
                let slot = self.moved(argument(1), 40, out);
                let Some(main) = self.read_scalar(state, slot, 8, Order::Plain, into, out) else {
                    return Some(false);
                };
                let Val::Known(main) = main else { return None };
                let Some(function) = self.function_at(main) else {
                    self.refuse("the function that Rust's `main` calls is not known");
                    return None;
                };
                return self.enter(
                    state,
                    function,
                    vec![vec![argument(0)]],
                    Then::GoOn(result),
                    out,
                    depth,
                );
            }
            _ => {
                if let Some(given) = self.locks(state, name, arguments, result, out) {
                    match given {
                        Some(value) => value,
                        None => return Some(false),
                    }
                } else if matches!(name, "memcmp" | "bcmp") {
                    match self.compare_bytes(state, arguments, result, out)? {
                        Some(value) => value,
                        None => return Some(false),
                    }
                } else if let Some(request) = self.request(name, arguments) {
                    return self.allocate(state, &request, result, out, depth);
                } else if let Some(given) = self.freeing(state, name, argument(0), out) {
                    match given {
                        Some(value) => value,
                        None => return Some(false),
                    }
                } else if let Some(words) = self.panic(name, arguments) {
                    return self.fail(&words, out);
                } else {
                    if !self.is_stopped() {
                        let name = plain_name(name);
                        self.refuse(format!(
                            "the function `{name}` is not in this module, and Weir does not know it"
                        ));
                    }
                    return None;
                }
            }
        };
        if self.is_stopped() {
            return None;
        }
        if let Some(result) = result {
            state.top().values.insert(result, vec![given]);
        }
        self.behind(state, out, depth)
    }

    /// A text in memory that is known.
    pub(super) fn text_at(
        &mut self,
        pointer: Option<&Val>,
        length: Option<usize>,
    ) -> Option<String> {
        let Some(Val::Known(address)) = pointer else { return None };
        let (id, mut at) = self.inside(*address, 0)?;
        let bytes = self.in_memory(id).clone();
        let mut text = Vec::new();
        while text.len() < length.unwrap_or(MAX_TEXT).min(MAX_TEXT) {
            match bytes.over(at, 1)[..] {
                [(start, 1, Val::Known(byte))] if start == at && byte != 0 => text.push(byte as u8),
                _ => break,
            }
            at += 1;
        }
        (!text.is_empty()).then(|| String::from_utf8_lossy(&text).into_owned())
    }

    /// One of some values.
    pub(super) fn any(
        &mut self,
        state: &mut State,
        values: Vec<i128>,
        result: Option<u32>,
        out: &mut Vec<Stmt>,
    ) -> Option<Val> {
        let register = self.home(state, result?, 0);
        self.emit(out, StmtKind::Any(register, values));
        Some(Val::Reg(register))
    }

    /// Starts a thread with a function at an address.
    pub(super) fn start_at(
        &mut self,
        state: &mut State,
        function: Val,
        argument: Val,
        out: &mut Vec<Stmt>,
    ) -> Option<usize> {
        let found = match function {
            Val::Known(address) => self.function_at(address),
            _ => None,
        };
        match found {
            Some(function) => self.start(state, function, argument, Then::Forget, out),
            None => {
                self.refuse(
                    "which function this thread executes is only known when the program runs",
                );
                None
            }
        }
    }

    /// Starts a `std::thread`: its state is an object with a virtual function, and is deleted in the end.
    pub(super) fn start_cpp(
        &mut self,
        state: &mut State,
        this: Val,
        owner: Val,
        out: &mut Vec<Stmt>,
    ) -> Option<Option<()>> {
        let mut read = |reader: &mut Self, pointer: Val, offset: u64| {
            let into = reader.temporary();
            let pointer = reader.moved(pointer, offset, out);
            reader.read_scalar(state, pointer, 8, Order::Plain, into, out)
        };
        let Some(object) = read(self, owner, 0) else { return Some(None) };
        let Some(table) = read(self, object, 0) else { return Some(None) };
        let Some(run) = read(self, table, 16) else { return Some(None) };
        let Some(delete) = read(self, table, 8) else { return Some(None) };
        if self.write_scalar(state, owner, 8, Val::Known(0), Order::Plain, out).is_none() {
            return Some(None);
        }
        let (Val::Known(run), Val::Known(delete)) = (run, delete) else {
            self.refuse("which function this thread executes is only known when the program runs");
            return None;
        };
        let Some(function) = self.function_at(run) else {
            self.refuse("which function this thread executes is not known");
            return None;
        };
        let thread = self.start(state, function, object, Then::Call(delete, object), out)?;
        let value = Val::Known(thread as i128);
        Some(self.write_scalar(state, this, 8, value, Order::Plain, out))
    }

    /// A block that is one step, which begins with the state inside.
    pub(super) fn atomic_block(
        &mut self,
        state: &mut State,
        mut inside: State,
        out: &mut Vec<Stmt>,
        depth: usize,
    ) -> Option<bool> {
        if state.is_atomic {
            self.refuse("an atomic block in an atomic block is not read");
            return None;
        }
        if self.is_alone {
            inside.atomic_until = None;
            *state = inside;
            return Some(true);
        }
        inside.is_atomic = true;
        let mut block = Vec::new();
        self.explore(inside, &mut block, depth + 1);
        self.emit(out, StmtKind::Atomic(AtomicKind::Full, block));
        Some(false)
    }

    /// Code as what a call gives.
    pub(super) fn given(
        &mut self,
        state: &mut State,
        code: weir_model::program::Code,
        result: Option<u32>,
        out: &mut Vec<Stmt>,
    ) -> Option<Option<Val>> {
        match result {
            Some(result) => {
                let code = match self.in_register(code, out) {
                    Expr::Const(n) => return Some(Some(Val::Known(n))),
                    code => code,
                };
                let register = self.home(state, result, 0);
                self.emit(out, StmtKind::Assign(register, code));
                Some(Some(Val::Reg(register)))
            }
            None => Some(Some(Val::Known(0))),
        }
    }

    /// What a function that never returns says: those of Rust's `core::panicking`, and those of C++ that throw.
    pub(super) fn panic(&mut self, name: &str, arguments: &[Val]) -> Option<String> {
        let words = [
            ("panic_bounds_check", "an index is out of bounds"),
            ("panic_const_add_overflow", "attempt to add with overflow"),
            ("panic_const_sub_overflow", "attempt to subtract with overflow"),
            ("panic_const_mul_overflow", "attempt to multiply with overflow"),
            ("panic_const_neg_overflow", "attempt to negate with overflow"),
            ("panic_const_shl_overflow", "attempt to shift left with overflow"),
            ("panic_const_shr_overflow", "attempt to shift right with overflow"),
            ("panic_const_div_by_zero", "attempt to divide by zero"),
            (
                "panic_const_rem_by_zero",
                "attempt to calculate the remainder with a divisor of zero",
            ),
            ("panic_const_div_overflow", "attempt to divide with overflow"),
            ("panic_const_rem_overflow", "attempt to calculate the remainder with overflow"),
            ("6option13unwrap_failed", "`unwrap` is called on `None`"),
            ("6result13unwrap_failed", "`unwrap` is called on `Err`"),
            ("assert_failed", "an assertion does not hold"),
            ("panic_null_pointer", NULL_POINTER),
            ("panic_misaligned_pointer", "a pointer that is not aligned is followed"),
            ("slice_index", "an index is out of bounds"),
            ("slice_start_index", "an index is out of bounds"),
            ("slice_end_index", "an index is out of bounds"),
            ("panic_for_nonpositive_argument", "a logarithm of a number that is not positive"),
            ("capacity_overflow", "a capacity overflows"),
            ("handle_alloc_error", "an allocation fails"),
            ("handle_error", "an allocation fails"),
        ];
        if let Some((_, words)) = words.iter().find(|(part, _)| name.contains(part)) {
            return Some((*words).to_owned());
        }
        if name.starts_with("_ZSt") && name.contains("__throw_") {
            let what = plain_name(name);
            return Some(format!("an exception is thrown: `{what}`"));
        }
        let is_panic = name.contains("9panicking")
            || name.contains("13expect_failed")
            || name.contains("begin_panic");
        if !is_panic {
            return None;
        }
        let length = match arguments.get(1) {
            Some(Val::Known(n)) => usize::try_from(*n).ok(),
            _ => None,
        };
        let is_plain = name.contains("panicking5panic")
            || name.contains("13expect_failed")
            || name.contains("begin_panic");
        let text = match (is_plain && !name.contains("panic_fmt"), length) {
            (true, Some(length)) => self.text_at(arguments.first(), Some(length)),
            _ => None,
        };
        Some(match text {
            Some(text) => format!("panic: {text}"),
            None => "a panic".to_owned(),
        })
    }
}

const NULL_POINTER: &str = "a null pointer is followed";

/// Functions that do nothing that others can see.
fn is_pause(name: &str) -> bool {
    matches!(
        name,
        "sched_yield"
            | "thrd_yield"
            | "pthread_yield"
            | "usleep"
            | "sleep"
            | "nanosleep"
            | "thrd_sleep"
            | "printf"
            | "puts"
            | "putchar"
            | "fprintf"
            | "fputs"
            | "fflush"
            | "perror"
            | "fwrite"
            | "fputc"
            | "putc"
            | "srand"
            | "setbuf"
            | "setvbuf"
            | "weir_spin_hint"
            | "pthread_detach"
            | "thrd_detach"
            | "pthread_attr_init"
            | "pthread_attr_destroy"
            | "pthread_attr_setdetachstate"
            | "pthread_mutexattr_init"
            | "pthread_mutexattr_destroy"
            | "pthread_setconcurrency"
            | "pthread_mutex_destroy"
            | "pthread_spin_destroy"
            | "mtx_destroy"
            | "pthread_cond_init"
            | "cnd_init"
            | "pthread_cond_destroy"
            | "cnd_destroy"
            | "pthread_cond_signal"
            | "pthread_cond_broadcast"
            | "cnd_signal"
            | "cnd_broadcast"
            | "pthread_barrier_destroy"
            | "sem_destroy"
            | "pthread_rwlock_destroy"
            | "__cxa_atexit"
            | "atexit"
            | "__cxa_thread_atexit"
            | "_ZNSt6thread6_StateD2Ev"
            | "_ZNSt8ios_base4InitC1Ev"
            | "_ZNSt8ios_base4InitD1Ev"
            | "__VERIFIER_loop_bound"
            | "__VERIFIER_loop_begin"
            | "__VERIFIER_spin_start"
    )
}
