//! Aligned columns.

/// Rows of cells, printed so that columns line up.
#[derive(Clone, Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Adds a row.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
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
                    row.iter().zip(&widths).map(|(cell, &w)| format!("{cell:w$}")).collect();
                cells.join(gap).trim_end().to_owned()
            })
            .collect()
    }
}

/// Breaks a text at spaces so that no line is longer than `width`, where words are not
/// longer. There is at least one line.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut len = 0;
    for word in text.split(' ') {
        let word_len = word.chars().count();
        if len > 0 && len + 1 + word_len > width {
            lines.push(String::new());
            len = 0;
        }
        let line = lines.last_mut().expect("there is one");
        if len > 0 {
            line.push(' ');
            len += 1;
        }
        line.push_str(word);
        len += word_len;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_whole() {
        assert_eq!(wrap("", 5), [""]);
        assert_eq!(wrap("ab cd ef", 5), ["ab cd", "ef"]);
        assert_eq!(wrap("much-too-long ab", 5), ["much-too-long", "ab"]);
    }

    #[test]
    fn columns_line_up() {
        let mut table = Table::default();
        table.row(["a", "bbb", "c"]);
        table.row(["äää", "b"]);
        assert_eq!(table.lines(" | "), ["a   | bbb | c", "äää | b"]);
    }
}
