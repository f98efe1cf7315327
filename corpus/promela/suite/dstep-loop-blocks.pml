byte x, y;
active proctype P() { d_step { do :: x == 1 -> y = 1; x = 2 :: y == 5 -> break od } }
active proctype Q() { x = 1 }
