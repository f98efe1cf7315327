byte readers; bit writing;
active [2] proctype R() { atomic { writing == 0 -> readers++ } assert(writing == 0); readers-- }
active proctype W() { atomic { (readers == 0 && writing == 0) -> writing = 1 } assert(readers == 0); writing = 0 }
