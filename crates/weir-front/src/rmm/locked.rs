//! Locked blocks, and `cas`, which is one: see [`crate::locked`].

use weir_model::ids::SpanId;
use weir_model::program::{BinOp, Code, Expr, UnOp};

use super::process::Lowering;
use super::target::contains;
use super::tree::{self, At, Labeled, Write};
use crate::choice;
use crate::errors::quote;
use crate::locked::{Path, Refused, Symbolic, Way, atomic_block};

/// The most ways through a locked block.
const MAX_WAYS: usize = 64;

/// Why a block cannot be executed symbolically.
enum Failed {
    /// An error that was reported.
    Reported,
    /// A statement that does not fit.
    Refused(Refused, At),
}

impl Lowering<'_, '_, '_> {
    /// A locked block: one atomic read-write for each way through it, or an atomic block.
    pub fn at_once(&mut self, stmt: &Labeled, span: SpanId) -> Option<()> {
        let start = Path::new(self.temporary(0));
        let scratch = self.temporary(1);
        let ways = match self.further(stmt, vec![start]) {
            Ok(ways) => ways,
            Err(Failed::Reported) => return None,
            Err(Failed::Refused(..)) => return self.as_block(stmt, span),
        };
        let fenced = ways.iter().any(|way| way.writes() > 0);
        let mut blocks = Vec::new();
        for way in ways {
            let mut made = 1;
            let statements = way.finish(&[scratch], fenced, &mut || {
                made += 1;
                self.temporary(made)
            });
            blocks.push(self.nested(|this| {
                statements.into_iter().for_each(|kind| this.emit(kind, span));
            }));
        }
        self.out.extend(choice::among(blocks, span));
        Some(())
    }

    /// A locked block over several places.
    fn as_block(&mut self, stmt: &Labeled, span: SpanId) -> Option<()> {
        let scratch = self.temporary(1);
        let ways = match self.further(stmt, vec![Way::default()]) {
            Ok(ways) => ways,
            Err(Failed::Reported) => return None,
            Err(Failed::Refused(refused, at)) => {
                let message = match refused {
                    Refused::Alias => "this place may be one that the locked block has written",
                    Refused::SecondPlace | Refused::TooLarge => {
                        "this locked block computes too much"
                    }
                };
                self.cx.error(self.cx.token(at).error(message));
                return None;
            }
        };
        if ways.iter().all(|way| way.writes() == 0) {
            let token = self.cx.token(stmt.from);
            let help =
                "Weir's atomic blocks are fences, and a locked block without a write is none";
            let message = "a locked block without a write reads two places in memory";
            self.cx.error(token.error(message).help(help));
            return None;
        }
        let mut blocks = Vec::new();
        for way in ways {
            let mut made = 2 + way.loads();
            let statements = way.finish(&[scratch], &mut || {
                made += 1;
                self.temporary(made - 1)
            });
            blocks.push(self.nested(|this| {
                statements.into_iter().for_each(|kind| this.emit(kind, span));
            }));
        }
        let block = atomic_block(blocks, span);
        self.emit(block.kind, span);
        Some(())
    }

    /// Continues each way with a list of statements.
    fn ways<W: Symbolic>(&mut self, list: &[Labeled], mut ways: Vec<W>) -> Result<Vec<W>, Failed> {
        for stmt in list {
            if let Some(label) = stmt.label {
                let message = "a label is not allowed in a locked block: no process can be at it";
                self.cx.error(self.cx.tokens[label].error(message));
                return Err(Failed::Reported);
            }
            ways = self.further(stmt, ways)?;
        }
        Ok(ways)
    }

    /// Continues each way with a statement.
    fn further<W: Symbolic>(&mut self, stmt: &Labeled, mut ways: Vec<W>) -> Result<Vec<W>, Failed> {
        match &stmt.stmt {
            tree::Stmt::Locked(choices) | tree::Stmt::Either(choices) => {
                let mut all = Vec::new();
                for choice in choices {
                    all.extend(self.ways(choice, ways.clone())?);
                    if all.len() > MAX_WAYS {
                        let message = format!("there are more than {MAX_WAYS} ways through this");
                        self.cx.error(self.cx.tokens[stmt.from].error(message));
                        return Err(Failed::Reported);
                    }
                }
                return Ok(all);
            }
            tree::Stmt::Block(list) => return self.ways(list, ways),
            tree::Stmt::If(condition, then, other) => {
                let condition = self.code(condition).ok_or(Failed::Reported)?;
                let ends = Expr::unary(UnOp::Not, condition.clone());
                let mut all = Vec::new();
                for (test, branch) in [(condition, Some(then)), (ends, other.as_ref())] {
                    let mut taken = ways.clone();
                    for way in &mut taken {
                        way.assume(&test).map_err(|r| Failed::Refused(r, stmt.from))?;
                    }
                    all.extend(match branch {
                        Some(branch) => self.ways(std::slice::from_ref(&**branch), taken)?,
                        None => taken,
                    });
                }
                if all.len() > MAX_WAYS {
                    let message = format!("there are more than {MAX_WAYS} ways through this");
                    self.cx.error(self.cx.tokens[stmt.from].error(message));
                    return Err(Failed::Reported);
                }
                return Ok(all);
            }
            _ => {}
        }
        for way in &mut ways {
            let done = self.step(stmt, way).ok_or(Failed::Reported)?;
            done.map_err(|refused| Failed::Refused(refused, stmt.from))?;
        }
        Ok(ways)
    }

    /// Continues a way with one statement. `None` after an error.
    fn step<W: Symbolic>(&mut self, stmt: &Labeled, way: &mut W) -> Option<Result<(), Refused>> {
        let value = self.temporary(1);
        let guard = |way: &mut W, e: Option<Code>| e.map_or(Ok(()), |e| way.assume(&e));
        let all = |way: &mut W, e: Vec<Code>| e.iter().try_for_each(|e| way.assume(e));
        // Behind the registers that every block uses.
        let fresh = |this: &mut Self, n: usize| this.temporary(2 + n);
        Some(match &stmt.stmt {
            tree::Stmt::Nop => Ok(()),
            tree::Stmt::Assume(e) => way.assume(&self.code(e)?),
            tree::Stmt::Assign(r, e) => {
                let (register, e) = (self.register(*r)?, self.code(e)?);
                guard(way, self.within(&e, self.domains[register.index()]))
                    .and_then(|()| way.assign(register, &e))
            }
            tree::Stmt::Await(place, e) => {
                let (target, e) = (self.target(place)?, self.code(e)?);
                let ends = Expr::binary(BinOp::Eq, Expr::Atom(value), e);
                guard(way, target.guard)
                    .and_then(|()| way.read(value, &target.place, &mut |n| fresh(self, n)))
                    .and_then(|()| way.assume(&ends))
            }
            tree::Stmt::Read(r, place) => {
                let (register, target) = (self.register(*r)?, self.target(place)?);
                let domain = self.domains[register.index()];
                let known = target.vars.iter().all(|(_, d)| contains(domain, *d));
                let fits = if known { None } else { self.within(&Expr::Atom(value), domain) };
                guard(way, target.guard)
                    .and_then(|()| way.read(value, &target.place, &mut |n| fresh(self, n)))
                    .and_then(|()| guard(way, fits))
                    .and_then(|()| way.assign(register, &Expr::Atom(value)))
            }
            tree::Stmt::Write(Write::Plain | Write::Locked, place, e) => {
                let (target, e) = (self.target(place)?, self.code(e)?);
                let fits = self.fits(&target, &e);
                guard(way, target.guard)
                    .and_then(|()| all(way, fits))
                    .and_then(|()| way.write(&target.place, &e))
            }
            tree::Stmt::Cas(place, expected, new) => {
                let (target, expected) = (self.target(place)?, self.code(expected)?);
                let new = self.code(new)?;
                let ends = Expr::binary(BinOp::Eq, Expr::Atom(value), expected);
                let fits = self.fits(&target, &new);
                guard(way, target.guard)
                    .and_then(|()| way.read(value, &target.place, &mut |n| fresh(self, n)))
                    .and_then(|()| way.assume(&ends))
                    .and_then(|()| all(way, fits))
                    .and_then(|()| way.write(&target.place, &new))
            }
            _ => {
                let token = self.cx.token(stmt.from);
                let message = format!("{} is not allowed in a locked block", quote(token.text));
                self.cx.error(token.error(message));
                return None;
            }
        })
    }
}
