//! Names: the outline of a text, definitions, references, and renaming.

use std::ops::Range;

use lsp_types::{
    DocumentHighlight, DocumentHighlightKind, DocumentSymbol, Location, PrepareRenameResponse,
    SymbolKind as Kind, TextEdit,
};
use weir_front::errors::quote;
use weir_front::weir::names::{self, Access, Declaration, Names, Symbol, SymbolKind};

use crate::document::Document;

/// The longest title of a property without a name, in characters.
const MAX_TITLE: usize = 60;

fn kind(kind: SymbolKind) -> Kind {
    match kind {
        SymbolKind::Constant | SymbolKind::Parameter => Kind::CONSTANT,
        SymbolKind::Enum => Kind::ENUM,
        SymbolKind::Member => Kind::ENUM_MEMBER,
        SymbolKind::Variable => Kind::VARIABLE,
        SymbolKind::Array => Kind::ARRAY,
        SymbolKind::Process => Kind::CLASS,
        SymbolKind::Record => Kind::STRUCT,
        SymbolKind::Procedure => Kind::FUNCTION,
        SymbolKind::Register | SymbolKind::Field => Kind::FIELD,
        SymbolKind::Label => Kind::KEY,
        SymbolKind::Object => Kind::OBJECT,
        SymbolKind::Method => Kind::METHOD,
        SymbolKind::Property => Kind::BOOLEAN,
    }
}

/// What a text declares and asks, in its order. What is declared inside of something is below it.
pub fn outline(document: &Document) -> Vec<DocumentSymbol> {
    let names = document.names();
    // Where each item is, and whether it is inside of another one.
    let mut items: Vec<(Range<usize>, bool, DocumentSymbol)> = Vec::new();
    // Properties are listed below, with those that have no name.
    for symbol in names.symbols.iter().filter(|s| s.kind != SymbolKind::Property) {
        for Declaration { name, whole } in &symbol.declarations {
            let item = item(document, &symbol.name, symbol.kind, name, whole);
            items.push((whole.clone(), symbol.owner.is_some(), item));
        }
    }
    for asked in &names.asked {
        let title = match asked.symbol {
            Some(symbol) => names.symbols[symbol].name.clone(),
            None => title(document.text_of(&asked.range)),
        };
        let named = asked.symbol.and_then(|s| names.symbols[s].declarations.first());
        let name = named.map_or(&asked.range, |declaration| &declaration.name);
        let item = item(document, &title, SymbolKind::Property, name, &asked.range);
        items.push((asked.range.clone(), false, item));
    }
    items.sort_by_key(|(whole, ..)| whole.start);
    let mut top: Vec<DocumentSymbol> = Vec::new();
    let mut end = 0;
    for (whole, is_inner, item) in items {
        match top.last_mut() {
            Some(owner) if is_inner && whole.start < end => {
                owner.children.get_or_insert_default().push(item);
            }
            _ => {
                end = whole.end;
                top.push(item);
            }
        }
    }
    top
}

/// The beginning of a text, on one line.
fn title(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(MAX_TITLE) {
        Some((cut, _)) => format!("{}…", &words[..cut]),
        None => words,
    }
}

fn item(
    document: &Document,
    name: &str,
    of: SymbolKind,
    place: &Range<usize>,
    whole: &Range<usize>,
) -> DocumentSymbol {
    // Editors reject a name that is outside of what it names.
    let whole = whole.start.min(place.start)..whole.end.max(place.end);
    #[allow(deprecated, reason = "the type has a field that is")]
    DocumentSymbol {
        name: name.to_owned(),
        detail: Some(of.name().to_owned()),
        kind: kind(of),
        tags: None,
        deprecated: None,
        range: document.span(&whole),
        selection_range: document.span(place),
        children: None,
    }
}

fn location(document: &Document, range: &Range<usize>) -> Location {
    Location::new(document.uri.clone(), document.span(range))
}

/// Where the name at an offset is declared.
pub fn definition(document: &Document, offset: usize) -> Vec<Location> {
    let names = document.names();
    let Some(mention) = names.at(offset) else { return vec![] };
    let all = &names.symbols[mention.symbol].declarations;
    all.iter().map(|declaration| location(document, &declaration.name)).collect()
}

/// Where the name at an offset stands.
pub fn references(document: &Document, offset: usize, with_declaration: bool) -> Vec<Location> {
    let names = document.names();
    let Some(mention) = names.at(offset) else { return vec![] };
    let all = names.mentions_of(mention.symbol);
    all.filter(|m| with_declaration || m.access != Access::Declares)
        .map(|m| location(document, &m.range))
        .collect()
}

/// The same, for one document, with what happens there.
pub fn highlights(document: &Document, offset: usize) -> Vec<DocumentHighlight> {
    let names = document.names();
    let Some(mention) = names.at(offset) else { return vec![] };
    let highlight = |m: &names::Mention| {
        let kind = match m.access {
            Access::Writes | Access::Updates => DocumentHighlightKind::WRITE,
            Access::Reads => DocumentHighlightKind::READ,
            Access::Declares | Access::Jumps | Access::Asks => DocumentHighlightKind::TEXT,
        };
        DocumentHighlight { range: document.span(&m.range), kind: Some(kind) }
    };
    names.mentions_of(mention.symbol).map(highlight).collect()
}

/// The change that gives a text its usual form; none if it has it, or is no program of Weir's
/// language.
pub fn formatting(document: &Document) -> Option<Vec<TextEdit>> {
    let formatted = document.is_weir().then(|| weir_front::weir::format(&document.text))?.ok()?;
    let all = 0..document.text.len();
    Some(match formatted == document.text {
        true => vec![],
        false => vec![document.edit(&all, formatted)],
    })
}

/// What would be renamed at an offset.
pub fn renamed(document: &Document, offset: usize) -> Option<PrepareRenameResponse> {
    let mention = document.names().at(offset)?;
    let placeholder = document.names().symbols[mention.symbol].name.clone();
    let range = document.span(&mention.range);
    Some(PrepareRenameResponse::RangeWithPlaceholder { range, placeholder })
}

/// The changes that give a new name to what is named at an offset.
///
/// # Errors
/// If nothing is named there, if the new name is not a valid name, or if something else has it.
pub fn rename(document: &Document, offset: usize, name: &str) -> Result<Vec<TextEdit>, String> {
    if !names::is_name(name) {
        let why = "letters, digits and `_`, no digit first, and no word of the language";
        return Err(format!("{} is not a name: a name is made of {why}", quote(name)));
    }
    let before = document.names();
    let mention = before.at(offset).ok_or("there is no name here")?;
    let symbol = &before.symbols[mention.symbol];
    let (mut text, mut done) = (String::new(), 0);
    for mention in before.mentions_of(mention.symbol) {
        text += &document.text[done..mention.range.start];
        text += name;
        done = mention.range.end;
    }
    text += &document.text[done..];
    if !are_alike(before, &names::names(&text)) {
        return Err(clash(before, symbol, name));
    }
    let all = before.mentions_of(mention.symbol);
    Ok(all.map(|m| document.edit(&m.range, name)).collect())
}

/// Whether all names stand for the same things, whatever they are called.
fn are_alike(a: &Names, b: &Names) -> bool {
    let same = |(a, b): (&names::Mention, &names::Mention)| {
        (a.symbol, a.access, a.inside) == (b.symbol, b.access, b.inside)
    };
    a.symbols.len() == b.symbols.len()
        && a.mentions.len() == b.mentions.len()
        && a.mentions.iter().zip(&b.mentions).all(same)
        // A register may not have the name of a variable, even where the two cannot be confused.
        && !has_shadows(b)
}

/// Whether a register or parameter has the name of something that is known everywhere.
fn has_shadows(names: &Names) -> bool {
    let is_local = |s: &Symbol| matches!(s.kind, SymbolKind::Register | SymbolKind::Parameter);
    let is_global =
        |s: &Symbol| !is_local(s) && !matches!(s.kind, SymbolKind::Label | SymbolKind::Property);
    let globals: std::collections::HashSet<&str> =
        names.symbols.iter().filter(|s| is_global(s)).map(|s| s.name.as_str()).collect();
    names.symbols.iter().any(|s| is_local(s) && globals.contains(s.name.as_str()))
}

fn clash(names: &Names, symbol: &Symbol, name: &str) -> String {
    match names.symbols.iter().find(|other| other.name == name) {
        Some(other) => format!("{} is the name of a {} already", quote(name), other.kind.name()),
        None => format!("{} cannot be called {} here", quote(&symbol.name), quote(name)),
    }
}
