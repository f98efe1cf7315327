/* Each statement of `init` is a step that a formula can see. */
byte x, y;
ltl first { (y == 0) U (x == 1) }
ltl both { [] (x == y) }
ltl two { <> (x == 1 && y == 0) }
ltl order { (x == 1 && y == 1) V (x == y || x == 1) }
ltl never_zero { [] (x == 0 -> y == 0) }
proctype P() { x = 0; y = 0 }
init { x = 1; y = 1; run P() }
