mtype = { m0, m1, a0, a1 };
chan s = [1] of { mtype }; chan r = [1] of { mtype };
active proctype S() { byte k; do :: k < 2 -> s ! m0; r ? a0; s ! m1; r ? a1; k++ :: else -> break od }
active proctype R() { end: do :: s ? m0 -> r ! a0 :: s ? m1 -> r ! a1 od }
