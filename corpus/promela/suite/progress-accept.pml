byte x;
active proctype P() { progress: x = 1; accept: x = 2 }
