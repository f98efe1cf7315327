byte i, s, seen;
active proctype P() { atomic { do :: i < 3 -> i++; s++ :: else -> break od } }
active proctype Q() { assert(i == s); seen = 1 }
