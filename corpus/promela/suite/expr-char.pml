byte x = 'a';
active proctype P() { assert(x == 97); x = '\n'; assert(x == 10) }
