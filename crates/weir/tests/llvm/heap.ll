; ModuleID = 'heap.c'
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%struct.node = type { ptr, i32 }

@top = global ptr null
@length = global i64 0
@text = global ptr null
@.str = private unnamed_addr constant [5 x i8] c"same\00"
@.str.1 = private unnamed_addr constant [7 x i8] c"heap.c\00"
@.str.2 = private unnamed_addr constant [5 x i8] c"work\00"
@count = global i32 0

define ptr @work(ptr %0) {
  %2 = alloca ptr
  %3 = alloca ptr
  %4 = alloca ptr
  store ptr %0, ptr %2
  %5 = call ptr @malloc(i64 16)
  store ptr %5, ptr %3
  %6 = load ptr, ptr %2
  %7 = load i32, ptr %6
  %8 = load ptr, ptr %3
  %9 = getelementptr inbounds %struct.node, ptr %8, i32 0, i32 1
  store i32 %7, ptr %9
  %10 = load atomic ptr, ptr @top seq_cst
  %11 = load ptr, ptr %3
  %12 = getelementptr inbounds %struct.node, ptr %11, i32 0, i32 0
  store ptr %10, ptr %12
  %13 = load ptr, ptr %3
  store atomic ptr %13, ptr @top seq_cst
  %14 = load i64, ptr @length
  %15 = add i64 %14, 4
  %16 = call ptr @malloc(i64 %15)
  store ptr %16, ptr %4
  %17 = load ptr, ptr %4
  %18 = load i64, ptr @length
  %19 = add i64 %18, 4
  call void @llvm.memset.p0.i64(ptr align 1 %17, i8 0, i64 %19, i1 false)
  %20 = load ptr, ptr %4
  %21 = load ptr, ptr @text
  %22 = load i64, ptr @length
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %20, ptr align 1 %21, i64 %22, i1 false)
  %23 = load ptr, ptr %4
  %24 = load ptr, ptr @text
  %25 = call i32 @memcmp(ptr %23, ptr %24, i64 4)
  %26 = icmp ne i32 %25, 0
  br i1 %26, label %27, label %28

27:                                               ; preds = %1
  call void @__assert_fail(ptr @.str, ptr @.str.1, i32 1, ptr @.str.2)
  br label %28

28:                                               ; preds = %27, %1
  %29 = load ptr, ptr %4
  call void @free(ptr %29)
  %30 = load ptr, ptr %3
  call void @free(ptr %30)
  call void @__VERIFIER_atomic_count()
  ret ptr null
}

declare ptr @malloc(i64 noundef)

declare void @llvm.memset.p0.i64(ptr nocapture writeonly, i8, i64, i1 immarg)

declare void @llvm.memcpy.p0.p0.i64(ptr noalias nocapture writeonly, ptr noalias nocapture readonly, i64, i1 immarg)

declare i32 @memcmp(ptr noundef, ptr noundef, i64 noundef)

declare void @__assert_fail(ptr noundef, ptr noundef, i32 noundef, ptr noundef)

declare void @free(ptr noundef)

define internal void @__VERIFIER_atomic_count() {
  %1 = load i32, ptr @count
  %2 = add nsw i32 %1, 1
  store i32 %2, ptr @count
  ret void
}

define i32 @main() {
  %1 = alloca i32
  %2 = alloca i64
  %3 = alloca i32
  store i32 0, ptr %1
  %4 = load i64, ptr @length
  %5 = or i64 %4, 8
  %6 = call i64 @llvm.cttz.i64(i64 %5, i1 true)
  %7 = trunc i64 %6 to i32
  store i32 %7, ptr %3
  store i64 4, ptr @length
  %8 = call ptr @malloc(i64 8)
  store ptr %8, ptr @text
  %9 = load ptr, ptr @text
  call void @llvm.memset.p0.i64(ptr align 1 %9, i8 1, i64 8, i1 false)
  %10 = call i32 @pthread_create(ptr %2, ptr null, ptr @work, ptr %3)
  %11 = icmp ne i32 %10, 0
  br i1 %11, label %12, label %13

12:                                               ; preds = %0
  store i32 1, ptr %1
  br label %17

13:                                               ; preds = %0
  store i64 8, ptr @length
  %14 = call ptr @malloc(i64 16)
  call void @free(ptr %14)
  %15 = load i64, ptr %2
  %16 = call i32 @pthread_join(i64 %15, ptr null)
  store i32 %16, ptr %1
  br label %17

17:                                               ; preds = %13, %12
  %18 = load i32, ptr %1
  ret i32 %18
}

declare i64 @llvm.cttz.i64(i64, i1 immarg)

declare i32 @pthread_create(ptr noundef, ptr noundef, ptr noundef, ptr noundef)

declare i32 @pthread_join(i64 noundef, ptr noundef)



