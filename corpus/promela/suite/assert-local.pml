active proctype P() { byte i; i = 3; assert(i == 3) }
