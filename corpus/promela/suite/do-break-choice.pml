byte i;
active proctype P() { do :: i < 3 -> i++ :: break od; assert(i < 3) }
