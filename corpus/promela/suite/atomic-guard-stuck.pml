/* After the guard nobody takes the message: that is waiting for ever, and no run without end. */
byte x = 1;
chan d = [0] of { byte };
ltl f { <> (x == 2) }
active proctype P() { x = 2 }
active proctype Q() { atomic { if :: x == 1 -> d ! 1; skip fi } }
