chan c = [2] of { byte };
active proctype P() { byte i; do :: i < 3 -> c ! i; i++ :: else -> break od }
active proctype Q() { byte i, x; do :: i < 3 -> c ? x; assert(x == i); i++ :: else -> break od }
