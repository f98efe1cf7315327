" Colors for programs of Weir.
if exists("b:current_syntax")
  finish
endif

syntax keyword weirDeclaration const enum var reg process object method
syntax keyword weirType bool u8 u16 u32 u64 i8 i16 i32 i64
syntax keyword weirStatement goto break continue exit return assume assert await until nop
syntax keyword weirConditional if else choose or
syntax keyword weirRepeat while loop
syntax keyword weirFence fence wfence rfence
syntax keyword weirProperty never no deadlock final live ltl assertions game filter observe
syntax keyword weirProperty exists always reach avoid terminates
syntax keyword weirOperator and not any
syntax keyword weirBoolean true false
syntax keyword weirReserved call

syntax match weirDeclaration /\<\%(record\|procedure\)\>\ze\s\+\h/
syntax match weirRepeat /\<for\>\ze\s\+\h\w*\s\+in\>/
syntax match weirRepeat /\<for\s\+\h\w*\s\+\zsin\>/
syntax match weirProperty /\<ltl\s\+\%(fair\|endless\)\>\ze\s*[A-Za-z_(!]/
syntax match weirProperty /\<\%(eventually\|implies\|unless\|release\)\>\ze\s\+[A-Za-z_(!]/
syntax match weirProperty /\<forall\>\ze\s\+\h/
syntax region weirText start=/"/ end=/"\|$/
syntax match weirStatement /\<\%(atomic\|step\)\>\ze\s*{/
syntax match weirOperation /\<\%(cas\|cmpxchg\|swap\|update\|count\|min\|max\|index\|fetch_\l\+\)\>\ze\s*(/
syntax match weirLabel /^\s*\zs\h\w*\ze\s*:=\@!/
syntax match weirLabel /@\s*\zs\h\w*/
syntax match weirNumber /\<\%(0[xX][0-9A-Fa-f_]\+\|\d[0-9_]*\)\>/

syntax keyword weirTodo contained TODO FIXME
syntax match weirComment "//.*$" contains=weirTodo,@Spell
syntax region weirComment start="/\*" end="\*/" contains=weirComment,weirTodo,@Spell

highlight default link weirDeclaration Structure
highlight default link weirType Type
highlight default link weirStatement Statement
highlight default link weirConditional Conditional
highlight default link weirRepeat Repeat
highlight default link weirFence PreProc
highlight default link weirProperty Keyword
highlight default link weirOperator Operator
highlight default link weirBoolean Boolean
highlight default link weirReserved Error
highlight default link weirOperation Function
highlight default link weirLabel Label
highlight default link weirNumber Number
highlight default link weirText String
highlight default link weirTodo Todo
highlight default link weirComment Comment

let b:current_syntax = "weir"
