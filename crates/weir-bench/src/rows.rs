//! Results as rows: a table for the terminal, Markdown, and CSV in both directions.

use std::fmt::Write as _;

use weir::report::table::Table;
use weir_front::escape;

use crate::run::{Job, Measured};
use crate::spin::Spin;
use weir_cli::output::paint;
use weir_cli::progress::grouped;
use weir_cli::terminal::STRONG;

/// What came out of one job.
#[derive(Clone, Debug)]
pub struct Row {
    /// The program.
    pub program: String,
    /// The memory model.
    pub model: String,
    /// The engine that was asked for.
    pub engine: String,
    /// What came out.
    pub run: Measured,
    /// The instructions of a run, where they were counted.
    pub instructions: Option<u64>,
    /// The result of Spin, if it was run.
    pub spin: Option<Spin>,
}

impl Row {
    /// A row with nothing but a run.
    pub fn new(job: &Job, run: Measured) -> Self {
        Self {
            program: job.name.clone(),
            model: job.model.to_string(),
            engine: job.engine.name().to_owned(),
            run,
            instructions: None,
            spin: None,
        }
    }

    /// What identifies the row.
    pub fn key(&self) -> (&str, &str, &str) {
        (&self.program, &self.model, &self.engine)
    }

    /// The same in words.
    pub fn title(&self) -> String {
        format!("{} {} {}", self.program, self.model, self.engine)
    }

    /// The time of the explicit engine over that of Spin.
    pub fn over_spin(&self) -> Option<f64> {
        let spin = self.spin.as_ref()?;
        Some(self.run.seconds / spin.seconds).filter(|ratio| ratio.is_finite() && *ratio > 0.0)
    }
}

/// The columns of the CSV. New ones go to the end, and those that are here stay.
pub const COLUMNS: [&str; 12] = [
    "program",
    "model",
    "engine",
    "answered",
    "verdicts",
    "exact",
    "configurations",
    "seconds",
    "peak_mib",
    "instructions",
    "spin_states",
    "spin_seconds",
];

/// The rows as CSV.
pub fn csv(rows: &[Row]) -> String {
    let mut out = COLUMNS.join(",") + "\n";
    for row in rows {
        let run = &row.run;
        let spin = row.spin.as_ref();
        let cells = [
            row.program.clone(),
            row.model.clone(),
            row.engine.clone(),
            run.answered.clone(),
            run.verdicts.join(" "),
            run.exact.to_string(),
            run.configurations.to_string(),
            format!("{:.6}", run.seconds),
            run.peak.map(|p| format!("{p:.1}")).unwrap_or_default(),
            row.instructions.map(|i| i.to_string()).unwrap_or_default(),
            spin.map(|s| s.states.to_string()).unwrap_or_default(),
            spin.map(|s| format!("{:.2}", s.seconds)).unwrap_or_default(),
        ];
        let _ = writeln!(out, "{}", cells.map(|c| escape::csv(&c).into_owned()).join(","));
    }
    out
}

/// Reads rows back. Columns may be in any order, and there may be others; those
/// that a comparison needs have to be there.
///
/// # Errors
/// If the text is no such CSV: what is wrong, and in which line.
pub fn read_csv(text: &str) -> Result<Vec<Row>, String> {
    let mut lines = cells(text)?.into_iter();
    let (_, head) = lines.next().ok_or("it is empty")?;
    let column = |name: &str| head.iter().position(|c| c.trim() == name);
    let needed = |name: &str| column(name).ok_or(format!("it has no column `{name}`"));
    let (program, model) = (needed("program")?, needed("model")?);
    let (engine, verdicts) = (needed("engine")?, needed("verdicts")?);
    let (configurations, seconds) = (needed("configurations")?, needed("seconds")?);
    let (answered, instructions) = (column("answered"), column("instructions"));
    let mut rows = Vec::new();
    for (line, cells) in lines {
        if cells.len() != head.len() {
            let (has, wants) = (cells.len(), head.len());
            return Err(format!("line {line} has {has} cells, and the first has {wants}"));
        }
        let wrong = |column: usize| {
            format!("line {line}: `{}` is no number of {}", cells[column], head[column])
        };
        let time: f64 = cells[seconds].trim().parse().map_err(|_| wrong(seconds))?;
        if !time.is_finite() || time < 0.0 {
            return Err(wrong(seconds));
        }
        let count = match instructions.filter(|&c| !cells[c].trim().is_empty()) {
            Some(c) => Some(cells[c].trim().parse().map_err(|_| wrong(c))?),
            None => None,
        };
        rows.push(Row {
            program: cells[program].clone(),
            model: cells[model].clone(),
            engine: cells[engine].clone(),
            run: Measured {
                answered: answered.map(|c| cells[c].clone()).unwrap_or_default(),
                verdicts: cells[verdicts].split_whitespace().map(str::to_owned).collect(),
                exact: false,
                configurations: cells[configurations]
                    .trim()
                    .parse()
                    .map_err(|_| wrong(configurations))?,
                seconds: time,
                peak: None,
                process: None,
            },
            instructions: count,
            spin: None,
        });
    }
    Ok(rows)
}

/// The cells of each line of CSV, with the number of the line that they begin in.
fn cells(text: &str) -> Result<Vec<(usize, Vec<String>)>, String> {
    let mut lines = Vec::new();
    let mut row = vec![String::new()];
    let (mut line, mut began, mut in_quotes) = (1, 1, false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let cell = row.last_mut().ok_or("it is empty")?;
        match c {
            '"' if in_quotes && chars.peek() == Some(&'"') => {
                cell.push('"');
                chars.next();
            }
            '"' if in_quotes => in_quotes = false,
            '"' if cell.is_empty() => in_quotes = true,
            ',' if !in_quotes => row.push(String::new()),
            '\r' if !in_quotes && chars.peek() == Some(&'\n') => {}
            '\n' => {
                line += 1;
                if in_quotes {
                    cell.push(c);
                    continue;
                }
                let whole = std::mem::replace(&mut row, vec![String::new()]);
                if whole != [""] {
                    lines.push((began, whole));
                }
                began = line;
            }
            _ => cell.push(c),
        }
    }
    if in_quotes {
        return Err(format!("line {began}: a quote is never closed"));
    }
    if row != [""] {
        lines.push((began, row));
    }
    Ok(lines)
}

/// The head and the rows of a table; the first columns are text and the others are
/// numbers.
struct Shown {
    head: Vec<&'static str>,
    text: usize,
    rows: Vec<Vec<String>>,
}

fn shown(rows: &[Row]) -> Shown {
    let counted = rows.iter().any(|r| r.instructions.is_some());
    let spun = rows.iter().any(|r| r.spin.is_some());
    let mut head =
        vec!["program", "model", "verdict", "engine", "configurations", "seconds", "peak MiB"];
    if counted {
        head.push("instructions");
    }
    if spun {
        head.extend(["Spin states", "Spin seconds", "Weir / Spin"]);
    }
    let rows = rows.iter().map(|row| {
        let run = &row.run;
        let engine = match (row.engine.as_str(), run.answered.as_str()) {
            ("auto", answered) => answered.to_owned(),
            (asked, _) => asked.to_owned(),
        };
        let mut cells = vec![
            row.program.clone(),
            row.model.clone(),
            run.verdicts.join(", "),
            engine,
            number(run.configurations),
            format!("{:.3}", run.seconds),
            run.peak.map(|p| format!("{p:.1}")).unwrap_or_default(),
        ];
        if counted {
            cells.push(row.instructions.map(number).unwrap_or_default());
        }
        if spun {
            let spin = row.spin.as_ref();
            cells.push(spin.map(|s| number(s.states)).unwrap_or_default());
            cells.push(spin.map(|s| format!("{:.2}", s.seconds)).unwrap_or_default());
            let ratio = row.over_spin().filter(|_| spin.is_some_and(Spin::is_long));
            cells.push(ratio.map(|r| format!("{r:.2}")).unwrap_or_default());
        }
        cells
    });
    Shown { rows: rows.collect(), head, text: 4 }
}

/// A count with commas.
pub fn number(n: u64) -> String {
    grouped(usize::try_from(n).unwrap_or(usize::MAX))
}

/// The rows as an aligned table, for the terminal.
pub fn human(rows: &[Row]) -> String {
    let Shown { head, text, rows } = shown(rows);
    aligned(&head, text, &rows)
}

/// Cells in columns: the first ones to the left, numbers to the right.
pub fn aligned(head: &[&str], text: usize, rows: &[Vec<String>]) -> String {
    let mut table = Table::default();
    table.row(head.iter().copied());
    rows.iter().for_each(|row| table.row(row.iter().cloned()));
    let widths = table.widths();
    let mut right = Table::default();
    let pad = |(i, cell): (usize, String)| match i < text {
        true => cell,
        false => format!("{cell:>w$}", w = widths[i]),
    };
    right.row(head.iter().map(|h| (*h).to_owned()).enumerate().map(pad));
    rows.iter().for_each(|row| right.row(row.iter().cloned().enumerate().map(pad)));
    let mut out = String::new();
    for (i, line) in right.lines("  ").iter().enumerate() {
        let _ = writeln!(out, "{}", if i == 0 { paint(STRONG, line) } else { line.clone() });
    }
    out
}

/// The rows as a table of Markdown.
pub fn markdown(rows: &[Row]) -> String {
    let Shown { head, text, rows } = shown(rows);
    table(&head, text, &rows)
}

/// A table of Markdown: the first columns are text, the others are numbers.
pub fn table(head: &[&str], text: usize, rows: &[Vec<String>]) -> String {
    let mut out = format!("| {} |\n|", head.join(" | "));
    for i in 0..head.len() {
        out += if i < text { " --- |" } else { " ---: |" };
    }
    out.push('\n');
    for row in rows {
        let cells: Vec<String> = row.iter().map(|c| c.replace('|', "\\|")).collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    out
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::run::Seconds;

    /// A row for tests.
    pub fn row(program: &str, verdict: &str, configurations: u64, instructions: u64) -> Row {
        Row {
            program: program.to_owned(),
            model: "TSO".to_owned(),
            engine: "auto".to_owned(),
            run: Measured {
                answered: "views".to_owned(),
                verdicts: verdict.split_whitespace().map(str::to_owned).collect(),
                exact: true,
                configurations,
                seconds: 0.5,
                peak: Some(4.0),
                process: Some(Seconds { wall: 0.6, user: Some(0.5) }),
            },
            instructions: Some(instructions).filter(|i| *i > 0),
            spin: None,
        }
    }

    #[test]
    fn csv_reads_back() {
        let rows = [row("a, \"b\"", "holds violated", 12, 34), row("c", "unknown", 5, 0)];
        let back = read_csv(&csv(&rows)).unwrap();
        for (a, b) in rows.iter().zip(&back) {
            assert_eq!(a.key(), b.key());
            assert_eq!(a.run.verdicts, b.run.verdicts);
            assert_eq!(a.run.configurations, b.run.configurations);
            assert_eq!(a.instructions, b.instructions);
        }
        assert_eq!(back.len(), 2);
    }

    #[test]
    fn csv_that_is_wrong() {
        let head = "program,model,engine,verdicts,configurations,seconds\n";
        for (text, message) in [
            (String::new(), "it is empty"),
            ("a,b\n1,2\n".to_owned(), "it has no column `program`"),
            (format!("{head}p,TSO\n"), "line 2 has 2 cells, and the first has 6"),
            (format!("{head}p,TSO,auto,holds,x,1\n"), "`x` is no number of configurations"),
            (format!("{head}p,TSO,auto,holds,1,NaN\n"), "`NaN` is no number of seconds"),
            (format!("{head}\"p,TSO\n"), "line 2: a quote is never closed"),
        ] {
            let error = read_csv(&text).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }
}
