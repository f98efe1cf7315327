//! What `weir fences` found, for a person.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use weir::fences::{Beyond, Broken, Fence, Repair, Repairs};
use weir::report::counted;
use weir::report::run::{self as run_report, Layout};
use weir::report::table::Table;
use weir::{Loaded, MemoryModel, Verdict};
use weir_model::question::Kind as QuestionKind;

use super::Found;
use super::early::Early;
use crate::cli::fences::Fences;
use crate::commands::Status;
use crate::output::{HINTS, caveat, paint};
use crate::terminal::{self, QUIET, STRONG, style};

pub fn text(known: &Found<'_>, args: &Fences) -> String {
    let found = known.repairs;
    let name = paint(STRONG, &found.source.name);
    let mut out = format!("{name} under {}\n{}\n", found.model, caveat(&found.source, found.model));
    let status = match known.status() {
        Status::Fine => Verdict::Holds,
        Status::Violated => Verdict::Violated,
        _ => Verdict::Unknown,
    };
    let _ = writeln!(out, "  {}", paint(style(status), &known.headline()));
    if let Some(beyond) = &found.beyond {
        out += &beyond_lines(known, beyond, args);
        return out;
    }
    if found.sets.is_empty() {
        let broken = known.early.iter().filter(|early| matches!(early, Early::Broken { .. }));
        broken.for_each(|early| out += &early.text());
    }
    // Of fences that stand in the program, the list below says which are needed.
    let is_listed = known.is_redundant && found.sets.len() == 1;
    if let Some(cheapest) = found.sets.first().filter(|s| !s.fences.is_empty() && !is_listed) {
        out += &cheapest_lines(known, cheapest);
    }
    if found.sets.len() > 1 {
        let _ = writeln!(out, "\n  Other sets:");
        let mut table = Table::default();
        for repair in &found.sets[1..] {
            table.row([format!("cost {}", repair.cost), places(known, &repair.fences)]);
        }
        for line in table.lines("  ") {
            let _ = writeln!(out, "    {line}");
        }
    }
    if known.is_redundant {
        out += &unneeded(found);
    } else {
        out += &regions(found);
    }
    for (fences, why) in &found.open {
        let places = places(known, fences);
        let _ = writeln!(out, "\n  It is not known whether these are enough ({why}): {places}");
    }
    if args.runs
        && let (Some(repair), Some(back)) = (found.sets.first(), known.back.first())
    {
        for (fence, back) in repair.fences.iter().zip(back) {
            let (word, place) = (found.word(fence.kind), place_name(known, fence.place));
            let _ = writeln!(out, "\n  Without the {word} {place}:");
            out += &run_lines(&back.loaded, &back.broken, args.full);
        }
    }
    let tally = &found.tally;
    let _ = writeln!(
        out,
        "\n{}",
        paint(QUIET, &format!("{} checked", counted(tally.checks, "candidate")))
    );
    out
}

/// The fences of the cheapest set, and what comes back without each.
fn cheapest_lines(known: &Found<'_>, repair: &Repair) -> String {
    let found = known.repairs;
    let mut out = format!("\n  The cheapest set, cost {}:\n", repair.cost);
    let mut table = Table::default();
    let back = known.back.first().map_or(&[][..], Vec::as_slice);
    for fence in &repair.fences {
        table.row([
            found.word(fence.kind).to_owned(),
            place_name(known, fence.place),
            line_text(found, found.places[fence.place].line),
        ]);
    }
    for (i, line) in table.lines("  ").iter().enumerate() {
        let _ = writeln!(out, "    {line}");
        if let Some(back) = back.get(i) {
            let steps = counted(back.broken.run.steps.len(), "step");
            let text = format!("without it, {}: {steps}", shown(&back.loaded, &back.broken));
            let _ = writeln!(out, "      {}", paint(QUIET, &text));
        }
    }
    out
}

/// Where fences stand, in short.
fn places(known: &Found<'_>, fences: &[Fence]) -> String {
    let place =
        |f: &Fence| format!("{} {}", known.repairs.word(f.kind), place_name(known, f.place));
    fences.iter().map(place).collect::<Vec<_>>().join(", ")
}

/// Where a fence stands.
pub fn place_name(known: &Found<'_>, number: usize) -> String {
    let found = known.repairs;
    let place = &found.places[number];
    let line = place.line;
    let side = match place.is_behind {
        true => "behind",
        false => "before",
    };
    match (known.is_redundant, place.is_inline) {
        (true, false) => format!("on line {line}"),
        (true, true) => format!("on line {line}, column {}", column(found, number) + 1),
        (false, false) => format!("{side} line {line}"),
        (false, true) => match code_at(found, number).as_str() {
            "" => format!("at the end of line {line}"),
            code => format!("{side} `{code}` in line {line}"),
        },
    }
}

/// How many characters stand before a place in its line.
pub fn column(found: &Repairs, number: usize) -> usize {
    let before = &found.source.text[..found.places[number].range.start];
    before.chars().rev().take_while(|c| *c != '\n').count()
}

/// The code that a fence stands before or behind, in short.
fn code_at(found: &Repairs, number: usize) -> String {
    short(&found.source.text[found.places[number].range.clone()])
}

/// The text of a line, in short.
fn line_text(found: &Repairs, line: usize) -> String {
    short(found.source.text.lines().nth(line - 1).unwrap_or(""))
}

/// A part of a line without comments and separators, of at most 40 characters.
fn short(text: &str) -> String {
    let text = text.split("//").next().unwrap_or("").trim();
    let text = text.trim_end_matches([' ', '\t', ';', '|']);
    match text.chars().count() > 40 {
        true => text.chars().take(39).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

/// What a run shows.
pub fn shown(loaded: &Loaded, broken: &Broken) -> String {
    let Some(number) = broken.question else {
        return "some run has a trace that no SC run has".to_owned();
    };
    let question = &loaded.system.questions[number];
    let verdict = question.outcome(question.verdict(true)).unwrap_or("violated");
    let property = loaded.system.program.properties.get(number);
    match (property.and_then(|p| p.name.as_ref()), &question.kind) {
        (Some(name), _) => format!("{name} is {verdict}"),
        (None, QuestionKind::Assertions) => format!("an assertion is {verdict}"),
        (None, kind) => {
            format!("`{}` of line {} is {verdict}", kind.name(), loaded.line(question.span))
        }
    }
}

/// Runs that no fences prevent.
fn beyond_lines(known: &Found<'_>, beyond: &Beyond, args: &Fences) -> String {
    let mut out = String::new();
    for broken in &beyond.runs {
        let what = shown(&beyond.loaded, broken);
        let _ = writeln!(out, "\n  {} {what}:", whose(known, beyond));
        out += &run_lines(&beyond.loaded, broken, args.full);
    }
    out
}

/// Which program has a run that no fences prevent.
pub fn whose(known: &Found<'_>, beyond: &Beyond) -> &'static str {
    match (beyond.model, known.is_redundant) {
        (MemoryModel::SC, _) => "Under SC",
        (_, true) if known.repairs.places.is_empty() => "Without fences,",
        (_, true) => "With all its fences,",
        (_, false) => "With a fence wherever one can stand,",
    }
}

/// A run that should not be there, with the cycle of its trace if it is about that.
pub fn run_lines(loaded: &Loaded, broken: &Broken, full: bool) -> String {
    let layout = Layout { width: terminal::width() - 4, full, hints: HINTS, ..Layout::default() };
    let lines = match broken.question {
        None => run_report::cycle_lines(loaded, &broken.run, &broken.cycle, layout),
        question => run_report::lines(loaded, &broken.run, question, layout),
    };
    lines.iter().map(|line| format!("    {line}").trim_end().to_owned() + "\n").collect()
}

/// Whether a fence of a program is needed.
pub fn need(found: &Repairs, place: usize) -> &'static str {
    let has_it = |set: &&Repair| set.fences.iter().any(|f| f.place == place);
    // A run goes through with all others.
    let is_alone = |region: &Vec<Fence>| region.iter().all(|f| f.place == place);
    match found.sets.iter().filter(has_it).count() {
        _ if found.regions.iter().any(is_alone) => "needed",
        0 if found.is_complete => "not needed",
        n if n == found.sets.len() && found.is_complete => "needed",
        0 if found.sets.is_empty() => "not known",
        _ => "in some sets",
    }
}

/// Which fences of a program are in no set, and which are in all.
fn unneeded(found: &Repairs) -> String {
    let mut out = String::new();
    let mut table = Table::default();
    for (place, at) in found.places.iter().enumerate() {
        let word = need(found, place);
        let line = match at.is_inline {
            true => format!("line {}, column {}", at.line, column(found, place) + 1),
            false => format!("line {}", at.line),
        };
        let order = found.order(place).map(str::to_owned);
        let cells = [line, line_text(found, at.line)].into_iter().chain(order);
        table.row(cells.chain([word.to_owned()]));
    }
    if !found.places.is_empty() {
        out.push('\n');
    }
    for line in table.lines("  ") {
        let _ = writeln!(out, "  {line}");
    }
    out
}

/// The fences of a region in one line.
#[derive(Default)]
struct Drawn<'a> {
    /// Before the line.
    before: BTreeSet<&'a str>,
    /// Behind it.
    behind: BTreeSet<&'a str>,
    /// In it, by how many characters stand before.
    inline: BTreeMap<usize, BTreeSet<&'a str>>,
}

/// Where fences are needed, drawn into the lines of the program.
fn regions(found: &Repairs) -> String {
    let mut out = String::new();
    let lines: Vec<&str> = found.source.text.lines().collect();
    for region in &found.regions {
        let mut at: BTreeMap<usize, Drawn<'_>> = BTreeMap::new();
        for fence in region {
            let place = &found.places[fence.place];
            let drawn = at.entry(place.line).or_default();
            let words = match (place.is_inline, place.is_behind) {
                (true, _) => drawn.inline.entry(column(found, fence.place)).or_default(),
                (false, false) => &mut drawn.before,
                (false, true) => &mut drawn.behind,
            };
            words.insert(found.word(fence.kind));
        }
        let (Some(first), Some(last)) = (at.keys().next(), at.keys().last()) else { continue };
        let places: BTreeSet<usize> = region.iter().map(|f| f.place).collect();
        let where_ = match places.len() {
            1 => "here".to_owned(),
            n => format!("at one of {n} places"),
        };
        let _ = writeln!(out, "\n  A fence is needed {where_}:");
        let (first, last) = (first.saturating_sub(1).max(1), (*last).min(lines.len()));
        let mut skipped = false;
        for line in first..=last {
            // Long stretches without a place are left out.
            let near = at.range(line.saturating_sub(1)..=line + 1).next().is_some();
            if !near {
                if !skipped {
                    let _ = writeln!(out, "{:>6} …", "");
                }
                skipped = true;
                continue;
            }
            skipped = false;
            let text = lines[line - 1];
            let drawn = at.get(&line);
            if let Some(drawn) = drawn {
                out += &own_line(text, &drawn.before);
            }
            let shown = format!("{line:>6} | {text}");
            let _ = writeln!(out, "{}", shown.trim_end());
            if let Some(drawn) = drawn {
                out += &carets(text, &drawn.inline);
                out += &own_line(text, &drawn.behind);
            }
        }
    }
    out
}

/// Fences on a line of their own, indented like another one; nothing if there are none.
fn own_line(like: &str, words: &BTreeSet<&str>) -> String {
    if words.is_empty() {
        return String::new();
    }
    let indent: String = like.chars().take_while(|c| c.is_whitespace()).collect();
    let drawn = format!("{:>6} + {indent}{}", "", any_of(words));
    paint(STRONG, drawn.trim_end()) + "\n"
}

/// Marks under a line where fences can stand: one row for all places with the same ones.
fn carets(text: &str, inline: &BTreeMap<usize, BTreeSet<&str>>) -> String {
    let mut rows: BTreeMap<&BTreeSet<&str>, Vec<usize>> = BTreeMap::new();
    for (column, words) in inline {
        rows.entry(words).or_default().push(*column);
    }
    let row = |(words, columns): (&BTreeSet<&str>, Vec<usize>)| {
        let end = columns.last().map_or(0, |last| last + 1);
        // Tabs stay, so that columns stand under each other.
        let mark = |(number, c): (usize, char)| match () {
            () if columns.contains(&number) => '^',
            () if c == '\t' => c,
            () => ' ',
        };
        let text = text.chars().chain(std::iter::repeat(' '));
        let marks: String = text.take(end).enumerate().map(mark).collect();
        paint(STRONG, &format!("{:>6} + {marks} {}", "", any_of(words))) + "\n"
    };
    rows.into_iter().map(row).collect()
}

fn any_of(words: &BTreeSet<&str>) -> String {
    words.iter().copied().collect::<Vec<_>>().join(" or ")
}

/// The cheapest sets under several models, one column each.
pub fn side_by_side(all: &[Repairs]) -> String {
    let cheapest = |found: &Repairs| found.sets.first().map(|set| set.fences.clone());
    let sets: Vec<Option<Vec<Fence>>> = all.iter().map(cheapest).collect();
    let places: BTreeSet<usize> = sets.iter().flatten().flatten().map(|f| f.place).collect();
    let mut table = Table::default();
    let models = all.iter().map(|found| found.model.to_string());
    table.row(["line".to_owned(), String::new()].into_iter().chain(models));
    for place in places {
        let at = &all[0].places[place];
        let text = match at.is_inline {
            true => code_at(&all[0], place),
            false => line_text(&all[0], at.line),
        };
        let mut row = vec![at.line.to_string(), text];
        for (found, set) in all.iter().zip(&sets) {
            let here = set.iter().flatten().filter(|f| f.place == place);
            let words: Vec<&str> = here.map(|f| found.word(f.kind)).collect();
            row.push(words.join(", "));
        }
        table.row(row);
    }
    let mut out = format!("\n{}: the cheapest sets\n\n", paint(STRONG, &all[0].source.name));
    for line in table.lines("  ") {
        let _ = writeln!(out, "  {line}");
    }
    for found in all.iter().filter(|found| found.sets.is_empty()) {
        let _ = writeln!(out, "\n  Under {} no set is known.", found.model);
    }
    out
}
