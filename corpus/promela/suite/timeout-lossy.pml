mtype = { msg, ack };
chan s = [1] of { mtype }; chan r = [1] of { mtype };
byte got;
active proctype S() { byte n; s ! msg; do :: r ? ack -> break :: n < 2 -> timeout -> n++; s ! msg od }
active proctype R() { end: do :: s ? msg -> got = 1; r ! ack od }
active proctype Loss() { end: do :: s ? msg od }
