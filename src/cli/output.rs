//! Output files: whole, or as they were.
//!
//! Contents are first written to a temporary file in the same directory and then take the place of the old file.
//! Whatever is not a regular file, such as `/dev/stdout`, is written to directly, at the end.

use crate::cli::failure::Failure;
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Contents on their way to a file.
pub enum Staged {
    /// In a file that will take the other's place.
    File {
        /// The temporary file; deleted if it is dropped.
        temporary: NamedTempFile,
        /// The file to be replaced.
        target: PathBuf,
    },
    /// For something that is no regular file.
    Direct {
        /// The path.
        target: PathBuf,
        /// What to write.
        contents: Vec<u8>,
    },
}

impl Staged {
    /// Prepares `contents` for the file at `path`.
    pub fn new(path: &Path, contents: Vec<u8>) -> Result<Staged, Failure> {
        Staged::try_new(path, contents).map_err(|error| failure(path, &error))
    }

    fn try_new(path: &Path, contents: Vec<u8>) -> io::Result<Staged> {
        // A link stays, and the file it leads to is replaced.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let old = fs::metadata(&target).ok();
        if old.as_ref().is_some_and(|old| !old.is_file()) {
            return Ok(Staged::Direct { target, contents });
        }
        let mut builder = tempfile::Builder::new();
        let permissions = old.map(|old| old.permissions()).or_else(default_permissions);
        if let Some(permissions) = &permissions {
            builder.permissions(permissions.clone());
        }
        let mut temporary = builder.prefix(".gcnjit-").tempfile_in(directory(&target))?;
        temporary.write_all(&contents)?;
        temporary.as_file().sync_all()?;
        Ok(Staged::File { temporary, target })
    }

    /// Puts the contents in their place.
    pub fn commit(self) -> Result<(), Failure> {
        match self {
            Staged::File { temporary, target } => match temporary.persist(&target) {
                Ok(_) => Ok(()),
                Err(error) => Err(failure(&target, &error.error)),
            },
            Staged::Direct { target, contents } => {
                let write = || fs::OpenOptions::new().write(true).open(&target)?.write_all(&contents);
                write().map_err(|error| failure(&target, &error))
            }
        }
    }
}

/// Finds out before a long run whether there is a place for a file.
pub fn check(path: &Path) -> Result<(), Failure> {
    match (path.is_dir(), directory(path).is_dir()) {
        (true, _) => Err(Failure::usage(format!("{}: it is a directory", path.display()))),
        (false, false) => Err(Failure::usage(format!("{}: there is no such directory", path.display()))),
        _ => Ok(()),
    }
}

fn directory(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// What a new file gets, less the umask.
fn default_permissions() -> Option<Permissions> {
    #[cfg(unix)]
    return Some(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    #[cfg(not(unix))]
    None
}

fn failure(path: &Path, error: &io::Error) -> Failure {
    Failure::usage(format!("{}: {error}", path.display()))
}
