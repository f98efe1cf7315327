//! Tests of the reader of LLVM IR.

mod read;
