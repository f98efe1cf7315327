/* Peterson's mutual exclusion for two processes, as it stands in many tutorials. */
// expect: sc assertions holds
// expect: sc no deadlock holds
// expect: tso assertions violated
// expect: tso no deadlock holds

bool turn, flag[2];     /* who waits, who wants to enter */
byte ncrit;             /* how many are in the critical section */

active [2] proctype user()
{
    assert(_pid == 0 || _pid == 1);
again:
    flag[_pid] = 1;
    turn = _pid;
    (flag[1 - _pid] == 0 || turn == 1 - _pid);

    ncrit++;
    assert(ncrit == 1); /* critical section */
    ncrit--;

    flag[_pid] = 0;
    goto again
}
