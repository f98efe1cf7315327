//! Maximal configurations with the same state, and quick tests that tell most apart.

/// Configurations with the same state that do not cover one another.
#[derive(Default)]
pub struct Bucket {
    groups: Vec<Group>,
}

/// Configurations whose views have the same shapes, process by process: they differ in sets of
/// words only.
struct Group {
    shapes: Box<[u32]>,
    ids: Vec<u32>,
    /// The sketch of every view, configuration by configuration: most pairs are
    /// told apart by these, in one sweep over memory.
    sketches: Vec<u128>,
}

/// What is compared of a configuration before its views are.
pub struct Outline {
    /// The shape of each view.
    pub shapes: Box<[u32]>,
    /// The sketch of each view.
    pub sketches: Vec<u128>,
}

impl Bucket {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.groups.iter().map(|g| g.ids.len()).sum()
    }

    /// The configurations that may cover one with this outline. `may_cover` says whether a view of
    /// one shape can cover one of another.
    pub fn above(
        &self,
        outline: &Outline,
        may_cover: impl Fn(u32, u32) -> bool,
    ) -> impl Iterator<Item = u32> {
        self.matching(
            outline,
            move |ours, theirs| may_cover(ours, theirs),
            |ours, theirs| theirs & !ours == 0,
        )
    }

    /// The configurations that one with this outline may cover.
    pub fn below(
        &self,
        outline: &Outline,
        may_cover: impl Fn(u32, u32) -> bool,
    ) -> impl Iterator<Item = u32> {
        self.matching(
            outline,
            move |ours, theirs| may_cover(theirs, ours),
            |ours, theirs| ours & !theirs == 0,
        )
    }

    fn matching(
        &self,
        outline: &Outline,
        is_close: impl Fn(u32, u32) -> bool,
        fits: impl Fn(u128, u128) -> bool + Copy,
    ) -> impl Iterator<Item = u32> {
        let Outline { shapes, sketches } = outline;
        let close = move |g: &&Group| g.shapes.iter().zip(shapes).all(|(&a, &b)| is_close(a, b));
        self.groups.iter().filter(close).flat_map(move |group| {
            let all = group.sketches.chunks_exact(sketches.len()).zip(&group.ids);
            all.filter(move |(ours, _)| ours.iter().zip(sketches).all(|(&a, &b)| fits(a, b)))
                .map(|(_, &id)| id)
        })
    }

    /// Of the configurations with the same shapes, the one that differs least from one with
    /// this outline.
    pub fn nearest(&self, outline: &Outline) -> Option<u32> {
        let group = self.groups.iter().find(|g| g.shapes == outline.shapes)?;
        let all = group.sketches.chunks_exact(outline.sketches.len()).zip(&group.ids);
        let distance = |ours: &[u128]| -> u32 {
            ours.iter().zip(&outline.sketches).map(|(a, b)| (a ^ b).count_ones()).sum()
        };
        all.min_by_key(|(ours, _)| distance(ours)).map(|(_, &id)| id)
    }

    pub fn insert(&mut self, id: u32, outline: Outline) {
        let Outline { shapes, sketches } = outline;
        let group = match self.groups.iter_mut().position(|g| g.shapes == shapes) {
            Some(i) => &mut self.groups[i],
            None => {
                self.groups.push(Group { shapes, ids: vec![], sketches: vec![] });
                self.groups.last_mut().expect("it was pushed")
            }
        };
        group.ids.push(id);
        group.sketches.extend(sketches);
    }

    pub fn remove(&mut self, id: u32, processes: usize) {
        for group in &mut self.groups {
            let Some(i) = group.ids.iter().position(|&c| c == id) else { continue };
            group.ids.remove(i);
            group.sketches.drain(i * processes..(i + 1) * processes);
        }
    }
}
