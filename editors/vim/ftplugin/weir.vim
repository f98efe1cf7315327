" Settings for programs of Weir.
if exists("b:did_ftplugin")
  finish
endif
let b:did_ftplugin = 1

setlocal commentstring=//\ %s
setlocal comments=s1:/*,mb:*,ex:*/,://
setlocal expandtab shiftwidth=4 softtabstop=4
setlocal cindent cinoptions=L0,l1,J1

" `:make` checks the program; the first word of an error is where it is.
setlocal makeprg=weir\ check\ %:S
setlocal errorformat=%Eerror:\ %m,%Z%\\s%#-->\ %f:%l:%c,%-G%.%#

let b:undo_ftplugin = "setlocal commentstring< comments< expandtab< shiftwidth< softtabstop<"
      \ . " cindent< cinoptions< makeprg< errorformat<"
