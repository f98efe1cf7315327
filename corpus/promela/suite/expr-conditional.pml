byte x; int y;
active proctype P() { x = 3; y = (x > 2 -> 7 : 9); assert(y == 7) }
active proctype Q() { x = 1 }
