byte x, y;
active proctype P() { do :: atomic { x < 2 -> x++; y++ } :: x == 2 -> break od }
active proctype Q() { assert(x == y) }
