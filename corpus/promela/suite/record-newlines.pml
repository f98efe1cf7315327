typedef T {
  byte a
  bool f
}
T t
active proctype P()
{
  t.a = 1
  t.f = true
  assert(t.a == 1 && t.f)
}
