byte i, j;
active proctype P() { do :: i < 2 -> j = 0; do :: j < 2 -> j++ :: else -> break od; i++ :: else -> break od; assert(i == 2 && j == 2) }
