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

/// The errors of a text: of those of a compiler the first one.
pub fn errors(name: &str, text: &str) -> Vec<String> {
    let settings = Settings { compile: Some(weir::compile), ..Settings::default() };
    let read = weir_front::read_with(name, text, None, &settings);
    read.err().map_or(Vec::new(), |errors| errors.iter().map(|e| e.message.clone()).collect())
}

/// A program in C, with the headers that it uses.
pub fn c(text: &str) -> String {
    let headers =
        ["assert", "pthread", "sched", "stdatomic", "stdint", "stdio", "stdlib", "threads"];
    let includes: String = headers.iter().map(|name| format!("#include <{name}.h>\n")).collect();
    format!("{includes}{text}\n")
}
