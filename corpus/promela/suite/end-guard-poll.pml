/* The same in a loop, before a poll of a channel. */
chan c = [1] of { byte };
active proctype P() { byte n = 1; end: do :: (n > 0) && c ? [5] -> c ? 5 od }
