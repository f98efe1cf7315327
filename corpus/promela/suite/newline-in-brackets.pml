byte x, y;
active proctype P() {
  x = (1
    + 2)
  (x == 3
    && y == 0)
  assert(x == 3)
}
