//! Draws a run as one picture: steps downwards, one lane for each process, memory at the right.
//!
//! What a process has under way is drawn as boxes below its step, the oldest at the right, next to
//! memory. A write that reaches memory is an arrow to its variable. An arrow at the left of a lane leads
//! from a step to the earlier operations that it overtakes, with the name of the relaxation.
//!
//! The picture is a list of shapes with whole coordinates, downwards and to the right, which
//! `svg` and `tikz` print. All text is in a font in which all characters are equally wide.

mod layout;
mod rows;
mod svg;
mod tikz;

use super::scene::Scene;

/// A picture of a run.
#[derive(Clone, Debug)]
pub struct Picture {
    title: String,
    width: i32,
    height: i32,
    shapes: Vec<Shape>,
}

/// A part of a picture. Later ones are drawn over earlier ones.
#[derive(Clone, Debug)]
enum Shape {
    /// A box: left, top, width, height.
    Rect { at: [i32; 4], fill: Color, line: Color, is_dashed: bool },
    /// Lines from point to point, with an arrowhead in the end if there is one.
    Line { points: Vec<(i32, i32)>, color: Color, has_head: bool },
    /// A text on one line; `at` is on its base line.
    Text { at: (i32, i32), text: String, font: Font, color: Color, align: Align },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Align {
    Left,
    Middle,
    Right,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Font {
    Title,
    Strong,
    Plain,
    Small,
}

impl Font {
    /// Its size.
    fn size(self) -> i32 {
        match self {
            Self::Title => 14,
            Self::Strong | Self::Plain => 12,
            Self::Small => 10,
        }
    }

    fn is_bold(self) -> bool {
        matches!(self, Self::Title | Self::Strong)
    }

    /// How wide a text is, rounded up: a character is three fifths of the size, and a little more.
    fn width(self, text: &str) -> i32 {
        let count = i32::try_from(text.chars().count()).unwrap_or(i32::MAX / 1000);
        (count * self.size() * 605 + 999) / 1000
    }
}

/// The colors. They differ in print without color, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Color {
    None,
    White,
    Black,
    /// Details.
    Gray,
    /// Lines that guide the eye.
    Pale,
    /// The part of a run that repeats.
    Shade,
    /// What was reordered.
    Red,
    /// Buffers, and what is in them.
    Blue,
    Sky,
    /// What has just changed.
    Yellow,
}

impl Color {
    const ALL: [Self; 10] = [
        Self::None,
        Self::White,
        Self::Black,
        Self::Gray,
        Self::Pale,
        Self::Shade,
        Self::Red,
        Self::Blue,
        Self::Sky,
        Self::Yellow,
    ];

    /// Its hexadecimal digits; none if nothing is drawn.
    fn digits(self) -> Option<&'static str> {
        Some(match self {
            Self::None => return None,
            Self::White => "FFFFFF",
            Self::Black => "1B1B1F",
            Self::Gray => "6B6B74",
            Self::Pale => "D5D5DC",
            Self::Shade => "F3F3F6",
            Self::Red => "B3261E",
            Self::Blue => "2F5DA8",
            Self::Sky => "E3ECFA",
            Self::Yellow => "FFE9A8",
        })
    }
}

impl Picture {
    /// A picture of a run. Of a long run only what matters is drawn, unless it is to be
    /// drawn in full.
    pub fn new(scene: &Scene, title: &str, full: bool) -> Self {
        layout::picture(scene, title, full)
    }
}
