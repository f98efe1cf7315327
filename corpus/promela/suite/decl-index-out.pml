byte a[2]; byte i = 2;
active proctype P() { a[i] = 1 }
