chan c = [0] of { byte };
byte n;
active proctype P() { byte i; do :: i < 3 -> c ! i; i++ :: else -> break od }
active proctype Q() { byte x; do :: n < 3 -> c ? x; assert(x == n); n++ :: else -> break od }
