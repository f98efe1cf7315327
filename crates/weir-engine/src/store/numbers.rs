//! The one encoding of numbers in bytes: seven bits to a byte, the lowest first. All bytes of a
//! number but the last have the highest bit.
//!
//! Packed configurations and the messages of workers are written in it.

use weir_model::ids::Cell;

/// Appends a number.
#[inline]
pub fn push_number(mut rest: u64, bytes: &mut Vec<u8>) {
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

/// Takes the first number of the bytes; `None` if there is none.
#[inline]
pub fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut found = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        found |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(found);
        }
    }
    None
}

/// Takes the first number of the bytes, if it fits into the type that is wanted.
#[inline]
pub fn number_as<T: TryFrom<u64>>(bytes: &mut &[u8]) -> Option<T> {
    T::try_from(number(bytes)?).ok()
}

/// Appends the cells of a configuration.
#[inline]
pub fn pack(config: &[Cell], packed: &mut Vec<u8>) {
    // Nearly always one byte is enough for every cell.
    let (begin, mut all) = (packed.len(), 0);
    packed.extend(config.iter().map(|&cell| {
        all |= cell;
        cell as u8
    }));
    if all >= 0x80 {
        packed.truncate(begin);
        config.iter().for_each(|&cell| push_number(u64::from(cell), packed));
    }
}

/// Appends the cells that [`pack`] packed.
#[inline]
pub fn unpack(mut packed: &[u8], config: &mut Vec<Cell>) {
    let (begin, mut all) = (config.len(), 0);
    config.extend(packed.iter().map(|&byte| {
        all |= byte;
        u32::from(byte)
    }));
    if all >= 0x80 {
        config.truncate(begin);
        while let Some(cell) = number(&mut packed) {
            config.push(cell as Cell);
        }
    }
}
