/* Before `run` a process is at no label. */
byte x;
ltl at_once { P@begin }
ltl comes { <> P@begin }
ltl other { !P@begin U P@begin }
ltl stays { <> [] P@wait }
proctype P() { begin: x = 1; wait: x == 0 }
init { atomic { run P(); x = 2 } }
