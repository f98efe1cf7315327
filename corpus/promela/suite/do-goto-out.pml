byte i;
active proctype P() { do :: i < 5 -> i++; if :: i == 3 -> goto out :: else fi :: else -> break od; assert(false); out: assert(i == 3) }
