//! Calls, and the functions that programs expect to find.

use weir_llvm::{Body, Call, Kind, Value};
use weir_model::program::{AtomicKind, BinOp, Expr, Order, Rmw, Stmt, StmtKind};

use super::Reader;
use super::explore::{Frame, MAX_CALLS, State, Then, code_of};
use super::number::{binary, choose, number};
use super::objects::{Flag, Key, Val};

/// The most values that a choice among any numbers has.
const MAX_ANY: i128 = 4096;

/// How often a function may be executed inside of itself.
const MAX_RECURSION: usize = 16;

/// The longest text of a failure.
const MAX_TEXT: usize = 300;

/// The name of a function as a person wrote it, as far as it can be told from its name for the linker.
pub(super) fn plain_name(name: &str) -> String {
    let old = name.strip_prefix("_ZN").or_else(|| name.strip_prefix("_Z"));
    let new = name.strip_prefix("_R");
    let Some(mut rest) = old.or(new) else { return name.to_owned() };
    // Of new names the last part may say which crate needed a generic function.
    if new.is_some()
        && let Some(at) = rest.rfind("Cs")
        && at > 8
        && rest[at..].bytes().filter(|b| *b == b'_').count() == 1
        && rest[at..].bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !rest[..at].ends_with(['N', 'v', 't'])
    {
        rest = &rest[..at];
    }
    let mut parts = Vec::new();
    let mut at = 0;
    let bytes = rest.as_bytes();
    while at < bytes.len() {
        let digits = bytes[at..].iter().take_while(|b| b.is_ascii_digit()).count();
        if digits == 0 {
            // Of old names only what stands first belongs to the name.
            if new.is_none() && !parts.is_empty() && bytes[at] != b'L' && !name.starts_with("_ZN") {
                break;
            }
            if new.is_none() && bytes[at] == b'E' {
                break;
            }
            at += 1;
            // A disambiguator.
            if new.is_some() && bytes[at - 1] == b's' {
                while at < bytes.len() && bytes[at] != b'_' && bytes[at].is_ascii_alphanumeric() {
                    at += 1;
                }
                at += 1;
            }
            continue;
        }
        let length: usize = rest[at..at + digits].parse().unwrap_or(0);
        at += digits;
        if new.is_some() && bytes.get(at) == Some(&b'_') {
            at += 1;
        }
        match rest.get(at..at + length) {
            Some(part) if length > 0 => parts.push(part),
            _ => break,
        }
        at += length;
    }
    let is_hash = |part: &str| part.len() == 17 && part.starts_with('h') && part[1..].bytes().all(|b| b.is_ascii_hexdigit());
    if parts.last().is_some_and(|last| is_hash(last)) {
        parts.pop();
    }
    match parts.is_empty() {
        true => name.to_owned(),
        false => parts.join("::").replace("..", "::").replace("$u7b$$u7b$", "{").replace("$u7d$$u7d$", "}"),
    }
}

impl<'m> Reader<'m> {
    /// Executes a call.
    pub(super) fn call(&mut self, state: &mut State, call: &'m Call, result: Option<u32>, out: &mut Vec<Stmt>, depth: usize) -> Option<bool> {
        if let Value::Asm(text, constraints) = &call.callee {
            return self.assembly(state, text, constraints, result, out);
        }
        if let Value::Global(symbol) = &call.callee {
            let name = self.module.symbol(*symbol);
            if super::function::is_nothing(name) {
                state.top().at += 1;
                return Some(true);
            }
            if name.starts_with("llvm.") {
                return self.intrinsic(state, name, call, result, out);
            }
            let function = self.functions.get(name).copied();
            let is_defined = function.is_some_and(|f| self.module.functions[f].body != Body::None);
            if !is_defined && !self.module.aliases.iter().any(|alias| alias.name == name) {
                let mut arguments = Vec::new();
                for (ty, value) in &call.arguments {
                    arguments.push(self.value(state, *ty, value, out)?.first().copied().unwrap_or(Val::Undef));
                }
                return self.library(state, name, &arguments, result, out, depth);
            }
        }
        let mut arguments = Vec::new();
        for (ty, value) in &call.arguments {
            arguments.push(self.value(state, *ty, value, out)?);
        }
        let callee = self.scalar(state, self.pointer_type(), &call.callee, out)?;
        match callee {
            Val::Known(address) => match self.function_at(address) {
                Some(function) => self.enter(state, function, arguments, Then::GoOn(result), out, depth),
                None => self.fail("a call to an address that is no function", out),
            },
            Val::Undef => self.fail("a pointer to a function that was never set is called", out),
            Val::Reg(register) => {
                for (address, function) in self.functions_at(register, call) {
                    let (mut inner, mut inside) = (Vec::new(), state.clone());
                    if self.enter(&mut inside, function, arguments.clone(), Then::GoOn(result), &mut inner, depth)? {
                        self.explore(inside, &mut inner, depth + 1);
                    }
                    let is_it = binary(BinOp::Eq, Expr::Atom(register), number(address));
                    self.emit(out, StmtKind::If(is_it, inner, Vec::new()));
                }
                self.fail("a call to an address that is no function", out)
            }
        }
    }

    /// The function at an address.
    pub(super) fn function_at(&mut self, address: i128) -> Option<usize> {
        let (id, 0) = self.facts.find(address)? else { return None };
        let Key::Function(symbol) = self.facts.get(id).key else { return None };
        self.functions.get(self.module.symbol(symbol)).copied()
    }

    /// Goes into a function.
    pub(super) fn enter(&mut self, state: &mut State, function: usize, arguments: Vec<Vec<Val>>, then: Then, out: &mut Vec<Stmt>, depth: usize) -> Option<bool> {
        let defined = &self.module.functions[function];
        match &defined.body {
            Body::Blocks(_) => {}
            Body::None => {
                let flat: Vec<Val> = arguments.iter().map(|a| a.first().copied().unwrap_or(Val::Undef)).collect();
                let result = match then {
                    Then::GoOn(result) => result,
                    _ => None,
                };
                return self.library(state, &defined.name, &flat, result, out, depth);
            }
            Body::NotRead(why, line) => {
                let name = plain_name(&defined.name);
                self.refuse(format!("the function `{name}` is not read: line {line}: {why}"));
                return None;
            }
        }
        let again = state.frames.iter().filter(|frame| frame.function == function).count();
        if state.frames.len() >= MAX_CALLS || again >= MAX_RECURSION {
            self.limit("depth_of_calls", out);
            return Some(false);
        }
        let top = state.top();
        let site = (top.context, top.function, top.block, top.at);
        let site = self.facts.context(site.0, site.1, site.2, site.3);
        let context = self.facts.context(site, function, u32::MAX, 0);
        let mut values = std::collections::BTreeMap::new();
        for (number, value) in arguments.into_iter().enumerate().take(defined.parameters.len()) {
            let value = match (defined.by_value.get(number).copied().flatten(), value.first()) {
                (Some(ty), Some(&from)) => {
                    // The callee has a copy of its own.
                    let (size, _) = self.layout.size(ty)?;
                    let id = self.stack_object(context, function, number as u32, size);
                    self.memory.remove(&id);
                    self.begin_object(state, id);
                    let to = Val::Known(self.facts.get(id).base);
                    if !self.copy(state, to, from, size, out)? {
                        return Some(false);
                    }
                    vec![to]
                }
                _ => value,
            };
            values.insert(number as u32, value);
        }
        state.frames.push(Frame { context, function, block: 0, at: 0, values, then });
        Some(true)
    }

    /// Returns from a function.
    pub(super) fn give_back(&mut self, state: &mut State, values: Vec<Val>, out: &mut Vec<Stmt>, depth: usize) -> Option<bool> {
        let frame = state.frames.pop()?;
        self.forget_stack(state, frame.context);
        if let Then::Call(address, argument) = frame.then {
            // A destructor, after the function of a thread.
            let function = self.function_at(address)?;
            if state.frames.is_empty() {
                let mut nothing = State::nothing();
                let base = nothing.frames.remove(0);
                let values = std::collections::BTreeMap::from([(0, vec![argument])]);
                let context = self.facts.context(frame.context, function, u32::MAX, 2);
                state.frames.push(Frame { function, context, values, ..base });
                return Some(true);
            }
            return None;
        }
        if state.frames.is_empty() {
            self.end_thread(values.first().copied(), out);
            return Some(false);
        }
        if frame.then == Then::Once {
            return Some(true);
        }
        if let Then::GoOn(Some(result)) = frame.then {
            state.top().values.insert(result, values);
        }
        self.behind(state, out, depth)
    }

    /// Goes on behind a call.
    pub(super) fn behind(&mut self, state: &mut State, out: &mut Vec<Stmt>, depth: usize) -> Option<bool> {
        let top = state.top();
        let (function, block, at) = (top.function, top.block as usize, top.at);
        if let Kind::Invoke(_, normal, _) = &self.blocks(function)[block].instructions[at].kind {
            return Some(self.go(state, normal.0, out, depth));
        }
        state.top().at += 1;
        Some(true)
    }

    /// A text in memory that is known.
    fn text_at(&mut self, pointer: Option<&Val>, length: Option<usize>) -> Option<String> {
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
    pub(super) fn any(&mut self, state: &mut State, values: Vec<i128>, result: Option<u32>, out: &mut Vec<Stmt>) -> Option<Val> {
        let register = self.home(state, result?, 0);
        self.emit(out, StmtKind::Any(register, values));
        Some(Val::Reg(register))
    }

    /// A function that is not in the module.
    pub(super) fn library(&mut self, state: &mut State, name: &str, arguments: &[Val], result: Option<u32>, out: &mut Vec<Stmt>, depth: usize) -> Option<bool> {
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
            "weir_spawn" => Val::Known(self.start_at(state, argument(0), argument(1), out)? as i128),
            "pthread_join" | "thrd_join" => {
                let asks = argument(1) != Val::Known(0);
                let into = asks.then(|| result.unwrap_or(u32::MAX));
                let Some(value) = self.join(argument(0), into, state, out) else { return Some(false) };
                if asks {
                    let size = if name == "thrd_join" { 4 } else { 8 };
                    if self.write_scalar(state, argument(1), size, value, Order::Plain, out).is_none() {
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
                let Some(handle) = self.read_scalar(state, argument(0), 8, Order::Plain, into, out) else { return Some(false) };
                if self.join(handle, None, state, out).is_none()
                    || self.write_scalar(state, argument(0), 8, Val::Known(0), Order::Plain, out).is_none()
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
                self.end_thread(value, out);
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
                let words = self.text_at(arguments.first(), length).unwrap_or_else(|| "a failure".to_owned());
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
            "__VERIFIER_nondet_bool" | "__VERIFIER_nondet__Bool" => self.any(state, vec![0, 1], result, out)?,
            "__VERIFIER_nondet_char" => self.any(state, (-128..128).collect(), result, out)?,
            "__VERIFIER_nondet_uchar" => self.any(state, (-128..128).collect(), result, out)?,
            "weir_any" => match (argument(0), argument(1)) {
                (Val::Known(low), Val::Known(high)) if low <= high && high - low < MAX_ANY => {
                    self.any(state, (low..=high).collect(), result, out)?
                }
                _ => {
                    self.refuse(format!("`weir_any` needs a known range of at most {MAX_ANY} values"));
                    return None;
                }
            },
            "weir_atomic_begin" | "__VERIFIER_atomic_begin" => return self.atomic_block(state, out, depth),
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
                let Some(main) = self.read_scalar(state, slot, 8, Order::Plain, into, out) else { return Some(false) };
                let Val::Known(main) = main else { return None };
                let Some(function) = self.function_at(main) else {
                    self.refuse("the function that Rust's `main` calls is not known");
                    return None;
                };
                return self.enter(state, function, vec![vec![argument(0)]], Then::GoOn(result), out, depth);
            }
            _ => {
                if let Some(given) = self.locks(state, name, arguments, result, out) {
                    match given {
                        Some(value) => value,
                        None => return Some(false),
                    }
                } else if let Some(given) = self.allocation(state, name, arguments, out) {
                    match given {
                        Some(value) => value,
                        None => return Some(false),
                    }
                } else if let Some(words) = self.panic(name, arguments) {
                    return self.fail(&words, out);
                } else {
                    if !self.is_stopped() {
                        let name = plain_name(name);
                        self.refuse(format!("the function `{name}` is not in this module, and Weir does not know it"));
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

    /// Starts a thread with a function at an address.
    fn start_at(&mut self, state: &mut State, function: Val, argument: Val, out: &mut Vec<Stmt>) -> Option<usize> {
        let found = match function {
            Val::Known(address) => self.function_at(address),
            _ => None,
        };
        match found {
            Some(function) => self.start(state, function, argument, Then::Forget, out),
            None => {
                self.refuse("which function this thread executes is only known when the program runs");
                None
            }
        }
    }

    /// Starts a `std::thread`: its state is an object with a virtual function, and is deleted in the end.
    fn start_cpp(&mut self, state: &mut State, this: Val, owner: Val, out: &mut Vec<Stmt>) -> Option<Option<()>> {
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

    /// A block that is one step.
    fn atomic_block(&mut self, state: &mut State, out: &mut Vec<Stmt>, depth: usize) -> Option<bool> {
        if state.is_atomic {
            self.refuse("an atomic block in an atomic block is not read");
            return None;
        }
        let mut inside = state.clone();
        inside.top().at += 1;
        if self.is_alone {
            *state = inside;
            return Some(true);
        }
        inside.is_atomic = true;
        let mut block = Vec::new();
        self.explore(inside, &mut block, depth + 1);
        self.emit(out, StmtKind::Atomic(AtomicKind::Full, block));
        Some(false)
    }

    /// Locks and all that threads wait for. The outer result says whether this is such a function, the inner one whether it goes on.
    fn locks(&mut self, state: &mut State, name: &str, arguments: &[Val], result: Option<u32>, out: &mut Vec<Stmt>) -> Option<Option<Val>> {
        let argument = |i: usize| arguments.get(i).copied().unwrap_or(Val::Known(0));
        let zero = |done: Option<()>| Some(done.map(|()| Val::Known(0)));
        let first = argument(0);
        match name {
            "pthread_mutex_lock" | "pthread_spin_lock" | "mtx_lock" | "weir_lock" => zero(self.lock(state, first, out)),
            "pthread_mutex_unlock" | "pthread_spin_unlock" | "mtx_unlock" | "weir_unlock" => zero(self.unlock(state, first, out)),
            "pthread_mutex_trylock" | "pthread_spin_trylock" | "mtx_trylock" | "weir_try_lock" => {
                let Some(old) = self.try_lock(state, first, out) else { return Some(None) };
                let code = match name {
                    "weir_try_lock" => binary(BinOp::Eq, old, number(0)),
                    _ => choose(binary(BinOp::Eq, old, number(0)), number(0), number(16)),
                };
                self.given(state, code, result, out)
            }
            "pthread_mutex_init" | "pthread_spin_init" | "mtx_init" | "pthread_rwlock_init" => {
                let is_recursive = name == "mtx_init" && !matches!(argument(1), Val::Known(n) if n & 1 == 0);
                if is_recursive {
                    self.refuse("a mutex that a thread may lock twice is not read");
                    return Some(None);
                }
                zero(self.write_scalar(state, first, 4, Val::Known(0), Order::Relaxed, out))
            }
            "pthread_mutexattr_settype" | "pthread_mutexattr_setrobust" => {
                if argument(1) != Val::Known(0) {
                    self.refuse("a mutex that a thread may lock twice, or whose errors are told, is not read");
                    return Some(None);
                }
                Some(Some(Val::Known(0)))
            }
            "pthread_cond_wait" | "cnd_wait" => zero(self.wait(state, argument(1), out)),
            "pthread_rwlock_rdlock" => {
                let read = |old: Expr<_>| Rmw::Update {
                    when: binary(BinOp::Ge, old.clone(), number(0)),
                    new: binary(BinOp::Add, old, number(1)),
                };
                zero(self.word(state, first, Order::Acquire, read, out).map(drop))
            }
            "pthread_rwlock_wrlock" => {
                let write = |old| Rmw::Update { when: binary(BinOp::Eq, old, number(0)), new: number(-1) };
                zero(self.word(state, first, Order::Acquire, write, out).map(drop))
            }
            "pthread_rwlock_unlock" => {
                let free = |old: Expr<_>| {
                    let is_writer = binary(BinOp::Lt, old.clone(), number(0));
                    let less = binary(BinOp::Sub, old, number(1));
                    Rmw::Update { when: number(1), new: choose(is_writer, number(0), less) }
                };
                zero(self.word(state, first, Order::Release, free, out).map(drop))
            }
            "sem_init" => zero(self.write_scalar(state, first, 4, argument(2), Order::Relaxed, out)),
            "sem_wait" => {
                let take = |old: Expr<_>| Rmw::Update {
                    when: binary(BinOp::Gt, old.clone(), number(0)),
                    new: binary(BinOp::Sub, old, number(1)),
                };
                zero(self.word(state, first, Order::Acquire, take, out).map(drop))
            }
            "sem_trywait" => {
                let take = |old: Expr<_>| {
                    let is_free = binary(BinOp::Gt, old.clone(), number(0));
                    Rmw::Update { when: number(1), new: binary(BinOp::Sub, old, is_free) }
                };
                let Some(old) = self.word(state, first, Order::Acquire, take, out) else { return Some(None) };
                let code = choose(binary(BinOp::Gt, old, number(0)), number(0), number(-1));
                self.given(state, code, result, out)
            }
            "sem_post" => {
                let post = |old| Rmw::Update { when: number(1), new: binary(BinOp::Add, old, number(1)) };
                zero(self.word(state, first, Order::Release, post, out).map(drop))
            }
            "pthread_barrier_init" => {
                let count = self.moved(first, 4, out);
                let round = self.moved(first, 8, out);
                for (pointer, value) in [(first, argument(2)), (count, Val::Known(0)), (round, Val::Known(0))] {
                    if self.write_scalar(state, pointer, 4, value, Order::Relaxed, out).is_none() {
                        return Some(None);
                    }
                }
                Some(Some(Val::Known(0)))
            }
            "pthread_barrier_wait" => Some(self.barrier(state, first, result, out)),
            "weir_wait_ne" | "weir_wait_eq" => {
                zero(self.wait_for(state, first, argument(1), name == "weir_wait_eq", out))
            }
            "__cxa_guard_acquire" => Some(self.guard(state, first, result?, out)),
            "__cxa_guard_release" => {
                let done = self.write_scalar(state, first, 1, Val::Known(1), Order::Release, out);
                let pending = self.moved(first, 4, out);
                zero(done.and_then(|()| self.unlock(state, pending, out)))
            }
            _ => None,
        }
    }

    /// Code as what a call gives.
    fn given(&mut self, state: &mut State, code: weir_model::program::Code, result: Option<u32>, out: &mut Vec<Stmt>) -> Option<Option<Val>> {
        match result {
            Some(result) => {
                let code = self.in_register(code, out);
                let register = self.home(state, result, 0);
                self.emit(out, StmtKind::Assign(register, code));
                Some(Some(Val::Reg(register)))
            }
            None => Some(Some(Val::Known(0))),
        }
    }

    /// Allocation. The results are those of [`Self::locks`].
    fn allocation(&mut self, state: &mut State, name: &str, arguments: &[Val], out: &mut Vec<Stmt>) -> Option<Option<Val>> {
        let argument = |i: usize| arguments.get(i).copied().unwrap_or(Val::Known(0));
        let is_rust = |word: &str| name.ends_with(word);
        let size = match name {
            "malloc" | "_Znwm" | "_Znam" | "_ZnwmSt11align_val_t" | "_ZnamSt11align_val_t" | "_ZnwmRKSt9nothrow_t" => argument(0),
            "aligned_alloc" | "memalign" => argument(1),
            "calloc" => match (argument(0), argument(1)) {
                (Val::Known(a), Val::Known(b)) => Val::Known(a.checked_mul(b)?),
                _ => Val::Undef,
            },
            "posix_memalign" => argument(2),
            "realloc" => argument(1),
            _ if is_rust("__rust_alloc") || is_rust("__rust_alloc_zeroed") => argument(0),
            _ if is_rust("__rust_realloc") => argument(3),
            "free" | "_ZdlPv" | "_ZdaPv" | "_ZdlPvm" | "_ZdaPvm" | "_ZdlPvSt11align_val_t" | "_ZdlPvmSt11align_val_t" => {
                return Some(self.free(state, argument(0), out).map(|()| Val::Known(0)));
            }
            _ if is_rust("__rust_dealloc") => return Some(self.free(state, argument(0), out).map(|()| Val::Known(0))),
            _ if name.contains("__rust_no_alloc_shim_is_unstable") => return Some(Some(Val::Known(0))),
            _ => return None,
        };
        let Val::Known(bytes) = size else {
            self.refuse("how much memory is allocated here is only known when the program runs");
            return Some(None);
        };
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        if bytes > 1 << 24 {
            self.refuse(format!("{bytes} bytes are allocated here, which is more than is read"));
            return Some(None);
        }
        let Some(new) = self.allocate(state, bytes, name.contains("calloc") || name.contains("zeroed"), out) else { return Some(None) };
        let is_again = name == "realloc" || is_rust("__rust_realloc");
        if is_again && argument(0) != Val::Known(0) {
            let old = match argument(0) {
                Val::Known(address) => self.facts.find(address).map(|(id, _)| self.facts.get(id).size),
                _ => None,
            };
            let Some(old) = old else {
                self.refuse("which memory is made larger here is only known when the program runs");
                return Some(None);
            };
            match self.copy(state, new, argument(0), old.min(bytes), out) {
                Some(true) => {}
                _ => return Some(None),
            }
            if self.free(state, argument(0), out).is_none() {
                return Some(None);
            }
        }
        if name == "posix_memalign" {
            let done = self.write_scalar(state, argument(0), 8, new, Order::Plain, out);
            return Some(done.map(|()| Val::Known(0)));
        }
        Some(Some(new))
    }

    /// A new object. Each place that allocates has some for each thread; more than that is a limit.
    fn allocate(&mut self, state: &mut State, size: u64, is_zero: bool, out: &mut Vec<Stmt>) -> Option<Val> {
        let top = state.top();
        let (context, function, block, at) = (top.context, top.function, top.block, top.at);
        let site = self.facts.context(context, function, block, at);
        let count = state.allocated.entry((site, block, at as u32)).or_insert(0);
        let number_of = *count;
        *count += 1;
        let pool = if self.is_alone { 10_000 } else { self.options.pool };
        if number_of >= pool {
            self.limit("allocated", out);
            return None;
        }
        let key = Key::Heap(self.current, site, 0, number_of);
        let id = self.facts.object(key, || "heap".to_owned(), size, false);
        self.memory.remove(&id);
        self.begin_object(state, id);
        if !is_zero && let Some(bytes) = state.own.get_mut(&id) {
            bytes.rest = Val::Undef;
        }
        Some(Val::Known(self.facts.get(id).base))
    }

    /// Frees memory.
    fn free(&mut self, state: &mut State, pointer: Val, out: &mut Vec<Stmt>) -> Option<()> {
        const NOT_ALLOCATED: &str = "what is freed here is not the beginning of allocated memory";
        const TWICE: &str = "memory is freed twice";
        let one = |this: &mut Self, address: i128, out: &mut Vec<Stmt>| {
            let found = this.facts.find(address);
            let Some((id, 0)) = found else { return this.fail(NOT_ALLOCATED, out) };
            if !matches!(this.facts.get(id).key, Key::Heap(..)) {
                return this.fail(NOT_ALLOCATED, out);
            }
            this.facts.is_changed |= this.facts.freed.insert(id);
            let flag = this.flag(Flag::Freed, id as usize);
            let is_freed = this.temporary();
            let place = this.place(flag, 0, 8, Order::Relaxed, false);
            this.emit(out, StmtKind::Load(is_freed, place));
            this.check(super::number::not(Expr::Atom(is_freed)), TWICE, out);
            let place = this.place(flag, 0, 8, Order::Relaxed, true);
            this.emit(out, StmtKind::Store(place, number(1)));
            Some(true)
        };
        match pointer {
            Val::Known(0) => Some(()),
            Val::Undef => {
                self.fail(NOT_ALLOCATED, out);
                None
            }
            Val::Known(address) => {
                let found = self.facts.find(address);
                if let Some((id, 0)) = found
                    && matches!(self.facts.get(id).key, Key::Heap(..))
                    && (self.is_alone || self.facts.is_private(id))
                {
                    if !state.dead.insert(id) {
                        self.fail(TWICE, out);
                        return None;
                    }
                    state.own.remove(&id);
                    return Some(());
                }
                if let Some((id, _)) = found {
                    if state.dead.contains(&id) {
                        self.fail(TWICE, out);
                        return None;
                    }
                    state.own.remove(&id);
                }
                one(self, address, out).filter(|goes_on| *goes_on).map(drop)
            }
            Val::Reg(register) => {
                let addresses: Vec<i128> = self.targets(register, 0).addresses;
                let bases = addresses.into_iter().filter(|a| {
                    let found = self.facts.find(*a);
                    matches!(found, Some((id, 0)) if matches!(self.facts.get(id).key, Key::Heap(..)))
                });
                let bases: Vec<i128> = bases.collect();
                for address in &bases {
                    if let Some((id, _)) = self.facts.find(*address) {
                        if self.facts.is_private(id) {
                            self.facts.put_in_memory(id);
                        }
                        state.own.remove(&id);
                    }
                }
                let (mut some, mut none) = (Vec::new(), Vec::new());
                self.dispatch(register, &bases, &mut some, &mut |this, address, out| {
                    one(this, address, out);
                });
                let is_null = binary(BinOp::Eq, Expr::Atom(register), number(0));
                none.append(&mut some);
                self.emit(out, StmtKind::If(is_null, Vec::new(), none));
                Some(())
            }
        }
    }

    /// What a function that never returns says: those of Rust's `core::panicking`, and those of C++ that throw.
    fn panic(&mut self, name: &str, arguments: &[Val]) -> Option<String> {
        let words = [
            ("panic_bounds_check", "an index is out of bounds"),
            ("panic_const_add_overflow", "attempt to add with overflow"),
            ("panic_const_sub_overflow", "attempt to subtract with overflow"),
            ("panic_const_mul_overflow", "attempt to multiply with overflow"),
            ("panic_const_neg_overflow", "attempt to negate with overflow"),
            ("panic_const_shl_overflow", "attempt to shift left with overflow"),
            ("panic_const_shr_overflow", "attempt to shift right with overflow"),
            ("panic_const_div_by_zero", "attempt to divide by zero"),
            ("panic_const_rem_by_zero", "attempt to calculate the remainder with a divisor of zero"),
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
        let is_panic = name.contains("9panicking") || name.contains("13expect_failed") || name.contains("begin_panic");
        if !is_panic {
            return None;
        }
        let length = match arguments.get(1) {
            Some(Val::Known(n)) => usize::try_from(*n).ok(),
            _ => None,
        };
        let is_plain = name.contains("panicking5panic") || name.contains("13expect_failed") || name.contains("begin_panic");
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
        "sched_yield" | "thrd_yield" | "pthread_yield" | "usleep" | "sleep" | "nanosleep" | "thrd_sleep" | "printf"
            | "puts" | "putchar" | "fprintf" | "fputs" | "fflush" | "perror" | "fwrite" | "fputc" | "putc" | "srand" | "setbuf"
            | "setvbuf" | "weir_spin_hint" | "pthread_detach" | "thrd_detach" | "pthread_attr_init"
            | "pthread_attr_destroy" | "pthread_attr_setdetachstate" | "pthread_mutexattr_init"
            | "pthread_mutexattr_destroy" | "pthread_setconcurrency" | "pthread_mutex_destroy"
            | "pthread_spin_destroy" | "mtx_destroy" | "pthread_cond_init" | "cnd_init" | "pthread_cond_destroy"
            | "cnd_destroy" | "pthread_cond_signal" | "pthread_cond_broadcast" | "cnd_signal" | "cnd_broadcast"
            | "pthread_barrier_destroy" | "sem_destroy" | "pthread_rwlock_destroy" | "__cxa_atexit" | "atexit"
            | "__cxa_thread_atexit" | "_ZNSt6thread6_StateD2Ev" | "_ZNSt8ios_base4InitC1Ev" | "_ZNSt8ios_base4InitD1Ev"
            | "__VERIFIER_loop_bound" | "__VERIFIER_loop_begin" | "__VERIFIER_spin_start"
    )
}
