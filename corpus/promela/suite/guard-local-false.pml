active proctype P() { byte i; i == 1 }
