/* Nobody is fair: a process that could go on need not. */
byte x, y;
ltl unfair { <> (x == 1) }
ltl either { <> (x == 1 || y == 1) }
ltl implied { (<> (x == 1)) -> (<> [] (x == 1)) }
active proctype P() { x = 1 }
active proctype Q() { do :: y = 1 - y od }
