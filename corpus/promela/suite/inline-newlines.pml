byte x;
inline f()
{
  x++
  x++
}
active proctype P()
{
  f()
  f()
  assert(x == 4)
}
