mtype = { red, green, blue };
mtype c = red;
active proctype P() { c = green; if :: c == green -> c = blue :: c == red -> assert(false) fi; assert(c == blue) }
