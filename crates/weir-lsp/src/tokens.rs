//! Colors by what names stand for.

use std::ops::Range;

use lsp_types::{
    SemanticToken, SemanticTokenModifier, SemanticTokenType, SemanticTokens, SemanticTokensLegend,
};
use weir_front::weir::names::{self, Access, SymbolKind, WordKind};

use crate::document::Document;

/// The kinds of tokens, by their place in the legend. The protocol has no kind for labels, so that
/// editors may need to be told their color.
const KINDS: [SemanticTokenType; 13] = [
    SemanticTokenType::KEYWORD,
    SemanticTokenType::NUMBER,
    SemanticTokenType::STRING,
    SemanticTokenType::OPERATOR,
    SemanticTokenType::COMMENT,
    SemanticTokenType::VARIABLE,
    SemanticTokenType::PARAMETER,
    SemanticTokenType::CLASS,
    SemanticTokenType::METHOD,
    SemanticTokenType::FUNCTION,
    SemanticTokenType::ENUM,
    SemanticTokenType::ENUM_MEMBER,
    SemanticTokenType::new("label"),
];

const MODIFIERS: [SemanticTokenModifier; 3] = [
    SemanticTokenModifier::DECLARATION,
    SemanticTokenModifier::READONLY,
    SemanticTokenModifier::MODIFICATION,
];

/// What the numbers in tokens mean.
pub fn legend() -> SemanticTokensLegend {
    SemanticTokensLegend { token_types: KINDS.to_vec(), token_modifiers: MODIFIERS.to_vec() }
}

fn number(kind: &SemanticTokenType) -> u32 {
    KINDS.iter().position(|k| k == kind).unwrap_or(0) as u32
}

/// The tokens of a document.
pub fn tokens(document: &Document) -> SemanticTokens {
    let all = document.names();
    let operations: std::collections::HashSet<&str> = names::operations().collect();
    let mut data = Vec::new();
    let mut last = (0, 0);
    let mut push = |range: Range<usize>, kind: &SemanticTokenType, modifiers: u32| {
        let span = document.span(&range);
        let (line, start) = (span.start.line, span.start.character);
        let length = span.end.character.saturating_sub(start);
        let (line_before, start_before) = last;
        let delta_line = line - line_before;
        let delta_start = if delta_line == 0 { start - start_before } else { start };
        last = (line, start);
        data.push(SemanticToken {
            delta_line,
            delta_start,
            length,
            token_type: number(kind),
            token_modifiers_bitset: modifiers,
        });
    };
    for word in document.words() {
        let kind = match word.kind {
            WordKind::Keyword => SemanticTokenType::KEYWORD,
            WordKind::Number => SemanticTokenType::NUMBER,
            WordKind::Text => SemanticTokenType::STRING,
            WordKind::Symbol => SemanticTokenType::OPERATOR,
            WordKind::Comment => {
                // Editors need not know tokens over several lines.
                for range in by_lines(document, &word.range) {
                    push(range, &SemanticTokenType::COMMENT, 0);
                }
                continue;
            }
            WordKind::Name => {
                let mention = all.at(word.range.start).filter(|m| m.range == word.range);
                let Some(mention) = mention else {
                    if all.is_keyword_at(word.range.start) {
                        push(word.range.clone(), &SemanticTokenType::KEYWORD, 0);
                    } else if operations.contains(document.text_of(&word.range)) {
                        push(word.range.clone(), &SemanticTokenType::FUNCTION, 0);
                    }
                    continue;
                };
                let (kind, is_constant) = match all.symbols[mention.symbol].kind {
                    SymbolKind::Constant => (SemanticTokenType::VARIABLE, true),
                    SymbolKind::Variable | SymbolKind::Array => {
                        (SemanticTokenType::VARIABLE, false)
                    }
                    SymbolKind::Parameter => (SemanticTokenType::PARAMETER, true),
                    SymbolKind::Register => (SemanticTokenType::PARAMETER, false),
                    SymbolKind::Enum => (SemanticTokenType::ENUM, false),
                    SymbolKind::Member => (SemanticTokenType::ENUM_MEMBER, true),
                    SymbolKind::Process | SymbolKind::Object => (SemanticTokenType::CLASS, false),
                    SymbolKind::Method | SymbolKind::Procedure => {
                        (SemanticTokenType::METHOD, false)
                    }
                    SymbolKind::Record => (SemanticTokenType::CLASS, false),
                    SymbolKind::Field => (SemanticTokenType::VARIABLE, false),
                    SymbolKind::Label => (SemanticTokenType::new("label"), false),
                    SymbolKind::Property => (SemanticTokenType::FUNCTION, false),
                };
                let declares = u32::from(mention.access == Access::Declares);
                let writes = matches!(mention.access, Access::Writes | Access::Updates);
                let modifiers = declares | u32::from(is_constant) << 1 | u32::from(writes) << 2;
                push(word.range.clone(), &kind, modifiers);
                continue;
            }
        };
        push(word.range.clone(), &kind, 0);
    }
    SemanticTokens { result_id: None, data }
}

/// The parts of a range on each of its lines, without those that are empty.
fn by_lines(document: &Document, range: &Range<usize>) -> Vec<Range<usize>> {
    let (first, last) = (document.lines.line(range.start), document.lines.line(range.end));
    let parts = (first..=last).map(|line| {
        let line = document.lines.range(&document.text, line);
        line.start.max(range.start)..line.end.min(range.end)
    });
    parts.filter(|part| part.start < part.end).collect()
}
