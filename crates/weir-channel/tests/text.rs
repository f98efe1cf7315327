//! What is printed reads back as it was, what is wrong is said well, and no text
//! makes the reader panic.

use crate::common;

use common::{SHAPES, machine, with_seeds};
use weir_channel::text::{print, read};
use weir_channel::{Machine, Op, Transition};
use weir_front::MAX_NESTING;

#[test]
fn printed_machines_read_back() {
    for (_, shape) in SHAPES {
        with_seeds(500, |rng| {
            let machine = machine(rng, &shape, "c");
            let text = print(&machine);
            let again = read(&text).unwrap_or_else(|e| panic!("{:?}\n{text}", e[0]));
            assert_eq!(again, machine, "{text}");
        });
    }
}

#[test]
fn any_name_reads_back() {
    let names = ["->", "in", "a b", "♯", "é", "0", "x'", "//", "a;b", "(p, q)", "*", "\\", "eps"];
    let mut builder = Machine::builder("eps on");
    for name in names {
        builder.message(name).unwrap();
        builder.channel(name).unwrap();
        builder.label(name).unwrap();
        builder.state(name).unwrap();
    }
    let mut nameless = Machine::builder("");
    let state = nameless.state("s").unwrap();
    assert!(nameless.build(state).is_err());
    builder.transition(Transition::new(state, state)).unwrap();
    let machine = builder.build(state).unwrap();
    let mut builder = Machine::builder("other");
    for bad in ["", "a\"b", "a\nb", "\u{7}"] {
        assert!(builder.message(bad).is_err(), "{bad:?}");
    }
    assert_eq!(read(&print(&machine)).unwrap(), machine);
}

const HEAD: &str = "machine m; messages hello, bye; channels wire, back; labels go;
states idle, sent; initial idle;\n";

/// The errors of a text that is wrong, and where they are.
fn errors(text: &str) -> Vec<(String, String, String)> {
    let errors = read(text).unwrap_err();
    assert!(!errors.is_empty());
    errors
        .into_iter()
        .map(|e| {
            (e.message, text[e.range].to_owned(), e.help.map(String::from).unwrap_or_default())
        })
        .collect()
}

/// Checks the first error of a text after the usual declarations.
fn wrong(text: &str, message: &str, place: &str, help: &str) {
    let found = errors(&format!("{HEAD}{text}"));
    let (m, p, h) = &found[0];
    assert!(m.contains(message), "{text}: {m}");
    assert_eq!(p, place, "{text}: {m}");
    assert!(h.contains(help), "{text}: {h}");
}

#[test]
fn errors_say_what_is_wrong_and_where() {
    wrong("idle -> sent do wier!hello;", "there is no channel `wier`", "wier", "`wire`");
    wrong("idle -> sent do wire!hallo;", "there is no message `hallo`", "hallo", "`hello`");
    wrong("idel -> sent;", "there is no control state `idel`", "idel", "`idle`");
    wrong("idle -> snt;", "there is no control state `snt`", "snt", "`sent`");
    wrong("idle -> sent on gp;", "there is no label `gp`", "gp", "`go`");
    wrong("idle -> sent when wire in hello | ;", "expected a part", ";", "`eps`");
    wrong("idle -> sent when wire in *;", "nothing before `*`", "*", "`.*`");
    wrong("idle -> sent when wire in (hello;", "`)` is missing", "(", "");
    wrong("idle -> sent when wire in hello);", "expected `,`, `do` or `;`, found `)`", ")", "");
    wrong("idle -> sent when wire in [hello;", "`]` is missing", "[", "");
    wrong("idle -> sent when wire;", "expected `in`, `empty`, `has` or `only`", ";", "");
    wrong("idle -> sent when wire has hallo;", "no message `hallo`", "hallo", "`hello`");
    wrong("idle -> sent do wire;", "expected `!` to send or `?`", ";", "");
    wrong("idle -> sent do wire[hello/bye]?hello;", "only a send", "[", "");
    wrong("idle -> sent do wire[hello/bye, bye/bye]!hello;", "`bye` is replaced twice", "bye", "");
    wrong("idle -> sent do wire!bye, wire!bye;", "two operations on `wire`", "wire!bye", "state");
    wrong("idle -> sent when wire empty, wire empty;", "two guards on `wire`", "wire empty", "");
    wrong("states idle;", "two control states `idle`", "idle", "");
    wrong("messages a, a;", "two messages `a`", "a", "");
    wrong("channels wire;", "two channels `wire`", "wire", "");
    wrong("machine again;", "a name already", "machine", "");
    wrong("initial sent;", "an initial state already", "initial", "");
    wrong("chanels more;", "neither a declaration nor a transition", "chanels", "`channels`");
    wrong("when -> sent;", "no statement begins with `when`", "when", "`STATE -> STATE`");
    wrong("strong hello at most many;", "expected how many strong", "many", "");
    wrong("strong hello at most 100000;", "at most 1000 strong", "100000", "");
    wrong("strong hello, hello at most 1;", "`hello` is strong already", "hello", "");
    wrong("strong hallo at most 1;", "there is no message `hallo`", "hallo", "`hello`");
    wrong("idle -> in;", "expected the name of a control state", "in", "\"in\"");
    wrong("idle -> \"sent;", "this name is not closed", "\"sent;", "");
    wrong("idle -> § sent;", "`§` is not part", "§", "");
    wrong("idle -> sent", "found the end of the file", "", "");
    assert_eq!(errors("states s; initial s;")[0].0, "the machine has no name");
    assert_eq!(errors("machine m; states s;")[0].0, "the machine has no initial state");
    assert_eq!(errors(" ")[0].0, "the file is empty");
    assert!(errors("machine m; states s; initial s; s -> s do c!a;")[0].2.contains("channels c;"));
}

#[test]
fn strong_messages_past_their_bound() {
    let head = "strong hello at most 1;\n";
    let past = "always puts more strong messages into the channel";
    wrong("strong hello at most 0; idle -> sent do wire!hello;", past, "wire!hello", "raise");
    wrong(
        &format!("{head} idle -> sent when wire has hello do wire!hello;"),
        past,
        "wire!hello",
        "raise",
    );
    wrong(
        &format!("{head} idle -> sent when wire in bye bye do wire[hello/bye]!bye;"),
        past,
        "wire[hello/bye]!bye",
        "raise",
    );
    let never = "requires more strong messages than the channel may hold";
    let text = format!("{head} idle -> sent when wire in hello .* hello;");
    wrong(&text, never, "wire in hello .* hello", "ask for less");
    // What depends on the run is no mistake.
    for fine in [
        "idle -> idle do wire!hello;",
        "idle -> idle when wire has hello do wire[bye/hello]!hello;",
    ] {
        read(&format!("{HEAD}{head}{fine}")).unwrap();
    }
}

#[test]
fn all_errors_are_reported_once() {
    let found =
        errors(&format!("{HEAD}idle -> snt do wier!hello; idle -> x; y -> idle when back in zz;"));
    let messages: Vec<&str> = found.iter().map(|(m, _, _)| m.as_str()).collect();
    assert_eq!(
        messages,
        [
            "there is no control state `snt`",
            "there is no channel `wier`",
            "there is no control state `x`",
            "there is no control state `y`",
            "there is no message `zz`"
        ]
    );
    // A declaration that cannot be read is one error, not many.
    let found = errors("machine m; states s t; initial s; s -> t;");
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn deep_and_large_input_is_refused() {
    let guard = |g: &str| format!("{HEAD}idle -> sent when wire in {g};");
    let nested = |n: usize| guard(&("(".repeat(n) + "hello" + &")".repeat(n)));
    read(&nested(MAX_NESTING)).unwrap();
    assert!(errors(&nested(MAX_NESTING + 1))[0].0.contains("nest more than 100 deep"));
    assert!(errors(&nested(500_000))[0].0.contains("nest more than 100 deep"));
    let real = |n: usize| guard(&("((hello bye | bye)* ".repeat(n) + &")*".repeat(n)));
    let machine = read(&real(MAX_NESTING - 1)).unwrap();
    assert_eq!(read(&print(&machine)).unwrap(), machine);
    read(&guard(&("hello".to_owned() + &"*+?".repeat(300_000)))).unwrap();
    assert!(errors(&guard(&"hello ".repeat(20_000)))[0].0.contains("more than 10000 parts"));
    let names: Vec<String> = (0..70_000).map(|i| format!("s{i}")).collect();
    let many = format!("machine m; states {}; initial s0;", names.join(", "));
    assert!(errors(&many)[0].0.contains("more than 60000 control states"));
    assert!(errors(&" x".repeat(3 << 20))[0].0.contains("at most 4194304 are read"));
    let unknown: String = (0..70_000).map(|i| format!("x{i} -> y{i};\n")).collect();
    assert!(errors(&format!("{HEAD}{unknown}")).len() <= 50);
}

/// Reads; what is accepted is printed and read again.
fn survive(text: &str) {
    match read(text) {
        Ok(machine) => assert_eq!(read(&print(&machine)).as_ref(), Ok(&machine), "{text}"),
        Err(errors) => {
            assert!(!errors.is_empty(), "{text}");
            for error in &errors {
                assert!(error.range.start <= error.range.end && error.range.end <= text.len());
                assert!(error.message.len() < 400, "{}", error.message);
                error.render("hostile.chm", text, false);
            }
        }
    }
}

#[test]
fn changed_text_never_panics() {
    let pieces = [
        "->",
        ";",
        ",",
        "!",
        "?",
        "[",
        "]",
        "(",
        ")",
        "|",
        "*",
        "+",
        ".",
        "^",
        "/",
        "\"",
        "//",
        "\n",
        "in",
        "when",
        "do",
        "on",
        "strong",
        "at",
        "most",
        "states",
        "machine",
        "eps",
        "has",
        "only",
        "empty",
        "nop",
        "a",
        "q0",
        "999999999999999999999",
        "é",
        "\0",
        "\u{2028}",
        "'",
    ];
    with_seeds(3000, |rng| {
        let shape = SHAPES[rng.below(SHAPES.len())].1;
        let mut text = print(&machine(rng, &shape, "c"));
        for _ in 0..1 + rng.below(4) {
            let mut at = rng.below(text.len() + 1);
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            match rng.below(3) {
                0 => text.insert_str(at, rng.pick::<&str>(&pieces)),
                1 => text.truncate(at),
                _ => {
                    let mut end = (at + rng.below(6)).min(text.len());
                    while !text.is_char_boundary(end) {
                        end -= 1;
                    }
                    text.replace_range(at..end.max(at), rng.pick::<&str>(&pieces));
                }
            }
        }
        survive(&text);
    });
}

#[test]
fn random_pieces_never_panic() {
    let pieces = [
        "machine", "m", ";", "states", "s", ",", "initial", "s", "->", "when", "c", "in", "(", ")",
        "[", "]", "*", "messages", "a", "channels", "c", "do", "!", "?", "/", "\"", "strong", "at",
        "most", "1", "eps", "|", ".", "^", " ", "\n", "on",
    ];
    with_seeds(3000, |rng| {
        let words: Vec<&str> = (0..rng.below(60)).map(|_| *rng.pick(&pieces)).collect();
        survive(&words.join(rng.pick::<&str>(&["", " "])));
    });
}

#[test]
fn ids_of_another_machine_are_refused() {
    let mut big = Machine::builder("big");
    let states: Vec<_> = (0..5).map(|i| big.state(format!("s{i}")).unwrap()).collect();
    let channel = big.channel("c").unwrap();
    let message = big.message("a").unwrap();
    let mut small = Machine::builder("small");
    let state = small.state("s").unwrap();
    assert!(small.transition(Transition::new(state, states[4])).is_err());
    assert!(
        small.transition(Transition::new(state, state).op(channel, Op::send(message))).is_err()
    );
    assert!(small.strong([message], 1).is_err());
}
