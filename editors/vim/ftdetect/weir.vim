autocmd BufNewFile,BufRead *.weir setfiletype weir
