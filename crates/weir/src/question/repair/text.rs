//! What was found about fences and orders, for a person.

use std::collections::{BTreeMap, BTreeSet};

use weir_front::orders::Access;
use weir_model::memory_model::MemoryModel;
use weir_model::program::Order;
use weir_model::question::Kind as QuestionKind;

use super::{Back, Repaired, What};
use crate::fences::{Beyond, Broken, Change, Less, Place, Repair, Repairs, To};
use crate::finding::{Block, Line};
use crate::load::Loaded;
use crate::report::counted;
use crate::report::run::{self, Layout};
use crate::report::table::Table;

/// Everything below the headline.
pub fn blocks(known: &Repaired, layout: Layout) -> Vec<Block> {
    let found = &known.repairs;
    if let Some(beyond) = &found.beyond {
        return beyond
            .runs
            .iter()
            .map(|broken| beyond_block(known, beyond, broken, layout))
            .collect();
    }
    let mut blocks: Vec<Block> =
        known.broken.iter().map(|back| broken_block(back, layout)).collect();
    // Of fences that stand in the program, the list below says which are needed.
    let is_listed = known.is_redundant && found.sets.len() == 1;
    let has_something = |set: &&Repair| !set.changes.is_empty() || !set.kept.is_empty();
    if let Some(cheapest) = found.sets.first().filter(|set| has_something(set) && !is_listed) {
        blocks.push(match found.is_weakened {
            true => weakest_block(known, cheapest),
            false => cheapest_block(known, cheapest),
        });
    }
    if found.sets.len() > 1 {
        let mut table = Table::default();
        for repair in &found.sets[1..] {
            table.row([format!("cost {}", repair.cost), places(known, &repair.changes)]);
        }
        let title = if found.is_weakened { "Other weakenings" } else { "Other sets" };
        blocks.push(Block::plain("", title, table.lines("  ")));
    }
    match known.is_redundant {
        true => blocks.extend(unneeded(found)),
        false if found.is_weakened => {}
        false => {
            blocks.extend(found.regions.iter().filter_map(|region| region_block(found, region)))
        }
    }
    if !found.untried.is_empty() {
        let lines = found.untried.iter().map(|(file, line)| match file {
            Some(file) => format!("  line {line} of {file}"),
            None => format!("  line {line}  {}", line_text(found, *line)),
        });
        let title = "Not tried, since the text names no order here";
        blocks.push(Block::plain("", title, lines.collect()));
    }
    for (changes, why) in &found.open {
        let title = format!("It is not known whether these are enough ({why})");
        blocks.push(Block::plain("", title, vec![places(known, changes)]));
    }
    if known.shows_runs
        && let Some(back) = known.back.first()
    {
        for (less, back) in back {
            let place = place_name(known, less.change.place);
            let title = match less.instead {
                None => format!("Without the {} {place}", found.word(less.change.to)),
                Some(order) => format!("With {order} {place}"),
            };
            let lines = run_lines(&back.loaded, &back.broken, layout);
            blocks.push(Block::plain("", title, lines));
        }
    }
    blocks
}

/// A run of the program as it is.
pub fn broken_block(back: &Back, layout: Layout) -> Block {
    let title = format!("As it is, {}", shown(&back.loaded, &back.broken));
    Block::plain("", title, run_lines(&back.loaded, &back.broken, layout))
}

/// The changes of the cheapest set, and what comes back without each.
fn cheapest_block(known: &Repaired, repair: &Repair) -> Block {
    let found = &known.repairs;
    let mut table = Table::default();
    let has_orders = repair.changes.iter().any(|change| change.to.order().is_some());
    for change in &repair.changes {
        let what = match found.ordered(change.place) {
            Some((access, _)) => access.name().to_owned(),
            None => found.word(change.to).to_owned(),
        };
        let step = has_orders.then(|| step(found, change));
        let text = line_text(found, found.places[change.place].line);
        let cells = [what, place_name(known, change.place)].into_iter().chain(step);
        table.row(cells.chain([text]));
    }
    let mut lines = Vec::new();
    for (change, line) in repair.changes.iter().zip(table.lines("  ")) {
        lines.push(Line::Plain(line));
        lines.extend(come_back(known, change));
    }
    Block { name: String::new(), title: format!("The cheapest set, cost {}", repair.cost), lines }
}

/// The weakest orders, and what comes back where one is weaker still.
fn weakest_block(known: &Repaired, repair: &Repair) -> Block {
    let found = &known.repairs;
    let mut shown: Vec<Change> = repair.kept.clone();
    let is_kept = |place: usize| repair.kept.iter().any(|kept| kept.place == place);
    shown.extend(repair.changes.iter().filter(|change| !is_kept(change.place)));
    shown.sort_unstable();
    let mut table = Table::default();
    for change in &shown {
        let access = found.ordered(change.place).map_or("order", |(access, _)| access.name());
        let text = line_text(found, found.places[change.place].line);
        let place = place_name(known, change.place);
        table.row([access.to_owned(), place, step(found, change), text]);
    }
    let mut lines = Vec::new();
    for (change, line) in shown.iter().zip(table.lines("  ")) {
        lines.push(Line::Plain(line));
        lines.extend(come_back(known, change));
    }
    let title = format!("The weakest orders, cost {} instead of {}", repair.cost, found.cost);
    Block { name: String::new(), title, lines }
}

/// What comes back without a change of the cheapest set, or with an order one step weaker.
fn come_back(known: &Repaired, change: &Change) -> Vec<Line> {
    let back = known.back.first().map_or(&[][..], Vec::as_slice);
    let here = back.iter().filter(|(less, _)| less.change == *change);
    let line = |(less, back): &(Less, std::sync::Arc<Back>)| {
        let steps = counted(back.broken.run.steps.len(), "step");
        let shows = shown(&back.loaded, &back.broken);
        let now = known.repairs.ordered(change.place).map(|(_, now)| now);
        match less.instead {
            Some(order) if now != Some(order) || known.repairs.is_weakened => {
                let order = order_name(&known.repairs, change.place, order);
                Line::Quiet(format!("  with {order}, {shows}: {steps}"))
            }
            _ => Line::Quiet(format!("  without it, {shows}: {steps}")),
        }
    };
    here.map(line).collect()
}

/// What an order is called at a place: a relaxed fence is none.
fn order_name(found: &Repairs, place: usize, order: Order) -> &'static str {
    match (found.ordered(place), order) {
        (Some((Access::Fence, _)), Order::Relaxed) => "none",
        _ => order.name(),
    }
}

/// What an order is, and what it becomes; nothing for a fence.
fn step(found: &Repairs, change: &Change) -> String {
    match (found.ordered(change.place), change.to) {
        (Some((_, now)), To::Order(order)) if order == now => format!("{order}, needed"),
        (Some((_, now)), To::Order(order)) => {
            format!("{now} → {}", order_name(found, change.place, order))
        }
        _ => String::new(),
    }
}

/// Where changes are, in short.
fn places(known: &Repaired, changes: &[Change]) -> String {
    let found = &known.repairs;
    let place = |change: &Change| {
        let name = place_name(known, change.place);
        match found.ordered(change.place) {
            Some((access, _)) => format!("{} {name}: {}", access.name(), step(found, change)),
            None => format!("{} {name}", found.word(change.to)),
        }
    };
    changes.iter().map(place).collect::<Vec<_>>().join(", ")
}

/// Where a fence stands, or an order.
pub fn place_name(known: &Repaired, number: usize) -> String {
    let found = &known.repairs;
    let place = &found.places[number];
    let line = place.line;
    if found.ordered(number).is_some() {
        let on_line =
            |(other, at): (usize, &Place)| at.line == line && found.ordered(other).is_some();
        return match found.places.iter().enumerate().filter(|at| on_line(*at)).count() {
            0 | 1 => format!("on line {line}"),
            _ => format!("on line {line}, column {}", column(found, number) + 1),
        };
    }
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
    let question = &loaded.system.questions[number.index()];
    let verdict = question.outcome(question.verdict(true)).unwrap_or("violated");
    let property = loaded.system.program.properties.get(number.index());
    match (property.and_then(|p| p.name.as_ref()), &question.kind) {
        (Some(name), _) => format!("{name} is {verdict}"),
        (None, QuestionKind::Assertions) => format!("an assertion is {verdict}"),
        (None, QuestionKind::Races) => "two accesses race".to_owned(),
        (None, kind) => {
            format!("`{}` of line {} is {verdict}", kind.name(), loaded.line(question.span))
        }
    }
}

/// A run that no fences prevent.
fn beyond_block(known: &Repaired, beyond: &Beyond, broken: &Broken, layout: Layout) -> Block {
    let title = format!("{} {}", whose(known, beyond), shown(&beyond.loaded, broken));
    Block::plain("", title, run_lines(&beyond.loaded, broken, layout))
}

/// Which program has a run that no fences prevent.
pub fn whose(known: &Repaired, beyond: &Beyond) -> &'static str {
    match (beyond.model, known.is_redundant) {
        (MemoryModel::SC, _) => "Under SC",
        (_, false) if known.repairs.is_weakened => "With its orders as they are,",
        (_, false) if known.what() == What::Orders => "With the strongest orders,",
        (_, true) if known.repairs.places.is_empty() => "Without fences,",
        (_, true) => "With all its fences,",
        (_, false) => "With a fence wherever one can stand,",
    }
}

/// A run that should not be there, with the cycle of its trace if it is about that.
fn run_lines(loaded: &Loaded, broken: &Broken, layout: Layout) -> Vec<String> {
    match broken.question {
        None => run::cycle_lines(loaded, &broken.run, &broken.cycle, layout),
        question => run::lines(loaded, &broken.run, question, layout),
    }
}

/// Whether a fence of a program is needed.
pub fn need(found: &Repairs, place: usize) -> &'static str {
    let has_it = |set: &&Repair| set.changes.iter().any(|f| f.place == place);
    // A run goes through with all others.
    let is_alone = |region: &Vec<Change>| region.iter().all(|f| f.place == place);
    match found.sets.iter().filter(has_it).count() {
        _ if found.regions.iter().any(is_alone) => "needed",
        0 if found.is_complete => "not needed",
        n if n == found.sets.len() && found.is_complete => "needed",
        0 if found.sets.is_empty() => "not known",
        _ => "in some sets",
    }
}

/// Which fences of a program are in no set, and which are in all.
fn unneeded(found: &Repairs) -> Option<Block> {
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
    let has_some = !found.places.is_empty();
    has_some.then(|| Block::plain("", "The fences of the program", table.lines("  ")))
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

/// Where a fence is needed, drawn into the lines of the program.
fn region_block(found: &Repairs, region: &[Change]) -> Option<Block> {
    let lines: Vec<&str> = found.source.text.lines().collect();
    let mut at: BTreeMap<usize, Drawn<'_>> = BTreeMap::new();
    for fence in region {
        let place = &found.places[fence.place];
        let drawn = at.entry(place.line).or_default();
        let words = match (place.is_inline, place.is_behind) {
            (true, _) => drawn.inline.entry(column(found, fence.place)).or_default(),
            (false, false) => &mut drawn.before,
            (false, true) => &mut drawn.behind,
        };
        words.insert(found.word(fence.to));
    }
    let (first, last) = (*at.keys().next()?, *at.keys().last()?);
    let places: BTreeSet<usize> = region.iter().map(|f| f.place).collect();
    let orders = region.iter().filter(|change| change.to.order().is_some()).count();
    let what = match orders {
        0 => "A fence",
        n if n == region.len() => "A stronger order",
        _ => "A stronger order or a fence",
    };
    let title = match places.len() {
        1 => format!("{what} is needed here"),
        n => format!("{what} is needed at one of {n} places"),
    };
    let (first, last) = (first.saturating_sub(1).max(1), last.min(lines.len()));
    let mut out = Vec::new();
    let mut skipped = false;
    for line in first..=last {
        // Long stretches without a place are left out.
        let near = at.range(line.saturating_sub(1)..=line + 1).next().is_some();
        if !near {
            if !skipped {
                out.push(Line::Plain(format!("{:>4} …", "")));
            }
            skipped = true;
            continue;
        }
        skipped = false;
        let text = lines[line - 1];
        let drawn = at.get(&line);
        out.extend(drawn.and_then(|drawn| own_line(text, &drawn.before)));
        out.push(Line::Plain(format!("{line:>4} | {text}")));
        if let Some(drawn) = drawn {
            out.extend(carets(text, &drawn.inline));
            out.extend(own_line(text, &drawn.behind));
        }
    }
    Some(Block { name: String::new(), title, lines: out })
}

/// Fences on a line of their own, indented like another one; nothing if there are none.
fn own_line(like: &str, words: &BTreeSet<&str>) -> Option<Line> {
    let indent: String = like.chars().take_while(|c| c.is_whitespace()).collect();
    let drawn = format!("{:>4} + {indent}{}", "", any_of(words));
    (!words.is_empty()).then(|| Line::Strong(drawn.trim_end().to_owned()))
}

/// Marks under a line where fences can stand: one row for all places with the same ones.
fn carets(text: &str, inline: &BTreeMap<usize, BTreeSet<&str>>) -> Vec<Line> {
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
        Line::Strong(format!("{:>4} + {marks} {}", "", any_of(words)))
    };
    rows.into_iter().map(row).collect()
}

fn any_of(words: &BTreeSet<&str>) -> String {
    words.iter().copied().collect::<Vec<_>>().join(" or ")
}

/// The cheapest sets under several models, one column each.
pub fn side_by_side(all: &[&Repaired]) -> Vec<Block> {
    // The places of orders are not those of fences.
    if all.iter().any(|known| known.repairs.places != all[0].repairs.places) {
        return vec![];
    }
    let cheapest = |known: &&Repaired| known.repairs.sets.first().map(|set| set.changes.clone());
    let sets: Vec<Option<Vec<Change>>> = all.iter().map(cheapest).collect();
    let places: BTreeSet<usize> = sets.iter().flatten().flatten().map(|f| f.place).collect();
    let mut table = Table::default();
    let models = all.iter().map(|known| known.repairs.model.to_string());
    table.row(["line".to_owned(), String::new()].into_iter().chain(models));
    let first = &all[0].repairs;
    for place in places {
        let at = &first.places[place];
        let text = match at.is_inline {
            true => code_at(first, place),
            false => line_text(first, at.line),
        };
        let mut row = vec![at.line.to_string(), text];
        for (known, set) in all.iter().zip(&sets) {
            let here = set.iter().flatten().filter(|f| f.place == place);
            let words: Vec<&str> = here.map(|f| known.repairs.word(f.to)).collect();
            row.push(words.join(", "));
        }
        table.row(row);
    }
    let mut lines = table.lines("  ");
    for known in all.iter().filter(|known| known.repairs.sets.is_empty()) {
        lines.push(format!("Under {} no set is known.", known.repairs.model));
    }
    vec![Block::plain(&first.source.name, "the cheapest sets", lines)]
}
