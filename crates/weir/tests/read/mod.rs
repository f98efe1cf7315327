//! What becomes of a text in some language: a verdict, or errors.

use weir::{MemoryModel, Settings, Verdict, Verifier};

/// The verdict about a program: violated if one property is. The ending of the name tells the
/// language.
pub fn verdict(name: &str, text: &str, model: MemoryModel) -> Verdict {
    let report = Verifier::new(text).name(name).model(model).check();
    let report = report.unwrap_or_else(|error| panic!("{error}\n{text}"));
    let of = |verdict| report.findings.iter().any(|answer| answer.verdict == verdict);
    match (of(Verdict::Violated), of(Verdict::Unknown)) {
        (true, _) => Verdict::Violated,
        (_, true) => Verdict::Unknown,
        _ => Verdict::Holds,
    }
}

/// Reads a text, through a compiler if it has to be.
pub fn read(name: &str, text: &str) -> weir_front::Read {
    let settings = Settings { compile: Some(weir::compile), ..Settings::default() };
    weir_front::read_with(name, text, None, &settings)
}

/// The errors of a text: of those of a compiler the first one.
pub fn errors(name: &str, text: &str) -> Vec<String> {
    read(name, text)
        .err()
        .map_or(Vec::new(), |errors| errors.iter().map(|e| e.message.clone()).collect())
}

/// A program in C, with the headers that it uses.
pub fn c(text: &str) -> String {
    let headers =
        ["assert", "pthread", "sched", "stdatomic", "stdint", "stdio", "stdlib", "threads"];
    let includes: String = headers.iter().map(|name| format!("#include <{name}.h>\n")).collect();
    format!("{includes}{text}\n")
}
