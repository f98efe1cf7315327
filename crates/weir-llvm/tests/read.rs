//! Small modules by hand: what is read, what is not, and that printing keeps it.

use weir_llvm::{Body, Kind, Layout, Module, Type, Value, parse};

fn module(text: &str) -> Module {
    parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn what_is_printed_is_read_as_the_same() {
    let text = include_str!("all.ll");
    let first = module(text);
    for function in &first.functions {
        assert!(!matches!(function.body, Body::NotRead(..)), "{:?}", function.body);
    }
    let printed = first.to_string();
    let again = module(&printed).to_string();
    assert_eq!(printed, again);
}

#[test]
fn a_function_that_is_not_understood_does_not_stop_the_others() {
    let module = module(
        "define void @f() {\n  %a = frobnicate i32 1\n  ret void\n}\ndefine void @g() {\n  ret void\n}\n",
    );
    let Body::NotRead(why, line) = &module.functions[0].body else { panic!("it was read") };
    assert!(why.contains("frobnicate"), "{why}");
    assert_eq!(*line, 2);
    assert!(matches!(module.functions[1].body, Body::Blocks(_)));
}

#[test]
fn typed_pointers_are_refused() {
    let error = parse("@x = global i32* null\n").unwrap_err();
    assert!(error.message.contains("typed pointers"), "{error}");
}

#[test]
fn layouts_are_those_of_c() {
    let module = module(
        "target datalayout = \"e-i64:64-i128:128-S128\"\n\
         %s = type { i8, i32, ptr, i1 }\n@a = global %s zeroinitializer\n\
         @b = global <{ i8, i32 }> zeroinitializer\n@c = global [3 x { i16, i64 }] zeroinitializer\n",
    );
    let layout = Layout::new(&module);
    let sizes: Vec<_> = module.globals.iter().map(|g| layout.size(g.ty)).collect();
    assert_eq!(sizes, [Some((24, 8)), Some((5, 1)), Some((48, 8))]);
    assert_eq!(layout.offsets(module.globals[0].ty), Some(vec![0, 4, 8, 16]));
    assert_eq!(layout.scalars(module.globals[2].ty, 10).map(|s| s.len()), Some(6));
    assert_eq!(layout.scalars(module.globals[2].ty, 5), None);
}

#[test]
fn numbers_are_signed_and_i1_is_not() {
    let module = module("@a = global i8 255\n@b = global i1 true\n@c = global i64 -1\n");
    let values: Vec<_> = module.globals.iter().map(|g| g.init.clone().unwrap()).collect();
    assert_eq!(values, [Value::Int(-1), Value::Int(1), Value::Int(-1)]);
}

#[test]
fn values_without_a_name_have_numbers() {
    let module = module(
        "define i32 @f(i32) {\n  %2 = add i32 %0, 1\n  br label %3\n\n3:\n  call i32 @f(i32 %2)\n  ret i32 %4\n}\n",
    );
    let Body::Blocks(blocks) = &module.functions[0].body else { panic!("not read") };
    assert_eq!(blocks.len(), 2);
    let Kind::Return(Some((ty, Value::Local(local)))) = &blocks[1].instructions[1].kind else {
        panic!("no return")
    };
    assert_eq!(module.ty(*ty), &Type::Int(32));
    assert_eq!(Some(*local), blocks[1].instructions[0].result);
}

#[test]
fn debug_locations_have_the_chain_of_inlining() {
    let text = "define void @f() !dbg !1 {\n  ret void, !dbg !4\n}\n\
        !1 = distinct !DISubprogram(name: \"f\", linkageName: \"_f\", scope: !2, file: !2, line: 3, type: !9)\n\
        !2 = !DIFile(filename: \"a.c\", directory: \"/d\")\n\
        !3 = distinct !DILexicalBlock(scope: !5, file: !2, line: 1, column: 1)\n\
        !4 = !DILocation(line: 7, column: 2, scope: !3, inlinedAt: !6)\n\
        !5 = distinct !DISubprogram(name: \"g\", file: !2, line: 6, flags: DIFlagPrototyped | DIFlagX)\n\
        !6 = distinct !DILocation(line: 9, column: 1, scope: !1)\n\
        !7 = !{i32 1, !\"x)\", !{}}\n";
    let module = module(text);
    let Body::Blocks(blocks) = &module.functions[0].body else { panic!("not read") };
    let places = module.places(blocks[0].instructions[0].location.unwrap());
    let shown: Vec<_> = places.iter().map(|p| (p.function, p.file, p.line)).collect();
    assert_eq!(shown, [("g", "a.c", 7), ("f", "a.c", 9)]);
}

#[test]
fn deep_nesting_is_an_error() {
    let text =
        format!("@x = global {}i8{} zeroinitializer\n", "[1 x ".repeat(500), "]".repeat(500));
    assert!(parse(&text).unwrap_err().message.contains("nests"));
}
