//! Pictures as SVG.

use std::fmt::Write as _;

use weir_front::escape::markup;

use super::{Align, Color, Font, Picture, Shape};

impl Picture {
    /// The picture as an SVG file.
    pub fn svg(&self) -> String {
        let Self { title, width, height, shapes } = self;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" role=\"img\" font-family=\"'DejaVu Sans Mono', \
             Menlo, Consolas, 'Liberation Mono', monospace\" direction=\"ltr\">\n\
             <title>{}</title>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#FFFFFF\"/>\n",
            markup(title)
        );
        for shape in shapes {
            out += &element(shape);
        }
        out + "</svg>\n"
    }
}

fn color(color: Color) -> String {
    color.digits().map_or_else(|| "none".to_owned(), |digits| format!("#{digits}"))
}

fn element(shape: &Shape) -> String {
    match shape {
        Shape::Rect { at: [x, y, w, h], fill, line, is_dashed } => {
            let dashes = if *is_dashed { " stroke-dasharray=\"3 2\"" } else { "" };
            format!(
                "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" rx=\"2\" fill=\"{}\" \
                 stroke=\"{}\"{dashes}/>\n",
                color(*fill),
                color(*line)
            )
        }
        Shape::Line { points, color: stroke, has_head } => {
            let mut path = String::new();
            for (i, (x, y)) in points.iter().enumerate() {
                let _ = write!(path, "{}{x} {y}", if i == 0 { 'M' } else { 'L' });
            }
            let stroke = color(*stroke);
            let mut out = format!("<path d=\"{path}\" fill=\"none\" stroke=\"{stroke}\"/>\n");
            if let (true, [.., from, to]) = (has_head, &points[..]) {
                let corners = head(*from, *to).map(|(x, y)| format!("{x} {y}")).join("L");
                let _ = writeln!(out, "<path d=\"M{corners}Z\" fill=\"{stroke}\"/>");
            }
            out
        }
        Shape::Text { at: (x, y), text, font, color: fill, align } => {
            let anchor = match align {
                Align::Left => "",
                Align::Middle => " text-anchor=\"middle\"",
                Align::Right => " text-anchor=\"end\"",
            };
            let weight = if font.is_bold() { " font-weight=\"bold\"" } else { "" };
            format!(
                "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\"{weight}{anchor} fill=\"{}\" \
                 xml:space=\"preserve\" style=\"unicode-bidi:isolate\">{}</text>\n",
                Font::size(*font),
                color(*fill),
                markup(text)
            )
        }
    }
}

/// The corners of an arrowhead. Lines are horizontal or vertical in their ends.
fn head((x0, y0): (i32, i32), (x, y): (i32, i32)) -> [(i32, i32); 3] {
    let (dx, dy) = ((x - x0).signum(), (y - y0).signum());
    let (bx, by) = (x - 6 * dx, y - 6 * dy);
    [(x, y), (bx - 3 * dy, by - 3 * dx), (bx + 3 * dy, by + 3 * dx)]
}
