//! Programs of which something is proved, for tests that tamper with the proof.

use weir_model::system::System;

/// Peterson's lock with the fences that NSW needs.
pub const FENCED: &str = "
    var flag[2]: bool
    var turn: 0..1
    process p[i: 0..1] {
        loop {
            flag[i] = true
            wfence
            turn = 1 - i
            fence
            await not flag[1 - i] or turn == i
            rfence
        critical:
            nop
            flag[i] = false
        }
    }
    mutex: never p[0]@critical and p[1]@critical
";

/// A message that is handed over again and again.
pub const HANDOVER: &str = "
    var data: 0..2
    var flag: bool
    process writer {
        loop {
            data = 1
            data = 2
            wfence
            flag = true
            await not flag
        }
    }
    process reader {
        reg r
        loop {
            await flag
            rfence
            r = data
        seen:
            nop
            flag = false
        }
    }
    whole: never reader@seen and reader.r != 2
";

/// Past 128 bits it is not known how this goes on.
pub const DOUBLING: &str = "
    var x = 1
    process p {
        loop {
            x = x * 2
            fence
        }
    }
    never x == 3
";

pub fn system(text: &str) -> System {
    System::new(weir_front::read("test.weir", text, None).unwrap().0).unwrap()
}
