/* A process may stay at an `end` label in the middle of `atomic`. */
byte x, y;
active proctype P() { atomic { x = 1; end: y == 1 } }
active proctype Q() { x == 1 }
