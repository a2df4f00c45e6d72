//! What the attributes say about code they cannot take, and where they say it.
//!
//! Each case is a program of its own in a throw-away package. One `cargo check` compiles them
//! all, and every error has to be the expected one, at the expected place, and the only one.

use std::path::Path;
use std::process::Command;

/// Name, source, and the error as `line:column: error: message`.
const CASES: &[(&str, &str, &str)] = &[
    (
        "not_async",
        "#[windlass_macros::main]\npub fn main() {}",
        "2:5: error: #[windlass::main] needs this to be an `async fn`",
    ),
    (
        "not_a_function",
        "#[windlass_macros::test]\nstruct Main;\nfn main() { let _ = Main; }",
        "2:1: error: #[windlass::test] belongs on an `async fn`",
    ),
    (
        "extern_function",
        "#[windlass_macros::main]\nasync extern \"C\" fn main() {}",
        "2:7: error: a function under #[windlass::main] cannot be `extern`",
    ),
    (
        "generic",
        "#[windlass_macros::main]\nasync fn main<T>() {}",
        "2:14: error: a function under #[windlass::main] cannot be generic",
    ),
    (
        "arguments",
        "#[windlass_macros::main]\nasync fn main(port: u16) {}",
        "2:14: error: a function under #[windlass::main] takes no arguments",
    ),
    (
        "unknown_option",
        "#[windlass_macros::main(threads = 4)]\nasync fn main() {}",
        "1:25: error: unknown option `threads`; there are `workers`, `thread_name`, `virtual_time`, `tokio` and `crate`",
    ),
    (
        "tokio_by_number",
        "#[windlass_macros::main(tokio = 1)]\nasync fn main() {}",
        "1:33: error: `tokio` takes `true` or `false`",
    ),
    (
        "option_without_value",
        "#[windlass_macros::main(workers)]\nasync fn main() -> Result<(), ()> { Ok(()) }",
        "1:25: error: expected `workers = value`",
    ),
    (
        "option_twice",
        "#[windlass_macros::main(workers = 1, workers = 2)]\nasync fn main() {}",
        "1:38: error: `workers` is given twice",
    ),
    (
        "option_missing",
        "#[windlass_macros::main(workers = 1,,)]\nasync fn main() {}",
        "1:1: error: an option is missing before a comma",
    ),
    (
        "workers_zero",
        "#[windlass_macros::main(workers = 0)]\nasync fn main() {}",
        "1:35: error: `workers` takes a whole number of at least 1, such as `4`",
    ),
    (
        "workers_negative",
        "#[windlass_macros::main(workers = -1)]\nasync fn main() {}",
        "1:35: error: `workers` takes a whole number of at least 1, such as `4`",
    ),
    (
        "thread_name_number",
        "#[windlass_macros::main(thread_name = 7)]\nasync fn main() {}",
        "1:39: error: `thread_name` takes a string, such as `\"web\"`",
    ),
    (
        "crate_no_path",
        "#[windlass_macros::main(crate = \"no path\")]\nasync fn main() {}",
        "1:33: error: `crate` takes a path in quotes, such as `\"crate::runtime\"`",
    ),
    (
        "test_twice",
        "#[windlass_macros::test]\n#[test]\nasync fn a() {}\nfn main() {}",
        "2:2: error: #[windlass::test] stands in for `#[test]`: remove it",
    ),
];

const MANIFEST: &str = r#"
[package]
name = "cases"
version = "0.0.0"
edition = "2024"

[dependencies]
windlass-macros = { path = 'MACROS' }

[workspace]
"#;

#[test]
fn each_mistake_has_one_error_at_its_place() {
    let package = Path::new(env!("CARGO_TARGET_TMPDIR")).join("macro-errors");
    let programs = package.join("src/bin");
    let _ = std::fs::remove_dir_all(&programs);
    std::fs::create_dir_all(&programs).unwrap();
    let manifest = MANIFEST.replace("MACROS", env!("CARGO_MANIFEST_DIR"));
    std::fs::write(package.join("Cargo.toml"), manifest).unwrap();
    for (name, source, _) in CASES {
        std::fs::write(programs.join(name).with_extension("rs"), source).unwrap();
    }

    let output = Command::new(env!("CARGO"))
        .args([
            "check",
            "--tests",
            "--offline",
            "--keep-going",
            "--message-format=short",
            "--color=never",
        ])
        .current_dir(&package)
        .env("CARGO_TARGET_DIR", package.join("target"))
        // What the surrounding build was asked for, such as a sanitizer, is not meant for this.
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("CARGO_BUILD_TARGET")
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap().replace('\\', "/");

    let mut errors: Vec<&str> =
        stderr.lines().filter(|line| line.starts_with("src/bin/")).collect();
    let mut expected: Vec<String> =
        CASES.iter().map(|(name, _, error)| format!("src/bin/{name}.rs:{error}")).collect();
    errors.sort_unstable();
    expected.sort_unstable();
    assert_eq!(errors, expected, "\nall that cargo said:\n{stderr}");
}
