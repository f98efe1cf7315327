/* A ticket lock: a number is drawn in one atomic read-write. Two bits are enough for
   the numbers, which begin again after 3. */
// expect: sc no deadlock holds
// expect: sc mutex holds
// expect: tso no deadlock holds
// expect: tso mutex holds

unsigned next : 2;
unsigned serving : 2;

active [3] proctype P()
{
    unsigned ticket : 2;
again:
    skip;
    d_step { ticket = next; next++ }
    serving == ticket;
cs: printf("%d has ticket %d\n", _pid, ticket);
    serving = ticket + 1;
    goto again
}

// weir: mutex: never count(P@cs) >= 2
