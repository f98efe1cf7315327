//! Reading the configurations of a certificate.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;
use weir_model::answer::Words;
use weir_model::ids::{StateId, ValueId, VarId};

use super::super::{Certificate, View};
use super::{Checker, Config, Letter, Set, Sight, SightId};
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
        let sight = |view: &View| -> Result<SightId, Rejected> {
            if view.segments.len() != view.marks.len() + 1 {
                return Err(Rejected::malformed("a view needs one more segment than marks"));
            }
            let mut sight = Sight { first: words(&view.segments[0])?, ..self.newest() };
            for (mark, segment) in view.marks.iter().zip(&view.segments[1..]) {
                let own = (variable(&mark.variable)?, letter(&mark.letter)?, words(segment)?);
                sight.rest.push(own);
            }
            for past in &view.past {
                let x = variable(&past.variable)?;
                sight.past.insert(x, values(x, &past.values)?);
            }
            for stores in &view.stores {
                let x = variable(&stores.variable)?;
                let entry = (values(x, &stores.older)?, value(x, stores.last)?);
                sight.stores.insert(x, entry);
            }
            self.is_closed(&sight)?;
            Ok(self.sights.id(sight))
        };
        // Many configurations have the same views and control states.
        let mut sights: FxHashMap<&View, SightId> = FxHashMap::default();
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
            let views = configuration.views.iter().map(|view| match sights.entry(view) {
                Entry::Occupied(known) => Ok(*known.get()),
                Entry::Vacant(new) => sight(view).map(|sight| *new.insert(sight)),
            });
            let sights = views.collect::<Result<_, _>>()?;
            all.push(Config { controls: controls.clone(), memory, sights });
        }
        Ok(all)
    }

    /// Sets of words have to be closed under subwords, within the level.
    fn is_closed(&self, sight: &Sight) -> Result<(), Rejected> {
        let mut segments = [sight.first].into_iter().chain(sight.rest.iter().map(|r| r.2));
        let mut values = sight.past.values().copied().chain(sight.stores.values().map(|s| s.0));
        let fine = segments.all(|set| self.words.is_closed(set))
            && values.all(|set| self.values.is_closed(set));
        if fine { Ok(()) } else { Err(Rejected::malformed("a set of words lacks a subword")) }
    }
}
