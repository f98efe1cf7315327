//! What fences and orders cost.
//!
//! The numbers are weights, not cycles: 1 for what keeps a few accesses in order, 4 to 6 for what waits for the store buffer.
//! They follow the code that compilers make of an access. Source: *C/C++11 mappings to processors* (Sewell and Ševčík,
//! <https://www.cl.cam.ac.uk/~pes20/cpp/cpp0xmappings.html>); for RISC-V, table A.6 of the unprivileged manual.
//!
//! | | x86 | ARMv8 | RISC-V | POWER |
//! | --- | --- | --- | --- | --- |
//! | load relaxed | `mov` | `ldr` | `l` | `ld` |
//! | load acquire | `mov` | `ldar` | `l; fence r,rw` | `ld; cmp; bc; isync` |
//! | load `seq_cst` | `mov` | `ldar` | `fence rw,rw; l; fence r,rw` | `hwsync; ld; cmp; bc; isync` |
//! | store relaxed | `mov` | `str` | `s` | `st` |
//! | store release | `mov` | `stlr` | `fence rw,w; s` | `lwsync; st` |
//! | store `seq_cst` | `xchg` | `stlr` | `fence rw,w; s` | `hwsync; st` |
//! | read-write | `lock …` | `a` and `l` suffixes | `.aq` and `.rl` suffixes | `lwsync` or `hwsync` before, `isync` behind |
//! | fence acquire | | `dmb ishld` | `fence r,rw` | `lwsync` |
//! | fence release | | `dmb ish` | `fence rw,w` | `lwsync` |
//! | fence acq_rel | | `dmb ish` | `fence.tso` | `lwsync` |
//! | fence `seq_cst` | `mfence` | `dmb ish` | `fence rw,rw` | `hwsync` |
//!
//! `isync` counts 1, `lwsync` 3, `hwsync` 6. For no particular processor, each order costs more than those that it includes.

use weir_front::orders::Access;
use weir_model::program::{FenceKind, Order};

/// What a program is compiled for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// No particular processor.
    #[default]
    Any,
    /// x86.
    X86,
    /// ARMv8.
    Arm,
    /// RISC-V.
    Riscv,
    /// POWER.
    Power,
}

/// The costs of a target: of a load (relaxed, acquire, `seq_cst`), of a store (relaxed, release, `seq_cst`), of an atomic read-write
/// and of a fence (relaxed, acquire, release, acq_rel, `seq_cst`). A relaxed fence is none.
struct Row {
    load: [u32; 3],
    store: [u32; 3],
    update: [u32; 5],
    fence: [u32; 5],
}

/// The table.
const ANY: Row =
    Row { load: [0, 1, 2], store: [0, 1, 4], update: [0, 1, 1, 2, 4], fence: [0, 1, 1, 2, 4] };
const X86: Row = Row { load: [0, 0, 0], store: [0, 0, 4], update: [0; 5], fence: [0, 0, 0, 0, 4] };
const ARM: Row =
    Row { load: [0, 1, 1], store: [0, 1, 1], update: [0, 1, 1, 2, 2], fence: [0, 2, 4, 4, 4] };
const RISCV: Row =
    Row { load: [0, 2, 6], store: [0, 2, 2], update: [0, 1, 1, 2, 2], fence: [0, 2, 2, 3, 4] };
const POWER: Row =
    Row { load: [0, 1, 7], store: [0, 3, 6], update: [0, 1, 3, 4, 7], fence: [0, 3, 3, 3, 6] };

impl Target {
    fn row(self) -> &'static Row {
        match self {
            Self::Any => &ANY,
            Self::X86 => &X86,
            Self::Arm => &ARM,
            Self::Riscv => &RISCV,
            Self::Power => &POWER,
        }
    }

    /// What an order of an access costs.
    fn order(self, access: Access, order: Order) -> u32 {
        let row = self.row();
        let three = match order {
            Order::Plain | Order::Relaxed => 0,
            Order::Acquire | Order::Release | Order::AcquireRelease => 1,
            Order::SeqCst | Order::Fenced => 2,
        };
        let five = match order {
            Order::Plain | Order::Relaxed => 0,
            Order::Acquire => 1,
            Order::Release => 2,
            Order::AcquireRelease => 3,
            Order::SeqCst | Order::Fenced => 4,
        };
        let cost = match access {
            // A compare-and-swap that fails is a load.
            Access::Load | Access::Failure => row.load[three],
            Access::Store => row.store[three],
            Access::ReadWrite => row.update[five],
            Access::Fence => row.fence[five],
            Access::Unknown => row.load[three].max(row.store[three]).max(row.update[five]),
        };
        match order {
            Order::Fenced => cost + 2 * row.fence[4],
            _ => cost,
        }
    }
}

/// What fences and orders cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// What the program is compiled for.
    pub target: Target,
    /// What fences that are inserted cost instead.
    pub fences: Vec<(FenceKind, u32)>,
    /// What orders cost instead, whatever they belong to.
    pub orders: Vec<(Order, u32)>,
}

impl Costs {
    /// What a fence costs that is inserted: more than nothing, so that no fence is superfluous.
    pub fn fence(&self, kind: FenceKind) -> u64 {
        let own = self.fences.iter().rev().find(|(other, _)| *other == kind);
        let cost = own.map_or_else(
            || {
                let order = match kind {
                    FenceKind::Full => Order::SeqCst,
                    FenceKind::Write => Order::Release,
                    FenceKind::Read => Order::Acquire,
                };
                self.target.order(Access::Fence, order)
            },
            |(_, cost)| *cost,
        );
        u64::from(cost).max(1)
    }

    /// What an order costs: at least what those cost that it includes.
    pub fn order(&self, access: Access, order: Order) -> u64 {
        let cost = |order: Order| {
            let own = self.orders.iter().rev().find(|(other, _)| *other == order);
            own.map_or_else(|| self.target.order(access, order), |(_, cost)| *cost)
        };
        let weaker = access.orders().iter().filter(|weaker| weaker.is_at_most(order));
        u64::from(weaker.map(|weaker| cost(*weaker)).fold(cost(order), u32::max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stronger_order_never_costs_less() {
        use Target::{Any, Arm, Power, Riscv, X86};
        for target in [Any, X86, Arm, Riscv, Power] {
            for access in [Access::Load, Access::Store, Access::ReadWrite, Access::Fence] {
                for a in access.orders() {
                    for b in access.orders().iter().filter(|b| a.is_at_most(**b)) {
                        let cost = |order: &Order| target.order(access, *order);
                        assert!(cost(a) <= cost(b), "{target:?}: {access:?} {a} and {b}");
                    }
                }
            }
        }
    }

    #[test]
    fn own_costs_come_before_those_of_the_target() {
        let costs = Costs {
            target: Target::Power,
            fences: vec![(FenceKind::Write, 9)],
            orders: vec![(Order::Acquire, 5)],
        };
        assert_eq!(costs.fence(FenceKind::Write), 9);
        assert_eq!(costs.fence(FenceKind::Full), 6);
        assert_eq!(costs.order(Access::Load, Order::Acquire), 5);
        assert_eq!(costs.order(Access::ReadWrite, Order::AcquireRelease), 5);
        assert_eq!(costs.order(Access::Store, Order::Release), 3);
        // No fence costs nothing.
        let x86 = Costs { target: Target::X86, ..Costs::default() };
        assert_eq!(x86.fence(FenceKind::Read), 1);
    }
}
