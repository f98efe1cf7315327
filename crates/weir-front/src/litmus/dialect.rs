//! The two dialects: what their registers are called and how operands stand.

/// A dialect of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// 32 bits; the destination of an instruction comes first.
    X86,
    /// 64 bits; the destination of an instruction comes last.
    X86_64,
    /// No assembly: `c_dialect` reads these.
    C,
}

/// What a name means where a register could stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RegisterName {
    /// The register with this name. All names for parts of one register are
    /// one register: values have no size here.
    Known(String),
    /// A register of the architecture that Weir cannot read, and why.
    Refused(String),
    /// No register.
    Unknown,
}

/// The registers of X86.
const X86: [&str; 8] = ["EAX", "EBX", "ECX", "EDX", "ESI", "EDI", "EBP", "ESP"];

/// The registers of X86_64 that have a name of their own, each by its names
/// for 64, 32, 16 and 8 bits.
const X86_64: [[&str; 4]; 8] = [
    ["rax", "eax", "ax", "al"],
    ["rbx", "ebx", "bx", "bl"],
    ["rcx", "ecx", "cx", "cl"],
    ["rdx", "edx", "dx", "dl"],
    ["rsi", "esi", "si", "sil"],
    ["rdi", "edi", "di", "dil"],
    ["rbp", "ebp", "bp", "bpl"],
    ["rsp", "esp", "sp", "spl"],
];

impl Dialect {
    /// What `name` means where a register could stand.
    pub fn register(self, name: &str) -> RegisterName {
        match self {
            Self::X86 => x86(name),
            Self::X86_64 => x86_64(&name.to_ascii_lowercase()),
            Self::C => RegisterName::Unknown,
        }
    }

    /// How many bits a name of a register stands for.
    pub fn bits(self, name: &str) -> Option<u32> {
        const BITS: [u32; 4] = [64, 32, 16, 8];
        let name = match self {
            Self::X86 => return X86.contains(&name).then_some(32),
            Self::X86_64 => name.to_ascii_lowercase(),
            Self::C => return None,
        };
        let place = X86_64.iter().find_map(|names| names.iter().position(|n| *n == name));
        place.map(|place| BITS[place]).or_else(|| match x86_64(&name) {
            RegisterName::Known(_) => Some(match name.as_bytes().last() {
                Some(b'd') => 32,
                Some(b'w') => 16,
                Some(b'b') => 8,
                _ => 64,
            }),
            _ => None,
        })
    }

    /// The name of a register for 64 or 32 bits, as an assembler has it.
    pub fn assembler_name(self, register: &str, bits: u32) -> String {
        match (self, bits) {
            (Self::X86, _) => register.to_ascii_lowercase(),
            (Self::C, _) | (Self::X86_64, 64) => register.to_owned(),
            (Self::X86_64, _) => X86_64
                .iter()
                .find(|names| names[0] == register)
                .map_or_else(|| format!("{register}d"), |names| names[1].to_owned()),
        }
    }

    /// The registers by their full names, for suggestions.
    pub fn registers(self) -> Vec<&'static str> {
        match self {
            Self::X86 => X86.to_vec(),
            Self::C => vec![],
            Self::X86_64 => {
                let numbered = ["r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"];
                X86_64.iter().map(|names| names[0]).chain(numbered).collect()
            }
        }
    }

    /// The register that `CMPXCHG` compares with.
    pub fn accumulator(self) -> &'static str {
        match self {
            Self::X86 => "EAX",
            Self::X86_64 | Self::C => "rax",
        }
    }
}

fn x86(name: &str) -> RegisterName {
    if X86.contains(&name) {
        return RegisterName::Known(name.to_owned());
    }
    let upper = name.to_ascii_uppercase();
    if upper == "EIP" {
        refused("the instruction pointer is not a value")
    } else if X86.contains(&upper.as_str()) {
        refused(&format!("X86 spells registers in capitals: `{upper}`"))
    } else {
        RegisterName::Unknown
    }
}

fn x86_64(name: &str) -> RegisterName {
    if let Some(names) = X86_64.iter().find(|names| names.contains(&name)) {
        return RegisterName::Known(names[0].to_owned());
    }
    if let Some(rest) = name.strip_prefix('r') {
        let number = rest.strip_suffix(['b', 'w', 'd']).unwrap_or(rest);
        if ["8", "9", "10", "11", "12", "13", "14", "15"].contains(&number) {
            return RegisterName::Known(format!("r{number}"));
        }
    }
    match name {
        "ah" | "bh" | "ch" | "dh" => refused("the high byte of a register is not a value"),
        "rip" | "eip" | "ip" => refused("the instruction pointer is not a value"),
        "cs" | "ds" | "ss" | "es" | "fs" | "gs" => refused("segments are not values"),
        _ if name.strip_prefix("xmm").is_some_and(|n| n.parse::<u8>().is_ok()) => {
            refused("vector registers do not hold one value")
        }
        _ => RegisterName::Unknown,
    }
}

fn refused(why: &str) -> RegisterName {
    RegisterName::Refused(why.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_register_are_one_register() {
        for name in ["rax", "EAX", "ax", "Al"] {
            assert_eq!(Dialect::X86_64.register(name), RegisterName::Known("rax".into()));
        }
        for name in ["r10", "R10d", "r10w", "r10b"] {
            assert_eq!(Dialect::X86_64.register(name), RegisterName::Known("r10".into()));
        }
        for name in ["r7", "r16", "x", "rr8", "r"] {
            assert_eq!(Dialect::X86_64.register(name), RegisterName::Unknown, "{name}");
        }
    }

    #[test]
    fn names_of_registers_have_sizes() {
        let sizes = [("rax", 64), ("EAX", 32), ("bp", 16), ("sil", 8), ("r8", 64), ("r10d", 32)];
        for (name, bits) in sizes.into_iter().chain([("r15w", 16), ("r9b", 8)]) {
            assert_eq!(Dialect::X86_64.bits(name), Some(bits), "{name}");
        }
        assert_eq!(Dialect::X86_64.bits("x"), None);
        assert_eq!(Dialect::X86.bits("EAX"), Some(32));
        assert_eq!(Dialect::X86.bits("x"), None);
        assert_eq!(Dialect::X86_64.assembler_name("rsi", 32), "esi");
        assert_eq!(Dialect::X86_64.assembler_name("r8", 32), "r8d");
    }

    #[test]
    fn x86_has_registers_in_capitals_only() {
        assert_eq!(Dialect::X86.register("EAX"), RegisterName::Known("EAX".into()));
        assert!(matches!(Dialect::X86.register("eax"), RegisterName::Refused(_)));
        assert_eq!(Dialect::X86.register("ax"), RegisterName::Unknown);
    }
}
