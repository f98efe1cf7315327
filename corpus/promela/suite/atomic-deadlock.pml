byte x, y;
active proctype P() { atomic { x = 1; y == 1 } }
active proctype Q() { x == 1 }
