mtype = {ok}; chan c = [1] of {mtype, byte};
active proctype P() { c!ok,3 }
active proctype Q() { c?ok }
