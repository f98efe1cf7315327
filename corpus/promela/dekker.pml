/* Dekker's mutual exclusion, with names for whose turn it is. A second process may
   find the lock taken only where reads overtake writes. */
// expect: sc no deadlock holds
// expect: sc mutex holds
// expect: tso no deadlock holds
// expect: tso mutex violated

mtype = { first, second };
mtype turn = first;
bool want[2];

#define mine (_pid == 0 -> first : second)
#define its (_pid == 0 -> second : first)

active [2] proctype P()
{
    do
    :: want[_pid] = true;
       do
       :: want[1 - _pid] ->
          if
          :: turn == its ->
             want[_pid] = false;
             turn == mine;
             want[_pid] = true
          :: else
          fi
       :: else -> break
       od;
cs:    skip;
       turn = its;
       want[_pid] = false
    od
}

/* weir: mutex: never P[0]@cs and P[1]@cs */
