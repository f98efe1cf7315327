byte x, y;
active proctype P() { do :: x == 1 -> x = 0; y++ :: timeout -> break od; assert(y == 1) }
active proctype Q() { x = 1 }
