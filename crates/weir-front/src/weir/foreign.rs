//! Words of other languages, and what they are called in this one.

/// What to write instead of a word that another language has.
pub fn instead(word: &str) -> Option<&'static str> {
    Some(match word {
        "skip" | "pass" | "noop" => "a statement that does nothing is `nop`",
        "do" | "repeat" | "forever" => {
            "a loop is `loop { … }` or `while … { … }`; a choice is `choose { … } or { … }`"
        }
        "for" | "foreach" => "a loop that counts is `for i in 0..3 { … }`",
        "od" | "fi" | "then" | "begin" | "done" => "blocks are written `{ … }`",
        "elif" | "elsif" | "elseif" => "write `else if`",
        "switch" | "case" | "match" => "write `if … { … } else if … { … }`",
        "print" | "printf" | "println" | "echo" => {
            "nothing is printed: a run shows every step, and `observe` says which values \
             `weir outcomes` shows"
        }
        "thread" | "proctype" | "task" | "spawn" | "run" => {
            "a process is declared as in `process p { … }`, and all of them start at once"
        }
        "int" | "unsigned" | "long" | "short" | "char" | "byte" | "bit" | "boolean" | "uint"
        | "let" | "auto" | "local" | "integer" => {
            "a shared variable is `var x`, a local one is `reg r`; values are numbers, and a \
             domain is written behind the name, as in `reg r: 0..3`"
        }
        "volatile" | "atomic_int" | "shared" | "global" | "static" => {
            "a shared variable is declared as in `var x`"
        }
        "struct" | "typedef" | "class" | "type" => {
            "fields belong together in a record: `record Node { next, value }`"
        }
        "function" | "fn" | "def" | "func" | "void" | "inline" | "proc" | "macro" => {
            "code that is used again is a procedure: `procedure enter(i) { … }`"
        }
        "wait" | "when" | "block" => "waiting is `await …`",
        "mfence" | "sync" | "barrier" | "dmb" | "smp_mb" => "a fence is `fence`",
        "sfence" | "smp_wmb" => "a fence for writes is `wfence`",
        "lfence" | "smp_rmb" => "a fence for reads is `rfence`",
        "null" | "NULL" | "nullptr" | "nil" | "None" => "there are only numbers; 0 will do",
        "invariant" | "ensure" => "a formula for all states is `always …`",
        "halt" | "stop" => "a process ends with `exit`",
        _ => return None,
    })
}
