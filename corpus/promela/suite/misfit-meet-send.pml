chan c = [0] of {byte, bit};
active proctype S(){ c!1 }
active proctype D(){ byte x; bit b; c?x,b }
