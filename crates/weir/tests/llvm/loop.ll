@x = global i32 0
@y = global { i8, [3 x i16] } { i8 1, [3 x i16] [i16 1, i16 -2, i16 3] }
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i64 @weir_any(i64, i64)
define internal i32 @sum(ptr %p, i32 %n) {
entry:
  switch i32 %n, label %more [
    i32 0, label %none
    i32 -1, label %none
  ]
none:
  ret i32 0
more:
  %m = sub i32 %n, 1
  %r = call i32 @sum(ptr %p, i32 %m)
  %i = sext i32 %m to i64
  %e = getelementptr { i8, [3 x i16] }, ptr %p, i64 0, i32 1, i64 %i
  %v = load i16, ptr %e
  %w = sext i16 %v to i32
  %s = add nsw i32 %r, %w
  ret i32 %s
}
define ptr @other(ptr %a) {
  %r = call i32 @sum(ptr @y, i32 3)
  %o = atomicrmw add ptr @x, i32 %r seq_cst
  %q = atomicrmw umax ptr @x, i32 1 acq_rel
  ret ptr %a
}
define i32 @main() {
  %t = alloca i64
  %c = call i32 @pthread_create(ptr %t, ptr null, ptr @other, ptr @x)
  br label %wait
wait:
  %v = load atomic i32, ptr @x acquire, align 4
  %d = icmp eq i32 %v, 0
  br i1 %d, label %wait, label %go
go:
  %k = call i64 @weir_any(i64 0, i64 2)
  %e = getelementptr { i8, [3 x i16] }, ptr @y, i64 0, i32 1, i64 %k
  %l = load i16, ptr %e
  store i16 %l, ptr getelementptr inbounds (i8, ptr @y, i64 4)
  fence seq_cst
  ret i32 %v
}
