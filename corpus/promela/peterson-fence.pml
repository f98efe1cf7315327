/* Peterson's mutual exclusion with the fence that TSO needs. Weir knows the macro
   WEIR, so that the same file can be given to Spin. The question in the comment looks
   at where the processes stand, not at a variable that may lag behind. */
// expect: sc assertions holds
// expect: sc no deadlock holds
// expect: sc mutex holds
// expect: tso assertions holds
// expect: tso no deadlock holds
// expect: tso mutex holds

#ifndef WEIR
#define fence skip
#endif
#define other (1 - me)

bool flag[2];
bit turn;

inline enter(me) {
    flag[me] = true;
    turn = other;
    fence;
    (flag[other] == false || turn == me)
}

inline leave(me) {
    flag[me] = false
}

proctype user(byte me)
{
    do
    :: enter(me);
cs:    assert(me < 2);
       leave(me)
    od
}

init {
    atomic { run user(0); run user(1) }
}

// weir: mutex: never count(user@cs) == 2
