//! Files of live sets: why no infinite run is of a certain kind, as JSON. The format and what
//! it means are in `docs/evidence.md`; [`check`] says whether a set shows what it says.
//!
//! A live set is a set of configurations of store buffers, perhaps folded, that has every initial
//! configuration and is closed under every step. So every infinite run is a path through the graph
//! of the set, and from some moment on the path stays in a strongly connected component of it, each
//! of whose edges it takes again and again. The checker makes the graph by taking every step, and
//! decomposes it into strongly connected components; none may be of a kind that the definitions of
//! Wang et al. 2021, section 3, call a violation.
//!
//! A folded configuration stands for many, and the graph of a folded set has paths that are no
//! runs. All runs are among them, so a set without bad components is a proof. One kind of path that
//! is no run is left out: a process that updates memory again and again writes again and again, for
//! its buffer holds finitely many writes at any time. A component in which a process has updates
//! and no writes is decomposed further, without these updates.

mod ltl;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use weir_model::answer::{Buffered, StoreBuffer};
use weir_model::graph::components;
use weir_model::ids::ProcessId;
use weir_model::memory_model::MemoryModel;
use weir_model::program::{Formula, LiveKind};
use weir_model::system::{Op, System};

use crate::Rejected;
use crate::claim::{Claims, Settled};
use crate::evidence::{Evidence, Subject, counted, within_bounds};
use crate::header::Header;
use crate::lasso::{Asked, flush_fairness, system};
use crate::store_buffers::{Closed, Configuration};
use crate::truth::{has_values, truth};

/// What `format` says in such a file.
pub const FORMAT: &str = "weir-live-set";

/// The version of the format that is written.
pub const VERSION: u32 = 1;

/// A closed set of configurations that shows what infinite runs cannot do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LiveSet {
    /// [`FORMAT`], [`VERSION`], and the program.
    #[serde(flatten)]
    pub header: Header,
    /// How many clients the object has; nothing for processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clients: Option<usize>,
    /// The memory model.
    pub model: String,
    /// What was asked.
    pub questions: Vec<Asked>,
    /// Whether only runs count in which every write reaches memory.
    pub flush_fair: bool,
    /// How many writes of a buffer are told apart, if buffers are folded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<usize>,
    /// The variables, in the order of memories.
    pub variables: Vec<String>,
    /// The configurations.
    pub configurations: Vec<Configuration>,
}

impl LiveSet {
    /// The file of a set that settles some questions about the runs of a system with rounds.
    pub fn new(
        system: &System,
        clients: Option<usize>,
        (model, flush_fair): (MemoryModel, bool),
        questions: Vec<Asked>,
        (level, set): (Option<usize>, &[Buffered]),
    ) -> Self {
        Self {
            header: Header::new(FORMAT, VERSION, &system.program),
            clients,
            model: model.to_string(),
            questions,
            flush_fair,
            level,
            variables: system.vars.iter().map(|v| v.name.clone()).collect(),
            configurations: set.iter().map(|c| Configuration::new(system, c)).collect(),
        }
    }
}

impl Evidence for LiveSet {
    type Subject = dyn Subject;
    const FORMATS: &'static [&'static str] = &[FORMAT];
    const VERSION: u32 = VERSION;

    fn check(&self, subject: &dyn Subject, _threads: usize) -> Result<(), Rejected> {
        check(&system(&subject.system().program, self.clients)?, self)?;
        // Past a bound a process loops in a sink state that is not of the program.
        within_bounds(subject.system(), |_| false)
    }

    fn what(&self) -> String {
        let size = counted(self.configurations.len(), "configuration");
        match self.level {
            Some(_) => format!("a live set of {size} with folded buffers"),
            None => format!("a live set of {size}"),
        }
    }

    fn claim(&self, subject: &dyn Subject) -> Claims {
        let program = &subject.system().program;
        let answer = |q: &Asked| Settled::holds(q.name(program), !q.wants_run(program));
        let answers = self.questions.iter().map(answer).collect();
        let claim = Claims::new(&self.header, &self.model, answers);
        Claims { clients: self.clients, fairness: flush_fairness(self.flush_fair), ..claim }
    }
}

/// Checks that a set is closed under the steps of a system with rounds, and that no run in it gives
/// one of its questions the opposite verdict.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn check(system: &System, file: &LiveSet) -> Result<(), Rejected> {
    file.header.check((FORMAT, VERSION), &system.program)?;
    if file.questions.is_empty() {
        return Err(Rejected::SettlesNothing("it names no property".to_owned()));
    }
    let mut edges = Vec::new();
    let about = ("live sets", file.model.as_str());
    let contents = (file.variables.as_slice(), file.configurations.as_slice());
    let set = Closed::check(system, about, file.level, contents, &mut |from, step, to| {
        let writes = matches!(step.op, Some(Op::Write(..)));
        let updates = step.op.is_none();
        edges.push(Edge {
            from,
            to,
            process: step.process,
            updates,
            writes,
            returns: step.returns,
            waits: step.waits,
        });
    })?;
    let in_block = set.all.iter().map(|config| set.rules.in_block(config).is_some()).collect();
    let graph = Graph { system, nodes: &set.all, in_block, edges, flush_fair: file.flush_fair };
    let first = set.rules.initial();
    let initial: Vec<usize> = (0..set.all.len()).filter(|&n| first.contains(&set.all[n])).collect();
    for question in &file.questions {
        let kinds = match question {
            Asked::Progress(_) if file.clients.is_none() => {
                return Err(Rejected::malformed("progress properties are for objects"));
            }
            Asked::Progress(name) => graph.violations(name)?,
            Asked::Live(index) => {
                let live = system.program.live.get(*index);
                let live = live.ok_or_else(|| {
                    Rejected::Malformed(format!("the program does not ask for {index}"))
                })?;
                let has_values =
                    |node: &Buffered| has_values(system, &live.kind, &node.controls, &node.memory);
                let mut moments = (0..graph.nodes.len()).filter(|&n| !graph.in_block[n]);
                if let Some(n) = moments.find(|&n| !has_values(&graph.nodes[n])) {
                    let property = question.name(&system.program);
                    return Err(Rejected::Settled {
                        place: format!("configuration {n}"),
                        property,
                    });
                }
                if let LiveKind::Ltl { runs, formula } = &live.kind {
                    let asked = ltl::Asked { formula, runs: *runs };
                    let found = ltl::find(&graph, &initial, &asked);
                    if let Some(node) = found.map_err(Rejected::Malformed)? {
                        return Err(graph.goes_on(question, node));
                    }
                }
                graph.settling(&live.kind).into_iter().collect()
            }
        };
        for kind in kinds {
            if let Some(node) = graph.find(&kind) {
                return Err(graph.goes_on(question, node));
            }
        }
    }
    Ok(())
}

/// A step between two configurations of the set.
#[derive(Clone, Copy)]
struct Edge {
    from: usize,
    to: usize,
    process: ProcessId,
    /// Whether a write goes from the buffer to memory.
    updates: bool,
    /// Whether a write enters the buffer.
    writes: bool,
    returns: bool,
    /// Whether it is a part of a round of an `await`.
    waits: bool,
}

/// A strongly connected component of the graph: its nodes, and the edges between them.
struct Part {
    nodes: Vec<usize>,
    edges: Vec<Edge>,
}

/// A condition on a strongly connected component.
type Condition<'g> = Box<dyn Fn(&Part) -> bool + 'g>;

/// A kind of infinite run: the configurations and steps that it has from some moment on, and
/// conditions on those that it has infinitely often. The conditions are monotone: if a component
/// meets them, so does every larger one.
struct Kind<'g> {
    node: Box<dyn Fn(usize) -> bool + 'g>,
    edge: Box<dyn Fn(&Edge) -> bool + 'g>,
    meets: Vec<Condition<'g>>,
}

struct Graph<'s> {
    system: &'s System,
    nodes: &'s [Buffered],
    /// For each node whether a process is in the middle of an atomic block.
    in_block: Vec<bool>,
    edges: Vec<Edge>,
    flush_fair: bool,
}

impl Graph<'_> {
    /// The error for a run that comes to a node again and again.
    fn goes_on(&self, question: &Asked, node: usize) -> Rejected {
        let name = question.name(&self.system.program);
        Rejected::RunsForever(format!(
            "a run that settles `{name}` otherwise can come to configuration {node} again and again"
        ))
    }

    /// A node of a strongly connected component that is of this kind, if there is one.
    fn find(&self, kind: &Kind<'_>) -> Option<usize> {
        let edges = self
            .edges
            .iter()
            .filter(|e| (kind.edge)(e) && (kind.node)(e.from) && (kind.node)(e.to));
        let mut work: Vec<Vec<Edge>> = vec![edges.copied().collect()];
        while let Some(edges) = work.pop() {
            for part in parts(self.nodes.len(), &edges) {
                let fits = kind.meets.iter().all(|meets| meets(&part))
                    && (!self.flush_fair
                        || self.system.process_ids().all(|p| self.reaches_memory(&part, p)));
                if !fits {
                    continue;
                }
                let spends = |p: ProcessId| {
                    let has =
                        |f: fn(&Edge) -> bool| part.edges.iter().any(|e| e.process == p && f(e));
                    has(|e| e.updates) && !has(|e| e.writes)
                };
                // Exact buffers have no such parts: they would come back to fewer writes.
                let left: Vec<Edge> = part
                    .edges
                    .iter()
                    .filter(|e| !e.updates || !spends(e.process))
                    .copied()
                    .collect();
                match left.len() == part.edges.len() {
                    true => return Some(part.nodes[0]),
                    false => work.push(left),
                }
            }
        }
        None
    }

    /// Whether every write of a process reaches memory: it updates memory again and again, or its
    /// buffer is empty at times.
    fn reaches_memory(&self, part: &Part, p: ProcessId) -> bool {
        part.edges.iter().any(|e| e.process == p && e.updates)
            || part
                .nodes
                .iter()
                .any(|&n| self.nodes[n].buffers[p.index()] == StoreBuffer::default())
    }

    /// Whether a call of a process has begun and not returned.
    fn is_pending(&self, node: usize, p: ProcessId) -> bool {
        self.system.state(p, self.nodes[node].controls[p.index()]).is_pending()
    }

    /// The kinds of runs that violate a progress property (Definition 1).
    fn violations<'g>(&'g self, property: &str) -> Result<Vec<Kind<'g>>, Rejected> {
        let everybody = || self.system.process_ids();
        let no_return = || -> Kind<'g> {
            Kind { node: Box::new(|_| true), edge: Box::new(|e| !e.returns), meets: vec![] }
        };
        // A call of the process is pending for ever.
        let starves = |p: ProcessId| -> Kind<'g> {
            Kind {
                node: Box::new(move |n| self.is_pending(n, p)),
                edge: Box::new(move |e| e.process != p || !e.returns),
                meets: vec![],
            }
        };
        let moves = |part: &Part, p: ProcessId| part.edges.iter().any(|e| e.process == p);
        let fair = move |part: &Part| self.system.process_ids().all(|p| moves(part, p));
        Ok(match property {
            // sched and not prog-s
            "lock-free" => {
                let mut kind = no_return();
                kind.meets.push(Box::new(|part| {
                    part.edges.iter().any(|e| self.is_pending(e.from, e.process))
                }));
                vec![kind]
            }
            // sched and not prog-t
            "wait-free" => everybody()
                .map(|p| {
                    let mut kind = starves(p);
                    kind.meets.push(Box::new(move |part| moves(part, p)));
                    kind
                })
                .collect(),
            // fair and not prog-s
            "deadlock-free" => {
                let mut kind = no_return();
                kind.meets.push(Box::new(fair));
                kind.meets.push(Box::new(move |part| {
                    let pends =
                        |n: &usize| self.system.process_ids().any(|p| self.is_pending(*n, p));
                    part.nodes.iter().any(pends)
                }));
                vec![kind]
            }
            // fair and not prog-t
            "starvation-free" => everybody()
                .map(|p| {
                    let mut kind = starves(p);
                    kind.meets.push(Box::new(fair));
                    kind
                })
                .collect(),
            // sched and iso and not prog-s
            "obstruction-free" => everybody()
                .map(|p| Kind {
                    node: Box::new(move |n| self.is_pending(n, p)),
                    edge: Box::new(move |e| e.process == p && !e.returns),
                    meets: vec![],
                })
                .collect(),
            other => {
                let reason = format!("there is no progress property `{other}`");
                return Err(Rejected::Malformed(reason));
            }
        })
    }

    /// The kind of runs that settles what a program asks.
    fn settling<'g>(&'g self, kind: &'g LiveKind) -> Option<Kind<'g>> {
        let holds = move |formula: &Formula, n: usize| {
            let Buffered { controls, memory, .. } = &self.nodes[n];
            !self.in_block[n] && truth(self.system, formula, controls, memory) == Some(true)
        };
        let mut wanted = Kind { node: Box::new(|_| true), edge: Box::new(|_| true), meets: vec![] };
        // Every process takes steps of its own, or at times has none to take.
        let fair = |part: &Part| {
            self.system.process_ids().all(|p| {
                let acts = |e: &&Edge| e.process == p && !e.updates;
                // Who is locked out by a block could go on.
                let rests =
                    |n: &usize| !self.in_block[*n] && !self.edges_from(*n).iter().any(|e| acts(&e));
                part.edges.iter().any(|e| acts(&e)) || part.nodes.iter().any(rests)
            })
        };
        match kind {
            LiveKind::Exists(f) | LiveKind::Never(f) => {
                wanted.meets.push(Box::new(move |part| part.nodes.iter().any(|&n| holds(f, n))));
            }
            LiveKind::Always(f) => {
                wanted.node = Box::new(move |n| !holds(f, n));
                wanted.meets.push(Box::new(fair));
            }
            LiveKind::Terminates => wanted.meets.push(Box::new(fair)),
            // These are looked at moment by moment.
            LiveKind::Ltl { .. } => return None,
        }
        Some(wanted)
    }

    /// The edges that leave a node: they were found in the order of the nodes.
    fn edges_from(&self, node: usize) -> &[Edge] {
        let start = self.edges.partition_point(|e| e.from < node);
        let end = self.edges.partition_point(|e| e.from <= node);
        &self.edges[start..end]
    }
}

/// The strongly connected components with at least one edge.
fn parts(n: usize, edges: &[Edge]) -> Vec<Part> {
    let mut next: Vec<Vec<usize>> = vec![vec![]; n];
    edges.iter().for_each(|e| next[e.from].push(e.to));
    let component = components(n, |node| next[node].clone());
    let mut parts: BTreeMap<usize, Part> = BTreeMap::new();
    for edge in edges.iter().filter(|e| component[e.from] == component[e.to]) {
        let empty = || Part { nodes: vec![], edges: vec![] };
        let part = parts.entry(component[edge.from]).or_insert_with(empty);
        part.edges.push(*edge);
        part.nodes.push(edge.from);
    }
    let sorted = |mut part: Part| {
        part.nodes.sort_unstable();
        part.nodes.dedup();
        part
    };
    parts.into_values().map(sorted).collect()
}
