byte x;
active proctype P() { x = 1; { x = 2; }; atomic { x = 3; }; if :: true -> x = 4; fi; assert(x == 4); }
