//! Small modules by hand, with the answers that they have to get.

use weir::{MemoryModel, Verdict};

use crate::read;

/// Declarations that all modules have.
const DECLARED: &str = "declare i32 @pthread_create(ptr, ptr, ptr, ptr)\n\
    declare i32 @pthread_join(i64, ptr)\ndeclare void @__assert_fail(ptr, ptr, i32, ptr)\n\
    declare ptr @malloc(i64)\ndeclare void @free(ptr)\ndeclare zeroext i1 @__VERIFIER_nondet_bool()\n\
    declare i64 @weir_any(i64, i64)\ndeclare i32 @pthread_mutex_lock(ptr)\ndeclare i32 @pthread_mutex_unlock(ptr)\n\
    declare void @weir_wait_ne(ptr, i32)\n@text = constant [5 x i8] c\"a==b\\00\"\n\
    @x = global i32 0\n@y = global i32 0\n@p = global ptr null\n@r = global [2 x i32] zeroinitializer\n\
    @w = global [2 x i64] zeroinitializer\ndeclare i32 @memcmp(ptr, ptr, i64)\n\
    declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n";

fn verdict(text: &str, model: MemoryModel) -> Verdict {
    read::verdict("test.ll", &format!("{DECLARED}{text}"), model)
}

/// A program with one more thread, and what the first thread does before and after it joins the other one.
fn two(other: &str, before: &str, after: &str) -> String {
    format!(
        "define ptr @other(ptr %a) {{\n{other}\n  ret ptr null\n}}\n\
         define i32 @main() {{\n  %t = alloca i64\n  call i32 @pthread_create(ptr %t, ptr null, ptr @other, ptr null)\n\
         {before}\n  %h = load i64, ptr %t\n  call i32 @pthread_join(i64 %h, ptr null)\n{after}\n  ret i32 0\n\
         bad:\n  call void @__assert_fail(ptr @text, ptr null, i32 1, ptr null)\n  unreachable\n}}\n"
    )
}

/// One thread only.
fn one(code: &str) -> String {
    format!(
        "define i32 @main() {{\n{code}\n  ret i32 0\nbad:\n  call void @__assert_fail(ptr @text, ptr null, i32 1, ptr null)\n  unreachable\n}}\n"
    )
}

#[test]
fn store_buffering_needs_a_fence() {
    let text = |fence: &str| {
        two(
            &format!(
                "  store atomic i32 1, ptr @x monotonic, align 4\n{fence}  %v = load atomic i32, ptr @y monotonic, align 4\n  store i32 %v, ptr @r"
            ),
            &format!(
                "  store atomic i32 1, ptr @y monotonic, align 4\n{fence}  %w = load atomic i32, ptr @x monotonic, align 4"
            ),
            "  %v = load i32, ptr @r\n  %s = or i32 %v, %w\n  %c = icmp eq i32 %s, 0\n  br i1 %c, label %bad, label %good\ngood:",
        )
    };
    assert_eq!(verdict(&text(""), MemoryModel::SC), Verdict::Holds);
    assert_eq!(verdict(&text(""), MemoryModel::TSO), Verdict::Violated);
    assert_eq!(verdict(&text("  fence seq_cst\n"), MemoryModel::TSO), Verdict::Holds);
}

#[test]
fn a_loop_that_only_reads_waits() {
    let wait = "  br label %spin\nspin:\n  %v = load atomic i32, ptr @x acquire, align 4\n  %c = icmp eq i32 %v, 0\n  br i1 %c, label %spin, label %go\ngo:";
    let set = two("  store atomic i32 1, ptr @x release, align 4", wait, "");
    assert_eq!(verdict(&set, MemoryModel::TSO), Verdict::Holds);
    // Nobody sets it: a deadlock.
    let never = two("  store atomic i32 1, ptr @y release, align 4", wait, "");
    assert_eq!(verdict(&never, MemoryModel::SC), Verdict::Violated);
    // A loop that counts is no waiting, and ends.
    let counts = "  br label %spin\nspin:\n  %i = phi i32 [ 0, %0 ], [ %n, %spin ]\n  %v = load atomic i32, ptr @x acquire, align 4\n  %n = add i32 %i, 1\n  %c = icmp ult i32 %n, 50\n  br i1 %c, label %spin, label %go\ngo:";
    let counted = two("  store atomic i32 1, ptr @y release, align 4", counts, "");
    assert_eq!(verdict(&counted, MemoryModel::SC), Verdict::Holds);
    let native = two(
        "  store atomic i32 3, ptr @x release, align 4",
        "  call void @weir_wait_ne(ptr @x, i32 0)",
        "",
    );
    assert_eq!(verdict(&native, MemoryModel::TSO), Verdict::Holds);
}

#[test]
fn waiting_for_one_of_two_reads_only_what_is_read() {
    // `while (x == 0 && y == 0)`: each load decides by itself.
    let wait = "  br label %spin\nspin:\n  %v = load atomic i32, ptr @x acquire, align 4\n  %c = icmp eq i32 %v, 0\n  br i1 %c, label %more, label %go\n\
        more:\n  %w = load atomic i32, ptr @y acquire, align 4\n  %d = icmp eq i32 %w, 0\n  br i1 %d, label %spin, label %go\n\
        go:\n  %g = phi i32 [ 1, %spin ], [ 2, %more ]";
    let after = "  %e = icmp eq i32 %g, 2\n  br i1 %e, label %bad, label %good\ngood:";
    assert_eq!(
        verdict(
            &two("  store atomic i32 1, ptr @x release, align 4", wait, after),
            MemoryModel::SC
        ),
        Verdict::Holds
    );
    assert_eq!(
        verdict(
            &two("  store atomic i32 1, ptr @y release, align 4", wait, after),
            MemoryModel::SC
        ),
        Verdict::Violated
    );
}

#[test]
fn what_two_threads_share_is_never_computed() {
    // The other thread may run between any two instructions of the first one.
    let text = two(
        "  store i32 1, ptr @x\n  store i32 2, ptr @x",
        "  %a = load i32, ptr @x\n  %b = load i32, ptr @x",
        "  %c = icmp eq i32 %a, %b\n  br i1 %c, label %good, label %bad\ngood:",
    );
    assert_eq!(verdict(&text, MemoryModel::SC), Verdict::Violated);
    // A slot of the stack whose address another thread has.
    let text = format!(
        "define ptr @other(ptr %a) {{\n  store i32 7, ptr %a\n  ret ptr null\n}}\n{}",
        one(
            "  %s = alloca i32\n  store i32 1, ptr %s\n  %t = alloca i64\n  call i32 @pthread_create(ptr %t, ptr null, ptr @other, ptr %s)\n\
             %v = load i32, ptr %s\n  %c = icmp eq i32 %v, 1\n  br i1 %c, label %good, label %bad\ngood:"
        )
    );
    assert_eq!(verdict(&text, MemoryModel::SC), Verdict::Violated);
}

#[test]
fn failures_have_words_of_their_own() {
    for (code, words) in [
        ("  %v = load i32, ptr null", "a null pointer is followed"),
        (
            "  %m = call ptr @malloc(i64 4)\n  call void @free(ptr %m)\n  %v = load i32, ptr %m",
            "memory is used after it was freed",
        ),
        (
            "  %m = call ptr @malloc(i64 4)\n  call void @free(ptr %m)\n  call void @free(ptr %m)",
            "memory is freed twice",
        ),
        (
            "  %m = getelementptr i32, ptr @x, i64 1\n  store i32 1, ptr %m",
            "an access outside of `x`",
        ),
        (
            "  %m = inttoptr i64 99999 to ptr\n  store i32 1, ptr %m",
            "an address outside of every object is accessed",
        ),
        ("  %b = call i64 @weir_any(i64 0, i64 1)\n  %d = sdiv i64 4, %b", "division by zero"),
        (
            "  %b = call i64 @weir_any(i64 0, i64 1)\n  %d = trunc i64 %b to i32\n  %e = add nsw i32 %d, 2147483647",
            "a signed number overflows",
        ),
        ("  unreachable\nnever:", "code is reached that the compiler took to be unreachable"),
        ("  br label %bad\nnever:", "the assertion `a==b` does not hold"),
        (
            "  %s = alloca i1\n  %v = load i1, ptr %s\n  br i1 %v, label %bad, label %good\ngood:",
            "a branch depends on a value that was never set",
        ),
    ] {
        let text = format!("{DECLARED}{}", one(code));
        assert_eq!(read::verdict("test.ll", &text, MemoryModel::SC), Verdict::Violated, "{code}");
        let (program, _) = weir_front::read("test.ll", &text, None).unwrap();
        let said: Vec<&String> = program.messages.values().collect();
        assert!(said.iter().any(|said| *said == words), "{code}: {said:?}");
    }
}

#[test]
fn one_thread_computes_as_the_machine_does() {
    for (code, condition) in [
        ("  %v = sub i8 0, 1\n  %w = zext i8 %v to i32", "icmp eq i32 %w, 255"),
        ("  %v = lshr i32 -1, 31", "icmp eq i32 %v, 1"),
        ("  %v = ashr i32 -8, 1", "icmp eq i32 %v, -4"),
        ("  %v = srem i32 -7, 2", "icmp eq i32 %v, -1"),
        ("  %v = urem i32 -1, 10", "icmp eq i32 %v, 5"),
        ("  %v = sdiv i32 -7, 2", "icmp eq i32 %v, -3"),
        ("  %v = shl i32 3, 31", "icmp eq i32 %v, -2147483648"),
        ("  %v = sext i1 true to i32", "icmp eq i32 %v, -1"),
        ("  %v = trunc i64 4294967297 to i32", "icmp ult i32 %v, 2"),
        ("  %v = add i24 8388607, 1", "icmp slt i24 %v, 0"),
        ("  store i32 305419896, ptr @x\n  %v = load i8, ptr @x", "icmp eq i8 %v, 120"),
        (
            "  store i8 1, ptr @x\n  %q = getelementptr i8, ptr @x, i64 1\n  store i8 2, ptr %q\n  %v = load i32, ptr @x",
            "icmp eq i32 %v, 513",
        ),
        (
            "  %a = zext i64 -1 to i128\n  %b = shl i128 %a, 64\n  %v = or i128 %b, 5",
            "icmp ugt i128 %v, 5",
        ),
        ("  %v = mul i128 18446744073709551615, 18446744073709551615", "icmp ult i128 1, %v"),
        (
            "  %q = getelementptr i8, ptr @w, i64 8\n  store i64 7, ptr @w\n  store i64 -2, ptr %q\n  %v = load i128, ptr @w",
            "icmp eq i128 %v, -36893488147419103225",
        ),
        (
            "  store i128 -36893488147419103225, ptr @w\n  %q = getelementptr i8, ptr @w, i64 8\n  %v = load i64, ptr %q",
            "icmp eq i64 %v, -2",
        ),
    ] {
        for any in [false, true] {
            // The same with numbers that only the run knows.
            let code = match any {
                false => code.to_owned(),
                true => format!(
                    "  %zero = call i64 @weir_any(i64 0, i64 0)\n  %z = trunc i64 %zero to i32\n  store i32 %z, ptr @y\n{code}"
                ),
            };
            let text = one(&format!(
                "{code}\n  %good_ = {condition}\n  br i1 %good_, label %good, label %bad\ngood:"
            ));
            assert_eq!(verdict(&text, MemoryModel::SC), Verdict::Holds, "{text}");
        }
    }
}

/// Operators applied to numbers that only the run knows give what they give of known ones.
#[test]
fn known_and_unknown_numbers_give_the_same() {
    let numbers = [0, 1, 2, 5, 31, -1, -2, -128, 127];
    for op in [
        "add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "and", "or", "xor", "shl", "lshr",
        "ashr",
    ] {
        let mut code = String::new();
        let mut n = 0;
        for a in numbers {
            for b in numbers {
                let divides = op.contains("div") || op.contains("rem");
                if divides && (b == 0 || a == -128 && b == -1)
                    || op.contains("sh") && !(0..8).contains(&b)
                {
                    continue;
                }
                code += &format!(
                    "  %a{n} = call i64 @weir_any(i64 {a}, i64 {a})\n  %b{n} = call i64 @weir_any(i64 {b}, i64 {b})\n\
                     %x{n} = trunc i64 %a{n} to i8\n  %y{n} = trunc i64 %b{n} to i8\n  %u{n} = {op} i8 %x{n}, %y{n}\n\
                     %k{n} = {op} i8 {a}, {b}\n  %c{n} = icmp eq i8 %u{n}, %k{n}\n  br i1 %c{n}, label %g{n}, label %bad\ng{n}:\n"
                );
                n += 1;
            }
        }
        assert_eq!(verdict(&one(&code), MemoryModel::SC), Verdict::Holds, "{op}");
    }
    for predicate in ["eq", "ne", "ugt", "uge", "ult", "ule", "sgt", "sge", "slt", "sle"] {
        let mut code = String::new();
        for (n, (a, b)) in
            numbers.iter().flat_map(|a| numbers.iter().map(move |b| (a, b))).enumerate()
        {
            code += &format!(
                "  %a{n} = call i64 @weir_any(i64 {a}, i64 {a})\n  %b{n} = call i64 @weir_any(i64 {b}, i64 {b})\n\
                 %u{n} = icmp {predicate} i64 %a{n}, %b{n}\n  %k{n} = icmp {predicate} i64 {a}, {b}\n\
                 %c{n} = icmp eq i1 %u{n}, %k{n}\n  br i1 %c{n}, label %g{n}, label %bad\ng{n}:\n"
            );
        }
        assert_eq!(verdict(&one(&code), MemoryModel::SC), Verdict::Holds, "{predicate}");
    }
}

#[test]
fn pointers_that_only_the_run_knows() {
    // A list of two nodes; which one is first is not known.
    let nodes = "  %a = call ptr @malloc(i64 8)\n  %b = call ptr @malloc(i64 8)\n  store i32 1, ptr %a\n  store i32 2, ptr %b\n\
        %c = call i64 @weir_any(i64 0, i64 1)\n  %c1 = trunc i64 %c to i1\n  %q = select i1 %c1, ptr %a, ptr %b\n";
    let sum = format!(
        "{nodes}  store i32 5, ptr %q\n  %v = load i32, ptr %a\n  %w = load i32, ptr %b\n  %s = add i32 %v, %w\n"
    );
    let check = |n: i32| {
        format!("{sum}  %e = icmp eq i32 %s, {n}\n  br i1 %e, label %bad, label %good\ngood:")
    };
    assert_eq!(verdict(&one(&check(6)), MemoryModel::SC), Verdict::Violated);
    assert_eq!(verdict(&one(&check(7)), MemoryModel::SC), Verdict::Violated);
    assert_eq!(verdict(&one(&check(3)), MemoryModel::SC), Verdict::Holds);
    // Flags in the lowest bit.
    let tagged = format!(
        "{nodes}  %n = ptrtoint ptr %q to i64\n  %m = or i64 %n, 1\n  %o = and i64 %m, -2\n  %f = inttoptr i64 %o to ptr\n  %v = load i32, ptr %f\n\
         %e = icmp eq i32 %v, 0\n  br i1 %e, label %bad, label %good\ngood:"
    );
    assert_eq!(verdict(&one(&tagged), MemoryModel::SC), Verdict::Holds);
    // An index out of bounds.
    let index = |most: i32| {
        one(&format!(
            "  %i = call i64 @weir_any(i64 0, i64 {most})\n  %e = getelementptr i32, ptr @r, i64 %i\n  store i32 1, ptr %e"
        ))
    };
    assert_eq!(verdict(&index(1), MemoryModel::SC), Verdict::Holds);
    assert_eq!(verdict(&index(2), MemoryModel::SC), Verdict::Violated);
}

/// Arithmetic with numbers that only the run knows does not leave the objects of the addresses. If it does, that is a limit.
#[test]
fn pointers_that_are_computed_with_unknown_numbers() {
    let nodes = "  %a = call ptr @malloc(i64 8)\n  %b = call ptr @malloc(i64 8)\n  store i32 1, ptr %a\n  store i32 2, ptr %b\n\
        %c = call i64 @weir_any(i64 0, i64 1)\n  %c1 = trunc i64 %c to i1\n  %q = select i1 %c1, ptr %a, ptr %b\n\
        %an = ptrtoint ptr %a to i64\n  %bn = ptrtoint ptr %b to i64\n  %qn = ptrtoint ptr %q to i64\n";
    let sum = "  %f = inttoptr i64 %m to ptr\n  %v = load i32, ptr %f\n  %w = load i32, ptr %q\n  %s = add i32 %v, %w\n";
    let check = |code: &str, n: i32| {
        let text = format!(
            "{nodes}{code}{sum}  %e = icmp eq i32 %s, {n}\n  br i1 %e, label %good, label %bad\ngood:"
        );
        verdict(&one(&text), MemoryModel::SC)
    };
    // Flags that are not known, which are taken away again.
    let same =
        "  %t = call i64 @weir_any(i64 0, i64 3)\n  %n = or i64 %qn, %t\n  %m = and i64 %n, -4\n";
    assert_eq!(check(same, 2), Verdict::Violated);
    assert_eq!(check(same, 3), Verdict::Violated);
    // The sum of both addresses leads from each to the other.
    let other = "  %x = xor i64 %an, %bn\n  %y = call i64 @weir_any(i64 0, i64 0)\n  %z = xor i64 %x, %y\n  %m = xor i64 %z, %qn\n";
    assert_eq!(check(other, 3), Verdict::Holds);
    assert_eq!(check(other, 2), Verdict::Violated);
    // A difference leads out of the object to which it is added.
    let away = "  %d = sub i64 %bn, %qn\n  %m = add i64 %an, %d\n";
    assert_eq!(check(away, 3), Verdict::Unknown);
    // What is computed so can be freed.
    let free = format!(
        "{nodes}  %t = call i64 @weir_any(i64 0, i64 3)\n  %n = or i64 %qn, %t\n  %m = and i64 %n, -4\n  %f = inttoptr i64 %m to ptr\n\
         call void @free(ptr %f)\n"
    );
    assert_eq!(verdict(&one(&free), MemoryModel::SC), Verdict::Holds);
    let twice = format!("{free}  call void @free(ptr %f)\n");
    assert_eq!(verdict(&one(&twice), MemoryModel::SC), Verdict::Violated);
    // Waiting where it leads.
    let wait = format!(
        "{nodes}  %t = call i64 @weir_any(i64 0, i64 3)\n  %n = or i64 %qn, %t\n  %m = and i64 %n, -4\n  %f = inttoptr i64 %m to ptr\n\
         call void @weir_wait_ne(ptr %f, i32 5)"
    );
    assert_eq!(verdict(&one(&wait), MemoryModel::SC), Verdict::Holds);
    // A flag that is set atomically in an address.
    let flag = "  store ptr %q, ptr @p\n  %o = atomicrmw or ptr @p, i64 1 seq_cst\n  %n = load i64, ptr @p\n  %m = and i64 %n, -2\n";
    assert_eq!(check(flag, 2), Verdict::Violated);
    assert_eq!(check(flag, 3), Verdict::Violated);
}

/// Comparing and setting memory, of which only the run knows how much it is, or what is in it.
#[test]
fn memory_is_compared_and_set() {
    let compared = |test: &str| {
        let text = format!(
            "  %n = call i64 @weir_any(i64 1, i64 2)\n  %r1 = getelementptr i8, ptr @r, i64 1\n  %y1 = getelementptr i8, ptr @y, i64 1\n  store i8 1, ptr @r\n  store i8 2, ptr %r1\n\
             store i8 1, ptr @y\n  store i8 3, ptr %y1\n\
             %m = call i32 @memcmp(ptr @r, ptr @y, i64 %n)\n  %e = icmp {test} i32 %m, 0\n  br i1 %e, label %bad, label %good\ngood:"
        );
        verdict(&one(&text), MemoryModel::SC)
    };
    let answers = ["sgt", "slt", "eq"].map(compared);
    assert_eq!(answers, [Verdict::Holds, Verdict::Violated, Verdict::Violated]);
    let set = |more: &str| {
        let text = format!(
            "  %a = call ptr @malloc(i64 8)\n  store i32 1, ptr %a\n  call void @llvm.memset.p0.i64(ptr %a, i8 undef, i64 8, i1 false)\n\
             {more}  %v = load i32, ptr %a\n  %e = icmp eq i32 %v, 1\n  br i1 %e, label %good, label %bad\ngood:"
        );
        verdict(&one(&text), MemoryModel::SC)
    };
    assert_eq!(set("  store i32 1, ptr %a\n"), Verdict::Holds);
    assert_eq!(set(""), Verdict::Violated);
}

#[test]
fn functions_are_called_through_pointers() {
    let text = format!(
        "define i32 @one() {{\n  ret i32 1\n}}\ndefine i32 @two() {{\n  ret i32 2\n}}\n@table = constant [2 x ptr] [ptr @one, ptr @two]\n{}",
        one(
            "  %i = call i64 @weir_any(i64 0, i64 1)\n  %e = getelementptr ptr, ptr @table, i64 %i\n  %f = load ptr, ptr %e\n\
             %v = call i32 %f()\n  %n = trunc i64 %i to i32\n  %m = add i32 %n, 1\n  %c = icmp eq i32 %v, %m\n  br i1 %c, label %good, label %bad\ngood:"
        )
    );
    assert_eq!(verdict(&text, MemoryModel::SC), Verdict::Holds);
}

#[test]
fn locks_exclude() {
    let add = "  call i32 @pthread_mutex_lock(ptr @y)\n  %v = load i32, ptr @x\n  %w = add i32 %v, 1\n  store i32 %w, ptr @x\n  call i32 @pthread_mutex_unlock(ptr @y)";
    let main = add.replace("%v", "%a").replace("%w", "%b");
    let after = "  %n = load i32, ptr @x\n  %c = icmp eq i32 %n, 2\n  br i1 %c, label %good, label %bad\ngood:";
    assert_eq!(verdict(&two(add, &main, after), MemoryModel::TSO), Verdict::Holds);
    let free = main
        .replace("  call i32 @pthread_mutex_lock(ptr @y)\n", "")
        .replace("  call i32 @pthread_mutex_unlock(ptr @y)", "");
    assert_eq!(verdict(&two(add, &free, after), MemoryModel::SC), Verdict::Violated);
    // Locked twice: a deadlock.
    let twice = format!("  call i32 @pthread_mutex_lock(ptr @y)\n{main}");
    assert_eq!(verdict(&two(add, &twice, ""), MemoryModel::SC), Verdict::Violated);
}

#[test]
fn what_is_not_known_is_refused_if_it_is_reached() {
    let errors = |code: &str| {
        read::errors(
            "test.ll",
            &format!(
                "{DECLARED}declare void @mystery()\ndefine void @odd() {{\n  frobnicate\n}}\n{}",
                one(code)
            ),
        )
    };
    let found = errors("  call void @mystery()");
    assert!(found[0].contains("`mystery`"), "{found:?}");
    let found = errors("  call void @odd()");
    assert!(found[0].contains("`frobnicate` is not known"), "{found:?}");
    assert!(errors("").is_empty());
    let found = errors("  %f = fadd double 1.0, 2.0");
    assert!(found[0].contains("floating-point"), "{found:?}");
    let found = errors("  call void asm sideeffect \"cli\", \"\"()");
    assert!(found[0].contains("cli"), "{found:?}");
}

#[test]
fn recursion_and_allocation_have_limits_that_are_told() {
    let text = format!(
        "define void @down(i32 %n) {{\n  %v = load i32, ptr @x\n  %c = icmp eq i32 %v, 1\n  br i1 %c, label %end, label %more\nmore:\n  %m = add i32 %n, 1\n  call void @down(i32 %m)\n  br label %end\nend:\n  ret void\n}}\n{}",
        two("  store i32 1, ptr @x", "  call void @down(i32 0)", "")
    );
    assert_eq!(verdict(&text, MemoryModel::SC), Verdict::Unknown);
}
