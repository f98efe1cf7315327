//! A line chart as SVG: whole numbers to the right, seconds upwards in powers of ten.

use std::fmt::Write as _;

use weir_front::escape::markup;

/// A chart.
pub struct Chart {
    /// What stands above it.
    pub title: String,
    /// What stands below the axis.
    pub across: String,
    /// Seconds after which a search was given up.
    pub limit: f64,
    /// The lines.
    pub lines: Vec<Line>,
}

/// A line of a chart.
pub struct Line {
    /// Its name.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<Point>,
}

/// A point of a line.
#[derive(Clone, Copy)]
pub struct Point {
    /// How many.
    pub x: u32,
    /// How long.
    pub seconds: f64,
    /// Whether the search was given up there.
    pub cut: bool,
}

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 440.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 590.0;
const TOP: f64 = 52.0;
const BOTTOM: f64 = 376.0;

/// Colors that color-blind people can distinguish as well (Okabe and Ito 2008), in the
/// order of use.
const COLORS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#333333", "#8c564b"];

/// What tells lines of the same color apart.
const DASHES: [&str; 3] = ["none", "7 4", "2 3"];

/// Smaller times are drawn as this one.
const LEAST: f64 = 1e-5;

impl Chart {
    /// The chart as SVG. It brings its own background, so it reads on any page.
    pub fn svg(&self) -> String {
        let points = || self.lines.iter().flat_map(|l| &l.points);
        let first = points().map(|p| p.x).min().unwrap_or(0);
        let last = points().map(|p| p.x).max().unwrap_or(1).max(first + 1);
        let low = points().map(|p| p.seconds.max(LEAST)).fold(self.limit, f64::min);
        let high = points().map(|p| p.seconds).fold(self.limit, f64::max);
        let low = low.max(LEAST).log10().floor() as i32;
        let high = (high.max(LEAST).log10().ceil() as i32).max(low + 1);
        // A little room on both sides keeps markers off the frame.
        let x = |n: u32| {
            let share = (f64::from(n - first) + 0.25) / (f64::from(last - first) + 0.5);
            LEFT + share * (RIGHT - LEFT)
        };
        let y = |seconds: f64| {
            let share = (seconds.max(LEAST).log10() - f64::from(low)) / f64::from(high - low);
            BOTTOM - share * (BOTTOM - TOP)
        };

        let mut out = String::new();
        let _ = writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             width=\"{WIDTH}\" height=\"{HEIGHT}\" font-family=\"Helvetica, Arial, sans-serif\" \
             font-size=\"13\" fill=\"#222222\" role=\"img\">\n<title>{title}</title>\n\
             <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"6\" fill=\"#ffffff\"/>\n\
             <text x=\"{LEFT}\" y=\"30\" font-size=\"16\" font-weight=\"bold\">{title}</text>",
            title = markup(&self.title),
        );
        for power in low..=high {
            let at = y(10f64.powi(power));
            let _ = writeln!(
                out,
                "<path d=\"M{LEFT} {at:.1}H{RIGHT}\" stroke=\"#dddddd\"/>\n\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                LEFT - 8.0,
                at + 4.5,
                time(power),
            );
        }
        let every = (last - first).div_ceil(16).max(1);
        for n in (first..=last).step_by(every as usize) {
            let at = x(n);
            let _ = writeln!(
                out,
                "<path d=\"M{at:.1} {BOTTOM}v5\" stroke=\"#222222\"/>\n\
                 <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{n}</text>",
                BOTTOM + 21.0,
            );
        }
        let _ = writeln!(
            out,
            "<path d=\"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}\" fill=\"none\" stroke=\"#222222\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n\
             <path d=\"M{LEFT} {limit:.1}H{RIGHT}\" stroke=\"#999999\" stroke-dasharray=\"3 3\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" font-size=\"11\" fill=\"#777777\">time limit</text>",
            (LEFT + RIGHT) / 2.0,
            BOTTOM + 44.0,
            markup(&self.across),
            LEFT + 6.0,
            y(self.limit) - 5.0,
            limit = y(self.limit),
        );
        // The legend is in the order of the ends of the lines.
        let mut order: Vec<usize> = (0..self.lines.len()).collect();
        let end = |i: &usize| self.lines[*i].points.last().map_or((0, 0.0), |p| (p.x, p.seconds));
        order.sort_by(|a, b| {
            let ((ax, ay), (bx, by)) = (end(a), end(b));
            (by / f64::from(bx.max(1))).total_cmp(&(ay / f64::from(ax.max(1))))
        });
        for (place, &i) in order.iter().enumerate() {
            let line = &self.lines[i];
            let color = COLORS[i % COLORS.len()];
            let dash = DASHES[i / COLORS.len() % DASHES.len()];
            let path: Vec<String> =
                line.points.iter().map(|p| format!("{:.1} {:.1}", x(p.x), y(p.seconds))).collect();
            let stroke = format!("stroke=\"{color}\" stroke-width=\"2\"");
            let _ = writeln!(
                out,
                "<path d=\"M{}\" fill=\"none\" {stroke} stroke-dasharray=\"{dash}\" \
                 stroke-linejoin=\"round\"/>",
                path.join("L"),
            );
            for p in &line.points {
                let _ = writeln!(out, "{}", marker(i, x(p.x), y(p.seconds), color, p.cut));
            }
            let (key, height) = (RIGHT + 18.0, TOP + 10.0 + 22.0 * place as f64);
            let _ = writeln!(
                out,
                "<path d=\"M{key:.1} {height:.1}h26\" {stroke} stroke-dasharray=\"{dash}\"/>\n{}\n\
                 <text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                marker(i, key + 13.0, height, color, false),
                key + 34.0,
                height + 4.5,
                markup(&line.name),
            );
        }
        out + "</svg>\n"
    }
}

/// A marker; shapes differ so that color is not all that tells lines apart. One of a
/// search that was given up is hollow.
fn marker(line: usize, x: f64, y: f64, color: &str, cut: bool) -> String {
    let fill = if cut { "#ffffff" } else { color };
    let look = format!("fill=\"{fill}\" stroke=\"{color}\" stroke-width=\"1.5\"");
    match line % 4 {
        0 => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" {look}/>"),
        1 => {
            let (left, top) = (x - 3.6, y - 3.6);
            format!("<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"7.2\" height=\"7.2\" {look}/>")
        }
        2 => format!("<path d=\"M{x:.1} {:.1}l4.6 8h-9.2z\" {look}/>", y - 5.0),
        _ => format!("<path d=\"M{x:.1} {:.1}l5 5l-5 5l-5 -5z\" {look}/>", y - 5.0),
    }
}

/// A power of ten, in seconds.
fn time(power: i32) -> String {
    match power {
        ..-3 => format!("{} µs", 10f64.powi(power + 6)),
        -3..0 => format!("{} ms", 10f64.powi(power + 3)),
        _ => format!("{} s", 10f64.powi(power)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_round_numbers() {
        let times: Vec<String> = (-5..=2).map(time).collect();
        assert_eq!(times, ["10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s", "100 s"]);
    }

    #[test]
    fn a_chart_without_lines_is_one() {
        let chart = Chart { title: "a < b".into(), across: "n".into(), limit: 1.0, lines: vec![] };
        let svg = chart.svg();
        assert!(svg.contains("<title>a &lt; b</title>") && svg.ends_with("</svg>\n"), "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
