chan c = [0] of {byte, bit};
active proctype S(){ c!1,1; c!2,0 }
active proctype D(){ do :: c?_(_,_) od }
