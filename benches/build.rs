//! Tells the binary what it was built with, for the facts saved beside every result.

use std::fs;
use std::process::Command;

/// The crates whose version a reader of a result needs to know.
const NAMED: &[&str] = &[
    "windlass",
    "tokio",
    "smol",
    "async-executor",
    "async-task",
    "async-io",
    "async-channel",
    "async-lock",
    "event-listener",
    "compio",
    "rayon",
    "chili",
    "forte",
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../Cargo.lock");
    let lock = fs::read_to_string("../Cargo.lock").unwrap_or_default();
    println!("cargo::rustc-env=BENCH_CRATES={}", versions(&lock).join(" "));
    println!("cargo::rustc-env=BENCH_RUSTC={}", compiler());
    // Changes with each commit; missing where this is no clone.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
    let revision = git(&["describe", "--always", "--abbrev=12"]);
    println!("cargo::rustc-env=BENCH_REVISION={}", revision.unwrap_or_default());
}

/// `name=version` of each named crate that the lock file holds.
fn versions(lock: &str) -> Vec<String> {
    let field = |line: Option<&str>, key: &str| {
        let value = line?.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"')?;
        Some(value.to_owned())
    };
    let mut found = Vec::new();
    for package in lock.split("[[package]]").skip(1) {
        let mut lines = package.lines().skip(1);
        let name = field(lines.next(), "name");
        let version = field(lines.next(), "version");
        if let (Some(name), Some(version)) = (name, version) {
            if NAMED.contains(&name.as_str()) {
                found.push(format!("{name}={version}"));
            }
        }
    }
    found
}

fn compiler() -> String {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    said(&rustc, &["--version"]).unwrap_or_else(|| "unknown".to_owned())
}

fn git(args: &[&str]) -> Option<String> {
    said("git", args)
}

/// What a program prints, if it succeeds.
fn said(program: &str, args: &[&str]) -> Option<String> {
    let out = Command::new(program).args(args).output().ok().filter(|out| out.status.success())?;
    Some(String::from_utf8(out.stdout).ok()?.trim().to_owned())
}
