byte n;
proctype P(byte i) { assert(i < 3); n++ }
init { byte i; atomic { do :: i < 3 -> run P(i); i++ :: else -> break od } }
