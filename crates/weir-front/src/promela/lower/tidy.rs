//! The same code with fewer jumps, labels and blocks.

use std::collections::{HashMap, HashSet};

use weir_model::ids::{LabelId, RegId};
use weir_model::program::{Code, Expr, Label, Place, Rmw, Stmt, StmtKind};

use super::value::replace;
use crate::MAX_NESTING;
use crate::weir::fold;

/// Leaves out jumps to what comes next, and labels to which nothing jumps, if they are not in the
/// text. Returns the code, its labels, and what each of the old labels has become.
pub fn tidy(
    mut body: Vec<Stmt>,
    labels: Vec<Label>,
    generated: &HashSet<LabelId>,
) -> (Vec<Stmt>, Vec<Label>, Vec<Option<LabelId>>) {
    strip(&mut body, &HashSet::new());
    // A generated label beside one of the text is the same.
    let mut same = HashMap::new();
    merge(&body, generated, &mut same);
    let mut used = HashSet::new();
    jumps(&body, &mut |label| {
        used.insert(same.get(&label).copied().unwrap_or(label));
    });
    let mut kept = vec![None; labels.len()];
    let mut list = Vec::new();
    for (i, label) in labels.into_iter().enumerate() {
        let id = LabelId::new(i);
        if !generated.contains(&id) || used.contains(&id) {
            kept[i] = Some(LabelId::new(list.len()));
            list.push(label);
        }
    }
    let now = |label: LabelId| {
        let label = same.get(&label).copied().unwrap_or(label);
        kept[label.index()]
    };
    rename(&mut body, &now, &same);
    (body, list, kept)
}

/// Leaves out jumps to what comes next; gives the labels at the beginning.
fn strip(list: &mut Vec<Stmt>, next: &HashSet<LabelId>) {
    let mut following = next.clone();
    let mut kept = Vec::with_capacity(list.len());
    for mut stmt in std::mem::take(list).into_iter().rev() {
        match &mut stmt.kind {
            StmtKind::Goto(label) if following.contains(label) => continue,
            StmtKind::Label(label) => {
                following.insert(*label);
            }
            StmtKind::Loop(body) | StmtKind::Await(body, _) => {
                strip(body, &HashSet::new());
                following.clear();
            }
            kind => {
                for block in kind.blocks_mut() {
                    strip(block, &following);
                }
                following.clear();
            }
        }
        kept.push(stmt);
    }
    kept.reverse();
    *list = kept;
}

fn merge(list: &[Stmt], generated: &HashSet<LabelId>, same: &mut HashMap<LabelId, LabelId>) {
    for pair in list.windows(2) {
        if let [Stmt { kind: StmtKind::Label(a), .. }, Stmt { kind: StmtKind::Label(b), .. }] = pair
            && generated.contains(a)
            && !generated.contains(b)
        {
            same.insert(*a, *b);
        }
    }
    for stmt in list {
        stmt.kind.blocks().into_iter().for_each(|block| merge(block, generated, same));
    }
}

fn jumps(list: &[Stmt], visit: &mut impl FnMut(LabelId)) {
    for stmt in list {
        if let StmtKind::Goto(label) = stmt.kind {
            visit(label);
        }
        stmt.kind.blocks().into_iter().for_each(|block| jumps(block, visit));
    }
}

fn rename(
    list: &mut Vec<Stmt>,
    now: &impl Fn(LabelId) -> Option<LabelId>,
    same: &HashMap<LabelId, LabelId>,
) {
    list.retain_mut(|stmt| match &mut stmt.kind {
        StmtKind::Label(label) => match now(*label).filter(|_| !same.contains_key(label)) {
            Some(id) => {
                *label = id;
                true
            }
            None => false,
        },
        StmtKind::Goto(label) => {
            *label = now(*label).unwrap_or(*label);
            true
        }
        kind => {
            for block in kind.blocks_mut() {
                rename(block, now, same);
            }
            true
        }
    });
}

/// How many accesses a block has at most, if it is gone through once.
pub fn weight(list: &[Stmt]) -> usize {
    let one = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Load(..) | StmtKind::Store(..) | StmtKind::Rmw(..) => 1,
        StmtKind::Loop(body) => 2 * weight(body),
        kind => kind.blocks().into_iter().map(|block| weight(block)).max().unwrap_or(0),
    };
    list.iter().map(one).sum()
}

/// A block on one variable that reads it, waits perhaps, and writes it, as one atomic read-write.
pub fn as_update(block: &[Stmt]) -> Option<Vec<Stmt>> {
    // Without jumps to what comes next.
    let mut passed = Vec::new();
    let mut flat: Vec<&Stmt> = Vec::new();
    for stmt in block {
        match (&stmt.kind, flat.last().map(|s| &s.kind)) {
            (StmtKind::Label(here), Some(StmtKind::Goto(to))) if here == to => {
                passed.push(*here);
                flat.pop();
            }
            (StmtKind::Label(_), _) => return None,
            _ => flat.push(stmt),
        }
    }
    let mut is_loop = false;
    jumps(block, &mut |label| passed.push(label));
    passed.sort_unstable();
    passed.chunk_by(|a, b| a == b).for_each(|same| is_loop |= same.len() > 2);
    if is_loop {
        return None;
    }
    let (first, rest) = flat.split_first()?;
    let (value, place, when, span, rest): (RegId, &Place, Code, _, _) = match &first.kind {
        StmtKind::Load(value, place) => (*value, place, Expr::Const(1), first.span, rest),
        StmtKind::Await(loads, when) => match &loads[..] {
            [Stmt { kind: StmtKind::Load(value, place), span }] => {
                (*value, place, when.clone(), *span, rest)
            }
            _ => return None,
        },
        _ => return None,
    };
    if place.index.is_some() {
        return None;
    }
    // What registers and the variable hold, in terms of what they held before.
    let mut held: Vec<(RegId, Code)> = vec![(value, Expr::Atom(value))];
    let mut now = Expr::Atom(value);
    let mut writes = false;
    let mut last = Vec::new();
    for stmt in rest {
        let known = |code: &Code, held: &[(RegId, Code)]| {
            let of = |r: RegId| held.iter().rev().find(|(h, _)| *h == r).map(|(_, c)| c.clone());
            let code = replace(code, &of);
            (fold::depth(&code) < MAX_NESTING / 2).then_some(code)
        };
        let is_end = matches!(stmt.kind, StmtKind::Fence(_) | StmtKind::Goto(_));
        if !last.is_empty() && !is_end {
            return None;
        }
        match &stmt.kind {
            StmtKind::Load(r, p) if p == place && *r != value => {
                let code = now.clone();
                held.retain(|(h, _)| h != r);
                held.push((*r, code));
            }
            StmtKind::Assign(r, code) if *r != value => {
                let code = known(code, &held)?;
                held.retain(|(h, _)| h != r);
                held.push((*r, code));
            }
            StmtKind::Store(p, code) if p == place => {
                now = known(code, &held)?;
                writes = true;
            }
            StmtKind::Nop => {}
            StmtKind::Fence(_) | StmtKind::Goto(_) => last.push(*stmt),
            _ => return None,
        }
    }
    if !writes {
        return None;
    }
    let update = Rmw::Update { when, new: now };
    let mut made = vec![Stmt::new(StmtKind::Rmw(value, place.clone(), update), span)];
    let mut set: Vec<RegId> = Vec::new();
    for (register, code) in held.into_iter().skip(1) {
        let mut is_wrong = false;
        code.atoms(&mut |r| is_wrong |= set.contains(r));
        if is_wrong {
            return None;
        }
        set.push(register);
        if code != Expr::Atom(register) {
            made.push(Stmt::new(StmtKind::Assign(register, code), span));
        }
    }
    made.extend(last.into_iter().cloned());
    Some(made)
}
