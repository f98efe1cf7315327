/* Both write, then read what the other one writes. Both read 0 on TSO, and never on
   SC or with a fence. What is asked is about final states. */
// expect: sc no deadlock holds
// expect: sc relaxed violated
// expect: tso no deadlock holds
// expect: tso relaxed holds

short x, y;

active proctype left()  { short r = -1; x = 1; r = y }
active proctype right() { short r = -1; y = 1; r = x }

// weir: relaxed: final exists left.r == 0 and right.r == 0
// weir: observe left.r, right.r
