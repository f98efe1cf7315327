byte x;
active proctype P() { printf("a \"quoted\" %d\n", x); x = 1 }
active proctype Q() { printf("}"); assert(x <= 1) }
