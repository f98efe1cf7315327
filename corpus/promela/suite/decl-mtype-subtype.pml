mtype:fruit = { apple, pear };
mtype:fruit f = apple;
active proctype P() { f = pear; assert(f == pear) }
