byte got;
proctype Q() { got = _pid }
init { run Q(); got == 1 }
