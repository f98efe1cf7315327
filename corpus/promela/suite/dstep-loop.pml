byte i, s;
active proctype P() { d_step { do :: i < 4 -> i++; s = s + i :: else -> break od; i = 0 } assert(s == 10) }
active proctype Q() { assert(i == 0) }
