//! Strategies of games, as graphs: for Graphviz, and as pictures.

use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;

use weir_front::escape::markup;
use weir_model::game::{Board, Strategy, View};

use super::strategy::{action, buffer, place, values};
use crate::Loaded;

/// The most nodes of a picture.
const MAX_NODES: usize = 400;

/// A graph with texts.
pub struct Graph {
    nodes: Vec<String>,
    edges: Vec<(usize, usize, String)>,
}

impl Graph {
    /// The turns of a strategy. An edge is what is played.
    pub fn new(loaded: &Loaded, game: usize, strategy: &Strategy) -> Self {
        let mut graph = Self { nodes: Vec::new(), edges: Vec::new() };
        let named = |process: weir_model::ids::ProcessId, path: &_| {
            let name = &loaded.system.processes[process.index()].name;
            format!("{name}: {}", action(loaded, process, path))
        };
        let configuration = |at: &weir_model::game::Configuration| {
            let mut text = String::new();
            for (p, state) in loaded.system.process_ids().zip(&at.states) {
                let name = &loaded.system.processes[p.index()].name;
                let held = buffer(loaded, at, p);
                let _ = writeln!(text, "{name} {} [{held}]", place(loaded, p, *state));
            }
            text + &values(loaded, &at.memory)
        };
        match strategy {
            Strategy::Nothing => graph.nodes.push("the game begins in a target".to_owned()),
            Strategy::NeverUpdate => graph.nodes.push("never update anything".to_owned()),
            Strategy::Views { process, moves } => {
                let text = |view: &View| {
                    let fence = if view.fence { ", may fence" } else { "" };
                    let at = place(loaded, *process, view.state);
                    format!("{at}{fence}\n{}", values(loaded, &view.values))
                };
                let numbers: HashMap<&View, usize> =
                    moves.iter().enumerate().map(|(n, (view, _))| (view, n)).collect();
                graph.nodes.extend(moves.iter().map(|(view, _)| text(view)));
                let Ok(board) = Board::new(&loaded.system, game) else { return graph };
                for (from, (view, path)) in moves.iter().enumerate() {
                    let all = board.instructions(*process, view.state);
                    let Some(i) = all.iter().find(|i| i.path == *path) else { continue };
                    let kept = weir_game::views::after(view, i);
                    let emptied = View { fence: true, ..kept.clone() };
                    if board.is_target(*process, kept.state) {
                        graph.nodes.push(text(&kept));
                        let target = graph.nodes.len() - 1;
                        graph.edges.push((from, target, named(*process, path)));
                        continue;
                    }
                    let mut ends: Vec<usize> =
                        [kept, emptied].iter().filter_map(|v| numbers.get(v).copied()).collect();
                    ends.dedup();
                    graph.edges.extend(ends.iter().map(|to| (from, *to, named(*process, path))));
                }
                // The game begins with an empty buffer in the initial state.
                let start = board.start();
                let first = View {
                    state: start.states[process.index()],
                    values: start.memory,
                    fence: true,
                };
                graph.begin_at(numbers.get(&first).copied().unwrap_or(0));
            }
            Strategy::Process(positions) => {
                graph.nodes.extend(positions.iter().map(|p| configuration(&p.at)));
                for (from, position) in positions.iter().enumerate() {
                    let Some((process, path)) = &position.action else { continue };
                    if position.next.is_empty() {
                        graph.nodes.push("won".to_owned());
                        let won = graph.nodes.len() - 1;
                        graph.edges.push((from, won, named(*process, path)));
                    }
                    let next = position.next.iter();
                    graph.edges.extend(next.map(|to| (from, *to, named(*process, path))));
                }
            }
            Strategy::Update(positions) => {
                graph.nodes.extend(positions.iter().map(|p| configuration(&p.at)));
                for (from, position) in positions.iter().enumerate() {
                    let replies = position.replies.iter();
                    graph.edges.extend(
                        replies.map(|(process, path, to)| (from, *to, named(*process, path))),
                    );
                }
            }
        }
        graph
    }

    /// Makes a node the first one.
    fn begin_at(&mut self, node: usize) {
        self.nodes.swap(0, node);
        let swapped = |n: &mut usize| {
            *n = match *n {
                0 => node,
                n if n == node => 0,
                n => n,
            }
        };
        for (from, to, _) in &mut self.edges {
            swapped(from);
            swapped(to);
        }
    }

    /// The graph in the language of Graphviz.
    pub fn dot(&self) -> String {
        let quoted = |text: &str| {
            let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            format!("\"{text}\"")
        };
        let mut out = "digraph strategy {\n    node [shape=box, fontname=monospace]\n    \
                       edge [fontname=monospace]\n    start [shape=point]\n    start -> n0\n"
            .to_owned();
        for (number, text) in self.nodes.iter().enumerate() {
            let _ = writeln!(out, "    n{number} [label={}]", quoted(text));
        }
        for (from, to, text) in &self.edges {
            let _ = writeln!(out, "    n{from} -> n{to} [label={}]", quoted(text));
        }
        out + "}\n"
    }

    /// The graph as a picture, turn by turn from left to right.
    ///
    /// # Errors
    /// If it is too large for anyone to see something.
    pub fn svg(&self) -> Result<String, String> {
        if self.nodes.len() > MAX_NODES {
            return Err(format!("a picture of {} turns would show nothing", self.nodes.len()));
        }
        let layers = self.layers();
        let lines = |n: usize| self.nodes[n].lines().count().max(1) as f64;
        let width = |n: usize| {
            let longest = self.nodes[n].lines().map(|l| l.chars().count()).max().unwrap_or(0);
            longest as f64 * 7.3 + 16.0
        };
        let height = |n: usize| lines(n) * 16.0 + 12.0;
        let label = self.edges.iter().map(|e| e.2.chars().count()).max().unwrap_or(0) as f64 * 6.2;
        let mut place = vec![(0.0, 0.0); self.nodes.len()];
        let (mut x, mut bottom) = (20.0, 0.0_f64);
        for layer in &layers {
            let mut y = 30.0;
            for &n in layer {
                place[n] = (x, y);
                y += height(n) + 28.0;
            }
            bottom = bottom.max(y);
            x += layer.iter().map(|n| width(*n)).fold(0.0, f64::max) + label + 50.0;
        }
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{x:.0}\" height=\"{bottom:.0}\" \
             font-family=\"monospace\" font-size=\"12\">\n<defs><marker id=\"arrow\" \
             viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
             orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#555\"/></marker></defs>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        );
        for (number, (from, to, text)) in self.edges.iter().enumerate() {
            let (ax, ay) = (place[*from].0 + width(*from), place[*from].1 + height(*from) / 2.0);
            let (bx, by) = (place[*to].0, place[*to].1 + height(*to) / 2.0);
            // An edge back is drawn above the nodes.
            let lift = if bx < ax { 40.0 + number as f64 % 5.0 * 8.0 } else { 0.0 };
            let _ = writeln!(
                out,
                "<path d=\"M{ax:.0} {ay:.0}C{:.0} {:.0} {:.0} {:.0} {bx:.0} {by:.0}\" fill=\"none\" \
                 stroke=\"#555\" marker-end=\"url(#arrow)\"/>",
                ax + 40.0,
                ay - lift,
                bx - 40.0,
                by - lift
            );
            // Nearer to where it begins: in the middle ways cross.
            let _ = writeln!(
                out,
                "<text x=\"{:.0}\" y=\"{:.0}\" font-size=\"10\" fill=\"#246\" \
                 text-anchor=\"middle\">{}</text>",
                ax + (bx - ax) * 0.45,
                ay + (by - ay) * 0.3 - 3.0 - lift * 0.75,
                markup(text)
            );
        }
        for (n, text) in self.nodes.iter().enumerate() {
            let (x, y) = place[n];
            let stroke = if n == 0 { 2 } else { 1 };
            let _ = writeln!(
                out,
                "<rect x=\"{x:.0}\" y=\"{y:.0}\" width=\"{:.0}\" height=\"{:.0}\" rx=\"4\" \
                 fill=\"#f4f7fb\" stroke=\"#246\" stroke-width=\"{stroke}\"/>",
                width(n),
                height(n)
            );
            for (row, line) in text.lines().enumerate() {
                let _ = writeln!(
                    out,
                    "<text x=\"{:.0}\" y=\"{:.0}\">{}</text>",
                    x + 8.0,
                    y + 18.0 + 16.0 * row as f64,
                    markup(line)
                );
            }
        }
        Ok(out + "</svg>\n")
    }

    /// The nodes by how far they are from the first one.
    fn layers(&self) -> Vec<Vec<usize>> {
        let mut depth = vec![None; self.nodes.len()];
        let mut next = vec![vec![]; self.nodes.len()];
        self.edges.iter().for_each(|(from, to, _)| next[*from].push(*to));
        depth[0] = Some(0);
        let mut work = VecDeque::from([0]);
        while let Some(n) = work.pop_front() {
            for &to in &next[n] {
                if depth[to].is_none() {
                    depth[to] = depth[n].map(|d: usize| d + 1);
                    work.push_back(to);
                }
            }
        }
        let count = depth.iter().flatten().max().map_or(1, |d| d + 1);
        let mut layers = vec![vec![]; count];
        for (n, d) in depth.iter().enumerate() {
            layers[d.unwrap_or(0)].push(n);
        }
        layers
    }
}
