byte i;
active proctype P() { do :: i < 5 -> i++ :: else -> break od; assert(i == 5) }
