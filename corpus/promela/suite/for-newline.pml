byte i, s;
active proctype P() {
  for (i : 0 .. 2)
  {
    s = s + 1
  }
  assert(s == 3)
}
