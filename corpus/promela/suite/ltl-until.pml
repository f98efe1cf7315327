byte x;
ltl u { (x < 2) U (x == 2) }
ltl u_bad { (x < 1) U (x == 2) }
ltl w { (x < 3) W (x == 7) }
ltl w_bad { (x < 2) W (x == 3) }
ltl v { (x == 2) V (x < 3) }
ltl v_bad { (x == 1) V (x == 0) }
ltl nested { ((x == 0) U (x == 1)) U (x == 2) }
ltl not_u { !((x == 0) U (x == 2)) }
active proctype P() { x = 1; x = 2; x = 3 }
