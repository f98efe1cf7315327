//! Names of the programs of the corpus and the examples.

use std::collections::HashSet;

use weir_front::weir::names::{Access, WordKind, names, operations, words};

use crate::all_programs;

#[test]
fn every_name_stands_for_something() {
    let operations: HashSet<&str> = operations().collect();
    for (path, text) in all_programs() {
        let names = names(&text);
        for word in words(&text).into_iter().filter(|word| word.kind == WordKind::Name) {
            let name = &text[word.range.clone()];
            let mention = names.at(word.range.start).filter(|m| m.range == word.range);
            let is_known = mention.is_some_and(|m| names.symbols[m.symbol].name == name);
            let is_other = operations.contains(name) || names.is_keyword_at(word.range.start);
            assert!(is_known || is_other, "{}: {name} at {:?}", path.display(), word.range);
        }
    }
}

#[test]
fn what_is_renamed_everywhere_is_the_same_program() {
    for (path, text) in all_programs() {
        let Ok((before, _)) = weir_front::weir::read("t.weir", &text) else { continue };
        let names = names(&text);
        let mut renamed = text.clone();
        for mention in names.mentions.iter().rev() {
            renamed.insert_str(mention.range.end, "_renamed");
        }
        let read = weir_front::weir::read("t.weir", &renamed);
        let (after, _) = read.unwrap_or_else(|e| panic!("{}: {e:?}\n{renamed}", path.display()));
        // Only names differ, and those of enums, variables, registers and labels all do.
        assert_eq!(before.processes.len(), after.processes.len());
        for (p, q) in before.processes.iter().zip(&after.processes) {
            assert_eq!(p.registers.len(), q.registers.len(), "{}", path.display());
            assert_eq!(p.labels.len(), q.labels.len(), "{}", path.display());
        }
        assert_eq!(before.properties.len(), after.properties.len());
        assert!(after.vars.iter().all(|v| v.name.ends_with("_renamed")), "{}", path.display());
    }
}

#[test]
fn what_is_used_is_declared_once() {
    for (path, text) in all_programs() {
        let names = names(&text);
        for (number, symbol) in names.symbols.iter().enumerate() {
            let declares = |m: &&weir_front::weir::names::Mention| m.access == Access::Declares;
            let count = names.mentions_of(number).filter(declares).count();
            let file = path.display();
            assert_eq!(count, symbol.declarations.len(), "{file}: {}", symbol.name);
        }
    }
}
