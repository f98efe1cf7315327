;;; weir-mode.el --- Concurrent programs on weak memory -*- lexical-binding: t -*-

;; Version: 0.2.0
;; Package-Requires: ((emacs "26.1"))

;;; Commentary:

;; Colors and indentation for programs of Weir, and the language server `weir lsp' for eglot.

;;; Code:

(defconst weir-mode--declarations
  '("const" "enum" "var" "reg" "process" "object" "method"))

(defconst weir-mode--keywords
  '("if" "else" "while" "loop" "choose" "or" "until" "goto" "break" "continue" "exit" "return"
    "await" "assume" "assert" "nop" "fence" "wfence" "rfence" "and" "not" "any" "never" "no"
    "deadlock" "final" "live" "ltl" "assertions" "game" "filter" "observe" "exists" "always" "reach"
    "avoid" "terminates" "call"))

(defconst weir-mode--types
  '("bool" "u8" "u16" "u32" "u64" "i8" "i16" "i32" "i64"))

(defconst weir-mode--font-lock
  `((,(regexp-opt weir-mode--declarations 'symbols) . font-lock-keyword-face)
    (,(regexp-opt weir-mode--keywords 'symbols) . font-lock-keyword-face)
    ("\\_<\\(record\\|procedure\\|for\\|forall\\)\\_>[ \t]+[A-Za-z_]" 1 font-lock-keyword-face)
    ("\\_<\\(atomic\\|step\\)\\_>[ \t]*{" 1 font-lock-keyword-face)
    (,(regexp-opt weir-mode--types 'symbols) . font-lock-type-face)
    (,(regexp-opt '("true" "false") 'symbols) . font-lock-constant-face)
    ("\\_<\\(cas\\|cmpxchg\\|swap\\|update\\|count\\|min\\|max\\|index\\|fetch_[a-z]+\\)\\_>[ \t]*("
     1 font-lock-builtin-face)
    ("\\_<\\(?:process\\|object\\|method\\|enum\\)[ \t]+\\([A-Za-z_][A-Za-z0-9_]*\\)"
     1 font-lock-function-name-face)
    ("^[ \t]*\\([A-Za-z_][A-Za-z0-9_]*\\)[ \t]*:" 1 font-lock-constant-face)
    ("@[ \t]*\\([A-Za-z_][A-Za-z0-9_]*\\)" 1 font-lock-constant-face)))

(defvar weir-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?_ "_" table)
    (modify-syntax-entry ?/ ". 124" table)
    (modify-syntax-entry ?* ". 23bn" table)
    (modify-syntax-entry ?\n ">" table)
    table)
  "Comments are `//' and `/* */', which nest.")

(defcustom weir-mode-indent 4
  "How many columns a block is indented."
  :type 'integer
  :safe #'integerp
  :group 'languages)

(defun weir-mode-indent-line ()
  "Indent a line by the braces around it; a label stands one step further left."
  (interactive)
  (let* ((depth (save-excursion
                  (back-to-indentation)
                  (let ((depth (car (syntax-ppss))))
                    (cond ((looking-at "[])}]") (1- depth))
                          ((and (> depth 0)
                                (looking-at "[A-Za-z_][A-Za-z0-9_]*[ \t]*:\\([^=]\\|$\\)"))
                           (1- depth))
                          (t depth)))))
         (column (* weir-mode-indent (max 0 depth))))
    (if (<= (current-column) (current-indentation))
        (indent-line-to column)
      (save-excursion (indent-line-to column)))))

;;;###autoload
(define-derived-mode weir-mode prog-mode "Weir"
  "Major mode for programs of Weir."
  (setq-local comment-start "// ")
  (setq-local comment-end "")
  (setq-local font-lock-defaults '(weir-mode--font-lock))
  (setq-local indent-line-function #'weir-mode-indent-line))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.weir\\'" . weir-mode))

(defvar eglot-server-programs)
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '(weir-mode . ("weir" "lsp"))))

(provide 'weir-mode)
;;; weir-mode.el ends here
