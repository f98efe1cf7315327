byte turn;
active proctype P() provided (turn == 1) { skip }
