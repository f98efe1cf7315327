chan c = [0] of { byte };
byte a[2];
active proctype P() { c ! 5; c ! 6 }
active proctype Q() { byte i; c ? a[i]; i++; c ? a[i]; assert(a[0] == 5 && a[1] == 6) }
