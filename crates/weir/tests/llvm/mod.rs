//! LLVM IR: by hand, and as compilers emit it.

mod by_hand;
mod compiled;
mod cpp;
mod hostile;
mod rust;
