byte turn;
active proctype P() provided (turn == 0) { skip; turn = 1 }
active proctype Q() provided (turn == 1) { assert(turn == 1); turn = 0 }
