chan c = [2] of { byte };
active proctype P() { assert(empty(c)); c ! 1; assert(nempty(c) && nfull(c)); c ! 2; assert(full(c)); assert(len(c) == 2) }
