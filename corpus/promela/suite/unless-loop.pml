byte x, n;
active proctype P() { do :: n < 3 -> n++ :: else -> break od unless { x == 1 }; assert(n <= 3) }
active proctype Q() { x = 1 }
