//! All tests of this crate in one program, which is linked once.

mod hostile;

mod format;
mod games;
mod gaps;
mod language_errors;
mod language_guide;
mod language_lowering;
mod language_more;
mod litmus;
mod litmus_c;
mod litmus_errors;
mod litmus_generate;
mod litmus_hostile;
mod promela_errors;
mod promela_hostile;
mod rmm_trencher_errors;
mod rmm_trencher_hostile;
mod weir_hostile;
mod weir_print;
