//! The examples of the language guide are what the guide says they are.

use weir_front::weir::{print, read};

const GUIDE: &str = include_str!("../../../docs/language.md");

/// The fenced blocks of the guide: tag, text and line.
fn blocks() -> Vec<(String, String, usize)> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, String, usize)> = None;
    for (number, line) in GUIDE.lines().enumerate() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(tag), None) => open = Some((tag.to_owned(), String::new(), number + 1)),
            (None, Some((_, text, _))) => *text += &format!("{line}\n"),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block of the guide is not closed");
    blocks
}

#[test]
fn every_example_is_read() {
    let mut count = 0;
    for (tag, text, line) in blocks() {
        if tag == "weir" {
            let errors = read("guide.weir", &text).err().unwrap_or_default();
            let shown: String = errors.iter().map(|e| e.render("guide", &text, false)).collect();
            assert!(errors.is_empty(), "the example at line {line} of the guide:\n{shown}");
            count += 1;
        }
    }
    assert!(count > 10, "only {count} examples were found");
}

#[test]
fn every_wrong_example_gives_the_error_that_the_guide_says() {
    let blocks = blocks();
    let mut count = 0;
    for pair in blocks.windows(2) {
        let [(tag, text, line), (next, wanted, _)] = pair else { continue };
        if tag != "weir-error" {
            continue;
        }
        assert_eq!(next, "text", "after the example at line {line}");
        let errors = read("guide.weir", text).expect_err("an example of an error");
        let messages: Vec<_> = errors.iter().map(|e| format!("error: {}", e.message)).collect();
        let wanted: Vec<_> = wanted.lines().filter(|l| l.starts_with("error:")).collect();
        assert_eq!(messages, wanted, "the example at line {line} of the guide");
        count += 1;
    }
    assert!(count >= 3, "only {count} wrong examples were found");
}

#[test]
fn the_guide_shows_what_show_prints() {
    let blocks = blocks();
    let (_, after, _) = blocks.iter().rfind(|(tag, ..)| tag == "weir").unwrap();
    let (_, before, _) = blocks.iter().rfind(|(tag, t, _)| tag == "weir" && t != after).unwrap();
    let (program, _) = read("guide.weir", before).unwrap();
    assert_eq!(&print(&program), after);
}
