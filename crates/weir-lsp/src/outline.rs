//! Names: the outline of a text, definitions, references, and renaming.

use std::ops::Range;

use lsp_types::{
    DocumentHighlight, DocumentHighlightKind, DocumentSymbol, Location, PrepareRenameResponse,
    SymbolKind as Kind, TextEdit,
};
use weir_front::errors::quote;
use weir_front::weir::names::{self, Access, Names, Symbol, SymbolKind};

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
        SymbolKind::Register => Kind::FIELD,
        SymbolKind::Label => Kind::KEY,
        SymbolKind::Object => Kind::OBJECT,
        SymbolKind::Method => Kind::METHOD,
        SymbolKind::Property => Kind::BOOLEAN,
    }
}

/// What a text declares and asks, in its order.
pub fn outline(document: &Document) -> Vec<DocumentSymbol> {
    let names = document.names();
    let mut top: Vec<(usize, DocumentSymbol)> = Vec::new();
    // The place of each declaration of a symbol that others belong to.
    let mut owners: Vec<(usize, Range<usize>, Vec<DocumentSymbol>)> = Vec::new();
    let mut inner = Vec::new();
    for (number, symbol) in names.symbols.iter().enumerate() {
        for declaration in &symbol.declarations {
            let (name, whole) = (&declaration.name, &declaration.whole);
            let item = item(document, &symbol.name, symbol.kind, name, whole);
            match (symbol.kind, symbol.owner) {
                // Properties are listed below, with those that have no name.
                (SymbolKind::Property, _) => {}
                (SymbolKind::Process | SymbolKind::Object | SymbolKind::Enum, _) => {
                    owners.push((number, whole.clone(), vec![]));
                    top.push((name.start, item));
                }
                (_, Some(owner)) => inner.push((owner, name.start, item)),
                (_, None) => top.push((name.start, item)),
            }
        }
    }
    // A register of a method belongs to the object in the outline.
    for (owner, at, item) in inner {
        let place = owners.iter_mut().find(|(number, whole, _)| {
            (*number == owner || names.symbols[owner].owner == Some(*number)) && whole.contains(&at)
        });
        match place {
            Some((.., list)) => list.push(item),
            None => top.push((at, item)),
        }
    }
    for (number, whole, mut list) in owners {
        list.sort_by_key(|item| (item.range.start.line, item.range.start.character));
        let name = names.symbols[number].declarations.iter().find(|d| d.whole == whole);
        let owner = name.and_then(|d| top.iter_mut().find(|(at, _)| *at == d.name.start));
        if let Some((_, item)) = owner {
            item.children = Some(list);
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
        top.push((asked.range.start, item));
    }
    top.sort_by_key(|(at, _)| *at);
    top.into_iter().map(|(_, item)| item).collect()
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
/// If there is nothing, if the new name is none, or if something else has it.
pub fn rename(document: &Document, offset: usize, name: &str) -> Result<Vec<TextEdit>, String> {
    if !names::is_name(name) {
        let why = "letters, digits and `_`, no digit first, and no word of the language";
        return Err(format!("{} is not a name: a name is made of {why}", quote(name)));
    }
    let before = document.names();
    let mention = before.at(offset).ok_or("there is no name here")?;
    let symbol = &before.symbols[mention.symbol];
    let mut text = document.text.clone();
    for mention in before.mentions_of(mention.symbol).collect::<Vec<_>>().into_iter().rev() {
        text.replace_range(mention.range.clone(), name);
    }
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
        // A register may not have the name of a variable, even if nobody takes one for the other.
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
