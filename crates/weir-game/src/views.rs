//! Plain games, decided by one finite game for each process (Spengler 2024, sections 5
//! and 6).
//!
//! *Theorem 4*: the process player wins the game of a program if and only if the process
//! player wins the game of one of its processes alone. *Theorem 7*: the game of one
//! process is bisimilar to the game on its *views* `⟨S, V, F⟩`: its local state, the
//! value that it reads from each variable, and whether it may execute a fence. There are
//! finitely many views.
//!
//! Between two turns of the process player, the update player of a single process has two
//! choices that a view distinguishes: to leave something in the buffer, or to empty it.
//! So a turn of both is an edge from a view to one or two views, and the process player
//! wins from a view if some edge leads only to views from which the process player wins.
//! Only reachable views are built; then attractors are computed backward with one counter
//! for each edge, in time linear in the number of edges.
//!
//! A process player without an enabled instruction loses, the update player always
//! has a move, and in a reachability game the first visit of a target decides
//! (section 5).

use std::collections::{BTreeMap, VecDeque};

use weir_engine::store::{ConfigId, Store};
use weir_model::game::{Board, Instruction, View};
use weir_model::ids::{ProcessId, StateId, TransitionId, ValueId};
use weir_model::program::{FenceKind, Objective};
use weir_model::system::Op;

use crate::counts::{Counts, Stopped};

/// A turn of both players.
struct Edge {
    from: u32,
    /// Which instruction of the local state.
    instruction: u32,
    /// The view if the buffer keeps something, and the one if it is emptied; the same
    /// where it was empty.
    kept: u32,
    emptied: u32,
}

/// The game on the views of one process.
pub struct ViewGame<'b, 's> {
    board: &'b Board<'s>,
    process: ProcessId,
    views: Store,
    edges: Vec<Edge>,
}

/// What to do in each view that can come up, sorted.
pub type Moves = Vec<(View, Box<[TransitionId]>)>;

impl<'b, 's> ViewGame<'b, 's> {
    /// Builds all views that can come up.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn new(
        board: &'b Board<'s>,
        process: ProcessId,
        counts: &mut Counts<'_>,
    ) -> Result<Self, Stopped> {
        let mut game =
            Self { board, process, views: Store::within(&counts.budget), edges: Vec::new() };
        let start = board.start();
        let first =
            View { state: start.states[process.index()], values: start.memory, fence: true };
        game.number(&first)?;
        let before = counts.stats.stored;
        while let Some(id) = game.views.take_next() {
            game.expand(id)?;
            counts.stats.stored = before + game.views.len();
            counts.stats.expanded += 1;
            counts.tick(game.views.bytes() + game.edges.capacity() * size_of::<Edge>())?;
        }
        Ok(game)
    }

    /// How many views there are.
    pub fn len(&self) -> usize {
        self.views.len()
    }

    /// Whether there are none. There is always one.
    pub fn is_empty(&self) -> bool {
        self.views.is_empty()
    }

    fn expand(&mut self, id: ConfigId) -> Result<(), Stopped> {
        let view = self.view(id);
        // What comes after a target does not matter.
        if self.board.is_target(self.process, view.state) {
            return Ok(());
        }
        let (board, process) = (self.board, self.process);
        let all = board.instructions(process, view.state).iter().enumerate();
        for (number, instruction) in all.filter(|(_, i)| is_enabled(board, process, &view, i)) {
            let kept = after(&view, instruction);
            let emptied = View { fence: true, ..kept.clone() };
            let edge = Edge {
                from: id.index() as u32,
                instruction: number as u32,
                kept: self.number(&kept)?,
                emptied: self.number(&emptied)?,
            };
            self.edges.push(edge);
        }
        Ok(())
    }

    fn number(&mut self, view: &View) -> Result<u32, Stopped> {
        let mut cells = Vec::with_capacity(view.values.len() + 2);
        cells.extend([view.state.0, u32::from(view.fence)]);
        cells.extend(view.values.iter().map(|v| v.0));
        let (id, _) = self.views.number(&cells, None)?;
        Ok(id.index() as u32)
    }

    fn view(&self, id: ConfigId) -> View {
        let cells = self.views.get(id);
        View {
            state: StateId(cells[0]),
            fence: cells[1] == 1,
            values: cells[2..].iter().map(|v| ValueId(*v)).collect(),
        }
    }

    fn view_at(&self, index: u32) -> View {
        self.view(self.views.id(index as usize).expect("a view of this game"))
    }

    /// The winning moves of the process player from the first view, if there are any.
    pub fn solve(&self) -> Option<Moves> {
        let choice = match self.board.objective() {
            Objective::Reach => self.reach(),
            Objective::Avoid => self.avoid(),
        };
        self.moves(&choice?)
    }

    /// For each view, the edges that lead there.
    fn incoming(&self) -> Incoming {
        let mut first = vec![0u32; self.views.len() + 1];
        let ends = |e: &Edge| [Some(e.kept), (e.emptied != e.kept).then_some(e.emptied)];
        for edge in &self.edges {
            ends(edge).into_iter().flatten().for_each(|v| first[v as usize + 1] += 1);
        }
        for v in 1..first.len() {
            first[v] += first[v - 1];
        }
        let mut next = first.clone();
        let mut edges = vec![0u32; first[first.len() - 1] as usize];
        for (number, edge) in self.edges.iter().enumerate() {
            for v in ends(edge).into_iter().flatten() {
                edges[next[v as usize] as usize] = number as u32;
                next[v as usize] += 1;
            }
        }
        Incoming { first, edges }
    }

    fn is_target(&self, view: u32) -> bool {
        let id = self.views.id(view as usize).expect("a view of this game");
        self.board.is_target(self.process, StateId(self.views.get(id)[0]))
    }

    /// The process player's attractor of the targets: for each view the edge to take.
    fn reach(&self) -> Option<Vec<Option<u32>>> {
        let incoming = self.incoming();
        let count = self.views.len();
        let mut choice = vec![None; count];
        let mut won: Vec<bool> = (0..count as u32).map(|v| self.is_target(v)).collect();
        let mut work: VecDeque<u32> = (0..count as u32).filter(|v| won[*v as usize]).collect();
        // How many ends of an edge are not won yet.
        let mut open: Vec<u8> =
            self.edges.iter().map(|e| if e.kept == e.emptied { 1 } else { 2 }).collect();
        while let Some(view) = work.pop_front() {
            for &edge in incoming.of(view) {
                open[edge as usize] -= 1;
                let from = self.edges[edge as usize].from as usize;
                if open[edge as usize] == 0 && !won[from] {
                    won[from] = true;
                    choice[from] = Some(edge);
                    work.push_back(from as u32);
                }
            }
        }
        won[0].then_some(choice)
    }

    /// What is left without the update player's attractor of targets and deadlocks:
    /// for each view the edge to take.
    fn avoid(&self) -> Option<Vec<Option<u32>>> {
        let incoming = self.incoming();
        let count = self.views.len();
        let mut open = vec![0u32; count];
        self.edges.iter().for_each(|e| open[e.from as usize] += 1);
        let mut lost: Vec<bool> =
            (0..count).map(|v| open[v] == 0 || self.is_target(v as u32)).collect();
        let mut work: Vec<u32> = (0..count as u32).filter(|v| lost[*v as usize]).collect();
        let mut bad = vec![false; self.edges.len()];
        while let Some(view) = work.pop() {
            for &edge in incoming.of(view) {
                if std::mem::replace(&mut bad[edge as usize], true) {
                    continue;
                }
                let from = self.edges[edge as usize].from as usize;
                open[from] -= 1;
                if open[from] == 0 && !lost[from] {
                    lost[from] = true;
                    work.push(from as u32);
                }
            }
        }
        let mut choice = vec![None; count];
        for (number, edge) in self.edges.iter().enumerate().rev() {
            if !bad[number] {
                choice[edge.from as usize] = Some(number as u32);
            }
        }
        (!lost[0]).then_some(choice)
    }

    /// The moves of the views that come up if the process player plays like this.
    fn moves(&self, choice: &[Option<u32>]) -> Option<Moves> {
        let mut moves = BTreeMap::new();
        let mut work = vec![0];
        while let Some(index) = work.pop() {
            if self.is_target(index) {
                continue;
            }
            let edge = &self.edges[choice[index as usize]? as usize];
            let view = self.view_at(index);
            let all = self.board.instructions(self.process, view.state);
            let path = all[edge.instruction as usize].path.clone();
            if moves.insert(view, path).is_none() {
                work.extend([edge.kept, edge.emptied]);
            }
        }
        Some(moves.into_iter().collect())
    }
}

struct Incoming {
    first: Vec<u32>,
    edges: Vec<u32>,
}

impl Incoming {
    fn of(&self, view: u32) -> &[u32] {
        let view = view as usize;
        &self.edges[self.first[view] as usize..self.first[view + 1] as usize]
    }
}

/// Whether an instruction can be executed in a view: a view tells (lemma 5).
pub fn is_enabled(board: &Board<'_>, process: ProcessId, view: &View, i: &Instruction) -> bool {
    let possible = match i.op {
        Op::Read(x, d) => view.values[x.index()] == d,
        Op::Fence(FenceKind::Full) => view.fence,
        _ => true,
    };
    possible && (!i.waits || board.goes_on(process, i.to, &view.values))
}

/// The view after an instruction (lemma 5).
pub fn after(view: &View, i: &Instruction) -> View {
    let mut after = View { state: i.to, ..view.clone() };
    if let Op::Write(x, d) = i.op {
        after.values[x.index()] = d;
        after.fence = false;
    }
    after
}
