/* In the middle of `atomic` a formula sees nothing, unless the process has to wait there. */
byte x, y;
ltl unseen { [] (x == y) }
ltl seen { <> (x == 2) }
ltl waits { [] !(x == 3) }
active proctype P() { atomic { x = 1; y = 1 } atomic { x = 2; x = y } atomic { x = 3; y == 2; x = 4 } }
active proctype Q() { skip }
