byte r;
active proctype P() { byte i; do :: i < 3 -> i++ :: i == 3 -> break od; r = 1; r == 2 }
active proctype Q() { timeout -> assert(r == 1); r = 2 }
