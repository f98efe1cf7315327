byte x;
active proctype P() { do :: x == 1 -> x = 2 :: x == 3 -> break od }
active proctype Q() { x = 1; x == 2; x = 3 }
