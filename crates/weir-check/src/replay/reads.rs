//! Reads that return another value than that of the newest memory: a past one, an own write,
//! or the write of another process.

use weir_model::ids::{ProcessId, ValueId, VarId};
use weir_model::memory_model::Relaxation;
use weir_model::program::FenceKind;
use weir_model::system::Op;

use std::collections::BTreeSet;

use super::{Check, Issued, MAX_TRACES, Moment, Name, Replay, Wrong, var};

impl Replay<'_> {
    /// A read takes effect at the earliest moment at which memory had the value
    /// and which is not before something that the read may not overtake.
    pub(super) fn read_past(&mut self, p: ProcessId, x: VarId, d: ValueId) -> Check<()> {
        let read = Op::Read(x, d);
        let issued = &self.threads[p.index()].issued;
        let fits = |state: &usize| {
            let moment = Moment { state: *state, within: true };
            let overtakes = |i: &usize| issued[*i].effect.is_none_or(|e| e > moment);
            self.value(*state, x) == d
                && (0..issued.len())
                    .filter(|&i| {
                        !issued[i].early
                            && !matches!(
                                issued[i].op,
                                Op::Fence(FenceKind::Read | FenceKind::Write)
                            )
                    })
                    .filter(overtakes)
                    .all(|i| self.may_overtake_through(&issued[i..], read))
        };
        let state = (0..=self.now()).find(fits).ok_or_else(|| {
            let shown = self.system.show_op(read);
            format!("memory never had the value of {shown} when the process could see it")
        })?;
        let effect = Some(Moment { state, within: true });
        self.threads[p.index()].issued.push(Issued {
            op: read,
            effect,
            early: false,
            transferred: false,
        });
        Ok(())
    }

    /// Whether an operation may overtake the first of these in spite of the
    /// partial fences between them.
    fn may_overtake_through(&self, issued: &[Issued], op: Op) -> bool {
        let first = issued[0].op;
        let holds = |i: &Issued| {
            matches!(i.op, Op::Fence(_))
                && !self.may_overtake(first, i.op)
                && !self.may_overtake(i.op, op)
        };
        self.may_overtake(first, op) && !issued[1..].iter().any(holds)
    }

    /// Rule 3: a read is canceled against the write before it. Everything
    /// between the two moves before the write or is overtaken by the read.
    pub(super) fn read_own_write(&mut self, p: ProcessId, x: VarId, d: ValueId) -> Check<()> {
        if !self.model.has(Relaxation::Rlwe) {
            return Err(format!("{} has no RLWE", self.model).into());
        }
        let read = Op::Read(x, d);
        let thread = &self.threads[p.index()];
        let op = |n: usize| thread.issued[n].op;
        let mut traces: BTreeSet<Vec<usize>> = BTreeSet::new();
        for trace in &thread.traces {
            let Some(at) = trace.iter().rposition(|&n| var(op(n)) == Some(x)) else { continue };
            let write = trace[at];
            let after_seen = |seen: Name| !self.orders.contains(&((p, write), seen));
            if op(write) != Op::Write(x, d)
                || !self.seen[p.index()][x.index()].is_none_or(after_seen)
            {
                continue;
            }
            let between = &trace[at + 1..];
            for front in self.ways_together(p, write, between, read)? {
                let part = |wanted: bool| {
                    let both = between.iter().zip(&front);
                    both.filter(move |(_, f)| **f == wanted).map(|(n, _)| *n)
                };
                let mut rewritten = trace[..at].to_vec();
                rewritten.extend(part(true).chain([write]).chain(part(false)));
                traces.insert(rewritten);
                if traces.len() > MAX_TRACES {
                    return Err(Wrong::TooLarge);
                }
            }
        }
        let mut traces: Vec<Vec<usize>> = traces.into_iter().collect();
        if traces.is_empty() && self.reads_past_write(p, x, d) {
            traces = thread.traces.clone();
        }
        if traces.is_empty() {
            let shown = self.system.show_op(read);
            return Err(format!("no own write is there for {shown} to take its value from").into());
        }
        let thread = &mut self.threads[p.index()];
        thread.traces = traces;
        thread.issued.push(Issued { op: read, effect: None, early: true, transferred: false });
        Ok(())
    }

    /// The ways to bring a write and a read next to each other: for each way, the operations
    /// between them that move before the write. If no operation has to move, that is the only way
    /// returned. Otherwise an operation that need not move is tried in both positions, unless it
    /// commutes with everything after it; then both positions have the same rewritings.
    fn ways_together(
        &self,
        p: ProcessId,
        write: usize,
        between: &[usize],
        read: Op,
    ) -> Check<Vec<Vec<bool>>> {
        let op = |n: usize| self.threads[p.index()].issued[n].op;
        if between.iter().all(|&n| self.may_overtake(op(n), read)) {
            return Ok(vec![vec![false; between.len()]]);
        }
        let mut ways: Vec<Vec<bool>> = vec![vec![]];
        for (i, &n) in between.iter().enumerate() {
            let stays = self.may_overtake(op(n), read);
            let is_tied =
                |&m: &usize| !self.may_overtake(op(n), op(m)) || !self.may_overtake(op(m), op(n));
            let matters = between[i + 1..].iter().any(is_tied);
            let mut longer = Vec::new();
            for way in ways {
                let passed = (0..i).filter(|&j| !way[j]).map(|j| between[j]);
                let moves = [write].into_iter().chain(passed);
                let moves = moves.into_iter().all(|m| self.may_overtake(op(m), op(n)));
                let extend = |front| way.iter().copied().chain([front]).collect::<Vec<bool>>();
                if stays {
                    longer.push(extend(false));
                }
                if moves && (matters || !stays) {
                    longer.push(extend(true));
                }
            }
            if longer.len() > MAX_TRACES {
                return Err(Wrong::TooLarge);
            }
            ways = longer;
        }
        Ok(ways)
    }

    /// Rule 3 where the write has reached memory before the process has seen it
    /// there, as with load buffers: what was issued between the two has taken
    /// effect before the write, or the read may overtake it.
    fn reads_past_write(&self, p: ProcessId, x: VarId, d: ValueId) -> bool {
        let issued = &self.threads[p.index()].issued;
        let on_x = |i: &Issued| !i.early && var(i.op) == Some(x);
        let Some(at) = issued.iter().rposition(on_x) else { return false };
        let (write, between) = (issued[at], &issued[at + 1..]);
        let passed = |i: &Issued| {
            i.early
                || i.effect.zip(write.effect).is_some_and(|(i, w)| i < w)
                || self.may_overtake(i.op, Op::Read(x, d))
        };
        write.op == Op::Write(x, d)
            && write.effect.is_some()
            && self.seen[p.index()][x.index()].is_none()
            && between.iter().all(passed)
    }

    /// RRWE (Atig et al. 2012, section 7): a read takes the value of the last write of
    /// another process, which from now on comes after what this process has
    /// under way on the variable, and before what it issues later.
    pub(super) fn read_remote_write(
        &mut self,
        p: ProcessId,
        x: VarId,
        d: ValueId,
        source: ProcessId,
    ) -> Check<()> {
        let read = Op::Read(x, d);
        if !self.model.has(Relaxation::Rrwe) || source == p {
            return Err(format!("under {} no process may read that write early", self.model).into());
        }
        let writer = &self.threads[source.index()].issued;
        let is_write = |i: &usize| matches!(writer[*i].op, Op::Write(y, _) if y == x);
        let last = (0..writer.len()).rev().find(is_write);
        let last = last.filter(|&i| writer[i].effect.is_none() && writer[i].op == Op::Write(x, d));
        let last = last.ok_or("there is no such write under way")?;
        let thread = &self.threads[p.index()];
        let blocks = |&&n: &&usize| {
            let op = thread.issued[n].op;
            var(op) != Some(x) && !self.may_overtake(op, read)
        };
        if thread.traces.iter().all(|t| t.iter().find(blocks).is_some()) {
            return Err(format!(
                "{} may not overtake the operations under way",
                self.system.show_op(read)
            )
            .into());
        }
        let own = (0..thread.issued.len())
            .filter(|&i| {
                let issued = thread.issued[i];
                issued.effect.is_none() && !issued.early && var(issued.op) == Some(x)
            })
            .map(|i| (p, i));
        let before: Vec<Name> = own.chain(self.seen[p.index()][x.index()]).collect();
        let write = (source, last);
        self.orders.extend(before.into_iter().filter(|b| *b != write).map(|b| (b, write)));
        self.seen[p.index()][x.index()] = Some(write);
        self.threads[p.index()].issued.push(Issued {
            op: read,
            effect: None,
            early: true,
            transferred: false,
        });
        Ok(())
    }
}
