//! Which compilers there are.
//!
//! A compiler is named by the caller, or is found on the path. Of several that are found, the first
//! supported one is used: the one without a version in its name, then the newest. What `weir
//! doctor` shows is [`Tools::rows`].

use crate::Error;
use crate::process::{self, Limits};
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The versions of LLVM whose intermediate representation Weir reads.
pub const LLVM: std::ops::RangeInclusive<u32> = 15..=22;
/// The oldest `rustc`: 1.88.
pub const RUSTC: (u32, u32) = (1, 88);

/// What a program compiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `clang`
    C,
    /// `clang++`
    Cpp,
    /// `rustc`
    Rust,
    /// `cargo`
    Cargo,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 4] = [Kind::C, Kind::Cpp, Kind::Rust, Kind::Cargo];

    /// The name of the program.
    pub fn program(self) -> &'static str {
        match self {
            Kind::C => "clang",
            Kind::Cpp => "clang++",
            Kind::Rust => "rustc",
            Kind::Cargo => "cargo",
        }
    }

    /// What to install if there is none.
    pub fn install(self) -> String {
        match self {
            Kind::C | Kind::Cpp => format!(
                "install clang {} to {} (Debian and Ubuntu: `apt install clang`; Fedora: `dnf install clang`; macOS: \
                 `xcode-select --install`), or name one",
                LLVM.start(),
                LLVM.end()
            ),
            Kind::Rust | Kind::Cargo => {
                format!(
                    "install Rust {}.{} or newer from https://rustup.rs, or name a {}",
                    RUSTC.0,
                    RUSTC.1,
                    self.program()
                )
            }
        }
    }
}

/// A compiler that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// What it compiles.
    pub kind: Kind,
    /// Where it is.
    pub path: PathBuf,
    /// What it says of its version, on one line or, for `rustc -vV`, on several.
    pub text: String,
    /// Its version, such as `19.1.7`. Empty if it says none.
    pub version: String,
    /// The version of LLVM that is in it, if that is known. `cargo` has none.
    pub llvm: Option<u32>,
    /// Why it cannot be used.
    pub refused: Option<String>,
}

/// One row of the report: a compiler that was found, or that none was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// What is compiled with it.
    pub kind: Kind,
    /// What was found.
    pub tool: Option<Tool>,
    /// Whether this is the one that is used.
    pub used: bool,
    /// What to install, if nothing of this kind can be used.
    pub install: Option<String>,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.tool {
            None => write!(f, "{}: not found", self.kind.program())?,
            Some(tool) => {
                write!(f, "{}: {}", self.kind.program(), tool.path.display())?;
                if !tool.version.is_empty() {
                    write!(f, " {}", tool.version)?;
                }
                if let Some(llvm) = tool.llvm {
                    write!(f, ", LLVM {llvm}")?;
                }
                match &tool.refused {
                    Some(why) => write!(f, ", not supported: {why}")?,
                    None if self.used => f.write_str(", used")?,
                    None => f.write_str(", supported")?,
                }
            }
        }
        match &self.install {
            Some(install) => write!(f, "; {install}"),
            None => Ok(()),
        }
    }
}

/// Names that a caller gives to compilers: paths, or names on the path.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// In place of `clang`.
    pub c: Option<PathBuf>,
    /// In place of `clang++`.
    pub cpp: Option<PathBuf>,
    /// In place of `rustc`.
    pub rust: Option<PathBuf>,
    /// In place of `cargo`.
    pub cargo: Option<PathBuf>,
}

impl Names {
    fn of(&self, kind: Kind) -> Option<&Path> {
        match kind {
            Kind::C => self.c.as_deref(),
            Kind::Cpp => self.cpp.as_deref(),
            Kind::Rust => self.rust.as_deref(),
            Kind::Cargo => self.cargo.as_deref(),
        }
    }
}

/// Finds compilers when they are needed.
#[derive(Clone, Debug, Default)]
pub struct Tools {
    names: Names,
}

impl Tools {
    /// Compilers by these names, and others from the path.
    pub fn new(names: Names) -> Tools {
        Tools { names }
    }

    /// The compiler of a kind.
    ///
    /// # Errors
    /// If there is none that is supported.
    pub fn get(&self, kind: Kind) -> Result<Tool, Error> {
        let mut refused = Vec::new();
        for path in self.candidates(kind) {
            match inspect(kind, &path) {
                tool if tool.refused.is_none() => return Ok(tool),
                tool => {
                    refused.push(format!(
                        "{}: {}",
                        path.display(),
                        tool.refused.unwrap_or_default()
                    ));
                }
            }
        }
        Err(Error::Missing { what: kind.program(), found: refused, install: kind.install() })
    }

    /// All compilers that were found, for people who ask why something does not work.
    pub fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for kind in Kind::ALL {
            let tools: Vec<Tool> =
                self.candidates(kind).iter().map(|path| inspect(kind, path)).collect();
            let used = tools.iter().position(|t| t.refused.is_none());
            let install = used.is_none().then(|| kind.install());
            if tools.is_empty() {
                rows.push(Row { kind, tool: None, used: false, install });
                continue;
            }
            let last = tools.len() - 1;
            for (i, tool) in tools.into_iter().enumerate() {
                let install = if i == last { install.clone() } else { None };
                rows.push(Row { kind, tool: Some(tool), used: used == Some(i), install });
            }
        }
        rows
    }

    /// Where a compiler of a kind may be, the best first.
    fn candidates(&self, kind: Kind) -> Vec<PathBuf> {
        if let Some(name) = self.names.of(kind) {
            // A name that is found nowhere is kept, and its row says so.
            return vec![on_path(name.as_os_str()).unwrap_or_else(|| name.to_owned())];
        }
        let mut names = vec![kind.program().to_owned()];
        if matches!(kind, Kind::C | Kind::Cpp) {
            names.extend(LLVM.rev().map(|version| format!("{}-{version}", kind.program())));
        }
        let mut found: Vec<PathBuf> =
            names.iter().filter_map(|name| on_path(OsStr::new(name))).collect();
        found.dedup();
        found
    }
}

/// The file that a name stands for. A name with a separator is a path.
fn on_path(name: &OsStr) -> Option<PathBuf> {
    let as_path = Path::new(name);
    if as_path.components().count() > 1 {
        return is_program(as_path).then(|| as_path.to_owned());
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders)
        .filter(|folder| folder.is_absolute())
        .flat_map(|folder| {
            let mut file = name.to_owned();
            file.push(std::env::consts::EXE_SUFFIX);
            [folder.join(name), folder.join(file)]
        })
        .find(|path| is_program(path))
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

/// Asks a program for its version.
fn inspect(kind: Kind, path: &Path) -> Tool {
    let mut tool = Tool {
        kind,
        path: path.to_owned(),
        text: String::new(),
        version: String::new(),
        llvm: None,
        refused: None,
    };
    let mut command = Command::new(path);
    command
        .arg(if matches!(kind, Kind::Rust | Kind::Cargo) { "-vV" } else { "--version" })
        .env("LC_ALL", "C");
    let limits = Limits { time: Duration::from_secs(20), bytes: 1 << 16, ..Limits::default() };
    match process::run(command, limits, None) {
        Err(error) => tool.refused = Some(error.to_string()),
        Ok(ended) if !ended.status.success() => {
            tool.refused = Some(format!("it cannot say its version: {}", ended.text().trim()));
        }
        Ok(ended) => {
            tool.text = String::from_utf8_lossy(&ended.stdout).trim().to_owned();
            understand(&mut tool);
        }
    }
    tool
}

/// Takes the versions from what a compiler says, and decides whether it is supported.
fn understand(tool: &mut Tool) {
    match tool.kind {
        Kind::C | Kind::Cpp => {
            let Some(version) = after(&tool.text, "clang version ") else {
                tool.refused = Some("it is not clang".to_owned());
                return;
            };
            tool.version = version;
            let major = numbers(&tool.version).0;
            // Apple counts on its own.
            tool.llvm = if tool.text.contains("Apple clang") { apple(major) } else { Some(major) };
        }
        Kind::Rust => {
            tool.version = after(&tool.text, "release: ").unwrap_or_default();
            tool.llvm = after(&tool.text, "LLVM version: ").map(|v| numbers(&v).0);
        }
        Kind::Cargo => tool.version = after(&tool.text, "release: ").unwrap_or_default(),
    }
    if matches!(tool.kind, Kind::Rust | Kind::Cargo) && numbers(&tool.version) < RUSTC {
        tool.refused = Some(format!("it is older than {}.{}", RUSTC.0, RUSTC.1));
    } else if tool.kind != Kind::Cargo {
        tool.refused = match tool.llvm {
            None => Some("its version of LLVM is unknown".to_owned()),
            Some(llvm) if llvm < *LLVM.start() => {
                Some(format!("LLVM {llvm} is older than {}", LLVM.start()))
            }
            Some(llvm) if llvm > *LLVM.end() => {
                Some(format!("LLVM {llvm} is newer than {}", LLVM.end()))
            }
            Some(_) => None,
        };
    }
}

/// The version of LLVM in a version of Apple's clang.
fn apple(major: u32) -> Option<u32> {
    match major {
        15 => Some(16),
        16 => Some(17),
        17 => Some(19),
        _ => None,
    }
}

/// The word after a phrase.
fn after(text: &str, phrase: &str) -> Option<String> {
    let start = text.find(phrase)? + phrase.len();
    text[start..].split_whitespace().next().map(str::to_owned)
}

/// The first two numbers of a version.
fn numbers(version: &str) -> (u32, u32) {
    let mut parts =
        version.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(kind: Kind, text: &str) -> Tool {
        let mut tool = Tool {
            kind,
            path: PathBuf::new(),
            text: text.to_owned(),
            version: String::new(),
            llvm: None,
            refused: None,
        };
        understand(&mut tool);
        tool
    }

    #[test]
    fn versions() {
        let clang =
            tool(Kind::C, "Debian clang version 19.1.7 (3+b1)\nTarget: x86_64-pc-linux-gnu");
        assert_eq!((clang.version.as_str(), clang.llvm, clang.refused), ("19.1.7", Some(19), None));
        let apple = tool(Kind::Cpp, "Apple clang version 17.0.0 (clang-1700.0.13.3)");
        assert_eq!((apple.llvm, apple.refused), (Some(19), None));
        assert_eq!(
            tool(Kind::C, "clang version 14.0.0").refused.unwrap(),
            "LLVM 14 is older than 15"
        );
        assert_eq!(
            tool(Kind::C, "clang version 23.0.0git").refused.unwrap(),
            "LLVM 23 is newer than 22"
        );
        assert_eq!(tool(Kind::C, "gcc (Debian 12.2.0) 12.2.0").refused.unwrap(), "it is not clang");
        let rustc = tool(
            Kind::Rust,
            "rustc 1.90.0-nightly (abc)\nrelease: 1.90.0-nightly\nLLVM version: 20.1.8",
        );
        assert_eq!(
            (rustc.version.as_str(), rustc.llvm, rustc.refused),
            ("1.90.0-nightly", Some(20), None)
        );
        assert_eq!(
            tool(Kind::Rust, "release: 1.87.0\nLLVM version: 20.1.1").refused.unwrap(),
            "it is older than 1.88"
        );
        assert_eq!(tool(Kind::Cargo, "cargo 1.88.0\nrelease: 1.88.0").refused, None);
        assert_eq!(
            tool(Kind::Rust, "release: 1.99.0").refused.unwrap(),
            "its version of LLVM is unknown"
        );
    }
}
