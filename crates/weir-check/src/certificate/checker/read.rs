//! Reading the configurations of a certificate.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;
use weir_model::answer::Words;
use weir_model::ids::{StateId, ValueId, VarId};

use super::super::{Certificate, View};
use super::{Checker, Config, Letter, ProcessView, ProcessViewId, Set};
use crate::Rejected;
use crate::witness::find_states;

impl Checker<'_> {
    /// Reads the configurations of a certificate.
    pub(super) fn read(&self, certificate: &Certificate) -> Result<Vec<Config>, Rejected> {
        let system = self.system;
        let names: Vec<String> = system.vars.iter().map(|v| v.name.clone()).collect();
        if certificate.variables != names {
            return Err(Rejected::malformed("the variables are not those of the program"));
        }
        let value = |x: VarId, v: i128| Ok::<_, Rejected>(system.vars[x.index()].id(v));
        let variable = |name: &String| {
            let found = names.iter().position(|n| n == name).map(VarId::new);
            found.ok_or_else(|| Rejected::Malformed(format!("there is no variable `{name}`")))
        };
        let vars = || (0..system.vars.len()).map(VarId::new);
        let mut letters: Vec<Letter> = Vec::new();
        for letter in &certificate.letters {
            if letter.len() != names.len() {
                return Err(Rejected::malformed(
                    "a letter does not have the variables of the program",
                ));
            }
            let cells = vars().zip(letter).map(|(x, v)| v.map(|v| value(x, v)).transpose());
            letters.push(self.letters.id(cells.collect::<Result<Vec<_>, _>>()?));
        }
        let letter = |&l: &u32| {
            let found = letters.get(l as usize).copied();
            found.ok_or_else(|| Rejected::Malformed(format!("there is no letter {l}")))
        };
        let words = |words: &Words| -> Result<Set<Letter>, Rejected> {
            let words = words.iter().map(|w| w.iter().map(letter).collect());
            Ok(self.words.of(words.collect::<Result<Vec<_>, Rejected>>()?))
        };
        let values = |x: VarId, words: &Vec<Vec<i128>>| -> Result<Set<ValueId>, Rejected> {
            let words = words.iter().map(|w| w.iter().map(|&v| value(x, v)).collect());
            Ok(self.values.of(words.collect::<Result<Vec<_>, Rejected>>()?))
        };
        let view = |given: &View| -> Result<ProcessViewId, Rejected> {
            if given.segments.len() != given.marks.len() + 1 {
                return Err(Rejected::malformed("a view needs one more segment than marks"));
            }
            let mut view = ProcessView { first: words(&given.segments[0])?, ..self.newest() };
            for (mark, segment) in given.marks.iter().zip(&given.segments[1..]) {
                let own = (variable(&mark.variable)?, letter(&mark.letter)?, words(segment)?);
                view.rest.push(own);
            }
            for past in &given.past {
                let x = variable(&past.variable)?;
                view.past.insert(x, values(x, &past.values)?);
            }
            for stores in &given.stores {
                let x = variable(&stores.variable)?;
                let entry = (values(x, &stores.older)?, value(x, stores.last)?);
                view.stores.insert(x, entry);
            }
            self.is_closed(&view)?;
            Ok(self.views.id(view))
        };
        // Many configurations have the same views and control states.
        let mut views: FxHashMap<&View, ProcessViewId> = FxHashMap::default();
        let mut controls: FxHashMap<&[String], Vec<StateId>> = FxHashMap::default();
        let mut all = Vec::new();
        for configuration in &certificate.configurations {
            let n = system.processes.len();
            if configuration.views.len() != n {
                return Err(Rejected::malformed(
                    "a configuration does not have the processes of the program",
                ));
            }
            if configuration.memory.len() != names.len() {
                return Err(Rejected::malformed(
                    "a memory does not have the variables of the program",
                ));
            }
            let memory = vars().zip(&configuration.memory).map(|(x, &v)| value(x, v));
            let memory = self.memories.id(memory.collect::<Result<Vec<_>, _>>()?);
            let controls = match controls.entry(&configuration.states) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(find_states(system, &configuration.states)?),
            };
            let found = configuration.views.iter().map(|given| match views.entry(given) {
                Entry::Occupied(known) => Ok(*known.get()),
                Entry::Vacant(new) => view(given).map(|view| *new.insert(view)),
            });
            let views = found.collect::<Result<_, _>>()?;
            all.push(Config { controls: controls.clone(), memory, views });
        }
        Ok(all)
    }

    /// Sets of words have to be closed under subwords, within the level.
    fn is_closed(&self, view: &ProcessView) -> Result<(), Rejected> {
        let mut segments = [view.first].into_iter().chain(view.rest.iter().map(|r| r.2));
        let mut values = view.past.values().copied().chain(view.stores.values().map(|s| s.0));
        let fine = segments.all(|set| self.words.is_closed(set))
            && values.all(|set| self.values.is_closed(set));
        if fine { Ok(()) } else { Err(Rejected::malformed("a set of words lacks a subword")) }
    }
}
