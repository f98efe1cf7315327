//! Programs with guessed reads as lossy channel machines (Atig et al. 2010, section 9.2).
//!
//! With `r->r` and `r->w` a read waits in the buffer with a guessed value, and is
//! validated when memory has that value (section 8). If no process has more than `N` such
//! reads at a time, reachability is decidable: "it suffices to consider that the stored
//! read operations in the channels are strong symbols". This is not quite sufficient: the
//! writes that order a read within its process must not be lost either:
//!
//! * the last own write *before* a guessed read, to its variable: the read is validated
//!   after it,
//! * the first own write *after* it, to its variable: the read is validated before it.
//!
//! These are strong as well. There are at most two for each read.
//!
//! `N` counts all reads in the buffers of a process, also one that is validated as
//! soon as it is guessed. A read of the last own write is not guessed (rule *Read own
//! write*).

mod in_order;
mod out_of_order;

use std::collections::BTreeMap;

use weir_model::ids::{ValueId, VarId};
use weir_model::system::Expanded;

pub(crate) use in_order::translation as in_order;
pub(crate) use out_of_order::translation as out_of_order;

/// For each variable and each of its values what `letters` makes of the name `x=1`.
fn alphabet<L, E>(
    system: Expanded<'_>,
    mut letters: impl FnMut(String) -> Result<L, E>,
) -> Result<Vec<BTreeMap<ValueId, L>>, E> {
    let mut of_var = |x: VarId| {
        let named = |&value: &ValueId| {
            let var = &system.vars[x.index()].name;
            Ok((value, letters(format!("{var}={}", system.value(x, value)))?))
        };
        system.values(x).iter().map(named).collect()
    };
    (0..system.vars.len()).map(|x| of_var(VarId::new(x))).collect()
}
