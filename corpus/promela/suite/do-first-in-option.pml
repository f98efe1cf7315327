byte x;
active proctype P() { if :: do :: x < 2 -> x++ :: x == 2 -> break od :: x == 9 -> skip fi; assert(x == 2) }
