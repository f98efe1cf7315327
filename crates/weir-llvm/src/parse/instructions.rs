//! The bodies of functions.

use super::{Blocks, Failed, Parsed, Parser, show};
use crate::lexer::Token;
use crate::{Block, BlockId, Call, Instruction, Kind, Ordering, Type, TypeId, Update, Value};

/// Attributes that may be written behind a call.
const CALL_ATTRIBUTES: [&str; 21] = [
    "nounwind",
    "noreturn",
    "readnone",
    "readonly",
    "cold",
    "memory",
    "willreturn",
    "nomerge",
    "noinline",
    "alwaysinline",
    "nobuiltin",
    "builtin",
    "allocsize",
    "returns_twice",
    "convergent",
    "nofree",
    "nosync",
    "nocallback",
    "speculatable",
    "optsize",
    "minsize",
];

fn ordering(word: &str) -> Option<Ordering> {
    Some(match word {
        "unordered" => Ordering::Unordered,
        "monotonic" => Ordering::Monotonic,
        "acquire" => Ordering::Acquire,
        "release" => Ordering::Release,
        "acq_rel" => Ordering::AcquireRelease,
        "seq_cst" => Ordering::SeqCst,
        _ => return None,
    })
}

fn update(word: &str) -> Option<Update> {
    Some(match word {
        "xchg" => Update::Xchg,
        "add" => Update::Add,
        "sub" => Update::Sub,
        "and" => Update::And,
        "nand" => Update::Nand,
        "or" => Update::Or,
        "xor" => Update::Xor,
        "max" => Update::Max,
        "min" => Update::Min,
        "umax" => Update::UMax,
        "umin" => Update::UMin,
        "uinc_wrap" => Update::UIncWrap,
        "udec_wrap" => Update::UDecWrap,
        "usub_cond" => Update::USubCond,
        "usub_sat" => Update::USubSat,
        "fadd" => Update::FAdd,
        "fsub" => Update::FSub,
        "fmax" | "fmaximum" => Update::FMax,
        "fmin" | "fminimum" => Update::FMin,
        _ => return None,
    })
}

impl Parser<'_> {
    /// The blocks of a function, behind its opening brace.
    pub(super) fn body(&mut self) -> Parsed<Blocks> {
        let mut blocks: Vec<(BlockId, Block)> = Vec::new();
        let mut defined = Vec::new();
        loop {
            let at = self.here();
            match self.peek() {
                Token::Sign(b'}') => {
                    self.next();
                    break;
                }
                Token::End => return self.fail(at, "the body of this function does not end"),
                Token::Label(name) => {
                    self.next();
                    self.name_number(&name);
                    self.begin_block(name, &mut blocks);
                    continue;
                }
                Token::Hash(_) => {
                    self.next();
                    if self.is_sign(b'(') {
                        self.skip_brackets()?;
                    }
                    continue;
                }
                Token::Word("uselistorder" | "uselistorder_bb") => {
                    self.skip_line();
                    continue;
                }
                _ => {}
            }
            let is_over = blocks.last().is_none_or(|(_, block)| {
                block.instructions.last().is_some_and(|last| ends(&last.kind))
            });
            if is_over {
                let name = self.locals.next.to_string();
                self.locals.next += 1;
                self.begin_block(name, &mut blocks);
            }
            let instruction = self.instruction(&mut defined)?;
            if let Some((_, block)) = blocks.last_mut() {
                block.instructions.push(instruction);
            }
        }
        self.check_body(blocks, &defined)
    }

    fn begin_block(&mut self, name: String, blocks: &mut Vec<(BlockId, Block)>) {
        let id = self.block(&name);
        blocks.push((id, Block { name, instructions: Vec::new() }));
    }

    /// Every block and every value that is used has to be there, once. Blocks get the order of the
    /// text.
    fn check_body(&mut self, blocks: Vec<(BlockId, Block)>, defined: &[u32]) -> Parsed<Blocks> {
        let at = self.lexer.at;
        let mut places = vec![None; self.locals.block_names.len()];
        for (place, (id, block)) in blocks.iter().enumerate() {
            if places[id.0 as usize].replace(BlockId(place as u32)).is_some() {
                return self.fail(at, format!("the block `{}` is there twice", block.name));
            }
            if !block.instructions.last().is_some_and(|last| ends(&last.kind)) {
                return self.fail(at, format!("the block `{}` has no end", block.name));
            }
        }
        if let Some(missing) = places.iter().position(Option::is_none) {
            let name = &self.locals.block_names[missing];
            return self.fail(at, format!("the block `{name}` is not there"));
        }
        if blocks.is_empty() {
            return self.fail(at, "this function has no block");
        }
        let mut is_defined = vec![false; self.locals.names.len()];
        for local in defined {
            if std::mem::replace(&mut is_defined[*local as usize], true) {
                let name = &self.locals.names[*local as usize];
                return self.fail(at, format!("`%{name}` is defined twice"));
            }
        }
        let mut blocks: Vec<Block> = blocks.into_iter().map(|(_, block)| block).collect();
        for block in &mut blocks {
            for instruction in &mut block.instructions {
                targets(&mut instruction.kind, &mut |id| {
                    if let Some(place) = places[id.0 as usize] {
                        *id = place;
                    }
                });
            }
        }
        Ok(blocks)
    }

    fn instruction(&mut self, defined: &mut Vec<u32>) -> Parsed<Instruction> {
        let at = self.here();
        let mut name = None;
        if let Token::Local(local) = self.peek() {
            self.next();
            self.expect(b'=')?;
            name = Some(local);
        }
        let kind = self.kind()?;
        let gives = self.gives(&kind);
        let result = match (name, gives) {
            (Some(name), true) => {
                self.name_number(&name);
                Some(self.local(&name))
            }
            (None, true) => Some(self.unnamed()),
            (None, false) => None,
            (Some(_), false) => return self.fail(at, "this instruction gives no value"),
        };
        defined.extend(result.map(|id| id.0));
        let location = self.attachments()?;
        Ok(Instruction { result, kind, location, at: (self.part.base + at) as u32 })
    }

    /// Whether an instruction gives a value.
    fn gives(&self, kind: &Kind) -> bool {
        match kind {
            Kind::Op(_)
            | Kind::Phi(..)
            | Kind::Alloca(..)
            | Kind::Load { .. }
            | Kind::Rmw(..)
            | Kind::CompareExchange { .. }
            | Kind::LandingPad(_)
            | Kind::VaArg(_) => true,
            Kind::Call(call) | Kind::Invoke(call, ..) => *self.module.ty(call.ty) != Type::Void,
            _ => false,
        }
    }

    /// `, !dbg !12, …`
    fn attachments(&mut self) -> Parsed<Option<crate::MetaId>> {
        let mut location = None;
        loop {
            let before = self.lexer.clone();
            if !self.accept(b',') {
                return Ok(location);
            }
            let kind = match self.next() {
                Token::Meta(kind) => kind,
                Token::Word("align" | "addrspace") => {
                    match self.is_sign(b'(') {
                        true => self.skip_brackets()?,
                        false => drop(self.next()),
                    }
                    continue;
                }
                _ => {
                    self.lexer = before;
                    return Ok(location);
                }
            };
            match self.next() {
                Token::Meta(name) => {
                    if kind == "dbg" {
                        location = self.meta(name);
                    }
                    if self.is_sign(b'(') {
                        self.skip_brackets()?;
                    }
                }
                Token::Sign(b'!') => self.skip_brackets()?,
                found => {
                    let at = self.lexer.at;
                    return self.fail(at, format!("metadata is expected, not {}", show(&found)));
                }
            }
        }
    }

    fn target(&mut self) -> Parsed<BlockId> {
        self.expect_word("label")?;
        let at = self.here();
        match self.next() {
            Token::Local(name) => Ok(self.block(&name)),
            found => self.fail(at, format!("a block is expected, and {} is here", show(&found))),
        }
    }

    /// `syncscope("…")`: whether it is for signal handlers of the same thread only.
    fn scope(&mut self) -> Parsed<bool> {
        if !self.accept_word("syncscope") {
            return Ok(false);
        }
        self.expect(b'(')?;
        let name = self.string()?;
        self.expect(b')')?;
        Ok(name == "singlethread")
    }

    fn order(&mut self) -> Parsed<Ordering> {
        let at = self.here();
        let found = match self.next() {
            Token::Word(word) => ordering(word),
            _ => None,
        };
        found.ok_or(Failed { message: "a memory order is expected".into(), at })
    }

    fn kind(&mut self) -> Parsed<Kind> {
        let at = self.here();
        let Token::Word(word) = self.next() else {
            return self.fail(at, "an instruction is expected");
        };
        Ok(match word {
            "ret" => {
                let ty = self.ty()?;
                match self.module.ty(ty) {
                    Type::Void => Kind::Return(None),
                    _ => Kind::Return(Some((ty, self.value(ty)?))),
                }
            }
            "br" => {
                if self.peek() == Token::Word("label") {
                    return Ok(Kind::Jump(self.target()?));
                }
                let (_, condition) = self.typed()?;
                self.expect(b',')?;
                let then = self.target()?;
                self.expect(b',')?;
                Kind::Branch(condition, then, self.target()?)
            }
            "switch" => self.switch()?,
            "unreachable" => Kind::Unreachable,
            "resume" => {
                let (ty, value) = self.typed()?;
                Kind::Resume(ty, value)
            }
            "phi" => self.phi()?,
            "alloca" => self.alloca()?,
            "load" => {
                let is_atomic = self.accept_word("atomic");
                let is_volatile = self.accept_word("volatile");
                let ty = self.ty()?;
                self.expect(b',')?;
                let (_, pointer) = self.typed()?;
                self.scope()?;
                let order = if is_atomic { self.order()? } else { Ordering::NotAtomic };
                Kind::Load { ty, pointer, order, is_volatile }
            }
            "store" => {
                let is_atomic = self.accept_word("atomic");
                let is_volatile = self.accept_word("volatile");
                let (ty, value) = self.typed()?;
                self.expect(b',')?;
                let (_, pointer) = self.typed()?;
                self.scope()?;
                let order = if is_atomic { self.order()? } else { Ordering::NotAtomic };
                Kind::Store { ty, value, pointer, order, is_volatile }
            }
            "fence" => {
                let is_single = self.scope()?;
                Kind::Fence(self.order()?, is_single)
            }
            "atomicrmw" => {
                self.accept_word("volatile");
                let at = self.here();
                let found = match self.next() {
                    Token::Word(word) => update(word),
                    _ => None,
                };
                let Some(update) = found else {
                    return self.fail(at, "this atomic operation is not known");
                };
                let (_, pointer) = self.typed()?;
                self.expect(b',')?;
                let (ty, value) = self.typed()?;
                self.scope()?;
                Kind::Rmw(update, pointer, ty, value, self.order()?)
            }
            "cmpxchg" => {
                let is_weak = self.accept_word("weak");
                self.accept_word("volatile");
                let (_, pointer) = self.typed()?;
                self.expect(b',')?;
                let (ty, expected) = self.typed()?;
                self.expect(b',')?;
                let (_, new) = self.typed()?;
                self.scope()?;
                let success = self.order()?;
                let failure = self.order()?;
                Kind::CompareExchange { is_weak, pointer, ty, expected, new, success, failure }
            }
            "tail" | "musttail" | "notail" => {
                self.expect_word("call")?;
                Kind::Call(self.call()?)
            }
            "call" => Kind::Call(self.call()?),
            "invoke" => {
                let call = self.call()?;
                self.expect_word("to")?;
                let normal = self.target()?;
                self.expect_word("unwind")?;
                Kind::Invoke(call, normal, self.target()?)
            }
            "landingpad" => {
                let ty = self.ty()?;
                while let Token::Word("cleanup" | "catch" | "filter") = self.peek() {
                    if self.next() != Token::Word("cleanup") {
                        self.typed()?;
                    }
                }
                Kind::LandingPad(ty)
            }
            "va_arg" => {
                self.typed()?;
                self.expect(b',')?;
                Kind::VaArg(self.ty()?)
            }
            word => match self.operation(word)? {
                Some(op) => Kind::Op(op),
                None => return self.fail(at, format!("the instruction `{word}` is not known")),
            },
        })
    }

    fn switch(&mut self) -> Parsed<Kind> {
        let (ty, value) = self.typed()?;
        self.expect(b',')?;
        let default = self.target()?;
        self.expect(b'[')?;
        let mut cases = Vec::new();
        while !self.accept(b']') {
            let at = self.here();
            let (_, Value::Int(case)) = self.typed()? else {
                return self.fail(at, "a number is expected");
            };
            self.expect(b',')?;
            cases.push((case, self.target()?));
        }
        Ok(Kind::Switch(ty, value, default, cases))
    }

    fn phi(&mut self) -> Parsed<Kind> {
        while matches!(
            self.peek(),
            Token::Word("fast" | "nnan" | "ninf" | "nsz" | "arcp" | "contract" | "afn" | "reassoc")
        ) {
            self.next();
        }
        let ty = self.ty()?;
        let mut ways = Vec::new();
        loop {
            self.expect(b'[')?;
            let value = self.value(ty)?;
            self.expect(b',')?;
            let at = self.here();
            let Token::Local(name) = self.next() else {
                return self.fail(at, "a block is expected");
            };
            ways.push((value, self.block(&name)));
            self.expect(b']')?;
            let before = self.lexer.clone();
            if !self.accept(b',') || !self.is_sign(b'[') {
                self.lexer = before;
                return Ok(Kind::Phi(ty, ways));
            }
        }
    }

    fn alloca(&mut self) -> Parsed<Kind> {
        self.accept_word("inalloca");
        let ty = self.ty()?;
        let (mut count, mut align) = (None, 0);
        loop {
            let before = self.lexer.clone();
            if !self.accept(b',') {
                break;
            }
            match self.peek() {
                Token::Word("align") => {
                    self.next();
                    align = self.number()?;
                }
                Token::Word("addrspace") => {
                    self.next();
                    self.skip_brackets()?;
                }
                Token::Meta(_) => {
                    self.lexer = before;
                    break;
                }
                _ => count = Some(self.typed()?),
            }
        }
        Ok(Kind::Alloca(ty, count, align))
    }

    /// A call, behind its word.
    fn call(&mut self) -> Parsed<Call> {
        self.skip_words_before_type()?;
        let mut ty: TypeId = self.ty()?;
        let mut signature = None;
        if let Type::Function(result, ..) = self.module.ty(ty) {
            let result = *result;
            signature = Some(ty);
            ty = result;
        }
        let pointer = self.module.intern(Type::Ptr);
        let callee = self.value(pointer)?;
        let mut arguments = Vec::new();
        self.expect(b'(')?;
        while !self.accept(b')') {
            arguments.push(self.typed()?);
            self.accept(b',');
        }
        // Attributes and operand bundles.
        loop {
            match self.peek() {
                Token::Hash(word) if word.as_bytes()[0].is_ascii_digit() => drop(self.next()),
                Token::Word(word) if CALL_ATTRIBUTES.contains(&word) => {
                    self.next();
                    if self.is_sign(b'(') {
                        self.skip_brackets()?;
                    }
                }
                Token::Str(_) => {
                    self.next();
                    if self.accept(b'=') {
                        self.next();
                    }
                }
                Token::Sign(b'[') => self.skip_brackets()?,
                _ => return Ok(Call { ty, signature, callee, arguments }),
            }
        }
    }
}

/// Whether a block ends with this.
fn ends(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Return(_)
            | Kind::Jump(_)
            | Kind::Branch(..)
            | Kind::Switch(..)
            | Kind::Invoke(..)
            | Kind::Resume(..)
            | Kind::Unreachable
    )
}

/// Visits the blocks that an instruction names.
fn targets(kind: &mut Kind, visit: &mut impl FnMut(&mut BlockId)) {
    match kind {
        Kind::Jump(to) => visit(to),
        Kind::Branch(_, a, b) | Kind::Invoke(_, a, b) => {
            visit(a);
            visit(b);
        }
        Kind::Switch(_, _, default, cases) => {
            visit(default);
            cases.iter_mut().for_each(|(_, to)| visit(to));
        }
        Kind::Phi(_, ways) => ways.iter_mut().for_each(|(_, from)| visit(from)),
        _ => {}
    }
}
