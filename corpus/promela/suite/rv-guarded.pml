chan c = [0] of { byte };
byte x;
active proctype P() { do :: c ! 1 :: x == 1 -> break od }
active proctype Q() { byte y; c ? y; c ? y; x = 1 }
