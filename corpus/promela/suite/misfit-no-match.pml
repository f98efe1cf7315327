mtype = {ok, no}; chan c = [1] of {mtype, byte};
active proctype P() { c!no,3 }
active proctype Q() { c?ok }
