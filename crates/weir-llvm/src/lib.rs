//! LLVM IR as text: a typed module, its parser, its printer and its data layout.
//!
//! [`parse`] reads what clang 15 to 22 and rustc 1.88 and later emit with `--emit=llvm-ir` or
//! `-S -emit-llvm`, as far as compilers emit it without vectorizing: types with opaque pointers,
//! globals with initializers, functions of basic blocks, constant expressions, and of the metadata
//! the debug locations. Attributes, summaries and all other metadata are skipped.
//!
//! A function whose body has syntax that is not known is a function that was *not read*
//! ([`Body::NotRead`]), with the reason. All else in the module can still be used.
//!
//! [`parse_all`] reads several modules as one, as a linker joins them.
//!
//! ```
//! let text = "@x = global i32 0\n\
//!     define i32 @f(i32 %a) {\n  %b = add nsw i32 %a, 1\n  store i32 %b, ptr @x\n  ret i32 %b\n}\n";
//! let module = weir_llvm::parse(text).unwrap();
//! assert_eq!(module.functions[0].name, "f");
//! let again = weir_llvm::parse(&module.to_string()).unwrap();
//! assert_eq!(module.to_string(), again.to_string());
//! ```

mod layout;
mod lexer;
mod module;
mod parse;
mod print;

pub use layout::Layout;
pub use module::*;
pub use parse::{Error, parse, parse_all};
