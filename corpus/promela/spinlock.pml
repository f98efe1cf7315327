/* A lock that is taken with one atomic read-write, tried and then waited for. An
   atomic read-write is a fence, so the plain counter inside is safe on TSO. */
// expect: sc assertions holds
// expect: sc no deadlock holds
// expect: tso assertions holds
// expect: tso no deadlock holds

bit lock;
byte inside;

inline acquire() {
    do
    :: atomic { lock == 0 -> lock = 1; break }
    od
}

active [2] proctype P()
{
    bool got;
    d_step {
        if
        :: lock == 0 -> lock = 1; got = true
        :: else -> got = false
        fi
    }
    if
    :: got
    :: else -> acquire()
    fi;
    inside = inside + 1;
    assert(inside == 1);
    inside = inside - 1;
    lock = 0
}
