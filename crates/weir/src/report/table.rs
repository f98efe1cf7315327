//! Aligned columns.

use weir_front::columns::{pad, shortened, spaces};

/// The most characters of a cell that others follow.
pub const MOST_CELL: usize = 200;

/// Rows of cells, printed so that columns line up.
#[derive(Clone, Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// The rows as lines, no wider than `width`: rows that are wider are not aligned and go on
    /// in more lines.
    pub fn wrapped(&self, gap: &str, width: usize) -> Vec<String> {
        let lines = self.lines(gap).into_iter().zip(&self.rows);
        let wrapped = |(line, row): (String, &Vec<String>)| match line.chars().count() <= width {
            true => vec![line],
            false => {
                let cells: Vec<&str> =
                    row.iter().map(String::as_str).filter(|cell| !cell.is_empty()).collect();
                hanging(&cells.join(" "), 0, width)
            }
        };
        lines.flat_map(wrapped).collect()
    }

    /// Adds a row. Cells before the last one are shortened if they are very long.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let mut cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        if let Some((_, before)) = cells.split_last_mut() {
            before.iter_mut().for_each(|cell| *cell = shortened(cell, MOST_CELL));
        }
        self.rows.push(cells);
    }

    /// The width of each column, in characters.
    pub fn widths(&self) -> Vec<usize> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |c: usize| {
            self.rows.iter().filter_map(|r| r.get(c)).map(|s| s.chars().count()).max().unwrap_or(0)
        };
        (0..columns).map(width).collect()
    }

    /// The width of a line, in characters.
    pub fn width(&self, gap: &str) -> usize {
        let widths = self.widths();
        widths.iter().sum::<usize>() + gap.chars().count() * widths.len().saturating_sub(1)
    }

    /// The rows as lines, cells padded to their column and joined by `gap`.
    pub fn lines(&self, gap: &str) -> Vec<String> {
        let widths = self.widths();
        self.rows
            .iter()
            .map(|row| {
                let cells: Vec<String> =
                    row.iter().zip(&widths).map(|(cell, &width)| pad(cell, width)).collect();
                cells.join(gap).trim_end().to_owned()
            })
            .collect()
    }
}

/// Breaks a text at spaces so that no line is longer than `width`. A word that is longer is
/// broken, too. There is at least one line.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = vec![String::new()];
    let mut len = 0;
    for word in text.split(' ') {
        let mut word_len = word.chars().count();
        if len > 0 && len + 1 + word_len > width {
            lines.push(String::new());
            len = 0;
        }
        if len > 0 {
            lines.last_mut().expect("there is one").push(' ');
            len += 1;
        }
        let mut rest = word.chars();
        while word_len > width {
            lines.last_mut().expect("there is one").extend(rest.by_ref().take(width));
            lines.push(String::new());
            word_len -= width;
        }
        lines.last_mut().expect("there is one").extend(rest);
        len += word_len;
    }
    lines
}

/// A text with an indent, which grows where the text goes on in another line.
pub fn hanging(text: &str, indent: usize, width: usize) -> Vec<String> {
    let room = width.saturating_sub(indent);
    let fits = text.chars().count() <= room;
    let parts = wrap(text, if fits { room } else { room.saturating_sub(2) });
    let indented = |(i, part): (usize, &String)| spaces(indent + if i == 0 { 0 } else { 2 }) + part;
    parts.iter().enumerate().map(indented).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_whole_if_they_can() {
        assert_eq!(wrap("", 5), [""]);
        assert_eq!(wrap("ab cd ef", 5), ["ab cd", "ef"]);
        assert_eq!(wrap("a much-too-long b", 5), ["a", "much-", "too-l", "ong b"]);
        assert_eq!(wrap("abcde", 5), ["abcde"]);
        assert_eq!(wrap("ab", 0), ["a", "b"]);
        assert_eq!(hanging("ab cd ef", 1, 6), [" ab", "   cd", "   ef"]);
    }

    #[test]
    fn columns_line_up() {
        let mut table = Table::default();
        table.row(["a", "bbb", "c"]);
        table.row(["äää", "b"]);
        assert_eq!(table.lines(" | "), ["a   | bbb | c", "äää | b"]);
        table.row(["n".repeat(70_000), "m".repeat(70_000)]);
        let widths = table.widths();
        assert_eq!(widths[..2], [MOST_CELL, 70_000]);
        assert!(table.lines(" | ")[1].starts_with("äää  "));
    }
}
