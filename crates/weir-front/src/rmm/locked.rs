//! Locked blocks, and `cas`, which is one: see [`crate::locked`].

use weir_model::ids::SpanId;
use weir_model::program::{BinOp, Code, Expr, Stmt, StmtKind};

use super::process::Lowering;
use super::target::contains;
use super::tree::{self, Labeled, Write};
use crate::errors::quote;
use crate::locked::{Path, Refused};

/// The most ways through a locked block.
const MAX_WAYS: usize = 64;

impl Lowering<'_, '_, '_> {
    /// A locked block: one atomic read-write for each way through it.
    pub fn at_once(&mut self, stmt: &Labeled, span: SpanId) -> Option<()> {
        let start = Path::new(self.temporary(0));
        let ways = self.further(stmt, vec![start])?;
        let fenced = ways.iter().any(|way| way.writes() > 0);
        let scratch = self.temporary(1);
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
        match <[Vec<Stmt>; 1]>::try_from(blocks) {
            Ok([block]) => self.out.extend(block),
            Err(blocks) => self.emit(StmtKind::Choose(blocks), span),
        }
        Some(())
    }

    /// Continues each way with a list of statements. `None` after an error.
    fn ways(&mut self, list: &[Labeled], mut ways: Vec<Path>) -> Option<Vec<Path>> {
        for stmt in list {
            if let Some(label) = stmt.label {
                let message = "a label is not allowed in a locked block: no process can be at it";
                self.cx.error(self.cx.tokens[label].error(message));
                return None;
            }
            ways = self.further(stmt, ways)?;
        }
        Some(ways)
    }

    /// Continues each way with a statement. `None` after an error.
    fn further(&mut self, stmt: &Labeled, mut ways: Vec<Path>) -> Option<Vec<Path>> {
        match &stmt.stmt {
            tree::Stmt::Locked(choices) => {
                let mut all = Vec::new();
                for choice in choices {
                    all.extend(self.ways(choice, ways.clone())?);
                    if all.len() > MAX_WAYS {
                        let message = format!("there are more than {MAX_WAYS} ways through this");
                        self.cx.error(self.cx.tokens[stmt.from].error(message));
                        return None;
                    }
                }
                return Some(all);
            }
            tree::Stmt::Block(list) => return self.ways(list, ways),
            _ => {}
        }
        for way in &mut ways {
            if let Err(refused) = self.step(stmt, way)? {
                self.refuse(refused, stmt);
                return None;
            }
        }
        Some(ways)
    }

    fn refuse(&mut self, refused: Refused, stmt: &Labeled) {
        let token = self.cx.token(stmt.from);
        let error = match refused {
            Refused::SecondPlace => {
                let help = "Weir's atomic read-writes are of one variable; \
                            `cas` and `locked write` are such";
                token.error("a locked block accesses two places in memory").help(help)
            }
            Refused::TooLarge => token.error("this locked block computes too much"),
        };
        self.cx.error(error);
    }

    /// Continues a way with one statement. `None` after an error.
    fn step(&mut self, stmt: &Labeled, way: &mut Path) -> Option<Result<(), Refused>> {
        let value = self.temporary(1);
        let guard = |way: &mut Path, e: Option<Code>| e.map_or(Ok(()), |e| way.assume(&e));
        let all = |way: &mut Path, e: Vec<Code>| e.iter().try_for_each(|e| way.assume(e));
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
                    .and_then(|()| way.read(value, &target.place))
                    .and_then(|()| way.assume(&ends))
            }
            tree::Stmt::Read(r, place) => {
                let (register, target) = (self.register(*r)?, self.target(place)?);
                let domain = self.domains[register.index()];
                let known = target.vars.iter().all(|(_, d)| contains(domain, *d));
                let fits = if known { None } else { self.within(&Expr::Atom(value), domain) };
                guard(way, target.guard)
                    .and_then(|()| way.read(value, &target.place))
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
                    .and_then(|()| way.read(value, &target.place))
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
