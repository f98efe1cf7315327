//! `--svg` and `--tikz`: the first run that a command finds, as a picture.

use std::path::Path;

use weir::finding::Shown;
use weir::report::picture::Picture;
use weir::report::scene::Scene;

use super::{Status, note, write_whole};
use crate::cli::options::EvidenceArgs;

/// The pictures that are to be drawn and have not been.
#[derive(Default)]
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

    /// Draws a run, if none was drawn before.
    pub fn draw(&mut self, file: &str, shown: Shown<'_>) -> Status {
        let (svg, tikz) = (self.svg.take(), self.tikz.take());
        if svg.is_none() && tikz.is_none() {
            return Status::Fine;
        }
        let scene = Scene::new(shown.loaded, shown.run, shown.cycle);
        let title = format!("{file}, {}: {}", shown.run.model, shown.shows);
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
