//! Leaves out of modules what a program cannot reach.
//!
//! The modules of a test have all functions of the crates that it uses, and most of them belong to other tests. An *item* is a
//! function, a declaration, a variable, or a node of metadata that says where code is from. From the function that the program
//! begins with, all items are kept that a kept one names, also in other modules if the name is not private. Everything else that
//! a module consists of, such as types, is kept as it is; all other metadata goes.

use crate::Module;
use crate::join::body_of;
use std::collections::HashMap;

/// The kinds of metadata that debug locations are made of.
const KEPT: [&str; 6] = [
    "DILocation(",
    "DISubprogram(",
    "DIFile(",
    "DILexicalBlock(",
    "DILexicalBlockFile(",
    "DINamespace(",
];

/// The fields that lead from one of them to another one.
const FIELDS: [&str; 3] = ["scope: !", "file: !", "inlinedAt: !"];

/// A part of a module.
struct Item<'t> {
    text: &'t str,
    is_meta: bool,
    is_private: bool,
    /// Whether it is a definition, and no declaration.
    is_defined: bool,
    is_kept: bool,
}

/// The items of a module.
struct Items<'t> {
    all: Vec<Item<'t>>,
    by_name: HashMap<&'t str, usize>,
    by_number: HashMap<&'t str, usize>,
}

/// The modules of a program that begins with this function. Modules of which nothing is needed are left out, but for the first.
pub(crate) fn reachable(modules: Vec<Module>, entry: &str) -> Vec<Module> {
    let mut parts: Vec<Items<'_>> = modules.iter().map(|module| items(&module.text)).collect();
    let mut definers: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
    let mut bodies: Vec<(String, (usize, usize))> = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        for (&name, &item) in &part.by_name {
            if part.all[item].is_defined && !part.all[item].is_private {
                definers.entry(name).or_default().push((number, item));
                bodies.extend(body_of(name).map(|key| (key, (number, item))));
            }
        }
    }
    let mut open: Vec<(usize, usize)> = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        // What runs before the program does.
        for name in [entry, "llvm.global_ctors"] {
            let found = part.by_name.get(name).copied();
            let is_it = |item: &usize| number == 0 || !part.all[*item].is_private;
            open.extend(found.filter(is_it).map(|item| (number, item)));
        }
    }
    while let Some((number, item)) = open.pop() {
        let part = &mut parts[number];
        if std::mem::replace(&mut part.all[item].is_kept, true) {
            continue;
        }
        let Item { text, is_meta, .. } = part.all[item];
        if is_meta {
            for field in FIELDS {
                let ids =
                    text.match_indices(field).map(|(at, _)| digits(&text[at + field.len()..]));
                open.extend(ids.filter_map(|id| Some((number, *part.by_number.get(id)?))));
            }
            continue;
        }
        for (at, _) in text.match_indices('!') {
            let id = digits(&text[at + 1..]);
            open.extend(part.by_number.get(id).map(|&item| (number, item)));
        }
        for (at, _) in text.match_indices('@') {
            let Some(name) = name(&text[at + 1..]) else { continue };
            let Some(&named) = part.by_name.get(name) else { continue };
            open.push((number, named));
            if !part.all[named].is_private {
                open.extend(definers.get(name).into_iter().flatten());
            }
            if !part.all[named].is_defined && name.starts_with('_') {
                let has = bodies.iter().filter(|(key, _)| name.contains(key.as_str()));
                open.extend(has.map(|(_, body)| *body));
            }
        }
    }
    let kept: Vec<Option<String>> =
        parts.iter().enumerate().map(|(number, part)| joined(part, number == 0)).collect();
    let modules = modules.into_iter().zip(kept);
    modules.filter_map(|(module, text)| Some(Module { text: text?, ..module })).collect()
}

/// The text of what is kept of a module, if there is any, or if it has to be there.
fn joined(part: &Items<'_>, must: bool) -> Option<String> {
    let is_named = |item: &Item<'_>| !item.text.is_empty() && item.is_defined;
    if !must && !part.all.iter().any(|item| item.is_kept && is_named(item)) {
        return None;
    }
    let kept = part.all.iter().filter(|item| item.is_kept);
    Some(kept.map(|item| item.text).collect())
}

/// Divides a text into items. Each begins a line.
fn items(text: &str) -> Items<'_> {
    let mut found = Items { all: Vec::new(), by_name: HashMap::new(), by_number: HashMap::new() };
    let mut rest = text;
    while !rest.is_empty() {
        let line = rest.find('\n').map_or(rest, |end| &rest[..=end]);
        let mut item = Item {
            text: line,
            is_meta: false,
            is_private: false,
            is_defined: false,
            is_kept: false,
        };
        let number = found.all.len();
        if line.starts_with("define ") {
            let end = rest.find("\n}").map_or(rest.len(), |end| end + 2);
            let end = rest[end..].find('\n').map_or(rest.len(), |more| end + more + 1);
            item.text = &rest[..end];
            item.is_defined = true;
        }
        let is_function = item.is_defined || line.starts_with("declare ");
        let after_name =
            if is_function { line } else { line.split_once(" = ").map_or("", |l| l.1) };
        item.is_private = after_name
            .split(' ')
            .take_while(|word| !word.starts_with('@'))
            .any(|word| word == "private" || word == "internal");
        if is_function || line.starts_with('@') {
            let named = line.find('@').and_then(|at| name(&line[at + 1..]));
            if let Some(name) = named {
                found.by_name.insert(name, number);
            }
            let is_external =
                after_name.starts_with("external ") || after_name.starts_with("extern_weak ");
            item.is_defined |= line.starts_with('@') && !is_external;
        } else if let Some(metadata) = line.strip_prefix('!') {
            let kind = after_name.strip_prefix("distinct ").unwrap_or(after_name);
            let kind = kind.strip_prefix('!').unwrap_or(kind);
            item.is_meta = true;
            if KEPT.iter().any(|kept| kind.starts_with(kept)) {
                found.by_number.insert(digits(metadata), number);
            }
        } else {
            // Types, attributes, and what the module is compiled for. Comments are of no use.
            item.is_kept = !line.starts_with(';');
        }
        rest = &rest[item.text.len()..];
        found.all.push(item);
    }
    found
}

/// The digits that a text begins with.
fn digits(text: &str) -> &str {
    &text[..text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len())]
}

/// The name that a text begins with, which may be quoted.
fn name(text: &str) -> Option<&str> {
    if let Some(quoted) = text.strip_prefix('"') {
        return quoted.split('"').next();
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || "$._-".contains(c);
    let end = text.find(|c: char| !is_part(c)).unwrap_or(text.len());
    (end > 0).then(|| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(text: &str) -> Module {
        Module { name: String::new(), text: text.to_owned() }
    }

    #[test]
    fn what_is_reachable() {
        let first = "; ModuleID = 'a'\ntarget triple = \"x\"\n%T = type { i32 }\n\
            @table = private constant [1 x ptr] [ptr @\"a b\"]\n@unused = private constant i32 0\n\
            define void @main() !dbg !3 {\n  call void @used(ptr @table), !dbg !5\n}\n\n\
            define void @other() {\n  call void @gone()\n}\n\
            declare void @used(ptr)\ndeclare void @gone()\ndeclare void @\"a b\"()\n\
            !llvm.ident = !{!0}\n!0 = !{!\"x\"}\n!2 = distinct !DICompileUnit(file: !4)\n\
            !3 = distinct !DISubprogram(name: \"main\", scope: !4, unit: !2)\n!4 = !DIFile(filename: \"a.rs\", directory: \"/\")\n\
            !5 = !DILocation(line: 1, scope: !3)\n!6 = !DILocation(line: 2, scope: !3)\n";
        let second = "define void @used(ptr %0) {\n  ret void\n}\ndefine internal void @main() {\n  call void @gone()\n}\n\
            define void @\"a b\"() {\n}\ndefine void @gone() {\n}\n";
        let third = "define void @gone() {\n}\n@used = internal constant i32 0\n";
        let kept = reachable([first, second, third].map(module).to_vec(), "main");
        assert_eq!(kept.len(), 2);
        let text = &kept[0].text;
        for part in [
            "target triple",
            "%T = ",
            "@table",
            "@main()",
            "declare void @used",
            "!3 = ",
            "!4 = ",
            "!5 = ",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        for part in ["ModuleID", "@unused", "@other", "@gone", "!0 = ", "!2 = ", "!6 = "] {
            assert!(!text.contains(part), "{part}\n{text}");
        }
        assert!(kept[1].text.contains("@used") && kept[1].text.contains("@\"a b\""));
        assert!(!kept[1].text.contains("define void @gone"));
    }

    #[test]
    fn texts_that_are_cut_off() {
        for text in [
            "",
            "define",
            "define void @main() {",
            "@",
            "@x",
            "!",
            "!1",
            "!1 = !DIFile(",
            "define void @\"main() {\n",
        ] {
            let kept = reachable(vec![module(text)], "main");
            assert_eq!(kept.len(), 1, "{text}");
        }
    }
}
