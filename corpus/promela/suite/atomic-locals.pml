byte x, y;
active proctype P() { byte t; atomic { t = x; x = y; y = t } }
active proctype Q() { atomic { x = 3; y = 4 } }
active proctype R() { assert(x + y == 0 || x + y == 7) }
