chan b = [2] of { byte };
byte made, used;
active proctype Maker() { do :: made < 4 -> b ! made; made++ :: else -> break od }
active proctype User() { byte x; do :: used < 4 -> b ? x; assert(x == used); used++ :: else -> break od }
