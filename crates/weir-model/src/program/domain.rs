//! Domains: the values that a variable or register may hold.

use super::Program;
use crate::ids::EnumId;

/// The values that a variable or register may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Domain {
    /// `lo..hi`, both included.
    Range(i128, i128),
    /// `false` and `true`, that is 0 and 1.
    Bool,
    /// The members of a named set, numbered from 0.
    Enum(EnumId),
    /// The numbers of an integer type. An unsigned number that does not fit is wrapped, a
    /// signed one is a failure.
    Int(IntType),
}

impl Domain {
    /// Whether what is stored there is made to fit.
    pub fn wraps(self) -> bool {
        matches!(self, Self::Int(int) if !int.is_signed())
    }
}

/// An integer type of a width, as machines have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum IntType {
    U8,
    U16,
    U32,
    U64,
    I8,
    I16,
    I32,
    I64,
}

impl IntType {
    /// All of them.
    pub const ALL: [Self; 8] =
        [Self::U8, Self::U16, Self::U32, Self::U64, Self::I8, Self::I16, Self::I32, Self::I64];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
        }
    }

    /// The type of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.name() == name)
    }

    /// How many bits its numbers have.
    pub fn bits(self) -> u32 {
        match self {
            Self::U8 | Self::I8 => 8,
            Self::U16 | Self::I16 => 16,
            Self::U32 | Self::I32 => 32,
            Self::U64 | Self::I64 => 64,
        }
    }

    /// Whether it has negative numbers.
    pub fn is_signed(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }

    /// Its lowest number.
    pub fn low(self) -> i128 {
        if self.is_signed() { -(1 << (self.bits() - 1)) } else { 0 }
    }

    /// Its highest number.
    pub fn high(self) -> i128 {
        self.low() + (1 << self.bits()) - 1
    }

    /// The number of the type that has the same lowest bits.
    pub fn wrap(self, value: i128) -> i128 {
        let low = value & ((1 << self.bits()) - 1);
        if low > self.high() { low - (1 << self.bits()) } else { low }
    }
}

/// A named set of constants; member `i` has the value `i`.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Enum {
    /// Its name.
    pub name: String,
    /// The names of its members.
    pub members: Vec<String>,
}

impl Program {
    /// A value as a person would write it, given the domain that it lives in.
    pub fn show_value(&self, domain: Option<Domain>, value: i128) -> String {
        let name = match domain {
            Some(Domain::Bool) => match value {
                0 => Some("false".to_owned()),
                1 => Some("true".to_owned()),
                _ => None,
            },
            Some(Domain::Enum(id)) => usize::try_from(value)
                .ok()
                .and_then(|v| self.enums[id.index()].members.get(v).cloned()),
            _ => self.symbols.get(&value).cloned(),
        };
        name.unwrap_or_else(|| value.to_string())
    }

    /// All values of a domain.
    pub fn values(&self, domain: Domain) -> Vec<i128> {
        match domain {
            Domain::Range(lo, hi) => (lo..=hi).collect(),
            Domain::Bool => vec![0, 1],
            Domain::Enum(id) => (0..).take(self.enums[id.index()].members.len()).collect(),
            Domain::Int(int) => (int.low()..=int.high()).collect(),
        }
    }

    /// The number of values of a domain.
    pub fn size(&self, domain: Domain) -> u128 {
        match domain {
            Domain::Range(lo, hi) => hi.abs_diff(lo).saturating_add(1),
            Domain::Bool => 2,
            Domain::Enum(id) => self.enums[id.index()].members.len() as u128,
            Domain::Int(int) => 1 << int.bits(),
        }
    }

    /// Whether `value` belongs to `domain`.
    pub fn admits(&self, domain: Domain, value: i128) -> bool {
        match domain {
            Domain::Range(lo, hi) => (lo..=hi).contains(&value),
            Domain::Bool => value == 0 || value == 1,
            Domain::Enum(id) => {
                usize::try_from(value).is_ok_and(|v| v < self.enums[id.index()].members.len())
            }
            Domain::Int(int) => (int.low()..=int.high()).contains(&value),
        }
    }

    /// What is stored where a domain was declared: an unsigned type wraps a value, all else is
    /// stored as it is if it is [admitted](Self::admits).
    pub fn fit(domain: Option<Domain>, value: i128) -> i128 {
        match domain {
            Some(Domain::Int(int)) if !int.is_signed() => int.wrap(value),
            _ => value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_wrap_as_machines_do() {
        for value in
            [0, 1, -1, 127, 128, 255, 256, -128, -129, 1 << 31, 1 << 63, 1 << 64, -(1 << 63)]
                .into_iter()
                .chain([i128::MIN, i128::MAX])
        {
            for (int, wrapped) in [
                (IntType::U8, i128::from(value as u8)),
                (IntType::U16, i128::from(value as u16)),
                (IntType::U32, i128::from(value as u32)),
                (IntType::U64, i128::from(value as u64)),
                (IntType::I8, i128::from(value as i8)),
                (IntType::I16, i128::from(value as i16)),
                (IntType::I32, i128::from(value as i32)),
                (IntType::I64, i128::from(value as i64)),
            ] {
                assert_eq!(int.wrap(value), wrapped, "{value} in {}", int.name());
                assert_eq!(IntType::named(int.name()), Some(int));
            }
        }
    }
}
