//! The standard streams, in processes of their own: this binary again.
#![cfg(unix)]

mod common;

use std::process::Stdio;
use std::time::Duration;

use common::{poll_once, role, run, this_binary};
use futures_lite::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, StreamExt, io::BufReader};
use windlass_os::io::{stderr, stdin, stdout};
use windlass_os::process::{ChildStderr, Command};
use windlass_runtime::Builder;

/// What a child does. It has one worker, which nothing may block.
#[test]
fn child() {
    let Some(role) = role() else { return };
    let runtime = Builder::new().workers(1).build().unwrap();
    let task = match role.as_str() {
        "echo" => runtime.spawn(echo()),
        "count the input" => runtime.spawn(count_the_input()),
        "wait for input" => runtime.spawn(wait_for_input()),
        "fill the output" => runtime.spawn(fill_the_output()),
        "write without waiting" => runtime.spawn(write_without_waiting()),
        _ => panic!("no such role: {role}"),
    };
    runtime.block_on(task).unwrap();
    // Also while somebody waits for input.
    assert!(runtime.shutdown(Duration::from_secs(30)).is_clean());
    std::process::exit(0);
}

async fn echo() {
    let mut lines = BufReader::new(stdin()).lines();
    let mut out = stdout();
    while let Some(line) = lines.next().await {
        let line = format!("<{}>\n", line.unwrap());
        AsyncWriteExt::write_all(&mut out, line.as_bytes()).await.unwrap();
        out.flush().await.unwrap();
    }
}

async fn count_the_input() {
    let mut all = Vec::new();
    let n = stdin().read_to_end(&mut all).await.unwrap();
    assert_eq!(stdin().read(&mut [0; 8]).await.unwrap(), 0);
    stderr().write_all(format!("{n} bytes\n").as_bytes()).await.unwrap();
}

async fn wait_for_input() {
    let input = stdin();
    // Given up and taken up again.
    for _ in 0..3 {
        assert!(poll_once(&mut Box::pin(input.read(&mut [0; 8]))).await.is_none());
    }
    drop(windlass_runtime::spawn(async move { input.read(&mut [0; 8]).await }));
    stderr().write_all(b"waiting\n").await.unwrap();
    windlass_runtime::timer::sleep(Duration::from_millis(20)).await;
    stderr().write_all(b"done\n").await.unwrap();
}

async fn fill_the_output() {
    let writing = windlass_runtime::spawn(async { stdout().write_all(&[b'.'; 1 << 20]).await });
    for _ in 0..3 {
        windlass_runtime::timer::sleep(Duration::from_millis(1)).await;
    }
    stderr().write_all(b"still awake\n").await.unwrap();
    writing.await.unwrap().unwrap();
}

async fn write_without_waiting() {
    let mut out = stdout();
    for i in 0..100 {
        AsyncWriteExt::write_all(&mut out, format!("[{i}]").as_bytes()).await.unwrap();
    }
    out.close().await.unwrap();
}

fn start(role: &str) -> Command {
    let mut command = this_binary("child", role);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

/// Reads lines until it meets one.
async fn expect(errors: &mut BufReader<ChildStderr>, text: &str) {
    let mut line = String::new();
    while line.trim_end() != text {
        line.clear();
        assert_ne!(errors.read_line(&mut line).await.unwrap(), 0, "it never said: {text}");
    }
}

#[test]
fn lines_go_in_and_come_out_one_by_one() {
    run(|| async {
        let mut child = start("echo").spawn().unwrap();
        let stdin = child.stdin.take().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        for i in 0..100 {
            stdin.write_all(format!("line {i}\n").as_bytes()).await.unwrap();
            let expected = format!("<line {i}>");
            while !lines.next().await.unwrap().unwrap().ends_with(&expected) {}
        }
        drop(stdin);
        assert!(child.wait().await.unwrap().success());
    });
}

#[test]
fn megabytes_of_input_are_counted() {
    run(|| async {
        let mut child = start("count the input").spawn().unwrap();
        let stdin = child.stdin.take().unwrap();
        stdin.write_all(&vec![b'x'; 3 << 20]).await.unwrap();
        drop(stdin);
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        expect(&mut errors, "3145728 bytes").await;
        assert!(child.wait().await.unwrap().success());
    });
}

#[test]
fn an_input_that_is_closed_or_empty_or_a_file_has_an_end() {
    run(|| async {
        // Closed by a shell, which hands no input on.
        let binary = this_binary("child", "count the input");
        let mut shell = Command::new("sh");
        shell.args(["-c", "exec \"$@\" <&-", "sh"]).arg(binary.as_std().get_program());
        shell.args(binary.as_std().get_args());
        shell.envs(binary.as_std().get_envs().filter_map(|(key, value)| Some((key, value?))));
        let output = shell.output().await.unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains("0 bytes\n"), "{text}");
        assert!(output.status.success());

        for (input, expected) in
            [("/dev/null", 0), ("Cargo.toml", std::fs::metadata("Cargo.toml").unwrap().len())]
        {
            let file = std::fs::File::open(input).unwrap();
            let output = start("count the input").stdin(file).output().await.unwrap();
            let text = String::from_utf8(output.stderr).unwrap();
            assert!(text.contains(&format!("{expected} bytes\n")), "{text}");
        }
    });
}

#[test]
fn a_program_ends_while_it_waits_for_input() {
    run(|| async {
        let mut child = start("wait for input").spawn().unwrap();
        let _stdin = child.stdin.take().unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        expect(&mut errors, "waiting").await;
        expect(&mut errors, "done").await;
        assert!(child.try_wait().unwrap().is_none_or(|status| status.success()));
        // `wait` would close the input if it were there.
        assert!(child.wait().await.unwrap().success());
    });
}

#[test]
fn an_output_that_nobody_reads_blocks_no_worker() {
    run(|| async {
        let mut child = start("fill the output").spawn().unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        expect(&mut errors, "still awake").await;
        let mut text = String::new();
        child.stdout.take().unwrap().read_to_string(&mut text).await.unwrap();
        assert_eq!(text.matches('.').count() / (1 << 20), 1);
        assert!(child.wait().await.unwrap().success());
    });
}

#[test]
fn what_was_flushed_has_been_written_in_order() {
    run(|| async {
        let output = start("write without waiting").output().await.unwrap();
        let expected: String = (0..100).map(|i| format!("[{i}]")).collect();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(&expected), "{text}");
    });
}
