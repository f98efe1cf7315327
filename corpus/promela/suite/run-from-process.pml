byte x;
proctype Q() { x = 2 }
active proctype P() { x = 1; run Q(); x == 2 }
