//! Names of control states and transitions that do not depend on the order in which a
//! search meets them. Files and other systems of the same program use these names.
//!
//! The name of a control state has its place and its registers: `7`, `7{r=1,s=2}`;
//! registers that are 0 are omitted. A failure or a value outside its bound is appended:
//! `7{r=1}!assertion`.

use super::{Key, Stop};
use crate::ids::{ProcessId, StateId, TransitionId};
use crate::system::{Excess, Expanded, Failure, StateKind, System, Transition};

impl System {
    /// The name of a control state.
    pub fn state_name(&self, process: ProcessId, state: StateId) -> String {
        let at = self.state(process, state);
        let flow = &self.processes[process.index()].flow;
        let mut name = flow.number_of(at.node).to_string();
        let registers: Vec<String> = at
            .registers
            .iter()
            .enumerate()
            .filter(|(_, value)| **value != 0)
            .map(|(r, value)| format!("{}={value}", self.register_key(process, r)))
            .collect();
        if !registers.is_empty() {
            name += &format!("{{{}}}", registers.join(","));
        }
        match &at.kind {
            _ if at.is_stop => name += "!stopped",
            StateKind::Inside | StateKind::Ended => {}
            StateKind::Failed(failure) => name += &format!("!{}", failure_name(failure)),
            StateKind::Left(excess) => name += &format!("!{}", excess_name(excess)),
        }
        name
    }

    /// The control state with a name, if there can be one. It need not be reachable.
    pub fn find_state(&self, process: ProcessId, name: &str) -> Option<StateId> {
        let automaton = self.processes.get(process.index())?;
        let (place, stop) = match name.split_once('!') {
            Some((place, stop)) => (place, Some(stop)),
            None => (name, None),
        };
        let (node, list) = match place.split_once('{') {
            Some((node, rest)) => (node, rest.strip_suffix('}')?),
            None => (place, ""),
        };
        let node = automaton.flow.numbered(node.parse().ok()?)?;
        let declared = self.program.processes[process.index()].registers.len();
        let mut registers = vec![0; declared];
        for item in list.split(',').filter(|item| !item.is_empty()) {
            let (key, value) = item.rsplit_once('=')?;
            let r = (0..declared).find(|r| self.register_key(process, *r) == key)?;
            registers[r] = value.parse().ok()?;
        }
        if stop == Some("stopped") {
            // Such a state is made together with its system.
            let same = |s: &StateId| self.state_name(process, *s) == name;
            return (0..automaton.states.len()).map(StateId::new).find(same);
        }
        let stop = match stop {
            None => None,
            Some(text) => Some(self.stop(text)?),
        };
        let key = self.standing(process, Key { node, registers, stop })?;
        let id = self.intern(process, key);
        (self.state_name(process, id) == name).then_some(id)
    }

    /// The name of a register that no other of its process has.
    fn register_key(&self, process: ProcessId, r: usize) -> String {
        let declared = &self.program.processes[process.index()].registers;
        let name = &declared[r].name;
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let unique = declared.iter().filter(|other| other.name == *name).count() == 1;
        match unique && !name.is_empty() && name.chars().all(plain) {
            true => name.clone(),
            false => format!("#{r}"),
        }
    }

    fn stop(&self, text: &str) -> Option<Stop> {
        let mut words = text.split(' ');
        let stop = match words.next()? {
            "assertion" => Failure::Assertion.into(),
            "message" => Failure::Message(words.by_ref().collect::<Vec<_>>().join(" ")).into(),
            "division" => Failure::DivisionByZero.into(),
            "race" => Failure::Race.into(),
            "index" => Failure::Index(words.next()?.parse().ok()?).into(),
            "domain" => {
                let value = words.next()?.parse().ok()?;
                let name = words.by_ref().collect::<Vec<_>>().join(" ");
                Failure::Domain(name, value).into()
            }
            "overflow" => Stop::Left(Excess::Overflow),
            "endless" => Stop::Left(Excess::Endless),
            "values" => Stop::Left(Excess::Values),
            "bound" if self.may_leave_a_bound() => {
                let mut number = || words.next()?.parse::<i128>().ok();
                let (value, bound) = (number()?, (number()?, number()?));
                let name = words.by_ref().collect::<Vec<_>>().join(" ");
                Stop::Left(Excess::Bound { name, value, bound })
            }
            _ => return None,
        };
        words.next().is_none().then_some(stop)
    }

    /// What a transition is called among those that leave its control state.
    pub fn transition_name(&self, process: ProcessId, t: &Transition) -> String {
        format!("{} to {}", self.show_transition(t), self.state_name(process, t.to))
    }
}

impl Expanded<'_> {
    /// The transition from a control state that has a name ([`System::transition_name`]).
    pub fn find_transition(
        self,
        process: ProcessId,
        from: StateId,
        name: &str,
    ) -> Option<TransitionId> {
        let mut all = self.transitions(process, from);
        all.find(|(_, t)| self.transition_name(process, t) == name).map(|(id, _)| id)
    }
}

fn failure_name(failure: &Failure) -> String {
    match failure {
        Failure::Assertion => "assertion".to_owned(),
        Failure::Message(text) => format!("message {text}"),
        Failure::DivisionByZero => "division".to_owned(),
        Failure::Index(index) => format!("index {index}"),
        Failure::Domain(name, value) => format!("domain {value} {name}"),
        Failure::Race => "race".to_owned(),
    }
}

fn excess_name(excess: &Excess) -> String {
    match excess {
        Excess::Overflow => "overflow".to_owned(),
        Excess::Endless => "endless".to_owned(),
        Excess::Values => "values".to_owned(),
        Excess::Bound { name, value, bound } => {
            format!("bound {value} {} {} {name}", bound.0, bound.1)
        }
    }
}
