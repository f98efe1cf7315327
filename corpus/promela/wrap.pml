/* What does not fit is cut off, as Spin does it, and arithmetic is C's. */
// expect: sc assertions holds
// expect: sc no deadlock holds
// expect: tso assertions holds
// expect: tso no deadlock holds

byte b = 300;
bit one;
bool yes;
short small;
int big = 2147483647;
unsigned three : 3;
mtype = { red, green };
mtype = { blue };
mtype color = blue;
hidden byte scratch;

active proctype P()
{
    byte i;
    int n;
    assert(b == 44);
    b = b - 45;
    assert(b == 255);
    atomic { b++ }
    assert(b == 0);
    one = 2;
    assert(one == 0);
    yes = 3;
    assert(yes == true);
    small = 32767;
    small = small + 1;
    assert(small == -32768);
    three = 9;
    assert(three == 1);
    n = big + big;
    assert(n == -2);
    n = -7;
    assert(n % 4 == -3 && n / 2 == -3 && ~n == 6 && n >> 1 == -4);
    assert(red == 2 && green == 1 && color == 3);
    color = (b == 0 -> red : green);
    assert(color == red);
    scratch = 5 ^ 3 | 8 & 12;
    assert(scratch == 14 && (1 << 4) == 16 && !(scratch != 14));
    i = 250;
    do
    :: i++; if :: i == 3 -> break :: else fi
    od;
    assert(i == 3)
}
