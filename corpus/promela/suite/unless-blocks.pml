byte x;
active proctype P() { { x == 5 } unless { x == 6 } }
