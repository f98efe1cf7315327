//! `--svg` and `--tikz`: the first run that a command finds, as a picture.

use std::path::Path;

use weir::Loaded;
use weir::report::picture::Picture;
use weir::report::scene::Scene;
use weir_model::answer::Run;

use super::{Status, note, write_whole};
use crate::cli::options::EvidenceArgs;

/// The pictures that are to be drawn and have not been.
pub struct Pictures<'a> {
    svg: Option<&'a Path>,
    tikz: Option<&'a Path>,
    full: bool,
}

impl<'a> Pictures<'a> {
    /// Those that the options ask for.
    pub fn new(args: &'a EvidenceArgs) -> Self {
        Self { svg: args.svg.as_deref(), tikz: args.tikz.as_deref(), full: args.full }
    }

    /// Draws a run, if none was drawn before. An infinite one repeats from the step with the index
    /// `cycle` on.
    pub fn draw(
        &mut self,
        loaded: &Loaded,
        run: &Run,
        cycle: Option<usize>,
        shows: &str,
    ) -> Status {
        let (svg, tikz) = (self.svg.take(), self.tikz.take());
        if svg.is_none() && tikz.is_none() {
            return Status::Fine;
        }
        let scene = Scene::new(loaded, run, cycle);
        let title = format!("{}, {}: {shows}", loaded.source.name, run.model);
        let picture = Picture::new(&scene, &title, self.full);
        let svg = svg.map_or(Status::Fine, |path| write_whole(path, &picture.svg()));
        svg.and(tikz.map_or(Status::Fine, |path| write_whole(path, &picture.tikz())))
    }

    /// Says of what was not drawn that there is no run.
    pub fn note_undrawn(&self) {
        for path in [self.svg, self.tikz].into_iter().flatten() {
            note(&format!("no run was found, so `{}` was not written", path.display()));
        }
    }
}
