//! What becomes of a configuration if processes, variables and values are exchanged.

use super::C11;
use super::state::{Message, Node, Nodes, State, Thread, View, What, members};
use crate::ids::{Cell, ProcessId, VarId};
use crate::symmetry::Automorphism;

/// An exchange, with what it does to the numbers that are within states.
struct Exchange<'a> {
    machine: &'a C11<'a>,
    g: &'a Automorphism,
    /// The new number of each node.
    nodes: Vec<usize>,
}

impl C11<'_> {
    /// The image of a state; `None` if there is none.
    pub(super) fn image_of(&self, state: &State, g: &Automorphism) -> Option<State> {
        let processes = || self.system.process_ids();
        // Nodes stand by process, and those of one process in the order in which they were executed.
        let own = |p: ProcessId| {
            let source = g.process_source(p).index();
            (0..state.nodes.len()).filter(move |&n| state.nodes[n].process as usize == source)
        };
        let order: Vec<usize> = processes().flat_map(own).collect();
        let mut nodes = vec![0; order.len()];
        order.iter().enumerate().for_each(|(to, &from)| nodes[from] = to);
        let exchange = Exchange { machine: self, g, nodes };

        let vars = || (0..self.shape.vars).map(|x| g.var_source(VarId::new(x)));
        let messages = vars().map(|x| exchange.messages(state, x)).collect::<Option<_>>()?;
        let folded = vars().map(|x| {
            let value = |&(value, is_free)| Some((g.value(self.system, x, value)?, is_free));
            let mut values: Vec<_> =
                state.folded[x.index()].iter().map(value).collect::<Option<_>>()?;
            values.sort_unstable_by_key(|(value, _)| value.0);
            Some(values)
        });
        let trails = processes().map(|p| {
            let source = g.process_source(p);
            let trail = state.trails[source.index()].iter();
            trail.map(|&at| g.state(self.system, source, at)).collect::<Option<_>>()
        });
        let thread = |p: ProcessId| {
            let Thread { cur, acq, rel } = &state.threads[g.process_source(p).index()];
            let [cur, acq, rel] = [cur, acq, rel].map(|view| exchange.view(view));
            Thread { cur, acq, rel }
        };
        Some(State {
            messages,
            folded: folded.collect::<Option<_>>()?,
            threads: processes().map(thread).collect(),
            trails: trails.collect::<Option<_>>()?,
            nodes: order.iter().map(|&n| exchange.node(&state.nodes[n])).collect(),
        })
    }
}

impl Exchange<'_> {
    fn messages(&self, state: &State, x: VarId) -> Option<Vec<Message>> {
        let image = |message: &Message| {
            Some(Message {
                value: self.g.value(self.machine.system, x, message.value)?,
                is_glued: message.is_glued,
                view: self.view(&message.view),
            })
        };
        state.messages[x.index()].iter().map(image).collect()
    }

    fn view(&self, view: &View) -> View {
        View {
            keys: self.keys(&view.keys),
            fences: self.set(view.fences),
            strong: self.set(view.strong),
            known: self.machine.races.image(&view.known, self.g),
        }
    }

    fn node(&self, node: &Node) -> Node {
        let what = match &node.what {
            What::Access(x, key) => What::Access(self.g.var(*x), *key),
            What::Fence { before, after } => {
                What::Fence { before: self.keys(before), after: self.keys(after) }
            }
        };
        let process = self.g.process(ProcessId::new(node.process as usize)).index() as Cell;
        Node { process, before: self.set(node.before), what }
    }

    /// What stands for each location.
    fn keys(&self, keys: &[u32]) -> Vec<u32> {
        (0..keys.len()).map(|x| keys[self.g.var_source(VarId::new(x)).index()]).collect()
    }

    fn set(&self, set: Nodes) -> Nodes {
        members(set).fold(0, |all, n| all | 1 << self.nodes[n])
    }
}
