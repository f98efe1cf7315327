byte x, y; bool doors[3]; mtype = {call, no}; chan button[2] = [2] of {mtype, byte};
active proctype P() { do :: x = (x + 1) % 3; y = x; doors[y] = true; button[1]!call,2; button[1]?_,_ od }
active proctype Q() { do :: doors[1] = false; button[0]!no,1; button[0]!call,1;button[0]?_,_; button[0]?_,_ od }
ltl e { []((x == 1) -> <>(x == y && doors[y])) }
ltl e2 { [] (x != y || doors[y] || doors[x]) }
ltl f { always (button[0]?[call,_] implies eventually (x == 0)) }
ltl g { [] (!(button[0]?[call,2])) }
ltl h { [] (!(button[0]??[call,1])) }
ltl i { <> (button[1]?[call,x]) }
