chan c = [1] of { byte };
byte z;
active proctype P() { byte v; { z = 1; z = 2; z = 3 } unless { c ? v -> assert(z < 3) } }
active proctype Q() { c ! 1 }
