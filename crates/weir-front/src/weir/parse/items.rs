//! Parses declarations and properties.

use weir_model::program::{IntType, Objective, Quantifier, Runs, UnOp};

use super::{Failed, Parsed, Parser, is};
use crate::Diagnostic;
use crate::errors::{did_you_mean, quote};
use crate::weir::lexer::{Kind, TOP_KEYWORDS};
use crate::weir::tree::{
    Declared, Domain, Expr, ExprKind, Family, Init, Item, Method, Object, Parameter, Procedure,
    Process, Question, Record,
};
use crate::weir::{foreign, operators};

impl<'t> Parser<'_, 't> {
    pub(super) fn items(&mut self) -> Vec<Item<'t>> {
        let mut items = Vec::new();
        while !self.is_end() {
            if self.eat(";") {
                continue;
            }
            let start = self.tokens.at;
            self.unclosed = false;
            if self.item(&mut items).is_err() {
                self.skip_item(start);
            }
        }
        items
    }

    fn skip_item(&mut self, start: usize) {
        let question = ["never", "always", "final", "live", "ltl", "game", "filter", "observe"];
        self.lost_names |= !question.iter().any(|k| is(self.tokens.get(start), k));
        while !self.is_end() {
            let property = self.tokens.peek().kind == Kind::Name
                && is(self.tokens.peek_at(1), ":")
                && TOP_KEYWORDS.iter().chain(&["always"]).any(|k| is(self.tokens.peek_at(2), k));
            if self.tokens.at > start && (self.begins_item() || property) {
                return;
            }
            if self.is("{") {
                self.skip_block();
            } else {
                self.tokens.next();
            }
        }
    }

    fn item(&mut self, items: &mut Vec<Item<'t>>) -> Parsed<()> {
        let start = self.tokens.peek();
        self.brackets = 0;
        if start.kind == Kind::Name && is(self.tokens.peek_at(1), ":") {
            let name = self.name("a name")?;
            self.tokens.next();
            let what =
                "`never`, `always`, `no deadlock`, `final`, `live`, `ltl`, `assertions` or `game`";
            let question = self.question(what)?;
            items.push(Item::Property(Some(name), question, start.span.to(self.last())));
        } else if self.eat("const") {
            let name = self.name("the name of the constant")?;
            self.expect("=", "and the value of the constant")?;
            items.push(Item::Const(name, self.expr()?));
        } else if self.eat("enum") {
            items.push(self.enumeration()?);
        } else if self.eat("var") {
            for var in self.declared("variable")? {
                items.push(Item::Var(var));
            }
        } else if self.is_word("record") && self.tokens.peek_at(1).kind == Kind::Name {
            items.push(Item::Record(self.record()?));
        } else if self.is_word("procedure") && self.tokens.peek_at(1).kind == Kind::Name {
            items.push(Item::Procedure(self.procedure()?));
        } else if self.eat("process") {
            items.push(Item::Process(self.process()?));
        } else if self.eat("object") {
            items.push(Item::Object(self.object()?));
        } else if self.is("method") {
            let help = "methods belong inside an object: `object o { method m { … } }`";
            let error = Diagnostic::new("this method has no object", start.span.range());
            return Err(self.fail(error.help(help)));
        } else if self.eat("filter") {
            let formula = self.expr()?;
            items.push(Item::Filter(formula, start.span.to(self.last())));
        } else if self.eat("observe") {
            let mut atoms = vec![self.expr()?];
            while self.eat(",") {
                atoms.push(self.expr()?);
            }
            items.push(Item::Observe(atoms, start.span.to(self.last())));
        } else if self.begins_item() || self.is("always") {
            let question = self.question("a property")?;
            items.push(Item::Property(None, question, start.span.to(self.last())));
        } else {
            return Err(self.not_an_item());
        }
        Ok(())
    }

    fn not_an_item(&mut self) -> Failed {
        let token = self.tokens.peek();
        let what = "a declaration (`var`, `process`, …) or a property (`never`, `final`, …)";
        if token.kind != Kind::Name && !matches!(token.kind, Kind::Keyword) {
            if is(token, "}") {
                let error = Diagnostic::new("there is no `{` for this `}`", token.span.range());
                return self.fail(error);
            }
            return self.expected(what);
        }
        let message = format!("expected {what}, found {}", quote(token.text));
        let error = Diagnostic::new(message, token.span.range());
        let foreign = foreign::instead(token.text).filter(|_| token.kind == Kind::Name);
        let error = match foreign {
            Some(help) => error.help(help),
            None => did_you_mean(error, token.text, TOP_KEYWORDS),
        };
        let help = "statements belong inside a process: `process p { … }`";
        let error = if error.help.is_none() { error.help(help) } else { error };
        self.fail(error)
    }

    fn question(&mut self, what: &str) -> Parsed<Question<'t>> {
        if self.eat("never") {
            Ok(Question::Never(self.expr()?))
        } else if self.is("always") {
            let start = self.tokens.next().span;
            let e = self.expr()?;
            let (span, depth) = (start.to(e.span), 1 + e.depth);
            Ok(Question::Never(self.node(ExprKind::Unary(UnOp::Not, Box::new(e)), span, depth)?))
        } else if self.eat("assertions") {
            Ok(Question::Assertions)
        } else if self.eat("no") {
            self.expect("deadlock", "after `no`")?;
            let mut except = Vec::new();
            let next = self.tokens.peek();
            if next.kind == Kind::Name && next.text == "except" {
                self.tokens.next();
                except.push(self.expr()?);
                while self.eat(",") {
                    except.push(self.expr()?);
                }
            }
            Ok(Question::NoDeadlock(except))
        } else if self.eat("final") {
            let Some(quantifier) = self.quantifier() else {
                return Err(self.expected("`exists`, `never` or `always` after `final`"));
            };
            self.check_one_quantifier(&format!("final {}", self.tokens.last().text))?;
            Ok(Question::Final(quantifier, self.expr()?))
        } else if self.eat("live") {
            if self.tokens.peek().kind == Kind::Name && self.tokens.peek().text == "terminates" {
                self.tokens.next();
                return Ok(Question::Terminates);
            }
            let Some(quantifier) = self.quantifier() else {
                let what = "`exists`, `never`, `always` or `terminates` after `live`";
                return Err(self.expected(what));
            };
            self.check_one_quantifier(&format!("live {}", self.tokens.last().text))?;
            Ok(Question::Live(quantifier, self.expr()?))
        } else if self.eat("ltl") {
            let next = self.tokens.peek();
            let is_it = |runs: &Runs| runs.word() == Some(next.text);
            let runs = Runs::ALL.into_iter().find(is_it).filter(|_| next.kind == Kind::Name);
            let runs = runs.filter(|_| !self.is_operand_at(1));
            if runs.is_some() {
                self.word();
            }
            Ok(Question::Ltl(runs.unwrap_or_default(), self.ltl()?))
        } else if self.eat("game") {
            let objective = match self.tokens.peek().text {
                "reach" => Objective::Reach,
                "avoid" => Objective::Avoid,
                _ => return Err(self.expected("`reach` or `avoid` after `game`")),
            };
            self.tokens.next();
            Ok(Question::Game(objective, self.expr()?))
        } else {
            Err(self.expected(what))
        }
    }

    /// `final exists i: …` says one thing where two are needed.
    fn check_one_quantifier(&mut self, before: &str) -> Parsed<()> {
        let name = self.tokens.peek();
        let after = self.tokens.peek_at(1);
        if name.kind != Kind::Name || !(is(after, ":") || after.text == "in") {
            return Ok(());
        }
        let message = format!("`{before}` is about states, and needs a formula");
        let at = format!("expected a formula, found {}", quote(name.text));
        let help = format!("write `{before} exists {}: …` or `{before} forall {0}: …`", name.text);
        let error = Diagnostic::new(message, name.span.range()).label(at);
        Err(self.fail(error.help(help)))
    }

    fn quantifier(&mut self) -> Option<Quantifier> {
        let quantifier = match self.tokens.peek().text {
            "exists" => Quantifier::Exists,
            "never" => Quantifier::Never,
            "always" => Quantifier::Always,
            _ => return None,
        };
        self.tokens.next();
        Some(quantifier)
    }

    fn enumeration(&mut self) -> Parsed<Item<'t>> {
        let name = self.name("the name of the enum")?;
        self.expect("{", "and the members of the enum")?;
        let mut members = Vec::new();
        while !self.is("}") {
            members.push(self.name("the name of a member")?);
            if !self.eat(",") {
                break;
            }
        }
        self.expect("}", "after the members of the enum")?;
        Ok(Item::Enum(name, members))
    }

    /// `x`, `x: domain`, `x = init`, `a[len]: domain = init`, separated by commas.
    pub(super) fn declared(&mut self, what: &str) -> Parsed<Vec<Declared<'t>>> {
        let mut list = Vec::new();
        loop {
            let name = self.name(&format!("the name of the {what}"))?;
            let mut lens = Vec::new();
            while self.eat("[") {
                lens.push(self.expr()?);
                self.expect("]", "after the length of the array")?;
            }
            let domain = if self.eat(":") { Some(self.domain()?) } else { None };
            let init = if self.eat("=") { Some(self.init()?) } else { None };
            let span = name.span.to(self.last());
            list.push(Declared { name, lens, domain, init, span });
            if !self.eat(",") {
                return Ok(list);
            }
        }
    }

    /// An integer type, if one comes next.
    pub(super) fn int_type(&mut self) -> Option<IntType> {
        let int = IntType::named(self.tokens.peek().text)?;
        self.tokens.next();
        Some(int)
    }

    pub(super) fn domain(&mut self) -> Parsed<Domain<'t>> {
        if self.eat("bool") {
            return Ok(Domain::Bool);
        }
        if let Some(int) = self.int_type() {
            return Ok(Domain::Int(int));
        }
        let low = self.bound()?;
        if self.eat("..") {
            return Ok(Domain::Range(Box::new(low), Box::new(self.bound()?)));
        }
        match low.kind {
            ExprKind::Place(place) if place.selectors.is_empty() => Ok(Domain::Named(place.name)),
            _ => Err(self.expected("`..` and the highest value")),
        }
    }

    /// One end of a range. What follows it may be `=` and the initial value.
    pub(super) fn bound(&mut self) -> Parsed<Expr<'t>> {
        self.infix(operators::ARITHMETIC)
    }

    fn init(&mut self) -> Parsed<Init<'t>> {
        let start = self.tokens.peek().span;
        if self.is("any") && !is(self.tokens.peek_at(1), "(") {
            return Ok(Init::Any(self.tokens.next().span));
        }
        if !self.eat("[") {
            return Ok(Init::Value(self.expr()?));
        }
        let mut list = Vec::new();
        while !self.is("]") {
            self.enter(start)?;
            list.push(self.init()?);
            self.brackets -= 1;
            if !self.eat(",") {
                break;
            }
        }
        let end = self.expect("]", "after the initial values")?;
        Ok(Init::List(list, start.to(end)))
    }

    fn object(&mut self) -> Parsed<Object<'t>> {
        let start = self.last();
        let name = self.name("the name of the object")?;
        let open = self.expect("{", "and what the object has")?;
        let mut object = Object { name, vars: Vec::new(), methods: Vec::new(), span: start };
        loop {
            if self.eat(";") {
                continue;
            } else if self.eat("var") {
                object.vars.extend(self.declared("variable")?);
            } else if self.eat("method") {
                object.methods.push(self.method()?);
            } else if self.eat("}") {
                object.span = start.to(self.last());
                return Ok(object);
            } else if self.is_end() || self.begins_item() {
                let found = self.tokens.peek().span;
                let error = Diagnostic::new("expected `}` after the object", found.range());
                return Err(self.fail(error.note(open.range(), "this `{` is not closed")));
            } else {
                return Err(self.expected("`var`, `method` or `}` in an object"));
            }
        }
    }

    fn method(&mut self) -> Parsed<Method<'t>> {
        let start = self.last();
        let name = self.name("the name of the method")?;
        let mut argument = None;
        if self.eat("(") && !self.eat(")") {
            let name = self.name("the name of the argument")?;
            self.expect(":", "and the values of the argument")?;
            let domain = Some(self.domain()?);
            let span = name.span.to(self.last());
            argument = Some(Declared { name, lens: Vec::new(), domain, init: None, span });
            self.expect(")", "after the argument; a method has at most one")?;
        }
        let body = self.block(&format!("after the name of method {}", quote(name.text)))?;
        Ok(Method { name, argument, body, span: start.to(self.last()) })
    }

    fn record(&mut self) -> Parsed<Record<'t>> {
        let start = self.tokens.next().span;
        let name = self.name("the name of the record")?;
        self.expect("{", "and the fields of the record")?;
        let mut fields = Vec::new();
        while !self.is("}") {
            if self.eat(",") || self.eat(";") {
                continue;
            }
            fields.extend(self.declared("field")?);
        }
        self.expect("}", "after the fields of the record")?;
        Ok(Record { name, fields, span: start.to(self.last()) })
    }

    fn procedure(&mut self) -> Parsed<Procedure<'t>> {
        let start = self.tokens.next().span;
        let name = self.name("the name of the procedure")?;
        let mut parameters = Vec::new();
        if self.eat("(") {
            while !self.is(")") {
                let by_name = self.eat("var");
                parameters.push(Parameter { name: self.name("the name of a parameter")?, by_name });
                if !self.eat(",") {
                    break;
                }
            }
            self.expect(")", "after the parameters")?;
        }
        let body = self.block(&format!("after the name of procedure {}", quote(name.text)))?;
        Ok(Procedure { name, parameters, body, span: start.to(self.last()) })
    }

    fn process(&mut self) -> Parsed<Process<'t>> {
        let start = self.last();
        let name = self.name("the name of the process")?;
        let mut family = Family::None;
        if self.eat("[") {
            if self.tokens.peek().kind == Kind::Name && is(self.tokens.peek_at(1), ":") {
                let parameter = self.name("the name of the parameter")?;
                self.tokens.next();
                let low = self.bound()?;
                self.expect("..", "and the highest number of the family")?;
                family = Family::All(parameter, low, self.bound()?);
            } else if self.eat("=") {
                family = Family::Member(self.expr()?);
            } else {
                family = Family::Count(self.expr()?);
            }
            self.expect("]", &format!("after the numbers of {}", quote(name.text)))?;
        }
        let body = self.block(&format!("after the name of process {}", quote(name.text)))?;
        Ok(Process { name, family, body, span: start.to(self.last()) })
    }
}
