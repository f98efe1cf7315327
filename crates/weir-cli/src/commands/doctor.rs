//! `weir doctor`

use std::fmt::Write as _;

use weir::report::table::Table;
use weir_compile::Tools;

use super::{Status, print};
use crate::output::paint;
use crate::terminal::STRONG;

/// Prints which compilers there are.
pub fn run() -> Status {
    let mut table = Table::default();
    table.row(["compiler", "version", "LLVM", "path", ""]);
    let mut missing = Vec::new();
    for row in Tools::default().rows() {
        let state = match &row.tool {
            None => "not found".to_owned(),
            Some(tool) => match (&tool.refused, row.used) {
                (Some(why), _) => format!("not supported: {why}"),
                (None, true) => "used".to_owned(),
                (None, false) => "supported".to_owned(),
            },
        };
        let cells = row.tool.as_ref().map(|tool| {
            let llvm = tool.llvm.map(|llvm| llvm.to_string()).unwrap_or_default();
            [tool.version.clone(), llvm, tool.path.display().to_string()]
        });
        let [version, llvm, path] = cells.unwrap_or_default();
        table.row([row.kind.program().to_owned(), version, llvm, path, state]);
        missing.extend(row.install);
    }
    let mut out = String::new();
    for (i, line) in table.lines("  ").iter().enumerate() {
        let line = if i == 0 { paint(STRONG, line) } else { line.clone() };
        let _ = writeln!(out, "{}", line.trim_end());
    }
    missing.dedup();
    for install in missing {
        let _ = writeln!(out, "\n{install}");
    }
    print(&out);
    Status::Fine
}
