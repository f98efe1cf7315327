chan f = [1] of {byte, byte}; chan g = [1] of {byte};
proctype e(chan a, b) { byte x; do :: a?1 :: b?2(x) -> break od }
init { atomic { run e(g, f);  run e(g, f); g!1  } }
