byte x;
active proctype P() { if :: L: x < 3 -> x++; goto L :: x > 5 -> skip fi; skip }
