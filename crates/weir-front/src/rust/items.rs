//! Items: functions, types, statics and modules, and what names stand for.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use syn::spanned::Spanned;

use super::syntax;
use crate::errors::quote;
use crate::{Diagnostic, Settings, Source};

/// What methods of a type are found by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Head {
    /// A type that is declared.
    Adt(usize),
    /// A type of the language or of the library that is built in.
    Named(&'static str),
}

/// What a name stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum Def {
    Module(usize),
    Function(usize),
    Static(usize),
    Const(usize),
    Adt(usize),
    Variant(usize, usize),
    Alias(usize),
    Trait(usize),
    /// Something of the standard library that is built in.
    Std(Vec<String>),
    /// Something of another crate.
    Foreign(String),
}

#[derive(Debug, Default)]
pub struct Module {
    pub parent: Option<usize>,
    /// Whether names of the module around it are seen, as in a block.
    pub is_block: bool,
    pub types: HashMap<String, Def>,
    pub values: HashMap<String, Def>,
    pub uses: Vec<(String, Vec<String>)>,
    pub globs: Vec<Vec<String>>,
}

/// A function or a method.
pub struct Function {
    pub name: String,
    pub module: usize,
    pub file: usize,
    pub signature: syn::Signature,
    pub block: syn::Block,
    /// The parameters of the impl block around it, and the type that it is for.
    pub of: Option<Rc<Impl>>,
}

/// An impl block.
pub struct Impl {
    pub generics: Vec<String>,
    pub self_ty: syn::Type,
    pub module: usize,
    pub file: usize,
    /// `type Target = T;`
    pub types: Vec<(String, syn::Type)>,
}

pub struct Variant {
    pub name: String,
    pub fields: Vec<(String, syn::Type)>,
    pub value: Option<syn::Expr>,
    pub is_tuple: bool,
}

/// A struct or an enum.
pub struct Adt {
    pub name: String,
    pub module: usize,
    pub file: usize,
    pub generics: Vec<String>,
    pub is_enum: bool,
    /// A struct has one.
    pub variants: Vec<Variant>,
}

impl Adt {
    /// Whether it is an enum without fields.
    pub fn is_plain_enum(&self) -> bool {
        self.is_enum && self.variants.iter().all(|variant| variant.fields.is_empty())
    }
}

/// `type A<T> = B<T>;`
pub struct Alias {
    pub module: usize,
    pub file: usize,
    pub generics: Vec<String>,
    pub ty: syn::Type,
}

/// A static or a constant.
pub struct Global {
    pub name: String,
    pub module: usize,
    pub file: usize,
    pub ty: syn::Type,
    pub expr: syn::Expr,
    /// Of a constant in an impl block.
    pub of: Option<Rc<Impl>>,
}

struct Trait {
    methods: Vec<Rc<syn::TraitItemFn>>,
    module: usize,
    file: usize,
}

/// All items of a program.
#[derive(Default)]
pub struct Items {
    pub modules: Vec<Module>,
    pub functions: Vec<Rc<Function>>,
    pub adts: Vec<Rc<Adt>>,
    pub aliases: Vec<Rc<Alias>>,
    pub statics: Vec<Rc<Global>>,
    pub consts: Vec<Rc<Global>>,
    traits: Vec<Rc<Trait>>,
    /// Methods and associated constants by type and name.
    pub methods: HashMap<(Head, String), usize>,
    pub associated: HashMap<(Head, String), usize>,
    /// The modules of blocks that have items.
    blocks: HashMap<(usize, usize), usize>,
    /// Functions that are tests.
    pub tests: Vec<usize>,
    pub option: Option<usize>,
    pub library: usize,
    pub errors: Vec<Diagnostic>,
    /// Names that `cfg` asks for.
    pub defines: Vec<String>,
    /// Words of loops whose rounds are executed one by one.
    pub repeating: HashSet<String>,
    pending: Vec<(Rc<syn::ItemImpl>, usize, usize)>,
}

/// The file of the library, as [`Function::file`] has it.
pub const LIBRARY: usize = usize::MAX / 2;

/// Crates whose names are read as those of the standard library.
pub const CRATES: [&str; 6] = ["std", "core", "alloc", "loom", "shuttle", "atomic_wait"];

/// Where files of modules are found.
pub struct Files<'a> {
    pub settings: &'a Settings,
    pub source: &'a mut Source,
    pub dir: PathBuf,
    pub depth: usize,
}

impl Items {
    /// Reads all items of a file into a new module.
    pub fn add_file(&mut self, file: syn::File, at: usize, files: Option<&mut Files>) -> usize {
        let module = self.new_module(None, false);
        self.add(file.items, module, at, files);
        self.finish();
        module
    }

    fn new_module(&mut self, parent: Option<usize>, is_block: bool) -> usize {
        self.modules.push(Module { parent, is_block, ..Module::default() });
        self.modules.len() - 1
    }

    /// The module of the items in a block, if there are any.
    pub fn block(&mut self, block: &syn::Block, module: usize, file: usize) -> Option<usize> {
        if !block.stmts.iter().any(|stmt| matches!(stmt, syn::Stmt::Item(_))) {
            return None;
        }
        let key = (file, block.brace_token.span.open().byte_range().start);
        if let Some(module) = self.blocks.get(&key) {
            return Some(*module);
        }
        let inner = self.new_module(Some(module), true);
        self.blocks.insert(key, inner);
        let items = block.stmts.iter().filter_map(|stmt| match stmt {
            syn::Stmt::Item(item) => Some(item.clone()),
            _ => None,
        });
        self.add(items.collect(), inner, file, None);
        self.finish();
        Some(inner)
    }

    fn error(&mut self, message: impl Into<String>, node: &impl Spanned, file: usize) {
        let range = syntax::range(node);
        self.errors.push(Diagnostic::new(message, range.start + file..range.end + file));
    }

    fn add(
        &mut self,
        items: Vec<syn::Item>,
        module: usize,
        file: usize,
        mut files: Option<&mut Files>,
    ) {
        let global = |ident: &syn::Ident, ty, expr| Global {
            name: ident.to_string(),
            module,
            file,
            ty,
            expr,
            of: None,
        };
        for item in items {
            if !self.is_on(attributes(&item)) {
                continue;
            }
            match item {
                syn::Item::Const(item) => {
                    let global = global(&item.ident, *item.ty, *item.expr);
                    let name = global.name.clone();
                    self.consts.push(global.into());
                    self.define_value(module, name, Def::Const(self.consts.len() - 1));
                }
                syn::Item::Static(item) => {
                    let global = global(&item.ident, *item.ty, *item.expr);
                    self.add_static(global);
                }
                syn::Item::Fn(item) => {
                    let is_test = item.attrs.iter().any(|a| a.path().is_ident("test"));
                    let name = item.sig.ident.to_string();
                    self.functions.push(Rc::new(Function {
                        name: name.clone(),
                        module,
                        file,
                        signature: item.sig,
                        block: *item.block,
                        of: None,
                    }));
                    let id = self.functions.len() - 1;
                    if is_test {
                        self.tests.push(id);
                    }
                    self.define_value(module, name, Def::Function(id));
                }
                syn::Item::Struct(item) => {
                    let name = item.ident.to_string();
                    let is_tuple = matches!(item.fields, syn::Fields::Unnamed(_));
                    let fields = fields_of(&item.fields);
                    let is_unit = fields.is_empty();
                    let variant = Variant { name: name.clone(), fields, value: None, is_tuple };
                    self.adts.push(Rc::new(Adt {
                        name: name.clone(),
                        module,
                        file,
                        generics: parameters(&item.generics),
                        is_enum: false,
                        variants: vec![variant],
                    }));
                    let id = self.adts.len() - 1;
                    self.modules[module].types.insert(name.clone(), Def::Adt(id));
                    if is_tuple || is_unit {
                        self.define_value(module, name, Def::Variant(id, 0));
                    }
                }
                syn::Item::Enum(item) => {
                    let name = item.ident.to_string();
                    let variants = item.variants.iter().map(|variant| Variant {
                        name: variant.ident.to_string(),
                        fields: fields_of(&variant.fields),
                        value: variant.discriminant.as_ref().map(|(_, value)| value.clone()),
                        is_tuple: matches!(variant.fields, syn::Fields::Unnamed(_)),
                    });
                    self.adts.push(Rc::new(Adt {
                        name: name.clone(),
                        module,
                        file,
                        generics: parameters(&item.generics),
                        is_enum: true,
                        variants: variants.collect(),
                    }));
                    self.modules[module].types.insert(name, Def::Adt(self.adts.len() - 1));
                }
                syn::Item::Type(item) => {
                    self.aliases.push(Rc::new(Alias {
                        module,
                        file,
                        generics: parameters(&item.generics),
                        ty: *item.ty,
                    }));
                    let def = Def::Alias(self.aliases.len() - 1);
                    self.modules[module].types.insert(item.ident.to_string(), def);
                }
                syn::Item::Impl(item) => self.pending.push((item.into(), module, file)),
                syn::Item::Trait(item) => {
                    let methods = item.items.iter().filter_map(|item| match item {
                        syn::TraitItem::Fn(method) => Some(Rc::new(method.clone())),
                        _ => None,
                    });
                    let methods = methods.collect();
                    self.traits.push(Rc::new(Trait { methods, module, file }));
                    let def = Def::Trait(self.traits.len() - 1);
                    self.modules[module].types.insert(item.ident.to_string(), def);
                }
                syn::Item::Use(item) => self.add_use(&item.tree, &mut Vec::new(), module),
                syn::Item::ExternCrate(item) => {
                    let name = item.ident.to_string();
                    if let Some((_, rename)) = &item.rename {
                        self.modules[module].uses.push((rename.to_string(), vec![name]));
                    }
                }
                syn::Item::Mod(item) => self.add_module(item, module, file, files.as_deref_mut()),
                syn::Item::Macro(item) if item.mac.path.is_ident("include") => {
                    self.include(&item, module, file, files.as_deref_mut());
                }
                syn::Item::Macro(item) => self.add_macro(&item, module, file),
                syn::Item::TraitAlias(_) | syn::Item::ForeignMod(_) => {}
                syn::Item::Union(item) => {
                    self.error("a union is not read; write a struct", &item, file);
                }
                other => self.error("this item is not read", &other, file),
            }
        }
    }

    fn add_static(&mut self, global: Global) {
        let (name, module) = (global.name.clone(), global.module);
        self.statics.push(global.into());
        self.define_value(module, name, Def::Static(self.statics.len() - 1));
    }

    fn add_module(
        &mut self,
        item: syn::ItemMod,
        module: usize,
        file: usize,
        files: Option<&mut Files>,
    ) {
        let name = item.ident.to_string();
        let inner = self.new_module(Some(module), false);
        let is_empty = item.content.is_none();
        match (item.content.clone(), files) {
            (Some((_, items)), None) => self.add(items, inner, file, None),
            (Some((_, items)), Some(files)) => {
                let dir = files.dir.clone();
                files.dir.push(&name);
                self.add(items, inner, file, Some(files));
                files.dir = dir;
            }
            (None, Some(files)) => {
                let beside = files.dir.join(format!("{name}.rs"));
                let within = files.dir.join(&name).join("mod.rs");
                let read = |path: PathBuf| {
                    (files.settings.files)(&path).map(|text| (path.clone(), text)).ok()
                };
                // What GenMC's tests import is built in.
                let found = read(beside).or_else(|| read(within));
                let (path, text) = match found {
                    Some(found) => found,
                    None if is_built_in(&name) => (PathBuf::new(), String::new()),
                    None => {
                        let message = format!("there is no file for module {}", quote(&name));
                        let help = format!("`{name}.rs` is looked for beside this file");
                        let range = syntax::range(&item);
                        let range = range.start + file..range.end + file;
                        self.errors.push(Diagnostic::new(message, range).help(help));
                        return;
                    }
                };
                let dir = files.dir.clone();
                files.dir.push(&name);
                self.add_text(&item, &path, &text, inner, file, files);
                files.dir = dir;
            }
            (None, None) => {}
        }
        let def = match is_empty && is_built_in(&name) && self.modules[inner].is_empty() {
            true => Def::Std(vec![name.clone()]),
            false => Def::Module(inner),
        };
        self.modules[module].types.insert(name, def);
    }

    /// `include!("file.rs");` stands for the items of another file.
    fn include(
        &mut self,
        item: &syn::ItemMacro,
        module: usize,
        file: usize,
        files: Option<&mut Files>,
    ) {
        let Ok(path) = syn::parse2::<syn::LitStr>(item.mac.tokens.clone()) else {
            self.error("the name of a file has to be a string", item, file);
            return;
        };
        let Some(files) = files else {
            self.error("a file is included inside of a function", item, file);
            return;
        };
        let path = files.dir.join(path.value());
        match (files.settings.files)(&path) {
            Ok(text) => self.add_text(item, &path, &text, module, file, files),
            Err(error) => {
                let name = quote(&path.to_string_lossy());
                self.error(format!("{name} cannot be read: {error}"), item, file);
            }
        }
    }

    /// Adds the items of another file to a module.
    fn add_text(
        &mut self,
        node: &impl Spanned,
        path: &Path,
        text: &str,
        module: usize,
        file: usize,
        files: &mut Files,
    ) {
        if files.depth > 20 || files.source.text.len() + text.len() > crate::MAX_TEXT {
            self.error("this file and all that it includes are too large", node, file);
            return;
        }
        let at = files.source.include(&path.to_string_lossy(), text);
        match syntax::parse(text) {
            Ok(tree) => {
                files.depth += 1;
                self.add(tree.items, module, at, Some(files));
                files.depth -= 1;
            }
            Err(error) => self.errors.push(error.moved(at)),
        }
    }

    /// `lazy_static!` declares statics.
    fn add_macro(&mut self, item: &syn::ItemMacro, module: usize, file: usize) {
        let name = item.mac.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
        match name.as_str() {
            "lazy_static" => {
                let lazy = |input: syn::parse::ParseStream| {
                    let mut list = Vec::new();
                    while !input.is_empty() {
                        let _: syn::Visibility = input.parse()?;
                        let _: syn::Token![static] = input.parse()?;
                        let _: syn::Token![ref] = input.parse()?;
                        let name: syn::Ident = input.parse()?;
                        let _: syn::Token![:] = input.parse()?;
                        let ty: syn::Type = input.parse()?;
                        let _: syn::Token![=] = input.parse()?;
                        let expr: syn::Expr = input.parse()?;
                        let _: syn::Token![;] = input.parse()?;
                        list.push((name, ty, expr));
                    }
                    Ok(list)
                };
                match syn::parse::Parser::parse2(lazy, item.mac.tokens.clone()) {
                    Ok(list) => {
                        for (name, ty, expr) in list {
                            let name = name.to_string();
                            self.add_static(Global { name, module, file, ty, expr, of: None });
                        }
                    }
                    Err(error) => self.error(format!("this is not Rust: {error}"), item, file),
                }
            }
            "macro_rules" => {
                self.error(
                    "macros of your own are not read; write out what they stand for",
                    item,
                    file,
                );
            }
            "compile_error" => {}
            _ => {
                let message = format!("the macro {} is not read", quote(&format!("{name}!")));
                self.error(message, item, file);
            }
        }
    }

    fn define_value(&mut self, module: usize, name: String, def: Def) {
        // `const _: () = ..;`
        if name != "_" {
            self.modules[module].values.insert(name, def);
        }
    }

    fn add_use(&mut self, tree: &syn::UseTree, path: &mut Vec<String>, module: usize) {
        match tree {
            syn::UseTree::Path(inner) => {
                path.push(inner.ident.to_string());
                self.add_use(&inner.tree, path, module);
                path.pop();
            }
            syn::UseTree::Name(name) => {
                let name = name.ident.to_string();
                if name == "self" {
                    let last = path.last().cloned().unwrap_or_default();
                    self.modules[module].uses.push((last, path.clone()));
                } else {
                    let mut full = path.clone();
                    full.push(name.clone());
                    self.modules[module].uses.push((name, full));
                }
            }
            syn::UseTree::Rename(rename) => {
                let mut full = path.clone();
                let name = rename.ident.to_string();
                if name != "self" {
                    full.push(name);
                }
                self.modules[module].uses.push((rename.rename.to_string(), full));
            }
            syn::UseTree::Glob(_) => self.modules[module].globs.push(path.clone()),
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.add_use(tree, path, module);
                }
            }
        }
    }

    /// Assigns the methods of impl blocks to types, when all types are known.
    fn finish(&mut self) {
        for (item, module, file) in std::mem::take(&mut self.pending) {
            self.add_impl(&item, module, file);
        }
    }

    fn add_impl(&mut self, item: &syn::ItemImpl, module: usize, file: usize) {
        let generics = parameters(&item.generics);
        let Some(head) = self.head(&item.self_ty, module, &generics) else { return };
        let types = item.items.iter().filter_map(|item| match item {
            syn::ImplItem::Type(ty) => Some((ty.ident.to_string(), ty.ty.clone())),
            _ => None,
        });
        let of = Rc::new(Impl {
            generics,
            self_ty: (*item.self_ty).clone(),
            module,
            file,
            types: types.collect(),
        });
        let mut here = Vec::new();
        for inner in &item.items {
            match inner {
                syn::ImplItem::Fn(method) if self.is_on(&method.attrs) => {
                    let name = method.sig.ident.to_string();
                    here.push(name.clone());
                    let (signature, block) = (method.sig.clone(), method.block.clone());
                    self.add_method(&head, name, signature, block, module, file, &of);
                }
                syn::ImplItem::Const(item) => {
                    let global = Global {
                        name: item.ident.to_string(),
                        module,
                        file,
                        ty: (item.ty).clone(),
                        expr: item.expr.clone(),
                        of: Some(of.clone()),
                    };
                    let key = (head.clone(), global.name.clone());
                    self.consts.push(global.into());
                    self.associated.insert(key, self.consts.len() - 1);
                }
                _ => {}
            }
        }
        // Methods that the trait itself defines.
        let Some((path, _)) = &item.trait_ else { return };
        let names: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        let Some(Def::Trait(id)) = self.ty(module, &names) else { return };
        let found = self.traits[id].clone();
        for method in &found.methods {
            let name = method.sig.ident.to_string();
            if let Some(block) = &method.default
                && !here.contains(&name)
            {
                let (signature, block) = (method.sig.clone(), block.clone());
                self.add_method(&head, name, signature, block, found.module, found.file, &of);
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn add_method(
        &mut self,
        head: &Head,
        name: String,
        signature: syn::Signature,
        block: syn::Block,
        module: usize,
        file: usize,
        of: &Rc<Impl>,
    ) {
        let of = Some(of.clone());
        let function = Function { name: name.clone(), module, file, signature, block, of };
        self.functions.push(function.into());
        self.methods.insert((head.clone(), name), self.functions.len() - 1);
    }

    fn head(&self, ty: &syn::Type, module: usize, generics: &[String]) -> Option<Head> {
        Some(match ty {
            syn::Type::Path(path) => {
                let names: Vec<String> =
                    path.path.segments.iter().map(|s| s.ident.to_string()).collect();
                if let [name] = &names[..] {
                    if generics.contains(name) {
                        return None;
                    }
                    if let Some(ty) = super::types::Ty::named(name) {
                        return Some(ty.head());
                    }
                }
                match self.ty(module, &names)? {
                    Def::Adt(id) => Head::Adt(id),
                    Def::Alias(id) => {
                        let alias = &self.aliases[id];
                        return self.head(&alias.ty, alias.module, &alias.generics);
                    }
                    Def::Std(path) => match path.last().map(String::as_str)? {
                        "Thread" => Head::Named("Thread"),
                        "Box" => Head::Named("Box"),
                        "Arc" | "Rc" => Head::Named("Arc"),
                        "Vec" => Head::Named("Vec"),
                        "UnsafeCell" | "Cell" => Head::Named("UnsafeCell"),
                        name if name.starts_with("Atomic") => Head::Named("Atomic"),
                        _ => return None,
                    },
                    _ => return None,
                }
            }
            syn::Type::Reference(_) => Head::Named("&"),
            syn::Type::Tuple(_) => Head::Named("()"),
            syn::Type::Array(_) | syn::Type::Slice(_) => Head::Named("[]"),
            syn::Type::Ptr(_) => Head::Named("*"),
            syn::Type::Paren(inner) => return self.head(&inner.elem, module, generics),
            _ => return None,
        })
    }

    /// Whether `cfg` attributes leave an item in.
    pub fn is_on(&self, attributes: &[syn::Attribute]) -> bool {
        attributes.iter().filter(|a| a.path().is_ident("cfg")).all(|attribute| {
            match &attribute.meta {
                syn::Meta::List(list) => syn::parse2::<syn::Meta>(list.tokens.clone())
                    .map_or(true, |meta| self.holds(&meta)),
                _ => true,
            }
        })
    }

    fn holds(&self, meta: &syn::Meta) -> bool {
        let name = meta.path().get_ident().map(ToString::to_string).unwrap_or_default();
        let all = |list: &syn::MetaList| -> Vec<syn::Meta> {
            let parser = syn::punctuated::Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated;
            syn::parse::Parser::parse2(parser, list.tokens.clone())
                .map(|list| list.into_iter().collect())
                .unwrap_or_default()
        };
        match meta {
            syn::Meta::Path(_) => {
                matches!(name.as_str(), "test" | "loom" | "shuttle" | "debug_assertions" | "unix")
                    || self.defines.contains(&name)
            }
            syn::Meta::List(list) => match name.as_str() {
                "not" => !all(list).iter().all(|meta| self.holds(meta)),
                "any" => all(list).iter().any(|meta| self.holds(meta)),
                _ => all(list).iter().all(|meta| self.holds(meta)),
            },
            syn::Meta::NameValue(pair) => {
                let value = match &pair.value {
                    syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => text.value(),
                    _ => String::new(),
                };
                match name.as_str() {
                    "target_arch" => value == "x86_64",
                    "target_os" => value == "linux",
                    "target_pointer_width" => value == "64",
                    "target_has_atomic" => true,
                    _ => self.defines.contains(&value),
                }
            }
        }
    }
}

impl Module {
    fn is_empty(&self) -> bool {
        self.types.is_empty() && self.values.is_empty()
    }

    /// The functions of a module by name.
    pub fn function(&self, name: &str) -> Option<usize> {
        match self.values.get(name) {
            Some(Def::Function(id)) => Some(*id),
            _ => None,
        }
    }

    /// The modules inside.
    pub fn modules(&self) -> Vec<usize> {
        let mut inner: Vec<usize> = self
            .types
            .values()
            .filter_map(|def| match def {
                Def::Module(id) => Some(*id),
                _ => None,
            })
            .collect();
        inner.sort_unstable();
        inner
    }
}

/// Whether a name of the standard library may stand for what is looked for: types begin with a
/// capital letter, except those of the language.
pub fn is_known_std(path: &[String], is_type: bool) -> bool {
    let last = path.last().map_or("", String::as_str);
    let is_capital = last.starts_with(|c: char| c.is_uppercase());
    match is_type {
        true => !is_order(last),
        false => !is_capital || is_order(last) || last.to_uppercase() == last,
    }
}

pub fn is_order(name: &str) -> bool {
    matches!(name, "Relaxed" | "Acquire" | "Release" | "AcqRel" | "SeqCst")
}

/// Types and modules that a glob import may bring.
pub fn is_std_type(name: &str) -> bool {
    name.starts_with("Atomic")
        || matches!(
            name,
            "Arc"
                | "Rc"
                | "Box"
                | "UnsafeCell"
                | "Cell"
                | "RefCell"
                | "MaybeUninit"
                | "NonNull"
                | "Ordering"
                | "JoinHandle"
                | "Thread"
                | "Scope"
                | "Duration"
                | "Instant"
                | "Vec"
                | "PhantomData"
                | "ManuallyDrop"
                | "Pin"
                | "thread"
                | "sync"
                | "atomic"
                | "cell"
                | "ptr"
                | "mem"
                | "hint"
                | "process"
                | "time"
                | "array"
        )
}

/// Modules of test suites whose functions are built in.
fn is_built_in(name: &str) -> bool {
    matches!(name, "genmc" | "utils")
}

fn parameters(generics: &syn::Generics) -> Vec<String> {
    let names = generics.params.iter().filter_map(|param| match param {
        syn::GenericParam::Type(param) => Some(param.ident.to_string()),
        syn::GenericParam::Const(param) => Some(param.ident.to_string()),
        syn::GenericParam::Lifetime(_) => None,
    });
    names.collect()
}

fn fields_of(fields: &syn::Fields) -> Vec<(String, syn::Type)> {
    fields
        .iter()
        .enumerate()
        .map(|(i, field)| {
            let name = field.ident.as_ref().map_or_else(|| i.to_string(), ToString::to_string);
            (name, field.ty.clone())
        })
        .collect()
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        syn::Item::ExternCrate(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        _ => &[],
    }
}

/// Words that start or join threads, or allocate.
const REPEATING: [&str; 12] = [
    "spawn",
    "join",
    "scope",
    "spawn_pthread_closure",
    "spawn_pthread",
    "join_pthread",
    "join_pthreads",
    "Box",
    "Arc",
    "collect",
    "unpark",
    "model",
];

impl Items {
    /// Finds the enum that is a pointer if it can be one.
    pub fn find_option(&mut self) {
        self.option = self.adts.iter().position(|adt| adt.name == "Option");
    }

    /// Finds the functions in which threads are started or joined, or memory is allocated, also by
    /// what they call.
    pub fn find_repeating(&mut self) {
        self.repeating = REPEATING.iter().map(|word| (*word).to_owned()).collect();
        let mut words = Vec::new();
        for function in self.functions.iter().filter(|function| function.file != LIBRARY) {
            let mut list = HashSet::new();
            syntax::called(&function.block, &mut |word| {
                list.insert(word.to_owned());
            });
            words.push((function.name.clone(), list));
        }
        loop {
            let before = self.repeating.len();
            for (name, list) in &words {
                if !self.repeating.contains(name) && !self.repeating.is_disjoint(list) {
                    self.repeating.insert(name.clone());
                }
            }
            if self.repeating.len() == before {
                break;
            }
        }
    }
}
