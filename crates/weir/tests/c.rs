//! What is read of C, feature by feature: each program answers as C would have it.

use weir::{MemoryModel, Verdict};

use crate::read;

fn verdict(text: &str, model: MemoryModel) -> Verdict {
    read::verdict("test.c", text, model)
}

fn errors(text: &str) -> Vec<String> {
    read::errors("test.c", text)
}

/// Programs of one thread in which nothing fails.
const RIGHT: &[(&str, &str)] = &[
    (
        "wrapping",
        "unsigned char c = 255; c++; assert(c == 0); unsigned u = 0; u--; assert(u == 4294967295u);",
    ),
    (
        "signs",
        "assert(-7 / 2 == -3); assert(-7 % 2 == -1); assert((unsigned)-1 > 0); assert(-1 < 0u == 0);",
    ),
    (
        "conversions",
        "int x = (signed char)200; assert(x == -56); long l = 1l << 40; assert((int)l == 0); _Bool b = 256; assert(b == 1);",
    ),
    (
        "bits",
        "assert((~0 & 0xff) == 255); assert((5 ^ 3) == 6); assert((1u << 31) >> 31 == 1); assert(~0u == 4294967295u);",
    ),
    (
        "shifts",
        "uint64_t w = ((uint64_t)3 << 32) | 7; assert(w >> 32 == 3); assert((uint32_t)w == 7);",
    ),
    (
        "variables of branches",
        "int n = n_global, r; if (n > 5) { int a = n + 1; r = a; } else { int b = n + 2; int c = b; \
         r = c; } assert(r == 2);",
    ),
    (
        "64 bits",
        "uint64_t h = 0xcbf29ce484222325ull; h *= 0x9e3779b97f4a7c15ull; \
         assert(h == 0xf8bb92c9e384ce09ull); uint64_t s = ~0ull << 63; assert(s == 1ull << 63); \
         uint64_t n = n_global + 0xffffffffffffffffull; n *= n; assert(n == 1);",
    ),
    (
        "steps",
        "int i = 3; assert(i++ == 3); assert(i == 4); assert(--i == 3); i += 2; i *= 3; i -= 1; i /= 2; i %= 4; assert(i == 3);",
    ),
    (
        "choice",
        "int i = 5; int j = i > 3 ? 1 : 2; assert(j == 1); int k = (i = 2, i + 1); assert(k == 3);",
    ),
    (
        "logic",
        "int i = 0; if (i && ++i) {} assert(i == 0); if (1 || ++i) {} assert(i == 0); assert(!!5 == 1);",
    ),
    (
        "for",
        "int sum = 0; for (int i = 0; i < 10; i++) { if (i == 5) continue; if (i == 8) break; sum += i; } assert(sum == 23);",
    ),
    ("while", "int n = 4, f = 1; while (n) f *= n--; assert(f == 24);"),
    ("do", "int n = 0; do { n += 2; } while (n < 5); assert(n == 6);"),
    (
        "switch",
        "int r = 0; switch (2 + 1) { case 1: r = 1; break; case 3: r = 3; case 4: r += 1; break; default: r = 9; } assert(r == 4);",
    ),
    ("goto", "int n = 0; again: n++; if (n < 3) goto again; assert(n == 3);"),
    ("forward goto", "int n = 1; if (n) goto out; n = 7; out: assert(n == 1);"),
    (
        "arrays",
        "int a[3] = {1, 2}; assert(a[0] + a[1] + a[2] == 3); int *p = a; p++; assert(*p == 2); assert(p - a == 1); p[1] = 5; assert(a[2] == 5);",
    ),
    (
        "two dimensions",
        "int a[2][3] = {{1, 2, 3}, {4, 5, 6}}; assert(a[1][2] == 6); a[0][1] = a[1][0]; assert(a[0][1] == 4);",
    ),
    (
        "designators",
        "int a[4] = {[2] = 7, 8}; assert(a[2] == 7 && a[3] == 8 && a[0] == 0); int r[3] = {[0 ... 2] = 5}; assert(r[1] == 5);",
    ),
    (
        "structs",
        "struct s { int a; struct { int b, c; } in; } x = {1, {2, 3}}, y; y = x; y.in.c = 9; assert(x.in.c == 3 && y.in.c == 9 && y.a == 1);",
    ),
    (
        "pointers",
        "int a = 1, b = 2; int *p = &a; *p = 5; p = &b; *p += 1; assert(a == 5 && b == 3); int **q = &p; **q = 8; assert(b == 8);",
    ),
    (
        "struct pointers",
        "struct n { int v; struct n *next; } a = {1, 0}, b = {2, &a}; struct n *p = &b; assert(p->next->v == 1); p = p->next; assert(p->next == NULL);",
    ),
    (
        "functions",
        "assert(twice(4) == 8); int out = 0; assert(tries(3, &out) && out == 3); assert(!tries(0, &out)); assert(deep(2) == 5);",
    ),
    (
        "function pointers",
        "int (*f)(int) = twice; assert(f(2) == 4); f = &deep; assert(f(0) == 3);",
    ),
    ("statics", "assert(count() == 1); assert(count() == 2);"),
    ("enums", "enum e { A, B = 5, C }; assert(C == 6); enum e x = B; assert(x == 5);"),
    (
        "sizes",
        "assert(sizeof(int) == 4); struct s { char c; long l; }; assert(sizeof(struct s) == 16); int a[3]; assert(sizeof a / sizeof a[0] == 3);",
    ),
    ("characters", "assert('a' == 97); assert('\\n' == 10); char c = 'z'; assert(c - 'a' == 25);"),
    (
        "heap",
        "struct n { int v; } *p = malloc(sizeof *p); p->v = 3; struct n *q = malloc(sizeof(struct n)); q->v = 4; assert(p != q && p->v == 3); free(p); free(q); free(NULL);",
    ),
    ("calloc", "int *a = calloc(3, sizeof(int)); a[2] = 1; assert(a[0] + a[1] + a[2] == 1);"),
    (
        "atomics",
        "atomic_int x = 3; assert(x++ == 3); x += 2; assert(x == 6); assert(atomic_fetch_sub(&x, 1) == 6); assert(atomic_exchange(&x, 9) == 5); int e = 1; assert(!atomic_compare_exchange_strong(&x, &e, 2)); assert(e == 9); assert(atomic_compare_exchange_weak(&x, &e, 2) && x == 2);",
    ),
    (
        "atomics wrap",
        "_Atomic signed char c = 127; atomic_fetch_add(&c, 1); assert(c == -128); atomic_uint u = 0; u--; assert(u == 4294967295u);",
    ),
    (
        "bits of atomics",
        "atomic_int x = 12; assert(atomic_fetch_or(&x, 3) == 12); assert(atomic_fetch_and(&x, 6) == 15); assert(atomic_fetch_xor(&x, 5) == 6); assert(x == 3);",
    ),
    (
        "builtins",
        "int x = 0; __atomic_store_n(&x, 4, __ATOMIC_RELEASE); assert(__atomic_load_n(&x, __ATOMIC_ACQUIRE) == 4); assert(__sync_fetch_and_add(&x, 1) == 4); assert(__sync_bool_compare_and_swap(&x, 5, 6)); assert(__sync_val_compare_and_swap(&x, 6, 7) == 6); __sync_synchronize();",
    ),
    (
        "flags",
        "atomic_flag f = ATOMIC_FLAG_INIT; assert(!atomic_flag_test_and_set(&f)); assert(atomic_flag_test_and_set(&f)); atomic_flag_clear(&f);",
    ),
    (
        "compound literals",
        "struct s { int a, b; }; struct s x = (struct s){.b = 4}; assert(x.a == 0 && x.b == 4);",
    ),
    ("statement expressions", "int x = ({ int t = 3; t + 1; }); assert(x == 4);"),
    (
        "macros",
        "assert(MAX(3, 7) == 7); assert(GLUE(twi, ce)(3) == 6); LOOP(i, 3) n_global++; assert(n_global == 3);",
    ),
    (
        "assembly",
        "asm volatile(\"\" ::: \"memory\"); __asm__ __volatile__(\"mfence\" ::: \"memory\");",
    ),
    ("ignored", "printf(\"%d\\n\", 3); (void)0; if (__builtin_expect(1, 1)) sched_yield();"),
];

/// The same, in which an assertion fails, or something that C forbids happens.
const WRONG: &[(&str, &str)] = &[
    ("assertion", "assert(0);"),
    ("overflow", "int x = 2147483647; x++;"),
    ("division", "int zero = 0; int x = 1 / zero; assert(x == x);"),
    ("null", "int *p = NULL; *p = 1;"),
    ("bounds", "int a[2]; int i = 2; a[i] = 1;"),
    ("use after free", "int *p = malloc(sizeof(int)); free(p); *p = 1;"),
    ("double free", "int *p = malloc(sizeof(int)); free(p); free(p);"),
    ("abort", "abort();"),
    ("reach_error", "reach_error();"),
];

const HEAD: &str = "
void reach_error(void);
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define GLUE(a, b) a##b
#define LOOP(i, n) for (int i = 0; i < n; \\
                        i++)
int n_global;
static int twice(int x) { return x * 2; }
int deep(int x) { if (x > 1) return twice(x) + 1; return x + 3; }
int tries(int x, int *out) { if (!x) return 0; *out = x; return 1; }
int count(void) { static int n; return ++n; }
";

fn program(body: &str) -> String {
    read::c(&format!("{HEAD}\nint main(void) {{\n{body}\nreturn 0;\n}}\n"))
}

#[test]
fn programs_of_one_thread_do_what_c_says() {
    for (name, body) in RIGHT {
        assert_eq!(verdict(&program(body), MemoryModel::SC), Verdict::Holds, "{name}: {body}");
    }
    for (name, body) in WRONG {
        assert_eq!(verdict(&program(body), MemoryModel::SC), Verdict::Violated, "{name}: {body}");
    }
}

#[test]
fn the_same_happens_where_nothing_is_known_before() {
    // In a thread, with a variable that another thread writes, so that nothing is computed.
    for (expected, list) in [(Verdict::Holds, RIGHT), (Verdict::Violated, WRONG)] {
        for (name, body) in list {
            // Assembly of fences is the same.
            let text = format!(
                "{HEAD}\natomic_int other;\n\
                 void *work(void *arg) {{ if (atomic_load(&other) > 5) return NULL;\n{body}\n\
                 return NULL; }}\n\
                 void *writer(void *arg) {{ atomic_store(&other, 1); return NULL; }}\n\
                 int main(void) {{ pthread_t a, b; pthread_create(&a, NULL, work, NULL); \
                 pthread_create(&b, NULL, writer, NULL); pthread_join(a, NULL); \
                 pthread_join(b, NULL); }}\n"
            );
            assert_eq!(verdict(&read::c(&text), MemoryModel::SC), expected, "{name}: {body}");
        }
    }
}

#[test]
fn threads_do_what_c_says() {
    let cases: &[(&str, Verdict, &str)] = &[
        (
            "arguments by elements",
            Verdict::Holds,
            "int id[3]; int seen[3]; void *w(void *a) { int me = *(int *)a; seen[me] = me + 1; return a; }\n\
          int main() { pthread_t t[3]; for (int i = 0; i < 3; i++) { id[i] = i; if (pthread_create(&t[i], 0, w, &id[i])) abort(); }\n\
          for (int i = 0; i < 3; i++) pthread_join(t[i], 0); for (int i = 0; i < 3; i++) assert(seen[i] == i + 1); }",
        ),
        (
            "arguments by numbers",
            Verdict::Violated,
            "int sum; void *w(void *a) { sum += (int)(intptr_t)a; return 0; }\n\
          int main() { pthread_t t[2]; for (long i = 1; i <= 2; i++) pthread_create(t + i - 1, 0, w, (void *)i);\n\
          pthread_join(t[0], 0); pthread_join(t[1], 0); assert(sum == 3); }",
        ),
        (
            "mutex",
            Verdict::Holds,
            "int sum; pthread_mutex_t m; void *w(void *a) { pthread_mutex_lock(&m); sum++; pthread_mutex_unlock(&m); return 0; }\n\
          int main() { pthread_t t[2]; for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, w, 0);\n\
          for (int i = 0; i < 2; i++) pthread_join(t[i], 0); assert(sum == 2); }",
        ),
        (
            "deadlock",
            Verdict::Violated,
            "pthread_mutex_t m, n; void *a(void *x) { pthread_mutex_lock(&m); pthread_mutex_lock(&n); return 0; }\n\
          void *b(void *x) { pthread_mutex_lock(&n); pthread_mutex_lock(&m); return 0; }\n\
          int main() { pthread_t t, u; pthread_create(&t, 0, a, 0); pthread_create(&u, 0, b, 0); }",
        ),
        (
            "the first thread takes part",
            Verdict::Violated,
            "atomic_int x; void *w(void *a) { x = 1; return 0; }\n\
          int main() { pthread_t t; pthread_create(&t, 0, w, 0); assert(x == 0); }",
        ),
        (
            "what is written before is seen",
            Verdict::Holds,
            "int x, y; void *w(void *a) { assert(x == 1); return 0; } void *v(void *a) { assert(y == 2); return 0; }\n\
          int main() { pthread_t t, u; x = 1; pthread_create(&t, 0, w, 0); y = 2; pthread_create(&u, 0, v, 0); }",
        ),
        (
            "joined in the middle",
            Verdict::Holds,
            "int x; void *w(void *a) { x++; return 0; }\n\
          int main() { pthread_t t; pthread_create(&t, 0, w, 0); pthread_join(t, 0); assert(x == 1);\n\
          pthread_create(&t, 0, w, 0); pthread_join(t, 0); assert(x == 2); }",
        ),
        (
            "locals of the first thread",
            Verdict::Holds,
            "void *w(void *a) { *(int *)a = 4; return 0; }\n\
          int main() { int x = 0; pthread_t t; pthread_create(&t, 0, w, &x); pthread_join(t, 0); assert(x == 4); }",
        ),
        (
            "variables of threads",
            Verdict::Holds,
            "__thread int mine; void *w(void *a) { mine += 1; assert(mine == 1); return 0; }\n\
          int main() { pthread_t t, u; mine = 7; pthread_create(&t, 0, w, 0); pthread_create(&u, 0, w, 0); assert(mine == 7); }",
        ),
        (
            "assume",
            Verdict::Holds,
            "atomic_int x; void *w(void *a) { x = 1; return 0; }\n\
          int main() { pthread_t t; pthread_create(&t, 0, w, 0); __VERIFIER_assume(x == 1); assert(x == 1); }",
        ),
        (
            "a choice",
            Verdict::Violated,
            "int main() { int a = __VERIFIER_nondet_bool(), b = __VERIFIER_nondet_bool(); assert(a + b != 2); }",
        ),
        (
            "barrier",
            Verdict::Holds,
            "pthread_barrier_t b; int x[2]; void *w(void *a) { long me = (long)a; x[me] = 1; pthread_barrier_wait(&b); assert(x[1 - me] == 1); return 0; }\n\
          int main() { pthread_t t, u; pthread_barrier_init(&b, 0, 2); pthread_create(&t, 0, w, (void *)0); pthread_create(&u, 0, w, (void *)1); }",
        ),
        (
            "allocation in a loop",
            Verdict::Holds,
            "struct n { int v; struct n *next; }; _Atomic(struct n *) top; void *w(void *a) { for (int i = 1; i < 3; i++) { struct n *n = malloc(sizeof *n); n->v = i; n->next = top; top = n; } return 0; }\n\
          int main() { pthread_t t; pthread_create(&t, 0, w, 0); pthread_join(t, 0); struct n *n = top; assert(n->v == 2 && n->next->v == 1 && n->next->next == NULL); }",
        ),
        (
            "a thread that ends early",
            Verdict::Holds,
            "int x; void *w(void *a) { x = 1; if (x) pthread_exit(NULL); x = 2; return 0; }\n\
          int main() { pthread_t t; pthread_create(&t, 0, w, 0); pthread_join(t, 0); assert(x == 1); }",
        ),
        (
            "C11 threads",
            Verdict::Holds,
            "mtx_t m; int x; int w(void *a) { mtx_lock(&m); x++; mtx_unlock(&m); return 0; }\n\
          int main() { thrd_t t, u; mtx_init(&m, mtx_plain); thrd_create(&t, w, 0); thrd_create(&u, w, 0); thrd_join(t, 0); thrd_join(u, 0); assert(x == 2); }",
        ),
        (
            "a helper starts threads",
            Verdict::Violated,
            "int x; void *w(void *a) { x++; return 0; } void start(pthread_t *t) { pthread_create(t, 0, w, 0); }\n\
          int main() { pthread_t t, u; start(&t); start(&u); pthread_join(t, 0); pthread_join(u, 0); assert(x == 2); }",
        ),
    ];
    for (name, expected, text) in cases {
        let text = read::c(text);
        assert_eq!(verdict(&text, MemoryModel::SC), *expected, "{name}\n{text}");
    }
}

#[test]
fn what_is_not_read_is_one_error_that_says_so() {
    for (text, message) in [
        ("int main() { float f = 1; }", "a floating-point number is not read"),
        ("int main() { foo(); }", "the function `foo` is not read"),
        ("int f(int x) { return f(x - 1); } int main() { f(3); }", "`f` calls itself, by `f`"),
        ("int main() { int x = y; }", "there is no variable `y`"),
        ("int main() { int x = ; }", "`;` is not expected here"),
        ("int x; ", "there is no function `main`"),
        ("#include \"nothing.h\"\nint main() {}", "the file `nothing.h` is not found"),
        ("union u { int a; char b; } x; int main() {}", "a union is not read"),
        ("#if 1\nint main() {}", "this `#if` has no `#endif`"),
        ("#error no\nint main() {}", "`#error no`"),
        ("int main() { struct s { int a; } x; x.b = 1; }", "there is no field `b`"),
        (
            "int main() { int n = __VERIFIER_nondet_bool(); int a[n]; }",
            "an array whose length is not a constant is not read",
        ),
    ] {
        let found = errors(text);
        assert_eq!(found, [message], "{text}");
    }
}

#[test]
fn hostile_texts_end_in_errors() {
    let deep = format!("int main() {{ return {}1{}; }}", "(".repeat(5000), ")".repeat(5000));
    let nested = format!("int main() {{ {} {} }}", "if (1) {".repeat(5000), "}".repeat(5000));
    let bomb: String = "#define A0 x x\n".to_owned()
        + &(1..40).map(|i| format!("#define A{i} A{0} A{0}\n", i - 1)).collect::<String>()
        + "int main() { A39 }";
    let minus = format!("int main() {{ return {}1; }}", "- ".repeat(20_000));
    let sum = format!("int main() {{ int x = 1; return {}1; }}", "x + ".repeat(20_000));
    for text in [&deep, &nested, &bomb, &minus, &sum, &"\u{0}".to_owned()] {
        let start = text.chars().take(60).collect::<String>();
        assert!(!errors(text).is_empty(), "{start}");
    }
}
