//! Tells the binary what it was built with: counts of another compiler are not comparable.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let said = Command::new(rustc).arg("--version").output();
    let version = said.ok().and_then(|out| String::from_utf8(out.stdout).ok()).unwrap_or_default();
    // "rustc 1.95.0 (59807616e 2026-04-14)"
    let version = version.split_whitespace().nth(1).unwrap_or("unknown");
    println!("cargo::rustc-env=COUNTED_RUSTC={version}");
    println!("cargo::rustc-env=COUNTED_TARGET={}", std::env::var("TARGET").unwrap_or_default());
}
