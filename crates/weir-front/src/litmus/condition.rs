//! What stands after the code: `locations`, `filter` and the condition.
//!
//! From weak to strong a proposition has `\/`, `/\`, `=>` (to the right), `~`;
//! so `a => b /\ c` is `(a => b) /\ c`. Long chains of `/\` and `\/` become
//! balanced trees, and nothing nests deeper than [`MAX_NESTING`].

use std::ops::Range;

use weir_model::program::{BinOp, Expr, Quantifier, UnOp};

use super::cursor::Cursor;
use super::lexer::Kind;
use super::location::{Leaf, location, locations};
use super::test::Test;
use crate::{Diagnostic, MAX_NESTING};

/// What stands after the code.
#[derive(Debug)]
pub(super) struct Tail {
    /// What is to be printed besides the atoms of the condition.
    pub locations: Option<Vec<Leaf>>,
    pub filter: Option<Expr<Leaf>>,
    pub quantifier: Quantifier,
    pub condition: Expr<Leaf>,
    /// The condition with its quantifier; empty if there is none.
    pub range: Range<usize>,
}

/// Reads all that stands after the code.
pub(super) fn read(test: &mut Test, tokens: Cursor<'_, '_>, end: usize) -> Tail {
    let mut tail = Tail {
        locations: None,
        filter: None,
        quantifier: Quantifier::Always,
        condition: Expr::Const(1),
        range: end..end,
    };
    let mut parser = Parser { test, tokens, nesting: 0 };
    if let Err(error) = parser.tail(&mut tail) {
        parser.test.errors.push(error);
    }
    tail
}

/// A proposition and how deep its tree is.
type Prop = (Expr<Leaf>, usize);

struct Parser<'p, 'a, 't> {
    test: &'p mut Test,
    tokens: Cursor<'a, 't>,
    nesting: usize,
}

impl Parser<'_, '_, '_> {
    fn tail(&mut self, tail: &mut Tail) -> Result<(), Diagnostic> {
        loop {
            if tail.locations.is_none() && self.tokens.keyword("locations") {
                tail.locations = Some(locations(self.test, &mut self.tokens)?);
            } else if tail.filter.is_none() && self.tokens.keyword("filter") {
                tail.filter = Some(self.disjunction()?.0);
            } else {
                break;
            }
        }
        let start = self.tokens.range().start;
        if let Some(quantifier) = self.quantifier()? {
            tail.quantifier = quantifier;
            tail.condition = self.disjunction()?.0;
            tail.range = self.tokens.since(start);
        }
        self.tokens.sign(";");
        // What other tools expect under other models: `with tso: exists; …`.
        if self.tokens.keyword("with") { Ok(()) } else { self.tokens.finish() }
    }

    fn quantifier(&mut self) -> Result<Option<Quantifier>, Diagnostic> {
        let range = self.tokens.range();
        if self.tokens.sign("~") {
            return match self.tokens.keyword("exists") {
                true => Ok(Some(Quantifier::Never)),
                false => Err(self.tokens.expected("`exists`")),
            };
        }
        let Some(Kind::Word(word)) = self.tokens.peek() else { return Ok(None) };
        let quantifier = match word {
            "exists" | "final" => Quantifier::Exists,
            "forall" => Quantifier::Always,
            "not" => {
                return Err(Diagnostic::new("a condition does not begin with `not`", range)
                    .help("write `~exists`"));
            }
            "cases" | "observed" | "Observed" => {
                let message = format!("Weir does not read conditions with `{word}`");
                return Err(Diagnostic::new(message, range)
                    .help("conditions begin with `exists`, `~exists` or `forall`"));
            }
            _ => return Ok(None),
        };
        self.tokens.next();
        Ok(Some(quantifier))
    }

    fn disjunction(&mut self) -> Result<Prop, Diagnostic> {
        let mut parts = vec![self.conjunction()?];
        while self.tokens.sign("\\/") {
            parts.push(self.conjunction()?);
        }
        self.balanced(BinOp::Or, parts)
    }

    fn conjunction(&mut self) -> Result<Prop, Diagnostic> {
        let mut parts = vec![self.implication()?];
        while self.tokens.sign("/\\") {
            parts.push(self.implication()?);
        }
        self.balanced(BinOp::And, parts)
    }

    fn implication(&mut self) -> Result<Prop, Diagnostic> {
        let mut premises = vec![];
        let mut conclusion = self.negation()?;
        while self.tokens.sign("=>") {
            premises.push(std::mem::replace(&mut conclusion, self.negation()?));
        }
        while let Some(premise) = premises.pop() {
            let not = self.not(premise)?;
            conclusion = self.join(BinOp::Or, not, conclusion)?;
        }
        Ok(conclusion)
    }

    fn negation(&mut self) -> Result<Prop, Diagnostic> {
        let negated = self.tokens.sign("~") || self.tokens.keyword("not");
        if !negated && !self.tokens.sign("(") {
            return self.atom();
        }
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err(self.too_deep());
        }
        let prop = if negated {
            let prop = self.negation()?;
            self.not(prop)?
        } else {
            let prop = self.disjunction()?;
            self.tokens.expect(")")?;
            prop
        };
        self.nesting -= 1;
        Ok(prop)
    }

    /// `true`, `false`, or a location that is compared with something.
    fn atom(&mut self) -> Result<Prop, Diagnostic> {
        if self.tokens.keyword("true") {
            return Ok((Expr::Const(1), 1));
        }
        if self.tokens.keyword("false") {
            return Ok((Expr::Const(0), 1));
        }
        let left = location(self.test, &mut self.tokens);
        let op = match self.tokens.peek() {
            Some(Kind::Sign("=" | "==")) => BinOp::Eq,
            Some(Kind::Sign("!=" | "<>")) => BinOp::Ne,
            _ => return Err(left.err().unwrap_or_else(|| self.tokens.expected("`=` or `!=`"))),
        };
        self.tokens.next();
        let right = self.value();
        // A wrong name on one side need not hide what is wrong elsewhere.
        let left = self.test.errors.take(left).map_or(Expr::Const(0), Expr::Atom);
        Ok((Expr::binary(op, left, right?), 2))
    }

    /// What a location is compared with: a number, an address (`y`), the value
    /// of a variable (`[y]`) or of a register.
    fn value(&mut self) -> Result<Expr<Leaf>, Diagnostic> {
        match (self.tokens.peek(), self.tokens.peek_at(1)) {
            (Some(Kind::Word(_) | Kind::Number(_)), Some(Kind::Sign(":")))
            | (Some(Kind::Sign("[")), _) => {
                let location = location(self.test, &mut self.tokens);
                return Ok(self.test.errors.take(location).map_or(Expr::Const(0), Expr::Atom));
            }
            _ => {}
        }
        if let Some(number) = self.tokens.number() {
            return Ok(Expr::Const(number));
        }
        self.tokens.sign("&");
        let (name, range) = self.tokens.word("a value")?;
        self.test.refuse_register(name, &range)?;
        self.test.uses_addresses = true;
        Ok(Expr::Atom(Leaf::Address(self.test.symbol(name, &range))))
    }

    fn not(&self, (prop, depth): Prop) -> Result<Prop, Diagnostic> {
        if depth == MAX_NESTING {
            return Err(self.too_deep());
        }
        Ok((Expr::unary(UnOp::Not, prop), depth + 1))
    }

    fn join(&self, op: BinOp, (a, left): Prop, (b, right): Prop) -> Result<Prop, Diagnostic> {
        let depth = left.max(right);
        if depth == MAX_NESTING {
            return Err(self.too_deep());
        }
        Ok((Expr::binary(op, a, b), depth + 1))
    }

    /// A chain of propositions as a tree that is as flat as can be.
    fn balanced(&self, op: BinOp, mut parts: Vec<Prop>) -> Result<Prop, Diagnostic> {
        while parts.len() > 1 {
            let mut rest = parts.into_iter();
            let mut joined = vec![];
            while let Some(left) = rest.next() {
                joined.push(match rest.next() {
                    Some(right) => self.join(op, left, right)?,
                    None => left,
                });
            }
            parts = joined;
        }
        Ok(parts.pop().unwrap_or((Expr::Const(1), 1)))
    }

    fn too_deep(&self) -> Diagnostic {
        let message = format!("the condition nests more than {MAX_NESTING} deep");
        Diagnostic::new(message, self.tokens.range())
    }
}
