/* Choices: several options may be enabled, some begin with other selections, blocks or
   assignments, one has a label that is jumped to. Every value that the assertion leaves
   open is reached. */
// expect: sc assertions holds
// expect: sc no deadlock holds
// expect: sc low violated
// expect: sc high violated
// expect: tso assertions holds
// expect: tso no deadlock holds
// expect: tso low violated
// expect: tso high violated

byte x = 1;
int result = -1;

active proctype chooser()
{
    byte r, a[3];
    short s = 300;
    select (r : 0 .. 2);
    a[r] = 5;
    if
    :: x == 1 -> r = 1
    :: x != 7 -> r = 2
    :: if
       :: x == 0 -> r = 3
       :: else -> r = 4
       fi
    :: r = 5
    :: { x > 0; r = 6 }
    :: goto late
    fi;
    if
    :: r >= 5 -> skip;
late:
       r = 7
    :: r < 5 -> r = 0
    :: a[0] + a[1] + a[2] != 5 -> assert(false)
    fi;
    do
    :: s > 298 -> s--
    :: s == 298 && r <= 7 -> break
    od;
    if
    :: true -> result = r
    :: false -> assert(false)
    fi;
    assert(result == 0 || result >= 5 && result <= 7)
}

active proctype changer()
{
    if
    :: x = 0
    :: x = 7
    fi
}

// weir: low: never result == 0
// weir: high: never result == 7
