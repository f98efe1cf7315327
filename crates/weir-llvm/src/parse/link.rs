//! Several modules as one, as a linker joins them.
//!
//! What a module keeps to itself (`private`, `internal`) gets another name if some other module has the same one.
//! Of functions and variables that may be defined several times (`weak`, `linkonce`, `common`,
//! `available_externally`) one definition is taken: one that may not, if there is one. Types with names are
//! shared if all modules that name them agree; a module that does not agree has its own ones.

use std::collections::{HashMap, HashSet};

use super::{Failed, Parsed, Parser};
use crate::lexer::Lexer;
use crate::{Body, Function, Global, MetaId, Value};

/// Who can use what a module defines, and whether others may define it too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Linkage {
    #[default]
    Strong,
    Weak,
    /// Of all modules the elements are joined.
    Appending,
}

impl Linkage {
    pub(super) fn of(word: &str) -> Option<Self> {
        match word {
            "weak"
            | "weak_odr"
            | "linkonce"
            | "linkonce_odr"
            | "common"
            | "available_externally" => Some(Self::Weak),
            "appending" => Some(Self::Appending),
            _ => None,
        }
    }
}

/// What the parser knows of the module that it reads, among others.
#[derive(Default)]
pub(super) struct Part {
    /// Where its text begins behind those before.
    pub base: usize,
    /// The number of its first node of metadata.
    pub first_meta: u32,
    /// One more than the largest number of a node.
    pub end_meta: u32,
    /// Other names for what it keeps to itself.
    pub private: HashMap<String, String>,
    /// What its types are called besides.
    pub type_suffix: String,
    /// The linkage of what was defined before, by the number of the function or of the global.
    functions: HashMap<String, (usize, Linkage)>,
    globals: HashMap<String, (usize, Linkage)>,
}

impl Part {
    pub(super) fn meta(&mut self, id: MetaId) -> Option<MetaId> {
        let id = self.first_meta.checked_add(id.0)?;
        self.end_meta = self.end_meta.max(id.checked_add(1)?);
        Some(MetaId(id))
    }
}

/// The name that a text behind `@` or `%` begins with.
fn name_at(text: &str) -> String {
    let mut lexer = Lexer::new(text);
    lexer.name()
}

/// The names that the lines of a text define: with `@`, and whether only this module knows it.
fn names(text: &str) -> impl Iterator<Item = (String, bool)> {
    text.lines().filter_map(|line| {
        if let Some(rest) = line.strip_prefix('@') {
            let words = rest.split_once(" = ").map_or("", |(_, words)| words);
            let first = words.split(' ').next().unwrap_or("");
            return Some((name_at(rest), matches!(first, "private" | "internal")));
        }
        let rest = line.strip_prefix("define ").or_else(|| line.strip_prefix("declare "))?;
        let (words, name) = rest.split_once('@')?;
        let is_private = words.split(' ').any(|word| matches!(word, "private" | "internal"));
        Some((name_at(name), is_private))
    })
}

/// The named types of a text, with the line that defines each.
fn types(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter(|line| line.starts_with('%')).filter_map(|line| line.split_once(" = type "))
}

/// Prepares reading these texts: for each one the names that differ there.
pub(super) fn parts(texts: &[&str]) -> Vec<Part> {
    let mut known: HashMap<String, usize> = HashMap::new();
    if texts.len() > 1 {
        for text in texts {
            let here: HashSet<String> = names(text).map(|(name, _)| name).collect();
            for name in here {
                *known.entry(name).or_insert(0) += 1;
            }
        }
    }
    let mut types_before: HashMap<&str, &str> = HashMap::new();
    let (mut parts, mut base) = (Vec::new(), 0);
    for (number, text) in texts.iter().enumerate() {
        let mut part = Part { base, ..Part::default() };
        base += text.len();
        if texts.len() > 1 {
            for (name, _) in names(text).filter(|(_, is_private)| *is_private) {
                if known.get(&name).is_some_and(|count| *count > 1) {
                    let mut other = format!("{name}.{number}");
                    while known.contains_key(&other) {
                        other.push_str(".0");
                    }
                    part.private.insert(name, other);
                }
            }
            if types(text).any(|(name, line)| types_before.get(name).is_some_and(|l| *l != line)) {
                part.type_suffix = format!(".{number}");
            } else {
                types_before.extend(types(text));
            }
        }
        parts.push(part);
    }
    parts
}

impl Parser<'_> {
    /// Goes on with the text of another module.
    pub(super) fn next_part(&mut self, mut part: Part) {
        part.first_meta = self.part.end_meta;
        part.end_meta = part.first_meta;
        part.functions = std::mem::take(&mut self.part.functions);
        part.globals = std::mem::take(&mut self.part.globals);
        self.part = part;
    }

    /// A name of this module, as all modules call it.
    pub(super) fn global_name(&self, name: String) -> String {
        self.part.private.get(&name).cloned().unwrap_or(name)
    }

    /// Whether one definition takes the place of another one.
    fn replaces(&self, name: &str, (old, new): (Linkage, Linkage), at: usize) -> Parsed<bool> {
        match (old, new) {
            (_, Linkage::Weak) => Ok(false),
            (Linkage::Weak, _) => Ok(true),
            _ => Err(Failed { message: format!("`@{name}` is defined twice"), at }),
        }
    }

    /// Adds a function.
    pub(super) fn add_function(&mut self, function: Function, linkage: Linkage) -> Parsed<()> {
        let next = self.module.functions.len();
        let (place, before) =
            *self.part.functions.entry(function.name.clone()).or_insert((next, linkage));
        if place == next {
            self.module.functions.push(function);
            return Ok(());
        }
        let is_declared = self.module.functions[place].body == Body::None;
        if function.body != Body::None
            && (is_declared
                || self.replaces(&function.name, (before, linkage), function.range.start)?)
        {
            self.part.functions.insert(function.name.clone(), (place, linkage));
            self.module.functions[place] = function;
        }
        Ok(())
    }

    /// Adds a variable.
    pub(super) fn add_global(&mut self, global: Global, linkage: Linkage) -> Parsed<()> {
        let next = self.module.globals.len();
        let (place, before) =
            *self.part.globals.entry(global.name.clone()).or_insert((next, linkage));
        if place == next {
            self.module.globals.push(global);
            return Ok(());
        }
        let old = &mut self.module.globals[place];
        match (&mut old.init, global.init) {
            (_, None) => {}
            (Some(Value::Aggregate(all)), Some(Value::Aggregate(more)))
                if linkage == Linkage::Appending =>
            {
                all.extend(more);
            }
            (init, new) => {
                if init.is_none()
                    || self.replaces(&global.name, (before, linkage), global.range.start)?
                {
                    self.part.globals.insert(global.name.clone(), (place, linkage));
                    self.module.globals[place] = Global { init: new, ..global };
                }
            }
        }
        Ok(())
    }
}
