//! Prints a module: what is kept of it, in a form that can be read again.

use std::fmt::{self, Display, Formatter, Write as _};

use crate::{
    Binary, Block, Body, Call, Cast, Function, Instruction, Kind, Meta, MetaId, Module, Op,
    Ordering, Predicate, Type, TypeId, Update, Value,
};

/// A name as it is written behind its sign.
struct Name<'n>(&'n str);

impl Display for Name<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'$' | b'-');
        match !self.0.is_empty() && self.0.bytes().all(is_plain) {
            true => f.write_str(self.0),
            false => write!(f, "\"{}\"", Text(self.0.as_bytes())),
        }
    }
}

/// Bytes as they are written between quotes.
struct Text<'n>(&'n [u8]);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for &byte in self.0 {
            match byte {
                b'"' | b'\\' => write!(f, "\\{byte:02X}")?,
                b' '..=b'~' => f.write_char(char::from(byte))?,
                _ => write!(f, "\\{byte:02X}")?,
            }
        }
        Ok(())
    }
}

impl Display for Module {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let text = |text: &str| Text(text.as_bytes()).to_string();
        writeln!(f, "source_filename = \"{}\"", text(&self.source))?;
        writeln!(f, "target datalayout = \"{}\"", text(&self.layout))?;
        writeln!(f, "target triple = \"{}\"", text(&self.triple))?;
        for (number, ty) in self.types.iter().enumerate() {
            let Type::Named(name) = ty else { continue };
            match self.named.get(&TypeId(number as u32)) {
                Some(inner) => writeln!(f, "%{} = type {}", Name(name), self.show_type(*inner))?,
                None => writeln!(f, "%{} = type opaque", Name(name))?,
            }
        }
        for global in &self.globals {
            let external = if global.init.is_none() { "external " } else { "" };
            let local = if global.is_thread_local { "thread_local " } else { "" };
            let word = if global.is_constant { "constant" } else { "global" };
            let ty = self.show_type(global.ty);
            write!(f, "@{} = {external}{local}{word} {ty}", Name(&global.name))?;
            if let Some(init) = &global.init {
                write!(f, " {}", self.show(init, &[]))?;
            }
            match global.align {
                0 => writeln!(f)?,
                align => writeln!(f, ", align {align}")?,
            }
        }
        for alias in &self.aliases {
            let (ty, value) = (self.show_type(alias.target.0), self.show(&alias.target.1, &[]));
            writeln!(f, "@{} = alias {ty}, {ty} {value}", Name(&alias.name))?;
        }
        for function in &self.functions {
            self.print_function(f, function)?;
        }
        let mut numbers: Vec<&MetaId> = self.metadata.keys().collect();
        numbers.sort_unstable();
        for id in numbers {
            print_meta(f, *id, &self.metadata[id])?;
        }
        Ok(())
    }
}

fn print_meta(f: &mut Formatter<'_>, id: MetaId, meta: &Meta) -> fmt::Result {
    let text = |text: &str| Text(text.as_bytes()).to_string();
    write!(f, "!{} = ", id.0)?;
    match meta {
        Meta::Location { line, column, scope, inlined_at } => {
            write!(f, "!DILocation(line: {line}, column: {column}, scope: !{}", scope.0)?;
            if let Some(at) = inlined_at {
                write!(f, ", inlinedAt: !{}", at.0)?;
            }
        }
        Meta::Subprogram { name, linkage, file, line } => {
            let (name, linkage) = (text(name), text(linkage));
            write!(f, "distinct !DISubprogram(name: \"{name}\", linkageName: \"{linkage}\"")?;
            if let Some(file) = file {
                write!(f, ", file: !{}", file.0)?;
            }
            write!(f, ", line: {line}")?;
        }
        Meta::Scope(scope, file) => {
            write!(f, "distinct !DILexicalBlock(")?;
            if let Some(scope) = scope {
                write!(f, "scope: !{}", scope.0)?;
            }
            if let Some(file) = file {
                let comma = if scope.is_some() { ", " } else { "" };
                write!(f, "{comma}file: !{}", file.0)?;
            }
        }
        Meta::File(name, directory) => {
            let (name, directory) = (text(name), text(directory));
            write!(f, "!DIFile(filename: \"{name}\", directory: \"{directory}\"")?;
        }
    }
    writeln!(f, ")")
}

impl Module {
    /// A type as it is written.
    pub fn show_type(&self, ty: TypeId) -> String {
        let list = |types: &[TypeId]| {
            types.iter().map(|ty| self.show_type(*ty)).collect::<Vec<_>>().join(", ")
        };
        match self.ty(ty) {
            Type::Void => "void".into(),
            Type::Int(bits) => format!("i{bits}"),
            Type::Ptr => "ptr".into(),
            Type::Float(name) | Type::Other(name) => (*name).into(),
            Type::Array(count, element) => format!("[{count} x {}]", self.show_type(*element)),
            Type::Vector(count, element) => format!("<{count} x {}>", self.show_type(*element)),
            Type::Struct { fields, is_packed: false } => format!("{{ {} }}", list(fields)),
            Type::Struct { fields, is_packed: true } => format!("<{{ {} }}>", list(fields)),
            Type::Named(name) => format!("%{}", Name(name)),
            Type::Function(result, parameters, is_variadic) => {
                let mut parameters = list(parameters);
                if *is_variadic {
                    parameters += if parameters.is_empty() { "..." } else { ", ..." };
                }
                format!("{} ({parameters})", self.show_type(*result))
            }
        }
    }

    fn typed(&self, ty: TypeId, value: &Value, locals: &[String]) -> String {
        format!("{} {}", self.show_type(ty), self.show(value, locals))
    }

    /// A value as it is written.
    pub fn show(&self, value: &Value, locals: &[String]) -> String {
        match value {
            Value::Local(id) => {
                format!("%{}", Name(locals.get(id.0 as usize).map_or("?", |name| name)))
            }
            Value::Int(number) => number.to_string(),
            Value::Float(text) => text.clone(),
            Value::Null => "null".into(),
            Value::Undef => "undef".into(),
            Value::Poison => "poison".into(),
            Value::Zero => "zeroinitializer".into(),
            Value::Global(symbol) => format!("@{}", Name(self.symbol(*symbol))),
            Value::Bytes(bytes) => format!("c\"{}\"", Text(bytes)),
            Value::Aggregate(elements) => {
                let elements: Vec<String> =
                    elements.iter().map(|(ty, value)| self.typed(*ty, value, locals)).collect();
                format!("{{ {} }}", elements.join(", "))
            }
            Value::Expr(op) => self.show_op(op, locals, true),
            Value::Asm(text, constraints) => {
                let (text, constraints) = (text.as_bytes(), constraints.as_bytes());
                format!("asm \"{}\", \"{}\"", Text(text), Text(constraints))
            }
            Value::Metadata => "!{}".into(),
            Value::Unknown(word) => format!("{word}()"),
        }
    }

    fn show_op(&self, op: &Op, locals: &[String], is_constant: bool) -> String {
        let (open, close) = if is_constant { (" (", ")") } else { (" ", "") };
        let typed = |ty: &TypeId, value: &Value| self.typed(*ty, value, locals);
        let path = |path: &[u32]| path.iter().map(|i| format!(", {i}")).collect::<String>();
        match op {
            Op::Binary { op, nsw, nuw, ty, a, b } => {
                let nuw = if *nuw { " nuw" } else { "" };
                let nsw = if *nsw { " nsw" } else { "" };
                let b = match is_constant {
                    true => typed(ty, b),
                    false => self.show(b, locals),
                };
                format!("{}{nuw}{nsw}{open}{}, {b}{close}", op.name(), typed(ty, a))
            }
            Op::Float(name, ty, operands) => {
                let flag = if *name == "fcmp" { " oeq" } else { "" };
                let rest: String =
                    operands[1..].iter().map(|v| format!(", {}", self.show(v, locals))).collect();
                format!("{name}{flag} {}{rest}", typed(ty, &operands[0]))
            }
            Op::Cast { op, from, value, to } => {
                let (value, to) = (typed(from, value), self.show_type(*to));
                format!("{}{open}{value} to {to}{close}", op.name())
            }
            Op::Compare(predicate, ty, a, b) => {
                let b = match is_constant {
                    true => typed(ty, b),
                    false => self.show(b, locals),
                };
                format!("icmp {}{open}{}, {b}{close}", predicate.name(), typed(ty, a))
            }
            Op::Select(condition_ty, condition, ty, a, b) => {
                let condition = typed(condition_ty, condition);
                format!("select{open}{condition}, {}, {}{close}", typed(ty, a), typed(ty, b))
            }
            Op::Element { is_inbounds, ty, pointer, indices } => {
                let flag = if *is_inbounds { " inbounds" } else { "" };
                let indices: String =
                    indices.iter().map(|(ty, value)| format!(", {}", typed(ty, value))).collect();
                let (ty, pointer) = (self.show_type(*ty), self.show(pointer, locals));
                format!("getelementptr{flag}{open}{ty}, ptr {pointer}{indices}{close}")
            }
            Op::Extract(ty, value, at) => format!("extractvalue {}{}", typed(ty, value), path(at)),
            Op::Insert(ty, value, element_ty, element, at) => {
                let (value, element) = (typed(ty, value), typed(element_ty, element));
                format!("insertvalue {value}, {element}{}", path(at))
            }
            Op::Freeze(ty, value) => format!("freeze {}", typed(ty, value)),
            Op::ExtractElement(ty, value, index_ty, index) => {
                format!(
                    "extractelement{open}{}, {}{close}",
                    typed(ty, value),
                    typed(index_ty, index)
                )
            }
            Op::InsertElement(ty, value, element, index) => {
                let (element, index) = (typed(&element.0, &element.1), typed(&index.0, &index.1));
                format!("insertelement{open}{}, {element}, {index}{close}", typed(ty, value))
            }
            Op::Shuffle(ty, a, b, mask_ty, mask) => {
                let (a, b, mask) = (typed(ty, a), typed(ty, b), typed(mask_ty, mask));
                format!("shufflevector{open}{a}, {b}, {mask}{close}")
            }
        }
    }

    fn print_function(&self, f: &mut Formatter<'_>, function: &Function) -> fmt::Result {
        let word = match function.body {
            Body::None => "declare",
            _ => "define",
        };
        let mut parameters: Vec<String> = Vec::new();
        for (number, (ty, by_value)) in
            function.parameters.iter().zip(&function.by_value).enumerate()
        {
            let by_value = match by_value {
                Some(ty) => format!(" byval({})", self.show_type(*ty)),
                None => String::new(),
            };
            let name = function.locals.get(number).map_or("?", |name| name);
            parameters.push(format!("{}{by_value} %{}", self.show_type(*ty), Name(name)));
        }
        if function.is_variadic {
            parameters.push("...".into());
        }
        let (ty, parameters) = (self.show_type(function.ty), parameters.join(", "));
        write!(f, "{word} {ty} @{}({parameters})", Name(&function.name))?;
        if let Some(MetaId(id)) = function.subprogram {
            write!(f, " !dbg !{id}")?;
        }
        match &function.body {
            Body::None => writeln!(f),
            // Not readable again either.
            Body::NotRead(..) => writeln!(f, " {{\n  not_read\n}}"),
            Body::Blocks(blocks) => {
                writeln!(f, " {{")?;
                for block in blocks {
                    writeln!(f, "{}:", Name(&block.name))?;
                    for instruction in &block.instructions {
                        self.print_instruction(f, function, blocks, instruction)?;
                    }
                }
                writeln!(f, "}}")
            }
        }
    }

    fn show_call(&self, call: &Call, locals: &[String]) -> String {
        let ty = self.show_type(call.signature.unwrap_or(call.ty));
        let arguments: Vec<String> =
            call.arguments.iter().map(|(ty, value)| self.typed(*ty, value, locals)).collect();
        format!("{ty} {}({})", self.show(&call.callee, locals), arguments.join(", "))
    }

    fn print_instruction(
        &self,
        f: &mut Formatter<'_>,
        function: &Function,
        blocks: &[Block],
        instruction: &Instruction,
    ) -> fmt::Result {
        let locals = &function.locals[..];
        let show = |value: &Value| self.show(value, locals);
        let typed = |ty: &TypeId, value: &Value| self.typed(*ty, value, locals);
        let label = |id: &crate::BlockId| format!("%{}", Name(&blocks[id.0 as usize].name));
        write!(f, "  ")?;
        if let Some(result) = instruction.result {
            write!(f, "{} = ", show(&Value::Local(result)))?;
        }
        let atomic = |order: Ordering| if order == Ordering::NotAtomic { "" } else { " atomic" };
        let volatile = |is_volatile: bool| if is_volatile { " volatile" } else { "" };
        match &instruction.kind {
            Kind::Op(op) => write!(f, "{}", self.show_op(op, locals, false))?,
            Kind::Phi(ty, ways) => {
                let ways: Vec<String> = ways
                    .iter()
                    .map(|(v, from)| format!("[ {}, {} ]", show(v), label(from)))
                    .collect();
                write!(f, "phi {} {}", self.show_type(*ty), ways.join(", "))?;
            }
            Kind::Alloca(ty, count, align) => {
                write!(f, "alloca {}", self.show_type(*ty))?;
                if let Some((ty, count)) = count {
                    write!(f, ", {}", typed(ty, count))?;
                }
                if *align > 0 {
                    write!(f, ", align {align}")?;
                }
            }
            Kind::Load { ty, pointer, order, is_volatile } => {
                write!(f, "load{}{} ", atomic(*order), volatile(*is_volatile))?;
                write!(f, "{}, ptr {}{}", self.show_type(*ty), show(pointer), order.suffix())?;
            }
            Kind::Store { ty, value, pointer, order, is_volatile } => {
                write!(f, "store{}{} ", atomic(*order), volatile(*is_volatile))?;
                write!(f, "{}, ptr {}{}", typed(ty, value), show(pointer), order.suffix())?;
            }
            Kind::Rmw(update, pointer, ty, value, order) => {
                let (pointer, value) = (show(pointer), typed(ty, value));
                write!(f, "atomicrmw {} ptr {pointer}, {value}{}", update.name(), order.suffix())?;
            }
            Kind::CompareExchange { is_weak, pointer, ty, expected, new, success, failure } => {
                let weak = if *is_weak { " weak" } else { "" };
                let (expected, new) = (typed(ty, expected), typed(ty, new));
                write!(f, "cmpxchg{weak} ptr {}, {expected}, {new}", show(pointer))?;
                write!(f, "{}{}", success.suffix(), failure.suffix())?;
            }
            Kind::Fence(order, is_single) => {
                let scope = if *is_single { " syncscope(\"singlethread\")" } else { "" };
                write!(f, "fence{scope}{}", order.suffix())?;
            }
            Kind::Call(call) => write!(f, "call {}", self.show_call(call, locals))?,
            Kind::Invoke(call, normal, unwind) => {
                let call = self.show_call(call, locals);
                write!(
                    f,
                    "invoke {call} to label {} unwind label {}",
                    label(normal),
                    label(unwind)
                )?;
            }
            Kind::LandingPad(ty) => write!(f, "landingpad {} cleanup", self.show_type(*ty))?,
            Kind::Resume(ty, value) => write!(f, "resume {}", typed(ty, value))?,
            Kind::VaArg(ty) => write!(f, "va_arg ptr null, {}", self.show_type(*ty))?,
            Kind::Return(None) => write!(f, "ret void")?,
            Kind::Return(Some((ty, value))) => write!(f, "ret {}", typed(ty, value))?,
            Kind::Jump(to) => write!(f, "br label {}", label(to))?,
            Kind::Branch(condition, then, other) => {
                let condition = show(condition);
                write!(f, "br i1 {condition}, label {}, label {}", label(then), label(other))?;
            }
            Kind::Switch(ty, value, default, cases) => {
                write!(f, "switch {}, label {} [ ", typed(ty, value), label(default))?;
                for (case, to) in cases {
                    write!(f, "{} {case}, label {} ", self.show_type(*ty), label(to))?;
                }
                write!(f, "]")?;
            }
            Kind::Unreachable => write!(f, "unreachable")?,
        }
        match instruction.location {
            Some(MetaId(id)) => writeln!(f, ", !dbg !{id}"),
            None => writeln!(f),
        }
    }
}

impl Ordering {
    /// Its word with a space before it; nothing if the access is not atomic.
    fn suffix(self) -> &'static str {
        match self {
            Self::NotAtomic => "",
            Self::Unordered => " unordered",
            Self::Monotonic => " monotonic",
            Self::Acquire => " acquire",
            Self::Release => " release",
            Self::AcquireRelease => " acq_rel",
            Self::SeqCst => " seq_cst",
        }
    }
}

impl Binary {
    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Sub => "sub",
            Self::Mul => "mul",
            Self::UDiv => "udiv",
            Self::SDiv => "sdiv",
            Self::URem => "urem",
            Self::SRem => "srem",
            Self::Shl => "shl",
            Self::LShr => "lshr",
            Self::AShr => "ashr",
            Self::And => "and",
            Self::Or => "or",
            Self::Xor => "xor",
        }
    }
}

impl Cast {
    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Trunc => "trunc",
            Self::ZExt => "zext",
            Self::SExt => "sext",
            Self::PtrToInt => "ptrtoint",
            Self::IntToPtr => "inttoptr",
            Self::Bitcast => "bitcast",
            Self::AddrSpace => "addrspacecast",
            Self::FpTrunc => "fptrunc",
            Self::FpExt => "fpext",
            Self::FpToUi => "fptoui",
            Self::FpToSi => "fptosi",
            Self::UiToFp => "uitofp",
            Self::SiToFp => "sitofp",
        }
    }
}

impl Predicate {
    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Eq => "eq",
            Self::Ne => "ne",
            Self::Ugt => "ugt",
            Self::Uge => "uge",
            Self::Ult => "ult",
            Self::Ule => "ule",
            Self::Sgt => "sgt",
            Self::Sge => "sge",
            Self::Slt => "slt",
            Self::Sle => "sle",
        }
    }
}

impl Update {
    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Xchg => "xchg",
            Self::Add => "add",
            Self::Sub => "sub",
            Self::And => "and",
            Self::Nand => "nand",
            Self::Or => "or",
            Self::Xor => "xor",
            Self::Max => "max",
            Self::Min => "min",
            Self::UMax => "umax",
            Self::UMin => "umin",
            Self::UIncWrap => "uinc_wrap",
            Self::UDecWrap => "udec_wrap",
            Self::USubCond => "usub_cond",
            Self::USubSat => "usub_sat",
            Self::FAdd => "fadd",
            Self::FSub => "fsub",
            Self::FMax => "fmax",
            Self::FMin => "fmin",
        }
    }
}
