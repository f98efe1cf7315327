byte x
byte y
active proctype P()
{
  x = 1
  y = x + 1
  if
  :: x == 1 ->
    y = 3
    x = 2
  :: else
    -> x = 5
  fi
  do
  :: x < 4
    -> x++
  :: else ->
    break
  od
  assert(x == 4 && y == 3)
}
