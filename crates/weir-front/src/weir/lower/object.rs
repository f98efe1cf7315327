//! Objects: their methods, and what may not stand beside them.

use weir_model::program::{Method, Object};

use super::Context;
use super::process::{Lowered, Lowering};
use crate::Diagnostic;
use crate::errors::quote;
use crate::weir::tree::{self, Item, Span};

impl<'t> Context<'t> {
    /// The object of the file, if it has one. Reports what cannot stand beside it.
    pub fn object<'i>(&mut self, items: &'i [Item<'t>]) -> Option<&'i tree::Object<'t>> {
        let mut objects = items.iter().filter_map(|item| match item {
            Item::Object(object) => Some(object),
            _ => None,
        });
        let object = objects.next()?;
        let mut beside = |message: &str, span: Span| {
            let error = Diagnostic::new(message, span.range());
            self.error(error.note(object.name.span.range(), "the object"));
        };
        for second in objects {
            beside("a file may have one object only", second.name.span);
        }
        for item in items {
            match item {
                Item::Var(var) => {
                    beside("a file with an object has its variables in the object", var.name.span);
                }
                Item::Process(process) => {
                    let message =
                        "a file with an object has no processes: clients call its methods";
                    beside(message, process.name.span);
                }
                Item::Property(_, _, span) | Item::Filter(_, span) | Item::Observe(_, span) => {
                    beside("an object has no properties: use the options of `weir live`", *span);
                }
                Item::Const(..)
                | Item::Enum(..)
                | Item::Record(_)
                | Item::Procedure(_)
                | Item::Object(_) => {}
            }
        }
        if object.methods.is_empty() {
            let error = Diagnostic::new("the object has no methods", object.name.span.range());
            self.error(error.help("add one: `method m { … }`"));
        }
        Some(object)
    }

    /// Lowers the methods of the object into the program.
    pub fn methods(&mut self, object: &tree::Object<'t>) {
        let mut methods = Vec::new();
        for method in &object.methods {
            let name = method.name.text;
            let mut lowering = Lowering::new(self, name, true);
            if let Some(argument) = &method.argument {
                lowering.declare_argument(argument);
            }
            let (Lowered { registers, labels, body, fits }, _) = lowering.whole(&method.body);
            let has_argument = method.argument.is_some();
            methods.push(Method { name: name.to_owned(), has_argument, registers, labels, body });
            if !fits {
                break;
            }
        }
        let most = weir_model::object::MAX_NUMBERED;
        let registers: usize = methods.iter().map(|m| m.registers.len()).sum();
        let labels: usize = methods.iter().map(|m| m.labels.len()).sum();
        if registers.max(labels) > most {
            let name = quote(object.name.text);
            let message =
                format!("the methods of {name} have more than {most} registers or labels");
            self.error_at(message, object.name.span);
        }
        let span = self.span(object.name.span);
        let name = object.name.text.to_owned();
        self.program.object = Some(Object { name, methods, span });
    }
}
