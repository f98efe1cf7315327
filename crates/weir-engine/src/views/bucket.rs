//! Maximal configurations with the same state, and a quick test that tells most apart.

/// Configurations with the same state that do not cover one another.
#[derive(Default)]
pub struct Bucket {
    pub ids: Vec<u32>,
    /// The sketch of every view, configuration by configuration: most pairs are
    /// told apart by these, in one sweep over memory.
    pub sketches: Vec<u128>,
}

impl Bucket {
    /// The configurations that may cover one with these sketches.
    pub fn above(&self, sketch: &[u128]) -> impl Iterator<Item = u32> {
        self.matching(sketch, |ours, theirs| theirs & !ours == 0)
    }

    /// The configurations that one with these sketches may cover.
    pub fn below(&self, sketch: &[u128]) -> impl Iterator<Item = u32> {
        self.matching(sketch, |ours, theirs| ours & !theirs == 0)
    }

    fn matching(
        &self,
        sketch: &[u128],
        fits: impl Fn(u128, u128) -> bool,
    ) -> impl Iterator<Item = u32> {
        let all = self.sketches.chunks_exact(sketch.len()).zip(&self.ids);
        all.filter(move |(ours, _)| ours.iter().zip(sketch).all(|(&a, &b)| fits(a, b)))
            .map(|(_, &id)| id)
    }

    /// Of the configurations that are like it, the one that differs least from
    /// one with these sketches.
    pub fn nearest(&self, sketch: &[u128], is_like: impl Fn(u32) -> bool) -> Option<u32> {
        let all = self.sketches.chunks_exact(sketch.len()).zip(&self.ids);
        let distance = |ours: &[u128]| -> u32 {
            ours.iter().zip(sketch).map(|(a, b)| (a ^ b).count_ones()).sum()
        };
        let alike = all.filter(|(_, id)| is_like(**id));
        alike.min_by_key(|(ours, _)| distance(ours)).map(|(_, &id)| id)
    }

    pub fn remove(&mut self, id: u32, processes: usize) {
        let Some(i) = self.ids.iter().position(|&c| c == id) else { return };
        self.ids.remove(i);
        self.sketches.drain(i * processes..(i + 1) * processes);
    }
}
