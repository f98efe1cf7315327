//! All tests of this crate in one program, which is linked once.

mod read;

mod algorithms;
mod answers;
mod c;
mod c11;
mod c_random;
mod convert;
mod corpus;
mod corpus_proofs;
mod examples;
mod external;
mod facade;
mod fences;
mod fences_orders;
mod formats;
mod formats_agree;
mod leaks;
mod litmus_c;
mod llvm;
mod other_tools;
mod promela;
mod robust;
mod rust;
mod scene;
mod shared_values;
mod sources_agree;
mod unset;
