/* One process writes a message and then a flag, the other waits for the flag. TSO keeps
   writes in order, PSO needs the fence between them. Written with the operations of
   Linden and Wolper 2010: `load(x, v)` waits until x is v. */
// expect: sc assertions holds
// expect: sc no deadlock holds
// expect: tso assertions holds
// expect: tso no deadlock holds
// expect: pso assertions violated
// expect: pso no deadlock holds

#ifndef WEIR
#define store(x, v) x = v
#define load(x, v) x == v
#define sync skip
#endif

int message;
bool flag;

active proctype writer()
{
    store(message, 42);
#ifdef FENCED
    sync;
#endif
    store(flag, 1)
}

active proctype reader()
{
    load(flag, 1);
    assert(message == 42)
}
