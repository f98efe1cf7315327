//! Programs that are robust by their shape: no operation can overtake another one.
//!
//! A run under TSO differs from one under SC only if a read overtakes an own write to another
//! variable. If each path of the code from a write to a read of another variable has a full fence
//! or an atomic operation, no read does. Under PSO the same goes for two writes, which a write
//! fence keeps apart as well, and under NSW for two reads, which a read fence keeps apart.

use weir_model::limits::{Budget, Stop};
use weir_model::memory_model::{MemoryModel, Relaxation};
use weir_model::program::FenceKind;
use weir_model::system::{Access, System};

use crate::ahead;

/// Whether no run under SC, TSO, PSO or NSW reorders anything.
///
/// # Errors
/// If a limit is reached.
pub fn is_robust(system: &System, model: MemoryModel, budget: &Budget) -> Result<bool, Stop> {
    for pair in pairs(model) {
        for p in system.process_ids() {
            let ahead = ahead::accesses(system, p, pair.second_writes, pair.stops, budget)?;
            for step in system.code(p) {
                budget.tick()?;
                let first = match &step.access {
                    Access::Write(range) if pair.first_writes => range,
                    Access::Read(range) if !pair.first_writes => range,
                    _ => continue,
                };
                let mut second = ahead.place(step.to).iter().enumerate();
                if second.any(|(y, found)| *found && *first != (y..y + 1)) {
                    return Ok(false);
                }
            }
        }
    }
    Ok(true)
}

/// Two accesses of a process that a model may reorder.
struct Pair {
    /// Whether the earlier one is a write, and no read.
    first_writes: bool,
    /// Whether the later one is a write, and no read.
    second_writes: bool,
    /// Whether an access keeps them in order if it is between them.
    stops: fn(&Access) -> bool,
}

/// What one of these models may reorder.
fn pairs(model: MemoryModel) -> Vec<Pair> {
    let model = model.normal();
    let mut all = Vec::new();
    if model.has(Relaxation::WriteRead) {
        all.push(Pair { first_writes: true, second_writes: false, stops: is_full });
    }
    if model.has(Relaxation::WriteWrite) {
        let stops = match model.has(Relaxation::Rwf) {
            true => |a: &Access| is_full(a) || *a == Access::Fence(FenceKind::Write),
            false => is_full,
        };
        all.push(Pair { first_writes: true, second_writes: true, stops });
    }
    if model.has(Relaxation::ReadRead) {
        let stops = match model.has(Relaxation::Rwf) {
            true => |a: &Access| is_full(a) || *a == Access::Fence(FenceKind::Read),
            false => is_full,
        };
        all.push(Pair { first_writes: false, second_writes: false, stops });
    }
    all
}

fn is_full(access: &Access) -> bool {
    matches!(access, Access::Arw(_) | Access::Fence(FenceKind::Full))
}
