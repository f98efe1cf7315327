//! What an editor shows about the word under the pointer.

use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind};
use weir::MemoryModel;
use weir_front::weir::names::{self, Access, Names, Symbol, SymbolKind, WordKind};
use weir_model::memory_model::Access as MemoryAccess;
use weir_model::program::{Domain, FenceKind, Program};

use crate::document::Document;

/// The most lines that are listed.
const MOST_LINES: usize = 12;

/// The most values that are listed.
const MOST_VALUES: u128 = 16;

/// What is known about the word at an offset.
pub fn hover(document: &Document, offset: usize, models: &[MemoryModel]) -> Option<Hover> {
    let word = document.word_at(offset)?;
    let text = document.text_of(&word.range);
    let shown = match (word.kind, document.names().at(offset)) {
        (WordKind::Name, Some(mention)) => symbol(document, mention.symbol),
        (WordKind::Name, None) if names::is_atomic(text) => format!(
            "`{text}` is an atomic operation: it reads and writes in one step, and is a full fence."
        ),
        (WordKind::Keyword, _) => match fence_kind(text) {
            Some(kind) => fence(kind, models),
            None => answers(document, offset)?,
        },
        _ => return None,
    };
    let contents = MarkupContent { kind: MarkupKind::Markdown, value: shown };
    let range = Some(document.span(&word.range));
    Some(Hover { contents: HoverContents::Markup(contents), range })
}

fn fence_kind(word: &str) -> Option<FenceKind> {
    [FenceKind::Full, FenceKind::Read, FenceKind::Write].into_iter().find(|k| k.name() == word)
}

/// What a symbol is, and where it is used.
fn symbol(document: &Document, number: usize) -> String {
    let names = document.names();
    let symbol = &names.symbols[number];
    let mut parts = vec![declaration(document, names, symbol)];
    match symbol.kind {
        SymbolKind::Variable | SymbolKind::Array => {
            parts.extend(document.program().and_then(|program| variable(program, &symbol.name)));
            parts.extend(accesses(document, number));
        }
        SymbolKind::Register => {
            let owner = symbol.owner.map(|owner| names.symbols[owner].name.as_str());
            let known = document.program().zip(owner);
            parts.extend(known.and_then(|(program, owner)| register(program, owner, &symbol.name)));
            parts.extend(accesses(document, number));
        }
        SymbolKind::Label => parts.push(label(document, number)),
        SymbolKind::Property => {
            let at = symbol.declarations.first().map(|d| d.name.start);
            parts.extend(at.and_then(|at| answers(document, at)));
        }
        SymbolKind::Member => {
            let members = symbol.owner.map(|owner| names.of(owner, SymbolKind::Member));
            let value = members.and_then(|mut all| all.position(|s| s.name == symbol.name));
            parts.extend(value.map(|value| format!("Its value is {value}.")));
        }
        SymbolKind::Process
        | SymbolKind::Parameter
        | SymbolKind::Constant
        | SymbolKind::Enum
        | SymbolKind::Record
        | SymbolKind::Field
        | SymbolKind::Procedure
        | SymbolKind::Object
        | SymbolKind::Method => {}
    }
    parts.join("\n\n")
}

/// The declaration as the text has it, and what it is.
fn declaration(document: &Document, names: &Names, symbol: &Symbol) -> String {
    let whole = symbol.declarations.first().map_or("", |d| document.text_of(&d.whole));
    let first = whole.lines().next().unwrap_or_default().trim_end_matches(['{', ' ']);
    let word = match symbol.kind {
        SymbolKind::Constant => "const ",
        SymbolKind::Enum => "enum ",
        SymbolKind::Variable | SymbolKind::Array => "var ",
        SymbolKind::Register => "reg ",
        _ => "",
    };
    let of = match symbol.owner.map(|owner| &names.symbols[owner]) {
        Some(owner) => format!(" of {} `{}`", owner.kind.name(), owner.name),
        None => String::new(),
    };
    format!("```weir\n{word}{first}\n```\n{}{of}", symbol.kind.name())
}

fn variable(program: &Program, name: &str) -> Option<String> {
    let decl = program.vars.iter().find(|decl| decl.name == name)?;
    let show = |values: &Vec<i128>| {
        let values: Vec<String> =
            values.iter().take(8).map(|v| program.show_value(decl.domain, *v)).collect();
        values.join(" or ")
    };
    let mut first: Vec<String> = decl.init.iter().take(8).map(show).collect();
    first.extend((decl.init.len() > 8).then(|| "…".to_owned()));
    let all_same = first.windows(2).all(|pair| pair[0] == pair[1]);
    let first = if all_same { first.first()?.clone() } else { format!("[{}]", first.join(", ")) };
    Some(format!("{} At first: {first}.", domain(program, decl.domain)))
}

fn register(program: &Program, owner: &str, name: &str) -> Option<String> {
    let is_owner = |process: &str| process.split('[').next() == Some(owner);
    let processes = program.processes.iter().filter(|p| is_owner(&p.name)).map(|p| &p.registers);
    let methods = program.object.iter().flat_map(|o| &o.methods).filter(|m| m.name == owner);
    let mut all = processes.chain(methods.map(|m| &m.registers)).flatten();
    let register = all.find(|register| register.name == name && !register.temporary)?;
    let first = program.show_value(register.domain, register.init);
    Some(format!("{} At first: {first}.", domain(program, register.domain)))
}

/// The values of a domain.
fn domain(program: &Program, domain: Option<Domain>) -> String {
    let Some(domain) = domain else {
        return "No domain: it may hold any number.".to_owned();
    };
    if let Domain::Int(int) = domain {
        return format!("Values: {}..{}.", int.low(), int.high());
    }
    let size = program.size(domain);
    if size > MOST_VALUES {
        return format!("{size} values.");
    }
    let values = program.values(domain);
    let values: Vec<String> =
        values.into_iter().map(|value| program.show_value(Some(domain), value)).collect();
    format!("Values: {}.", values.join(", "))
}

/// Who reads and writes something, and which properties name it.
fn accesses(document: &Document, symbol: usize) -> Vec<String> {
    let about = |title: &str, access: &[Access]| {
        let lines = places(document, symbol, access);
        (!lines.is_empty()).then(|| format!("{title}: {}.", lines.join(", ")))
    };
    [
        about("Written", &[Access::Writes]),
        about("Read", &[Access::Reads]),
        about("Read and written at once", &[Access::Updates]),
        about("Named by", &[Access::Asks]),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The places where a symbol is named, in words: by process or property, with lines.
fn places(document: &Document, symbol: usize, access: &[Access]) -> Vec<String> {
    let names = document.names();
    let mut list: Vec<(Option<usize>, Vec<String>)> = Vec::new();
    let all = names.mentions_of(symbol).filter(|m| access.contains(&m.access));
    for mention in all {
        let line = document.line(mention.range.start).to_string();
        let is_full = list.len() >= MOST_LINES;
        match list.iter_mut().find(|(inside, _)| *inside == mention.inside) {
            Some((_, lines)) if lines.last() == Some(&line) => {}
            Some((_, lines)) => lines.push(line),
            None if is_full => {}
            None => list.push((mention.inside, vec![line])),
        }
    }
    let place = |(inside, mut lines): (Option<usize>, Vec<String>)| {
        let word = if lines.len() == 1 { "line" } else { "lines" };
        if lines.len() > MOST_LINES {
            let more = lines.len() - MOST_LINES;
            lines.truncate(MOST_LINES);
            lines.push(format!("and {more} more"));
        }
        let lines = format!("{word} {}", lines.join(", "));
        match inside {
            Some(inside) => format!("`{}` ({lines})", names.symbols[inside].name),
            None => lines,
        }
    };
    list.into_iter().map(place).collect()
}

/// What a label is used for.
fn label(document: &Document, symbol: usize) -> String {
    let asked = places(document, symbol, &[Access::Asks]);
    let jumps = places(document, symbol, &[Access::Jumps]);
    let mut says = vec!["A process is here when the statement after the label is next.".to_owned()];
    if !asked.is_empty() {
        says.push(format!("Asked about: {}.", asked.join(", ")));
    }
    if !jumps.is_empty() {
        says.push(format!("Jumped to: {}.", jumps.join(", ")));
    }
    if says.len() == 1 {
        says.push("No property and no `goto` names it.".to_owned());
    }
    says.join("\n\n")
}

/// What a fence prevents under each model.
fn fence(kind: FenceKind, models: &[MemoryModel]) -> String {
    let title = match kind {
        FenceKind::Full => "`fence` orders everything before it with everything after it.",
        FenceKind::Write => "`wfence` orders writes before it with writes after it.",
        FenceKind::Read => "`rfence` orders reads before it with reads after it.",
    };
    let of_model = |model: &MemoryModel| format!("* {model}: {}", prevented(kind, *model));
    let lines: Vec<String> = models.iter().map(of_model).collect();
    format!("{title}\n\n{}", lines.join("\n"))
}

/// What a fence prevents that a model allows without it.
fn prevented(kind: FenceKind, model: MemoryModel) -> String {
    use MemoryAccess::{Read, ReadFence, Write, WriteFence};
    let fence = match kind {
        FenceKind::Full => MemoryAccess::Full,
        FenceKind::Read => ReadFence,
        FenceKind::Write => WriteFence,
    };
    let pairs = [
        (Write('x'), Read('y'), "reads after it overtake no write before it"),
        (Write('x'), Write('y'), "writes after it overtake no write before it"),
        (Read('x'), Read('y'), "reads after it overtake no read before it"),
        (Read('x'), Write('y'), "writes after it overtake no read before it"),
    ];
    let stops = |(first, second): (&MemoryAccess<char>, &MemoryAccess<char>)| {
        model.may_overtake(first, second)
            && !model.may_overtake(first, &fence)
            && !model.may_overtake(&fence, second)
    };
    let list: Vec<&str> =
        pairs.iter().filter(|(a, b, _)| stops((a, b))).map(|(.., says)| *says).collect();
    match list.is_empty() {
        true => "changes nothing.".to_owned(),
        false => format!("{}.", list.join("; ")),
    }
}

/// The answers to the property at an offset.
fn answers(document: &Document, offset: usize) -> Option<String> {
    let property = document.names().asked.iter().find(|a| a.range.contains(&offset))?;
    let mut lines = Vec::new();
    for answers in &document.answers {
        for answer in answers.list.iter().filter(|a| a.span.as_ref() == Some(&property.range)) {
            let why = answer.remark.as_ref().map_or(String::new(), |why| format!(" ({why})"));
            lines.push(format!("* {}: {}{why}", answers.model, answer.says));
        }
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}
