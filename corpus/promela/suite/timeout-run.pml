byte x;
proctype H(byte v) { x = v }
init { run H(3); timeout; assert(x == 3) }
