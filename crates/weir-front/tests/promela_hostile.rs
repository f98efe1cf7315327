//! No text makes the reader of Promela panic, overflow the stack or hang, and whatever
//! it accepts can be printed in Weir's own language and read again.

use crate::hostile;

use std::fs;
use std::path::Path;

use hostile::{many, mutated, with_seeds};
use weir_front::promela::read;
use weir_front::weir::{self, print};

/// Reads; what is accepted is printed and read again, twice to the same text.
fn survive(text: &str) {
    match read("hostile.pml", text) {
        Ok((program, _)) => {
            let printed = print(&program);
            let (again, _) = weir::read("hostile.weir", &printed).unwrap_or_else(|e| {
                panic!("{}\nfrom\n{text}", e[0].render("printed", &printed, false))
            });
            assert_eq!(print(&again), printed, "from {text}");
        }
        Err(errors) => {
            assert!(!errors.is_empty());
            for error in &errors {
                let range = &error.range;
                assert!(range.start <= range.end && range.end <= text.len(), "{text}");
                assert!(error.message.len() < 400, "{}", error.message);
                error.render("hostile.pml", text, false);
            }
        }
    }
}

fn models() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/promela");
    let folders = [folder.clone(), folder.join("suite")];
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "pml"));
    files.sort();
    files.iter().map(|path| fs::read_to_string(path).unwrap()).collect()
}

#[test]
fn models_survive() {
    for model in models() {
        survive(&model);
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
    const WORDS: &str = "x y r 0 1 255 { } ( ) [ ] , ; : :: = == -> < + - ++ -- && || ! ~ % / if fi \
         do od else skip break goto L L: assert atomic d_step printf byte bit bool int mtype x[ a[1] \
         proctype active init run P P() select for .. inline #define #ifdef #endif \n \n \" ' \\ \
         /* */ // weir: never x == 1 \n fence store( load( _pid chan timeout = active proctype P() { \
         byte x; } unsigned chan c = [1] of { byte } ; c ! 1 c ? r ?? !! [ ] unless typedef T { . } ltl \
         p { [] <> U } provided priority len( empty( eval( _nr_pr end: } run P() never @";
    let words: Vec<&str> = WORDS.split(' ').collect();
    with_seeds(4000, |random| {
        let len = random.below(60);
        let text: Vec<_> = (0..len).map(|_| words[random.below(words.len())]).collect();
        survive(&text.join(" "));
        survive(&format!("byte x, a[2]; active proctype P() {{ byte r; {} }}", text.join(" ")));
    });
}

#[test]
fn mutated_models() {
    let models = models();
    with_seeds(3000, |random| {
        let model = &models[random.below(models.len())];
        survive(&mutated(random, model, "{}()[]=+-<>:;.,#0129axr \n"));
    });
}

#[test]
fn deep_and_long_texts() {
    let many = many(50_000);
    let inside = |body: String| format!("byte x, a[2]; active proctype P() {{ int r; {body} }}");
    let texts = [
        inside(format!("r = {}1{}", "(".repeat(many), ")".repeat(many))),
        inside(format!("r = {}r", "-".repeat(many))),
        inside(format!("r = {}r", "!".repeat(many))),
        inside(format!("r = {}r{}", "a[".repeat(many), "]".repeat(many))),
        inside(format!("r = {}1", "1 + ".repeat(many))),
        inside(format!("r = {}r", "r && ".repeat(many))),
        inside(format!("r = {}r{}", "(r -> ".repeat(90), ": 1)".repeat(90))),
        inside(format!("{}skip{}", "{ ".repeat(many), "}".repeat(many))),
        inside(format!("{}skip{}", "if :: ".repeat(many), " fi".repeat(many))),
        inside(format!("{}skip{}", "do :: ".repeat(90), " od".repeat(90))),
        inside(format!("{}skip{}", "atomic { ".repeat(90), "}".repeat(90))),
        inside(format!("if {} fi", ":: x == 1 -> skip ".repeat(many))),
        inside(format!("do {} od", ":: x == 1 -> break ".repeat(90))),
        inside(format!("atomic {{ {} x++ }}", "if :: x == 1 :: else fi; ".repeat(many))),
        inside(format!("atomic {{ {} }}", "x = x + x; ".repeat(many))),
        inside(format!("atomic {{ {} }}", "r = r + x; ".repeat(200))),
        inside("x = x + r; ".repeat(many)),
        inside((0..many).map(|i| format!("l{i}: ")).collect()),
        inside((0..many).map(|i| format!("byte r{i}; ")).collect()),
        inside("{ byte q; q = 1 } ".repeat(many)),
        inside("atomic { x == 0 -> x = 1 } ".repeat(10_000)),
        format!("proctype P() {{ skip }} init {{ {} }}", "run P(); ".repeat(many)),
        "proctype P() { skip } init { byte i; do :: i < 300 -> skip od; run P() }".to_owned(),
        "proctype P() { skip } init { do :: skip od; run P() }".to_owned(),
        "byte x[1024]; byte y[1025]; active proctype P() { skip }".to_owned(),
        format!("mtype = {{ {} z }}; active proctype P() {{ skip }}", "a, ".repeat(many)),
        format!("{}active proctype P() {{ skip }}", "byte x; ".repeat(many)),
        format!("#define A0 x\n{}\nA4000", {
            let lines: Vec<_> = (1..=4000).map(|i| format!("#define A{i} A{}", i - 1)).collect();
            lines.join("\n")
        }),
        format!("#define A0 x\n{}\nA40", {
            let double = |i: usize| format!("#define A{i} A{0} A{0}", i - 1);
            (1..=40).map(double).collect::<Vec<_>>().join("\n")
        }),
        format!("#define F(x) x x\n{}1{}", "F(".repeat(many), ")".repeat(many)),
        "#ifdef A\n".repeat(many),
        "inline f(a) { ".repeat(many),
        "(".repeat(1 << 20),
        "{".repeat(1 << 20),
        "}".repeat(1 << 20),
        "\"".repeat(1 << 20),
        "/*".repeat(1 << 19),
        "#".repeat(1 << 20),
        "#\n".repeat(1 << 19),
        "é".repeat(1 << 19),
        "a".repeat(1 << 20),
        "a ".repeat(1 << 19),
        "1".repeat(1 << 20),
        "// weir: never\n".repeat(many),
        format!("byte x; active proctype P() {{ x = 1 }} {}", "// weir: never x\n".repeat(many)),
    ];
    for text in texts {
        survive(&text);
    }
}
