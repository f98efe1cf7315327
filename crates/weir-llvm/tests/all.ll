; All that is read, once.
source_filename = "all.c"
target datalayout = "e-m:e-i64:64-i128:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
module asm ".globl x"
$foo = comdat any
%struct.node = type { i32, ptr }
%"class.std::atomic" = type { %struct.node }
%opaque = type opaque
@"weird \22name" = dso_local local_unnamed_addr global [2 x i8] c"a\00", align 1, !dbg !0
@ext = external thread_local(initialexec) global i32, align 4
@table = private unnamed_addr constant { [2 x ptr] } { [2 x ptr] [ptr null, ptr @f] }, comdat($foo), align 8
@p = global ptr getelementptr inbounds nuw (i8, ptr @table, i64 8), section "abc"
@diff = internal constant i32 trunc (i64 sub (i64 ptrtoint (ptr @f to i64), i64 ptrtoint (ptr @table to i64)) to i32)
@a1 = weak alias void (ptr), ptr @f
@range = global ptr getelementptr inbounds inrange(-16, 16) ({ [2 x ptr] }, ptr @table, i32 0, i32 0, i32 1)

define dso_local noundef zeroext i1 @f(ptr noundef nonnull align 8 dereferenceable(16) %0, i32 range(i32 0, 5) %n, ptr byval(%struct.node) align 8 captures(none) %s) local_unnamed_addr #0 personality ptr @__gxx_personality_v0 !dbg !3 {
entry:
  %x = alloca i32, align 4, !DIAssignID !17
  %many = alloca i8, i64 10, align 16
    #dbg_declare(ptr %x, !5, !DIExpression(), !6)
  call void @llvm.dbg.value(metadata i32 %n, metadata !5, metadata !DIExpression()), !dbg !6
  store volatile i32 -1, ptr %x, align 4, !dbg !6, !tbaa !7
  %v = load atomic volatile i32, ptr %x syncscope("singlethread") seq_cst, align 4
  store atomic i32 %v, ptr @ext release, align 4
  %rmw = atomicrmw volatile add ptr %x, i32 1 acq_rel, align 4
  %cx = cmpxchg weak ptr %x, i32 0, i32 1 acquire monotonic, align 4
  %cx0 = extractvalue { i32, i1 } %cx, 1
  fence syncscope("singlethread") acquire
  %g = getelementptr inbounds nuw %struct.node, ptr %0, i64 0, i32 1, !dbg !6
  %t = trunc nuw i32 %n to i8
  %z = zext nneg i8 %t to i64
  %or = or disjoint i64 %z, 1
  %c = icmp samesign ult i64 %or, 10
  %sel = select i1 %c, i32 %v, i32 %n
  %ov = tail call { i32, i1 } @llvm.sadd.with.overflow.i32(i32 %sel, i32 1)
  %agg = insertvalue { i32, i1 } poison, i32 %sel, 0
  %fl = fadd fast double 1.0e+00, 0x4000000000000000
  %fc = fcmp olt double %fl, %fl
  %in = inttoptr i64 %or to ptr
  call void asm sideeffect inteldialect "pause", "~{memory}"() #3, !srcloc !8
  %call = call fastcc noundef ptr %in(ptr noundef @f) [ "clang.arc"(ptr null) ]
  %call2 = call i32 (ptr, ...) @printf(ptr noundef nonnull @p, i32 1) nounwind
  %fr = freeze i32 %sel
  %ee = extractelement <2 x i32> <i32 1, i32 2>, i64 1
  %ie = insertelement <2 x i32> zeroinitializer, i32 %ee, i64 0
  %sv = shufflevector <2 x i32> %ie, <2 x i32> poison, <2 x i32> zeroinitializer
  switch i32 %fr, label %loop [
    i32 0, label %one
    i32 -5, label %two
  ]
one:                                              ; preds = %entry
  %inv = invoke i32 @g(i32 1)
          to label %two unwind label %lpad
two:
  br label %loop, !llvm.loop !9
loop:
  %phi = phi i32 [ 0, %entry ], [ 1, %two ], [ %phi, %loop ], !dbg !6
  br i1 %cx0, label %loop, label %"last one"
lpad:
  %lp = landingpad { ptr, i32 }
          cleanup
          catch ptr null
  resume { ptr, i32 } %lp
"last one":
  ret i1 false
}

declare !srcloc !8 i32 @g(i32 noundef) #1
declare void @llvm.dbg.value(metadata, metadata, metadata) #2
define internal void @h() unnamed_addr #0 align 16 prefix i32 1 {
  unreachable
}

attributes #0 = { nounwind "frame-pointer"="all" "a"="}" memory(none) }
attributes #1 = { nounwind }
!llvm.dbg.cu = !{!1}
!0 = !DIGlobalVariableExpression(var: !1, expr: !DIExpression())
!1 = distinct !DICompileUnit(language: DW_LANG_C11, file: !2, producer: "x", isOptimized: false)
!2 = !DIFile(filename: "all.c", directory: "/d", checksumkind: CSK_MD5, checksum: "0")
!3 = distinct !DISubprogram(name: "f", scope: !2, file: !2, line: 1, type: !4, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !1, retainedNodes: !{})
!4 = !DISubroutineType(types: !{null, !5})
!6 = !DILocation(line: 2, column: 3, scope: !3)
!7 = !{!"int", !"x }", i64 0}
