//! What messages tell their readers to do, in the words of the program that shows them.

/// The options that messages may name. A library has no options, so that by default there are
/// none; the command line has its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hints {
    /// The option that bounds the values of a variable.
    pub bound: Option<&'static str>,
    /// The option that shows runs whole.
    pub full: Option<&'static str>,
    /// The command that asks about infinite runs.
    pub live: Option<&'static str>,
    /// The option that writes a strategy.
    pub strategy: Option<&'static str>,
}

impl Hints {
    /// How to bound the values of a variable or register.
    pub(crate) fn bounding(&self, name: &str) -> String {
        match self.bound {
            Some(option) => format!("say how far to look, with `{option} {name}=0..7`"),
            None => format!("say how far to look, with a bound on `{name}` such as 0..7"),
        }
    }
}
