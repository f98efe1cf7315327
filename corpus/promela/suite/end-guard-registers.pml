/* The same where nothing but local variables decide. */
byte x;
active proctype P() { byte i; byte l[2]; end: i < 1 && l[i + 1] == 1; x = 1 }
