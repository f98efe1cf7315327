chan a = [1] of { byte }; chan b = [1] of { byte };
proctype Copy(chan from; chan to) { byte x; from ? x; to ! x }
init { byte y; atomic { run Copy(a, b) } a ! 9; b ? y; assert(y == 9) }
