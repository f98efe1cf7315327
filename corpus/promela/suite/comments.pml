/* a comment // here */ byte x; // another /* one
active proctype P() { x = 1 /* ; x = 2 */; assert(x == 1) }
