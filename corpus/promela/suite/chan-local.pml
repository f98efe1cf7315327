proctype Server(chan r) { r ! 1 }
init { chan mine = [1] of { byte }; byte x; run Server(mine); mine ? x; assert(x == 1) }
