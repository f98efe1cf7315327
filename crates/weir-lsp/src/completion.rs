//! What can be written at a place.

use lsp_types::{CompletionItem, CompletionItemKind};
use weir_front::weir::names::{self, Symbol, SymbolKind, Word, WordKind};

use crate::document::Document;

/// The proposals at an offset. The editor picks those that fit what is there.
pub fn completion(document: &Document, offset: usize) -> Vec<CompletionItem> {
    let words = document.words();
    let end = words.partition_point(|word| word.range.start < offset);
    let mut before = &words[..end];
    // What is being written does not matter.
    if let Some((last, rest)) = before.split_last()
        && offset <= last.range.end
    {
        match last.kind {
            WordKind::Comment if !is_behind_comment(document, last, offset) => return vec![],
            WordKind::Name | WordKind::Keyword => before = rest,
            _ => {}
        }
    }
    let text = |word: &Word| document.text_of(&word.range);
    let all = document.names();
    let code = code_at(document, before, offset);
    match before {
        [.., process, at] if matches!(text(at), "@" | ".") => {
            let kind = if text(at) == "@" { SymbolKind::Label } else { SymbolKind::Register };
            let name = match text(process) {
                "]" => name_before_index(document, before),
                name => Some(name),
            };
            let is_meant = |s: &Symbol| s.kind == SymbolKind::Process && Some(&*s.name) == name;
            let owner = all.symbols.iter().position(is_meant);
            owner.map_or(vec![], |owner| all.of(owner, kind).map(of_symbol).collect())
        }
        [.., goto] if text(goto) == "goto" => {
            code.map_or(vec![], |code| all.of(code, SymbolKind::Label).map(of_symbol).collect())
        }
        _ => {
            let symbols = all.visible(code).map(|(_, symbol)| of_symbol(symbol));
            let keywords = names::keywords().filter(|word| {
                let begins_item = names::begins_item(word);
                if code.is_some() { !begins_item } else { !names::begins_statement(word) }
            });
            let contextual = names::contextual().filter(|(_, begins)| *begins == code.is_some());
            let keywords = keywords.chain(contextual.map(|(word, _)| word));
            let keyword = |word: &str| plain(word, CompletionItemKind::KEYWORD, None);
            // Types are words of the language, and are called as well.
            let operations = names::operations().filter(|name| {
                names::is_atomic(name) && code.is_some()
                    || !names::is_atomic(name) && !names::is_keyword(name)
            });
            let call = |name: &str| plain(name, CompletionItemKind::FUNCTION, Some("operation"));
            symbols.chain(keywords.map(keyword)).chain(operations.map(call)).collect()
        }
    }
}

/// Whether an offset is right behind a comment that is closed.
fn is_behind_comment(document: &Document, comment: &Word, offset: usize) -> bool {
    let text = document.text_of(&comment.range);
    offset == comment.range.end && text.starts_with("/*") && text.ends_with("*/")
}

/// The process or method that an offset is in, also if its end is not written yet.
fn code_at(document: &Document, before: &[Word], offset: usize) -> Option<usize> {
    let mut depth = 0usize;
    for word in before.iter().filter(|word| word.kind == WordKind::Symbol) {
        match document.text_of(&word.range) {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    let names = document.names();
    let last = names.symbols.iter().enumerate().filter(|(_, s)| s.kind != SymbolKind::Object);
    let owners = last.filter(|(_, s)| {
        matches!(s.kind, SymbolKind::Process | SymbolKind::Method | SymbolKind::Enum)
    });
    let begun = owners.flat_map(|(i, s)| s.declarations.iter().map(move |d| (d.whole.start, i)));
    let (_, owner) = begun.filter(|(start, _)| *start < offset).max()?;
    let is_code = names.symbols[owner].kind != SymbolKind::Enum;
    (depth > 0 && is_code).then_some(owner)
}

/// The `p` of `p[…]@` or `p[…].`.
fn name_before_index<'d>(document: &'d Document, before: &[Word]) -> Option<&'d str> {
    let mut depth = 0usize;
    for (number, word) in before.iter().enumerate().rev() {
        match document.text_of(&word.range) {
            "]" => depth += 1,
            "[" if depth <= 1 => {
                return Some(document.text_of(&before.get(number.checked_sub(1)?)?.range));
            }
            "[" => depth -= 1,
            _ => {}
        }
    }
    None
}

fn of_symbol(symbol: &Symbol) -> CompletionItem {
    let kind = match symbol.kind {
        SymbolKind::Constant | SymbolKind::Parameter => CompletionItemKind::CONSTANT,
        SymbolKind::Enum => CompletionItemKind::ENUM,
        SymbolKind::Member => CompletionItemKind::ENUM_MEMBER,
        SymbolKind::Variable | SymbolKind::Array => CompletionItemKind::VARIABLE,
        SymbolKind::Process | SymbolKind::Object => CompletionItemKind::CLASS,
        SymbolKind::Record => CompletionItemKind::STRUCT,
        SymbolKind::Procedure => CompletionItemKind::FUNCTION,
        SymbolKind::Register | SymbolKind::Field => CompletionItemKind::FIELD,
        SymbolKind::Label => CompletionItemKind::REFERENCE,
        SymbolKind::Method => CompletionItemKind::METHOD,
        SymbolKind::Property => CompletionItemKind::EVENT,
    };
    plain(&symbol.name, kind, Some(symbol.kind.name()))
}

fn plain(label: &str, kind: CompletionItemKind, detail: Option<&str>) -> CompletionItem {
    CompletionItem {
        label: label.to_owned(),
        kind: Some(kind),
        detail: detail.map(str::to_owned),
        ..CompletionItem::default()
    }
}
