%node = type { i32, ptr }
@head = global ptr null
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)
declare ptr @malloc(i64)
define ptr @push(ptr %v) {
entry:
  %n = call ptr @malloc(i64 16)
  %i = ptrtoint ptr %v to i64
  %t = trunc i64 %i to i32
  store i32 %t, ptr %n
  %next = getelementptr inbounds %node, ptr %n, i64 0, i32 1
  br label %again
again:
  %old = load atomic ptr, ptr @head acquire, align 8
  store ptr %old, ptr %next
  %x = cmpxchg ptr @head, ptr %old, ptr %n release monotonic
  %ok = extractvalue { ptr, i1 } %x, 1
  br i1 %ok, label %done, label %again
done:
  ret ptr null
}
define i32 @main() {
  %t = alloca [2 x i64]
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %j, %loop ]
  %h = getelementptr [2 x i64], ptr %t, i64 0, i64 %i
  %a = inttoptr i64 %i to ptr
  %c = call i32 @pthread_create(ptr %h, ptr null, ptr @push, ptr %a)
  %j = add nuw nsw i64 %i, 1
  %b = icmp ult i64 %j, 2
  br i1 %b, label %loop, label %out
out:
  %p = load atomic ptr, ptr @head acquire, align 8
  %z = icmp eq ptr %p, null
  br i1 %z, label %end, label %some
some:
  %v = load i32, ptr %p
  %s = icmp slt i32 %v, 2
  br i1 %s, label %end, label %bad
bad:
  unreachable
end:
  ret i32 0
}
