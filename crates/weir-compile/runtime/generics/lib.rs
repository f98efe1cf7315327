//! Generic functions of the real `std` that a compiler does not compile again: they are marked
//! `#[inline(never)]`, and the real `std` has them already, compiled, for some types. Each is called
//! here for such a type and for a twin of the same layout, for which there is nothing compiled.
//! See `src/generics.rs`.

/// A type that looks the same in memory.
#[repr(transparent)]
pub struct Twin<T>(T);

macro_rules! probes {
    ($($probe:ident $twin:ident: $t:ty;)+) => {$(
        #[unsafe(no_mangle)]
        pub fn $probe(vec: &mut Vec<$t>, value: $t) {
            vec.push(value);
        }
        #[unsafe(no_mangle)]
        pub fn $twin(vec: &mut Vec<Twin<$t>>, value: Twin<$t>) {
            vec.push(value);
        }
    )+};
}
probes! {
    weir_probe_0 weir_twin_0: u8;
    weir_probe_1 weir_twin_1: String;
    weir_probe_2 weir_twin_2: Vec<u8>;
    weir_probe_3 weir_twin_3: std::ffi::OsString;
    weir_probe_4 weir_twin_4: std::path::PathBuf;
    weir_probe_5 weir_twin_5: usize;
    weir_probe_6 weir_twin_6: u32;
    weir_probe_7 weir_twin_7: &'static str;
}

// Functions of the real `std` that are not generic are compiled in no module of a program. Weir executes
// the function `weir_body::PATH` in place of the function PATH.

use std::alloc::Layout;

/// The layout of the two counters in front of what an `Arc` or `Rc` has.
const COUNTERS: Layout = Layout::new::<[usize; 2]>();

fn behind_counters(layout: Layout) -> Layout {
    match COUNTERS.extend(layout) {
        Ok((all, _)) => all.pad_to_align(),
        Err(_) => panic!("capacity overflow"),
    }
}

#[unsafe(export_name = "weir_body::alloc::sync::arcinner_layout_for_value_layout")]
pub fn arcinner_layout_for_value_layout(layout: Layout) -> Layout {
    behind_counters(layout)
}

#[unsafe(export_name = "weir_body::alloc::rc::rc_inner_layout_for_value_layout")]
pub fn rc_inner_layout_for_value_layout(layout: Layout) -> Layout {
    behind_counters(layout)
}

/// About the square root, as the real function computes it.
#[unsafe(export_name = "weir_body::core::slice::sort::stable::drift::sqrt_approx")]
pub fn sqrt_approx(n: usize) -> usize {
    let shift = (1 + (n | 1).ilog2()) / 2;
    ((1 << shift) + (n >> shift)) / 2
}
