byte x;
active proctype P() {
  if
  :: x > 0
     skip
  :: else
     x = 1
  fi
  assert(x == 1)
}
