/* A counting semaphore with two places and three users. `init` sets it up before it
   runs the users, and how many there are is counted. */
// expect: sc assertions holds
// expect: sc no deadlock holds
// expect: tso assertions holds
// expect: tso no deadlock holds

#define USERS 3

unsigned places : 2;
unsigned inside : 2;

inline P(s) { atomic { s > 0 -> s-- } }
inline V(s) { atomic { s++ } }

proctype user(byte number; bool twice)
{
    do
    :: P(places);
       atomic { inside++; assert(inside <= 2) }
       d_step { inside-- }
       V(places);
       if
       :: twice -> twice = false
       :: else -> break
       fi
    od
}

init {
    byte i = 1;
    places = 2;
    atomic {
        do
        :: i <= USERS -> run user(i, i == 1); i++
        :: i > USERS -> break
        od
    }
}
