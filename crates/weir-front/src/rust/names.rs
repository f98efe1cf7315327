//! What names stand for.

use super::items::{CRATES, Def, Items, is_known_std, is_order, is_std_type};
use super::library_calls::FUNCTIONS;

impl Items {
    /// What a path of types and modules stands for.
    pub fn ty(&self, module: usize, path: &[String]) -> Option<Def> {
        self.find(module, path, true, 0)
    }

    /// What a path of a value stands for.
    pub fn value(&self, module: usize, path: &[String]) -> Option<Def> {
        self.find(module, path, false, 0)
    }

    pub fn find(&self, module: usize, path: &[String], is_type: bool, depth: usize) -> Option<Def> {
        if depth > 30 {
            return None;
        }
        let [first, rest @ ..] = path else { return None };
        if rest.is_empty() {
            return self.find_name(module, first, is_type, depth);
        }
        let base = match first.as_str() {
            "crate" => Def::Module(self.root(module)),
            "self" => Def::Module(self.around(module)),
            "super" => Def::Module(self.modules[self.around(module)].parent?),
            // A crate, unless a module has its name; globs bring none.
            name if CRATES.contains(&name) && !self.modules[module].types.contains_key(name) => {
                Def::Std(vec![first.clone()])
            }
            _ => match self.find_name(module, first, true, depth) {
                Some(def) => def,
                // A type of the language, or one that only the function knows.
                None if super::types::Ty::named(first).is_some() || first == "Self" => return None,
                None => return Some(Def::Foreign(first.clone())),
            },
        };
        self.find_in(&base, rest, is_type, depth)
    }

    pub fn find_in(&self, base: &Def, rest: &[String], is_type: bool, depth: usize) -> Option<Def> {
        match base {
            Def::Module(inner) => match rest {
                [name] => self.find_inside(*inner, name, is_type, depth),
                [name, rest @ ..] if name == "super" => {
                    let parent = self.modules[*inner].parent?;
                    self.find_in(&Def::Module(parent), rest, is_type, depth + 1)
                }
                [name, rest @ ..] => {
                    let base = self.find_inside(*inner, name, true, depth)?;
                    self.find_in(&base, rest, is_type, depth + 1)
                }
                [] => Some(base.clone()),
            },
            Def::Std(path) => {
                let mut path = path.clone();
                path.extend(rest.iter().cloned());
                self.of_library(path, is_type)
            }
            Def::Adt(id) => {
                let [name] = rest else { return None };
                let variant = self.adts[*id].variants.iter().position(|v| v.name == *name)?;
                self.adts[*id].is_enum.then_some(Def::Variant(*id, variant))
            }
            Def::Foreign(_) => Some(base.clone()),
            _ => None,
        }
    }

    /// The root of the file that a module is in.
    pub fn root(&self, mut module: usize) -> usize {
        while let Some(parent) = self.modules[module].parent {
            module = parent;
        }
        module
    }

    pub fn around(&self, mut module: usize) -> usize {
        while self.modules[module].is_block
            && let Some(parent) = self.modules[module].parent
        {
            module = parent;
        }
        module
    }

    pub fn find_name(&self, module: usize, name: &str, is_type: bool, depth: usize) -> Option<Def> {
        let mut at = module;
        loop {
            if let Some(def) = self.find_inside(at, name, is_type, depth) {
                return Some(def);
            }
            let here = &self.modules[at];
            match here.parent {
                Some(parent) if here.is_block => at = parent,
                _ => break,
            }
        }
        if is_type && CRATES.contains(&name) {
            return Some(Def::Std(vec![name.to_owned()]));
        }
        self.prelude(name, is_type)
    }

    pub fn find_inside(
        &self,
        module: usize,
        name: &str,
        is_type: bool,
        depth: usize,
    ) -> Option<Def> {
        if depth > 30 {
            return None;
        }
        let here = &self.modules[module];
        let map = if is_type { &here.types } else { &here.values };
        if let Some(def) = map.get(name) {
            return Some(def.clone());
        }
        for (_, path) in here.uses.iter().filter(|(used, _)| used == name) {
            // `use x::x` does not mean itself.
            let from = if path[0] == *name { here.parent.unwrap_or(module) } else { module };
            let found = if path.len() == 1 && path[0] == *name {
                self.find_name(from, name, is_type, depth + 5)
            } else {
                self.find(from, path, is_type, depth + 1)
            };
            match found {
                Some(Def::Std(std)) if !is_known_std(&std, is_type) => {}
                Some(def) => return Some(def),
                None => {}
            }
        }
        for path in &here.globs {
            let base = match path.first().map(String::as_str) {
                None => None,
                Some("self") if path.len() == 1 => None,
                Some("super") if path.len() == 1 => {
                    self.modules[self.around(module)].parent.map(Def::Module)
                }
                Some("crate") if path.len() == 1 => Some(Def::Module(self.root(module))),
                _ => self.find(module, path, true, depth + 6),
            };
            let found = match base {
                Some(Def::Std(mut std)) => {
                    std.push(name.to_owned());
                    self.of_library(std, is_type).filter(|def| match def {
                        Def::Std(_) if is_type => is_std_type(name),
                        Def::Std(path) => {
                            let module = path.len().checked_sub(2).map_or("", |i| &path[i]);
                            let here = FUNCTIONS.iter().find(|(known, _)| *known == module);
                            is_order(name) || here.is_some_and(|(_, all)| all.contains(&name))
                        }
                        _ => true,
                    })
                }
                Some(Def::Foreign(_)) | None => None,
                Some(base) => self.find_in(&base, &[name.to_owned()], is_type, depth + 1),
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// A path of the standard library: written in the library that comes with this reader, or
    /// built in.
    pub fn of_library(&self, path: Vec<String>, is_type: bool) -> Option<Def> {
        let library = self.modules.get(self.library)?;
        let [.., last] = &path[..] else { return None };
        let map = if is_type { &library.types } else { &library.values };
        // Modules and functions of modules.
        if path.len() >= 2 && !is_type {
            let module = &path[path.len() - 2];
            match library.types.get(module) {
                Some(Def::Module(inner)) => {
                    if let Some(def) = self.modules[*inner].values.get(last) {
                        return Some(def.clone());
                    }
                }
                // `std::option::Option::Some`
                Some(Def::Adt(id)) if self.adts[*id].is_enum => {
                    let variant = self.adts[*id].variants.iter().position(|v| v.name == *last);
                    if let Some(variant) = variant {
                        return Some(Def::Variant(*id, variant));
                    }
                }
                _ => {}
            }
        }
        match map.get(last) {
            Some(Def::Module(_)) | None => Some(Def::Std(path)),
            // A function of the library needs its module.
            Some(Def::Function(_)) => Some(Def::Std(path)),
            Some(def) => Some(def.clone()),
        }
    }

    /// Names that need no `use`.
    pub fn prelude(&self, name: &str, is_type: bool) -> Option<Def> {
        let std = |path: &[&str]| {
            let path = path.iter().map(|s| (*s).to_owned()).collect();
            self.of_library(path, is_type)
        };
        if is_type {
            match name {
                "Option" | "Result" | "Box" | "Vec" | "String" | "Some" | "Ok" => {
                    std(&["std", name])
                }
                // The library itself sees all that is built in.
                _ => None,
            }
        } else {
            match name {
                "Some" | "None" => std(&["std", "Option", name]),
                "Ok" | "Err" => std(&["std", "Result", name]),
                "drop" => std(&["std", "mem", "drop"]),
                _ if name.starts_with("weir_") => Some(Def::Std(vec![name.to_owned()])),
                _ => None,
            }
        }
    }
}
