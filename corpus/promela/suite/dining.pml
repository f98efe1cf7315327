bit f[3];
active [3] proctype Phil() { byte r = (_pid + 1) % 3; atomic { f[_pid] == 0 -> f[_pid] = 1 } atomic { f[r] == 0 -> f[r] = 1 } f[r] = 0; f[_pid] = 0 }
