/* A process is at one of its labels at any time: nobody sees it between two statements. */
byte x, y;
active proctype P() {
  byte n;
A: n = x;
B: if :: x == 0 -> C: y = 1 :: x < 2 -> D: y = 2 fi;
E: do :: n < 2 -> F: n++ :: n == 2 -> break od;
G: atomic { n = 1; y = 2; n = x };
H: (n > 3 || y == 7)
}
active proctype Q() { x = 1 }
ltl always_somewhere { [] (P@A || P@B || P@C || P@D || P@E || P@F || P@G || P@H) }
ltl not_all { [] (P@A || P@B || P@C || P@E || P@F || P@G || P@H) }
