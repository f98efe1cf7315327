//! What was stored, as evidence: the same for the same configurations, in whatever order they and
//! their letters were numbered.

use weir_model::answer::{Invariant, ViewConfiguration};
use weir_model::ids::ValueId;

use super::space::Space;

impl Space<'_> {
    /// A set of configurations of this space, as evidence. Only the letters that are in use are in
    /// it, in the order of the values that they have.
    pub(super) fn invariant(&self, mut configurations: Vec<ViewConfiguration>) -> Invariant {
        let all: Vec<Vec<Option<ValueId>>> = self.table.letters.all();
        let mut is_used = vec![false; all.len()];
        for view in configurations.iter().flat_map(|c| &c.views) {
            view.segments.iter().flatten().flatten().for_each(|&l| is_used[l as usize] = true);
            view.marks.iter().for_each(|&(_, l)| is_used[l as usize] = true);
        }
        let mut used: Vec<usize> = (0..all.len()).filter(|&l| is_used[l]).collect();
        used.sort_unstable_by(|&a, &b| all[a].cmp(&all[b]));
        let mut places = vec![0; all.len()];
        used.iter().enumerate().for_each(|(place, &l)| places[l] = place as u32);
        for view in configurations.iter_mut().flat_map(|c| &mut c.views) {
            for segment in &mut view.segments {
                segment.iter_mut().flatten().for_each(|l| *l = places[*l as usize]);
                segment.sort_unstable_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
            }
            view.marks.iter_mut().for_each(|(_, l)| *l = places[*l as usize]);
        }
        configurations.sort_unstable();
        let letters = used.into_iter().map(|l| all[l].clone()).collect();
        Invariant { model: self.model, level: self.table.level.0, letters, configurations }
    }
}
