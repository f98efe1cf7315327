//! Metadata: the nodes that debug locations are made of. All others are skipped.

use super::{Parsed, Parser};
use crate::lexer::Token;
use crate::{Meta, MetaId};

/// What fields of a node say.
#[derive(Default)]
struct Fields {
    line: u32,
    column: u32,
    scope: Option<MetaId>,
    file: Option<MetaId>,
    inlined_at: Option<MetaId>,
    name: String,
    linkage: String,
    filename: String,
    directory: String,
}

impl Parser<'_> {
    /// The number of a node.
    pub(super) fn meta(&mut self, name: &str) -> Option<MetaId> {
        name.parse().ok().and_then(|number| self.part.meta(MetaId(number)))
    }

    /// `!12 = …` or `!llvm.ident = …`, whose name has been read.
    pub(super) fn metadata_line(&mut self, name: &str) -> Parsed<()> {
        self.expect(b'=')?;
        let Some(id) = self.meta(name) else {
            self.skip_line();
            return Ok(());
        };
        self.accept_word("distinct");
        let kind = match self.next() {
            Token::Meta(kind) if !kind.as_bytes()[0].is_ascii_digit() => kind,
            _ => {
                self.skip_line();
                return Ok(());
            }
        };
        let is_needed = matches!(
            kind,
            "DILocation"
                | "DISubprogram"
                | "DIFile"
                | "DILexicalBlock"
                | "DILexicalBlockFile"
                | "DINamespace"
        );
        if !is_needed {
            self.skip_line();
            return Ok(());
        }
        let fields = self.fields_of_node()?;
        let meta = match kind {
            "DILocation" => {
                let Some(scope) = fields.scope else { return Ok(()) };
                let Fields { line, column, inlined_at, .. } = fields;
                Meta::Location { line, column, scope, inlined_at }
            }
            "DISubprogram" => {
                let Fields { name, linkage, file, line, .. } = fields;
                Meta::Subprogram { name, linkage, file, line }
            }
            "DIFile" => Meta::File(fields.filename, fields.directory),
            _ => Meta::Scope(fields.scope, fields.file),
        };
        self.module.metadata.insert(id, meta);
        Ok(())
    }

    fn fields_of_node(&mut self) -> Parsed<Fields> {
        let mut fields = Fields::default();
        self.expect(b'(')?;
        loop {
            let at = self.here();
            let field = match self.next() {
                Token::Label(field) => field,
                Token::Sign(b')') => return Ok(fields),
                Token::Sign(b',') => continue,
                Token::End => return self.fail(at, "this node does not end"),
                _ => continue,
            };
            match (&*field, self.peek()) {
                (_, Token::Sign(b')')) => {}
                (_, Token::Sign(b'!') | Token::Sign(_)) => {
                    self.next();
                    if self.is_sign(b'{') || self.is_sign(b'(') {
                        self.skip_brackets()?;
                    }
                }
                (field, Token::Meta(name)) => {
                    self.next();
                    let id = self.meta(name);
                    match field {
                        "scope" => fields.scope = id,
                        "file" => fields.file = id,
                        "inlinedAt" => fields.inlined_at = id,
                        _ if self.is_sign(b'(') => self.skip_brackets()?,
                        _ => {}
                    }
                }
                (field, Token::Int(text)) => {
                    self.next();
                    let number = text.parse().unwrap_or(0);
                    match field {
                        "line" => fields.line = number,
                        "column" => fields.column = number,
                        _ => {}
                    }
                }
                (field, Token::Str(bytes)) => {
                    self.next();
                    let text = String::from_utf8_lossy(&bytes).into_owned();
                    match field {
                        "name" => fields.name = text,
                        "linkageName" => fields.linkage = text,
                        "filename" => fields.filename = text,
                        "directory" => fields.directory = text,
                        _ => {}
                    }
                }
                _ => drop(self.next()),
            }
        }
    }
}
