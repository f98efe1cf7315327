mtype = {ok}; chan c = [1] of {mtype, byte};
active proctype P() { c!ok }
active proctype Q() { byte v; c?ok,v }
