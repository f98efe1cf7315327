byte x;
active proctype P() {
 do
 :: x = 1 - x
 :: x = 1 - x; progress: skip
 od
}
