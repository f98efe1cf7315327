byte b = 255; short s = 32767; bit f = 1; unsigned u : 3 = 7;
active proctype P() { b++; assert(b == 0); s++; assert(s == -32768); f++; assert(f == 0); u++; assert(u == 0); b = b - 1; assert(b == 255) }
