//! Paths and cycles of a finite graph of turns in which only the opponent chooses.

use std::collections::{BTreeMap, BTreeSet};

use weir_model::graph::components;
use weir_model::ids::ProcessId;
use weir_model::system::System;

use crate::Rejected;

/// The turns of a strategy and what may come after each.
pub struct Turns {
    pub next: Vec<Vec<usize>>,
    /// The process that is played in on each of these ways.
    pub played: Vec<Vec<ProcessId>>,
    /// The processes that are enabled.
    pub enabled: Vec<Vec<ProcessId>>,
}

impl Turns {
    /// Checks that every infinite path is fair: a process that is enabled infinitely often is
    /// played infinitely often.
    pub fn always_fair(&self, system: &System) -> Result<(), Rejected> {
        for process in system.process_ids() {
            let ways = |n: usize| -> Vec<usize> {
                let all = self.next[n].iter().zip(&self.played[n]);
                all.filter(|(_, p)| **p != process).map(|(to, _)| *to).collect()
            };
            let component = components(self.next.len(), ways);
            for n in 0..self.next.len() {
                let round = ways(n).into_iter().any(|to| component[to] == component[n]);
                if round && self.enabled[n].contains(&process) {
                    let name = &system.processes[process.index()].name;
                    let reason = format!("`{name}` can be enabled for ever and never played");
                    return Err(Rejected::Loses(reason));
                }
            }
        }
        Ok(())
    }

    /// Checks that no infinite path is fair to all processes: as long as a process is enabled in a
    /// component and never played in it, the turns at which it is enabled are removed.
    pub fn never_fair(&self) -> Result<(), Rejected> {
        let mut work: Vec<BTreeSet<usize>> = vec![(0..self.next.len()).collect()];
        while let Some(set) = work.pop() {
            let ways = |n: usize| -> Vec<usize> {
                let inside = set.contains(&n);
                let all = self.next[n].iter().copied();
                all.filter(|to| inside && set.contains(to)).collect()
            };
            let component = components(self.next.len(), ways);
            let mut parts: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
            for n in &set {
                parts.entry(component[*n]).or_default().insert(*n);
            }
            for part in parts.into_values() {
                let inner = |n: usize| {
                    let all = self.next[n].iter().zip(&self.played[n]);
                    all.filter(|(to, _)| part.contains(to))
                };
                let played: BTreeSet<ProcessId> =
                    part.iter().flat_map(|n| inner(*n)).map(|(_, p)| *p).collect();
                if played.is_empty() {
                    continue;
                }
                let unfair = |n: &&usize| self.enabled[**n].iter().any(|p| !played.contains(p));
                let bad: BTreeSet<usize> = part.iter().filter(unfair).copied().collect();
                if bad.is_empty() {
                    let way = "the process player can go on for ever and be fair to all processes";
                    return Err(Rejected::Loses(way.to_owned()));
                }
                work.push(&part - &bad);
            }
        }
        Ok(())
    }
}

/// Checks that there is no cycle.
pub fn no_way_round(next: &[Vec<usize>]) -> Result<(), Rejected> {
    let component = components(next.len(), |n| next[n].clone());
    let mut size = vec![0; next.len()];
    component.iter().for_each(|c| size[*c] += 1);
    let round = (0..next.len()).find(|&n| size[component[n]] > 1 || next[n].contains(&n));
    match round {
        Some(n) => {
            Err(Rejected::Loses(format!("play can return to position {n} infinitely often")))
        }
        None => Ok(()),
    }
}
