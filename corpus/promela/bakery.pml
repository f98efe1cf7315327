/* Lamport's bakery for two, once each: arrays, loops over ranges, an order on pairs.
   The numbers are plain variables, so it fails where reads overtake writes. */
// expect: sc no deadlock holds
// expect: sc mutex holds
// expect: tso no deadlock holds
// expect: tso mutex violated

#define N 2

bool choosing[N];
byte number[N];

active [N] proctype P()
{
    byte i, most, it;
    choosing[_pid] = true;
    for (i : 0 .. N - 1) {
        it = number[i];
        most = (it > most -> it : most)
    }
    number[_pid] = most + 1;
    choosing[_pid] = false;
    for (i in number) {
        !choosing[i];
        do
        :: it = number[i];
           if
           :: it == 0 || it > most + 1 || (it == most + 1 && i >= _pid) -> break
           :: else
           fi
        od
    }
cs: skip;
    number[_pid] = 0
}

// weir: mutex: never count(P@cs) == N
