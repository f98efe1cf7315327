//! Pictures as TikZ, for LaTeX.

use std::fmt::Write as _;

use weir_front::escape::escape_line;

use super::{Align, Color, Picture, Shape};

impl Picture {
    /// The picture as a `tikzpicture`.
    pub fn tikz(&self) -> String {
        let mut out = format!(
            "% {}\n% In the preamble: \\usepackage[T1]{{fontenc}} \\usepackage{{tikz}}\n\
             % To fit a column: \\resizebox{{\\columnwidth}}{{!}}{{\\input{{...}}}}\n",
            escape_line(&self.title)
        );
        for color in Color::ALL {
            if let Some(digits) = color.digits() {
                let _ = writeln!(out, "\\definecolor{{{}}}{{HTML}}{{{digits}}}", name(color));
            }
        }
        out += "\\begin{tikzpicture}[x=0.75pt, y=-0.75pt, line width=0.5pt, inner sep=0pt]\n";
        for shape in &self.shapes {
            out += &command(shape);
        }
        out + "\\end{tikzpicture}\n"
    }
}

fn name(color: Color) -> String {
    format!("weir{}", format!("{color:?}").to_lowercase())
}

/// An option of a path, if there is a color.
fn option(key: &str, color: Color) -> Option<String> {
    (color != Color::None).then(|| format!("{key}={}", name(color)))
}

fn command(shape: &Shape) -> String {
    match shape {
        Shape::Rect { at: [x, y, w, h], fill, line, is_dashed } => {
            let dashes = is_dashed.then(|| "dash pattern=on 2pt off 1.5pt".to_owned());
            let options: Vec<String> = [option("fill", *fill), option("draw", *line), dashes]
                .into_iter()
                .flatten()
                .collect();
            format!("\\path[{}] ({x},{y}) rectangle ({},{});\n", options.join(", "), x + w, y + h)
        }
        Shape::Line { points, color, has_head } => {
            let points: Vec<String> = points.iter().map(|(x, y)| format!("({x},{y})")).collect();
            let head = if *has_head { ", -latex" } else { "" };
            format!("\\draw[{}{head}] {};\n", name(*color), points.join(" -- "))
        }
        Shape::Text { at: (x, y), text, font, color, align } => {
            let anchor = match align {
                Align::Left => "base west",
                Align::Middle => "base",
                Align::Right => "base east",
            };
            // Three quarters of the size, as of all lengths, in tenths of a point.
            let size = font.size() * 15 / 2;
            let bold = if font.is_bold() { "\\bfseries" } else { "" };
            format!(
                "\\node[anchor={anchor}, text={}] at ({x},{y}) \
                 {{\\ttfamily{bold}\\fontsize{{{}.{}}}{{12}}\\selectfont {}}};\n",
                name(*color),
                size / 10,
                size % 10,
                escape(text)
            )
        }
    }
}

/// A text of which no character means anything to TeX.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in escape_line(text).chars() {
        match c {
            '\\' => out += "\\textbackslash{}",
            '{' | '}' | '$' | '&' | '#' | '_' | '%' => out.extend(['\\', c]),
            '^' => out += "\\textasciicircum{}",
            '~' => out += "\\textasciitilde{}",
            '<' => out += "\\textless{}",
            '>' => out += "\\textgreater{}",
            '-' => out += "{-}",
            ' ' => out += "\\ ",
            '→' => out += "$\\to$",
            '…' => out += "\\ldots{}",
            '⋮' => out += "$\\vdots$",
            '·' => out += "$\\cdot$",
            c => out.push(c),
        }
    }
    out
}
