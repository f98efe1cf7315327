active proctype P() { byte a[3]; byte i; do :: i < 3 -> a[i] = i * 2; i++ :: else -> break od; assert(a[2] == 4 && a[0] == 0) }
