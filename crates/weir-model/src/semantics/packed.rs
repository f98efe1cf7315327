//! Encoding of configurations that does not depend on the order in which control states
//! and values were met.
//!
//! The numbers of control states and values belong to one system. Threads and machines
//! that share a search must encode the same configuration in the same way: here a control
//! state is encoded by its place and its registers, and a value by the number that it
//! stands for. The bytes of a configuration are the same in every system of the program,
//! and can be decoded in each.

use super::{Event, EventKind, Kind, Semantics};
use crate::ids::{Cell, ProcessId, StateId, ValueId, VarId};
use crate::system::System;

const EVENTS: [EventKind; 6] = [
    EventKind::Write,
    EventKind::Read,
    EventKind::WriteFence,
    EventKind::ReadFence,
    EventKind::Load,
    EventKind::Own,
];

/// Appends a configuration.
pub fn pack(semantics: &dyn Semantics, config: &[Cell], bytes: &mut Vec<u8>) {
    let system = semantics.system();
    let (n, vars) = (system.processes.len(), system.vars.len());
    for (p, &state) in config[..n].iter().enumerate() {
        system.pack_state(ProcessId::new(p), StateId(state), bytes);
    }
    let value = |x: VarId, cell: u32| zigzag(system.value(x, ValueId(cell)));
    for (x, &cell) in config[n..n + vars].iter().enumerate() {
        number(value(VarId::new(x), cell), bytes);
    }
    let rest = &config[n + vars..];
    for (&cell, kind) in rest.iter().zip(semantics.kinds(config)) {
        // What the cell is, in the lowest bits, for the reader.
        match kind {
            Kind::Plain => number(u128::from(cell) << 2, bytes),
            Kind::Value(x) => {
                number(u128::from(x.0) << 2 | 1, bytes);
                number(value(x, cell), bytes);
            }
            Kind::Letter => {
                let alphabet = semantics.alphabet().expect("a form with letters has an alphabet");
                let event = alphabet.decode(cell);
                let kind = EVENTS.iter().position(|k| *k == event.kind).expect("it is listed");
                number((kind as u128) << 2 | 2, bytes);
                if !is_fence(event.kind) {
                    number(u128::from(event.var.0), bytes);
                    number(value(event.var, event.value.0), bytes);
                }
            }
        }
    }
}

/// The cells of a configuration; `None` if the bytes are none.
pub fn unpack(semantics: &dyn Semantics, bytes: &[u8]) -> Option<Vec<Cell>> {
    let system = semantics.system();
    let mut rest = bytes;
    let mut config = Vec::new();
    for p in system.process_ids() {
        config.push(system.unpack_state(p, &mut rest)?.0);
    }
    for var in system.vars.iter() {
        config.push(var.id(unzigzag(take(&mut rest)?)).0);
    }
    while !rest.is_empty() {
        let head = take(&mut rest)?;
        config.push(match head & 3 {
            0 => u32::try_from(head >> 2).ok()?,
            1 => {
                let x = usize::try_from(head >> 2).ok()?;
                system.vars.get(x)?.id(unzigzag(take(&mut rest)?)).0
            }
            2 => {
                let kind = *EVENTS.get(usize::try_from(head >> 2).ok()?)?;
                let event = match is_fence(kind) {
                    true => Event { kind, var: VarId(0), value: ValueId(0) },
                    false => {
                        let x = usize::try_from(take(&mut rest)?).ok()?;
                        let value = system.vars.get(x)?.id(unzigzag(take(&mut rest)?));
                        Event { kind, var: VarId::new(x), value }
                    }
                };
                semantics.alphabet()?.encode(event)
            }
            _ => return None,
        });
    }
    Some(config)
}

fn is_fence(kind: EventKind) -> bool {
    matches!(kind, EventKind::WriteFence | EventKind::ReadFence)
}

impl System {
    /// A control state: its name if it is an end of its own kind, else its place and registers.
    fn pack_state(&self, process: ProcessId, state: StateId, bytes: &mut Vec<u8>) {
        match self.place_and_registers(process, state) {
            Some((place, registers)) => {
                number((place as u128) << 1, bytes);
                registers.iter().for_each(|r| number(zigzag(*r), bytes));
            }
            None => {
                let name = self.state_name(process, state);
                number((name.len() as u128) << 1 | 1, bytes);
                bytes.extend(name.as_bytes());
            }
        }
    }

    fn unpack_state(&self, process: ProcessId, bytes: &mut &[u8]) -> Option<StateId> {
        let head = take(bytes)?;
        let rest = usize::try_from(head >> 1).ok()?;
        if head & 1 == 0 {
            let count = self.program.processes[process.index()].registers.len();
            let registers: Option<Vec<i128>> =
                (0..count).map(|_| take(bytes).map(unzigzag)).collect();
            return self.find_place(process, rest, registers?);
        }
        let (name, left) = bytes.split_at_checked(rest)?;
        *bytes = left;
        self.find_state(process, std::str::from_utf8(name).ok()?)
    }
}

/// Small numbers of either sign are small.
fn zigzag(value: i128) -> u128 {
    ((value << 1) ^ (value >> 127)) as u128
}

fn unzigzag(number: u128) -> i128 {
    (number >> 1) as i128 ^ -((number & 1) as i128)
}

/// Appends a number, seven bits to a byte.
fn number(mut rest: u128, bytes: &mut Vec<u8>) {
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

/// Reads what [`number`] wrote.
fn take(bytes: &mut &[u8]) -> Option<u128> {
    let mut found = 0_u128;
    for shift in (0..).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let part = u128::from(byte & 0x7f);
        found |= part.checked_shl(shift).filter(|shifted| shifted >> shift == part)?;
        if byte < 0x80 {
            return Some(found);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_were_written() {
        for value in [0, 1, -1, 63, 64, -64, -65, 1 << 40, i128::MAX, i128::MIN] {
            let mut bytes = vec![];
            number(zigzag(value), &mut bytes);
            let mut rest = bytes.as_slice();
            assert_eq!(take(&mut rest).map(unzigzag), Some(value));
            assert!(rest.is_empty());
            assert_eq!(take(&mut &bytes[..bytes.len() - 1]), None);
        }
        assert_eq!(take(&mut [0xff_u8; 30].as_slice()), None);
    }
}
