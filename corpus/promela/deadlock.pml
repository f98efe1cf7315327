/* Two locks, taken in opposite order. */
// expect: sc assertions holds
// expect: sc no deadlock violated
// expect: tso assertions holds
// expect: tso no deadlock violated

bit lock[2];

#define take(l) atomic { lock[l] == 0 -> lock[l] = 1 }

active [2] proctype P()
{
    bit i = _pid;
    take(i);
    take(1 - i);
    assert(lock[i] == 1);
    lock[i] = 0;
    lock[1 - i] = 0
}
