/* A process may stay at an `end` label before a guard that begins with something local. */
byte a[2];
active proctype P() { byte i; end: atomic { i < 1 && a[i + 1] == 1 -> a[i] = 1 } }
