byte c;
active proctype P() { do :: c < 2 -> byte d; assert(d == 0); d++; c++ :: else -> break od }
