//! Where fences can be inserted, and how they are written.

use weir_model::program::FenceKind;

use super::token::{Kind, tokens};
use crate::Gap;

/// How a fence is written.
pub fn fence(kind: FenceKind) -> Option<&'static str> {
    Some(match kind {
        FenceKind::Full => "atomic_thread_fence(memory_order_seq_cst)",
        FenceKind::Read => "atomic_thread_fence(memory_order_acquire)",
        FenceKind::Write => "atomic_thread_fence(memory_order_release)",
    })
}

/// Before each statement of a block of a function, and before the end of the block.
pub fn gaps(text: &str) -> Vec<Gap> {
    let Ok(list) = tokens(text, 0) else { return Vec::new() };
    let mut gaps = Vec::new();
    // For each open bracket: whether it is a block of statements, and its first statement.
    let mut open: Vec<(bool, Option<usize>)> = Vec::new();
    let mut is_directive = false;
    // Whether the next token may begin a statement.
    let mut begins = false;
    for (i, token) in list.iter().enumerate() {
        if token.is_first {
            is_directive = token.is("#");
            // A macro that goes on in the next line.
            if !is_directive && i > 0 {
                let between = &text[list[i - 1].range.end..token.range.start];
                is_directive = between.contains("\\\n") && is_directive;
            }
        }
        if is_directive {
            continue;
        }
        let before = i.checked_sub(1).map(|i| &*list[i].text);
        if begins
            && let Some((true, first)) = open.last_mut()
            && !token.is("{")
        {
            let like = *first.get_or_insert(token.range.start);
            let is_declaration = token.kind == Kind::Name && is_type_word(&token.text);
            let is_label = list.get(i + 1).is_some_and(|t| t.is(":")) || token.is("case");
            // `else`, and the `while` of a `do`, go on with the statement before.
            let goes_on = token.is("else") || token.is("while") && before == Some("}");
            if !is_declaration && !is_label && !goes_on {
                gaps.push(Gap::before(text, token.range.start, like, ";"));
            }
        }
        begins = false;
        match &*token.text {
            "{" => {
                // A block follows `)`, `else`, `do` or another statement of a block.
                let is_inside = open.last().is_none_or(|(is_block, _)| *is_block);
                let is_block = is_inside
                    && matches!(before, Some(")" | "else" | "do" | ";" | "{" | "}" | ":"));
                open.push((is_block, None));
                begins = is_block;
            }
            "(" | "[" => open.push((false, None)),
            ")" | "]" => drop(open.pop()),
            "}" => {
                open.pop();
                begins = open.last().is_some_and(|(is_block, _)| *is_block);
            }
            ";" => begins = open.last().is_some_and(|(is_block, _)| *is_block),
            _ => {}
        }
    }
    gaps
}

/// Whether a word begins a declaration.
fn is_type_word(word: &str) -> bool {
    matches!(
        word,
        "int"
            | "unsigned"
            | "signed"
            | "long"
            | "short"
            | "char"
            | "bool"
            | "_Bool"
            | "void"
            | "struct"
            | "union"
            | "enum"
            | "const"
            | "static"
            | "volatile"
            | "register"
            | "extern"
            | "typedef"
            | "_Atomic"
            | "_Thread_local"
    ) || word.ends_with("_t")
        || word.starts_with("atomic_") && !word.contains("_thread_fence") && is_atomic_type(word)
}

fn is_atomic_type(word: &str) -> bool {
    matches!(
        word,
        "atomic_int"
            | "atomic_uint"
            | "atomic_bool"
            | "atomic_long"
            | "atomic_ulong"
            | "atomic_char"
            | "atomic_llong"
            | "atomic_ullong"
            | "atomic_short"
            | "atomic_ushort"
            | "atomic_flag"
    )
}
