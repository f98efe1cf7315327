//! No text makes the reader panic, overflow the stack or hang, and whatever it
//! accepts can be printed and read again.

use crate::hostile;

use hostile::{many, mutated, with_seeds};
use weir_front::weir::{print, read};

const PROGRAMS: [&str; 3] = [
    include_str!("../../../docs/language.md"),
    "enum Turn { left, right }
const N = 2
var flag[N]: bool, turn: Turn = any, data, log: 0..3 = 1
process p[i: 0..N - 1] {
    reg r, s: 0..3 = i
    loop {
        flag[i] = true; turn = 1 - i
        fence
        await not flag[1 - i] or turn == i
    critical: r = data
        data = r + 1
        if cas(data, r, fetch_add(log, 1) + flag[r]) and not (data > 3) { s = any(0..3) }
        else if r == 1 { exit } else { break }
        while data < 3 and i == 0 { continue }
        choose { nop } or { again: goto again }
        flag[i] = false
        assert r == min(r, data) and s % 2 - -1 == (1 - (2 - r))
    }
}
mutex: never count(p@critical) == 2
no deadlock
final exists data == 1 and p[0].r == 2
observe data, flag[1], p[1].s",
    "var x, y process p { x = 1; reg r; r = y } process q { y = 1; reg r; r = x }
final exists p.r == 0 and q.r == 0 filter x == 1 assertions",
];

/// Reads; what is accepted is printed and read again, twice to the same text.
fn survive(text: &str) {
    match read("hostile.weir", text) {
        Ok((program, _)) => {
            let printed = print(&program);
            let (again, _) = read("hostile.weir", &printed).unwrap_or_else(|e| {
                panic!("{}\nfrom\n{text}", e[0].render("printed", &printed, false))
            });
            assert_eq!(print(&again), printed, "from {text}");
        }
        Err(errors) => {
            assert!(!errors.is_empty());
            for error in &errors {
                assert!(error.range.start <= error.range.end && error.range.end <= text.len());
                assert!(error.message.len() < 400, "{}", error.message);
            }
        }
    }
}

#[test]
fn random_bytes() {
    with_seeds(2000, |random| {
        let len = random.below(200);
        let bytes: Vec<u8> = (0..len).map(|_| random.below(256) as u8).collect();
        survive(&String::from_utf8_lossy(&bytes));
    });
}

#[test]
fn random_words() {
    const WORDS: &str = "x y p r 0 1 9 { } ( ) [ ] , ; : = == < + - * / and or not if else while \
         loop choose await until process var const enum reg never no deadlock final exists filter \
         observe any cas fetch_add count goto break .. . @ bool 0..1 /* */ true min \n \n process \
         p { x = 1 } var x a[ ]";
    let words: Vec<&str> = WORDS.split(' ').collect();
    with_seeds(4000, |random| {
        let len = random.below(60);
        let text: Vec<_> = (0..len).map(|_| words[random.below(words.len())]).collect();
        survive(&text.join(" "));
    });
}

#[test]
fn mutated_programs() {
    let examples = PROGRAMS[0].split("```weir\n").skip(1).filter_map(|t| t.split("```").next());
    let programs: Vec<&str> = examples.chain(PROGRAMS[1..].iter().copied()).collect();
    with_seeds(4000, |random| {
        let program = programs[random.below(programs.len())];
        survive(&mutated(random, program, "{}()[]=+-<>:;.,@0129axr \n"));
    });
}

#[test]
fn deep_and_long_texts() {
    let many = many(100_000);
    let in_process = |body: String| format!("var x\nprocess p {{ reg r; {body} }}");
    let mut texts = vec![
        in_process(format!("r = {}1{}", "(".repeat(many), ")".repeat(many))),
        in_process(format!("r = {}1", "(".repeat(many))),
        in_process(format!("r = {}r", "-".repeat(many))),
        in_process(format!("r = {}r", "not ".repeat(many))),
        in_process(format!("r = {}r{}", "x[".repeat(many), "]".repeat(many))),
        in_process(format!("r = {}r", "min(1, ".repeat(many))),
        in_process(format!("r = {}1", "1 + ".repeat(many))),
        in_process(format!("r = {}r", "r and ".repeat(many))),
        in_process(format!("{}{}", "loop { ".repeat(many), "}".repeat(many))),
        in_process("{ ".repeat(many)),
        in_process("if x { } else ".repeat(many)),
        in_process("if r { x = 1 } else ".repeat(many) + "{ }"),
        in_process("choose { } ".to_owned() + &"or { } ".repeat(many)),
        in_process("x = x + r\n".repeat(many)),
        in_process((0..70_000).map(|i| format!("l{i}: ")).collect()),
        in_process((0..many).map(|i| format!("reg r{i} ")).collect()),
        format!("process p[i: 0..63] {{ reg r; {} }}", "r = any(0..65535)\n".repeat(100)),
        format!("process p[i: 0..63] {{ reg r; {} }}", "r = r + 1 ".repeat(100_000)),
        "process p[i: 0..170141183460469231731687303715884105727] { }".to_owned(),
        "process p { reg r; r = any(-170141183460469231731687303715884105727..170141183460469231731687303715884105727) }".to_owned(),
        "const a = 0 - 170141183460469231731687303715884105727 - 2 process p { }".to_owned(),
        "a".repeat(1 << 20),
        "a ".repeat(1 << 19),
        "1".repeat(1 << 20),
        "/*".repeat(1 << 19),
        "é".repeat(1 << 19),
        "}".repeat(1 << 20),
        "{".repeat(1 << 20),
        "process p { ".repeat(many),
        format!("var {}\nprocess p {{ }}", "a".repeat(1 << 20)),
        format!("never {}1", "1 == ".repeat(many)),
        format!(
            "var a[1024]: 0..65535 = any\n{}process p {{ }}",
            "var b = any(0..65535)\n".repeat(9)
        ),
        (0..many).map(|i| format!("const c{i} = c{}\n", i + 1)).collect::<String>()
            + "process p { }",
        (0..many).map(|i| format!("const c{i} = c{}\n", (i + 1) % many)).collect(),
        (0..many).map(|i| format!("process p{i} {{ }}\n")).collect(),
        (0..many).map(|i| format!("var v{i}\n")).collect::<String>()
            + "process p { x = 1 y = 2 v = 3 }",
    ];
    texts.push(format!(
        "enum E {{ {} }}\nprocess p {{ }}",
        (0..many).map(|i| format!("m{i},")).collect::<String>()
    ));
    for text in texts {
        survive(&text);
    }
}

#[test]
fn what_nests_as_deep_as_it_may_can_be_printed_and_read() {
    for depth in 1..110 {
        let close = "}".repeat(depth);
        survive(&format!(
            "var x process p {{ {} x = 1 {close} }}",
            "while x == 1 { ".repeat(depth)
        ));
        survive(&format!("var x process p {{ {} x = 1 {close} }}", "loop { ".repeat(depth)));
        let close = ")".repeat(depth);
        survive(&format!(
            "var x process p {{ assume {} 1 {close} }}",
            "x or x and (".repeat(depth)
        ));
        survive(&format!(
            "var x process p {{ reg r while {} 1 {close} {{ }} }}",
            "r - (".repeat(depth)
        ));
    }
}
