//! Positions of the protocol: a line, and a number of UTF-16 code units in it.

use std::ops::Range;

use lsp_types::Position;

/// How many bytes lie between two places whose code units are counted beforehand: a line may be as
/// long as the text.
const BLOCK: usize = 1 << 9;

/// Where the lines of a text begin. A line ends with `\n`, `\r\n` or `\r`.
#[derive(Clone, Debug)]
pub struct Lines {
    starts: Vec<usize>,
    /// How many code units there are before each block of bytes.
    units: Vec<usize>,
}

impl Lines {
    /// The lines of a text.
    pub fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let is_end = |i: usize| match bytes[i] {
            b'\n' => true,
            b'\r' => bytes.get(i + 1) != Some(&b'\n'),
            _ => false,
        };
        let ends = (0..bytes.len()).filter(|&i| is_end(i)).map(|i| i + 1);
        let starts = std::iter::once(0).chain(ends).collect();
        let mut units = vec![0];
        for block in 1..=text.len() / BLOCK {
            let part = &text[floor(text, (block - 1) * BLOCK)..floor(text, block * BLOCK)];
            units.push(units[block - 1] + units_of(part));
        }
        Self { starts, units }
    }

    /// How many code units there are before an offset between two characters.
    fn units_before(&self, text: &str, offset: usize) -> usize {
        let block = offset / BLOCK;
        self.units[block] + units_of(&text[floor(text, block * BLOCK)..offset])
    }

    /// The number of the line, from 0, that an offset is on.
    pub fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset) - 1
    }

    /// A line without its end.
    pub fn range(&self, text: &str, line: usize) -> Range<usize> {
        let Some(&start) = self.starts.get(line) else { return text.len()..text.len() };
        let end = self.starts.get(line + 1).copied().unwrap_or(text.len());
        start..start + text[start..end].trim_end_matches(['\r', '\n']).len()
    }

    /// The position of an offset. One inside a character is that of the character.
    pub fn position(&self, text: &str, offset: usize) -> Position {
        let offset = floor(text, offset);
        let line = self.line(offset);
        let units = self.units_before(text, offset) - self.units_before(text, self.starts[line]);
        Position::new(line as u32, units as u32)
    }

    /// The positions of both ends of a range.
    pub fn span(&self, text: &str, range: &Range<usize>) -> lsp_types::Range {
        let start = self.position(text, range.start);
        lsp_types::Range::new(start, self.position(text, range.end.max(range.start)))
    }

    /// The offset of a position. One behind the end of a line is the end of the line, and one
    /// inside a character is the beginning of the character.
    pub fn offset(&self, text: &str, position: Position) -> usize {
        let line = self.range(text, position.line as usize);
        let before = self.units_before(text, line.start);
        let wanted = before + position.character as usize;
        let block = self.units.partition_point(|units| *units <= wanted) - 1;
        let begin = floor(text, block * BLOCK);
        let (start, mut units) = match begin > line.start {
            true => (begin.min(line.end), self.units[block]),
            false => (line.start, before),
        };
        for (i, c) in text[start..line.end].char_indices() {
            units += c.len_utf16();
            if units > wanted {
                return start + i;
            }
        }
        line.end
    }

    /// The offsets of both ends of a range; the end is not before the start.
    pub fn offsets(&self, text: &str, range: lsp_types::Range) -> Range<usize> {
        let start = self.offset(text, range.start);
        start..self.offset(text, range.end).max(start)
    }
}

fn units_of(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// The beginning of the character that an offset is in.
fn floor(text: &str, offset: usize) -> usize {
    let offset = offset.min(text.len());
    (0..=offset).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Characters of one, two, three and four bytes: one, one, one and two code units.
    const TEXT: &str = "aé\r\n€😀b\rc\n\nd";

    #[test]
    fn characters_are_counted_in_utf_16() {
        let lines = Lines::new(TEXT);
        let at = |needle: &str| {
            let p = lines.position(TEXT, TEXT.find(needle).unwrap());
            (p.line, p.character)
        };
        assert_eq!((at("a"), at("é"), at("\r\n")), ((0, 0), (0, 1), (0, 2)));
        assert_eq!((at("€"), at("😀"), at("b")), ((1, 0), (1, 1), (1, 3)));
        assert_eq!((at("c"), at("d")), ((2, 0), (4, 0)));
        assert_eq!(lines.position(TEXT, 999), Position::new(4, 1));
        // Inside the emoji.
        assert_eq!(lines.position(TEXT, TEXT.find('😀').unwrap() + 2), Position::new(1, 1));
    }

    #[test]
    fn every_offset_comes_back() {
        let lines = Lines::new(TEXT);
        for (offset, c) in TEXT.char_indices().chain([(TEXT.len(), 'x')]) {
            // The second half of `\r\n` has no position of its own.
            if c == '\n' && TEXT[..offset].ends_with('\r') {
                continue;
            }
            assert_eq!(lines.offset(TEXT, lines.position(TEXT, offset)), offset, "{offset}");
        }
    }

    #[test]
    fn long_lines_are_counted_as_short_ones() {
        let text = format!("a\n{}\r\né", "aé€😀".repeat(300));
        let lines = Lines::new(&text);
        let mut plain = Position::new(0, 0);
        for (offset, c) in text.char_indices() {
            assert_eq!(lines.position(&text, offset), plain, "{offset}");
            if c != '\n' || !text[..offset].ends_with('\r') {
                assert_eq!(lines.offset(&text, plain), offset);
            }
            plain = match c {
                '\n' => Position::new(plain.line + 1, 0),
                _ => Position::new(plain.line, plain.character + c.len_utf16() as u32),
            };
        }
        assert_eq!(lines.offset(&text, Position::new(1, 9999)), text.find('\r').unwrap());
    }

    #[test]
    fn positions_that_are_nowhere_are_moved_into_the_text() {
        let lines = Lines::new(TEXT);
        let offset = |line, character| lines.offset(TEXT, Position::new(line, character));
        assert_eq!(offset(0, 99), 3);
        assert_eq!(offset(1, 2), TEXT.find('😀').unwrap());
        assert_eq!(offset(99, 0), TEXT.len());
        assert_eq!(offset(u32::MAX, u32::MAX), TEXT.len());
        let backward = lsp_types::Range::new(Position::new(4, 0), Position::new(0, 0));
        assert_eq!(lines.offsets(TEXT, backward), TEXT.len() - 1..TEXT.len() - 1);
        assert_eq!(Lines::new("").position("", 5), Position::new(0, 0));
    }
}
