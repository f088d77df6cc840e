//! The program, run as a process.
#![allow(dead_code, reason = "a test that includes this module uses a part of it")]

use serde_json::Value;
use std::process::{Command, Output};

/// How it ended.
pub struct Outcome {
    /// The exit code.
    pub code: i32,
    /// What it wrote to stdout.
    pub stdout: String,
    /// What it wrote to stderr.
    pub stderr: String,
}

impl Outcome {
    /// The last line of stdout.
    pub fn json(&self) -> Value {
        let line = self.stdout.lines().last().unwrap_or_else(|| panic!("no stdout; stderr: {}", self.stderr));
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// It ended well and had nothing to complain of.
    pub fn good(self) -> Outcome {
        assert_eq!((self.code, self.stderr.as_str()), (0, ""));
        self
    }

    /// It ended with `code`, with `parts` in the message.
    pub fn bad(self, code: i32, parts: &[&str]) -> Outcome {
        assert_eq!(self.code, code, "{}\n{}", self.stdout, self.stderr);
        for part in parts {
            assert!(self.stderr.contains(part), "{part} is not in {}", self.stderr);
        }
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self
    }

    /// `parts` are in what it wrote to stdout, in this order.
    pub fn says(self, parts: &[&str]) -> Outcome {
        let mut rest = self.stdout.as_str();
        for part in parts {
            let place = rest.find(part).unwrap_or_else(|| panic!("{part} is not in the rest of\n{}", self.stdout));
            rest = &rest[place + part.len()..];
        }
        self
    }
}

/// Runs the program with these arguments, separated by spaces.
pub fn gcnjit(args: impl AsRef<str>) -> Outcome {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gcnjit"));
    let Output { status, stdout, stderr } = command.args(args.as_ref().split_whitespace()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Outcome { code: status.code().expect("no signal"), stdout: text(stdout), stderr: text(stderr) }
}
