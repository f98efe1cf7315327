chan c = [0] of { byte };
byte x;
active proctype P() { if :: c ! 1 -> skip :: x == 1 -> skip fi }
active proctype Q() { byte y; if :: c ? y -> skip :: x = 1 -> skip fi }
