//! Symbols of Rust (RFC 2603): finding the function that a path names.
//!
//! A path `program::tests::first` is the symbol `_RNvNtCs1a_7program5tests5first`: `Nv` for a value
//! in what follows, `Nt` for each module, `C` for the crate, and then the names, each with its
//! length. Before a name there may be a number between `s` and `_` that tells apart what has the
//! same path, such as crates, or a test and its description.

/// The symbol of a function in a module, by the names of its path, the crate first.
pub(crate) fn function(module: &str, path: &[&str]) -> Option<String> {
    let names: Vec<String> = path.iter().map(|name| identifier(name)).collect();
    let modules = names.len().checked_sub(2)?;
    let start = format!("_RNv{}C", "Nt".repeat(modules));
    defined(module)
        .find(|symbol| symbol.strip_prefix(&start).is_some_and(|rest| is_path(rest, &names)))
        .map(str::to_owned)
}

/// Whether these are the names, with numbers before them.
fn is_path(mut text: &str, names: &[String]) -> bool {
    for name in names {
        if let Some(number) = text.strip_prefix('s') {
            let Some(end) = number.find(|c: char| !c.is_ascii_alphanumeric()) else { return false };
            let Some(rest) = number[end..].strip_prefix('_') else { return false };
            text = rest;
        }
        let Some(rest) = text.strip_prefix(name.as_str()) else { return false };
        text = rest;
    }
    text.is_empty()
}

/// The functions that a module defines.
fn defined(module: &str) -> impl Iterator<Item = &str> {
    module.lines().filter(|line| line.starts_with("define ")).filter_map(|line| {
        let name = &line[line.find('@')? + 1..];
        match name.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next(),
            None => name.split('(').next(),
        }
    })
}

/// A name with its length. Names with other letters than those of ASCII are in Punycode.
fn identifier(name: &str) -> String {
    let name = name.strip_prefix("r#").unwrap_or(name);
    let (mark, name) = if name.is_ascii() { ("", name.to_owned()) } else { ("u", punycode(name)) };
    let separator =
        if name.starts_with(|c: char| c.is_ascii_digit() || c == '_') { "_" } else { "" };
    format!("{mark}{}{separator}{name}", name.len())
}

/// Punycode (RFC 3492), with `_` in place of `-`.
fn punycode(name: &str) -> String {
    const BASE: u64 = 36;
    let mut out: String = name.chars().filter(char::is_ascii).collect();
    let plain = out.chars().count() as u64;
    if plain > 0 {
        out.push('_');
    }
    let letters: Vec<u64> = name.chars().map(|c| u64::from(u32::from(c))).collect();
    let (mut point, mut delta, mut bias, mut done) = (128, 0_u64, 72, plain);
    while done < letters.len() as u64 {
        let Some(&next) = letters.iter().filter(|&&c| c >= point).min() else { break };
        delta += (next - point) * (done + 1);
        point = next;
        for &letter in &letters {
            if letter < point {
                delta += 1;
            }
            if letter == point {
                let mut rest = delta;
                let mut k = BASE;
                loop {
                    let threshold = k.saturating_sub(bias).clamp(1, 26);
                    if rest < threshold {
                        break;
                    }
                    out.push(digit(threshold + (rest - threshold) % (BASE - threshold)));
                    rest = (rest - threshold) / (BASE - threshold);
                    k += BASE;
                }
                out.push(digit(rest));
                // The bias for the next letter.
                delta = if done == plain { delta / 700 } else { delta / 2 };
                delta += delta / (done + 1);
                let mut steps = 0;
                while delta > 35 * 26 / 2 {
                    delta /= 35;
                    steps += BASE;
                }
                bias = steps + 36 * delta / (delta + 38);
                delta = 0;
                done += 1;
            }
        }
        delta += 1;
        point += 1;
    }
    out
}

fn digit(value: u64) -> char {
    let value = u8::try_from(value).unwrap_or(0);
    char::from(if value < 26 { b'a' + value } else { b'0' + (value - 26) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        let module = "define void @_RNvNtCs1a_7program5tests5first(ptr %0) {\n\
            define void @_RNvNvCs1a_7program4main5inner() {\n\
            define internal void @_RNvCs1a_7program4main() unnamed_addr {\n\
            define internal void @_RNvNtCs1a_7program5testss_5again() {\n\
            define void @_RNvCs1a_7program3__1a() {\n";
        assert_eq!(function(module, &["program", "main"]).unwrap(), "_RNvCs1a_7program4main");
        assert_eq!(
            function(module, &["program", "tests", "first"]).unwrap(),
            "_RNvNtCs1a_7program5tests5first"
        );
        assert_eq!(
            function(module, &["program", "tests", "again"]).unwrap(),
            "_RNvNtCs1a_7program5testss_5again"
        );
        assert_eq!(function(module, &["program", "_1a"]).unwrap(), "_RNvCs1a_7program3__1a");
        assert_eq!(function(module, &["program", "inner"]), None);
        assert_eq!(function(module, &["program", "tests"]), None);
        assert_eq!(function(module, &["program"]), None);
        assert_eq!(identifier("_1a"), "3__1a");
    }

    #[test]
    fn other_letters() {
        // The examples of RFC 2603 and RFC 3492.
        assert_eq!(identifier("gödel"), "u8gdel_5qa");
        assert_eq!(punycode("bücher"), "bcher_kva");
        assert_eq!(punycode("他们为什么不说中文"), "ihqwcrb4cv8a8dqg056pqjye");
    }
}
