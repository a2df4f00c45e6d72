//! Child processes: what they say, how they end, and that nothing is left of them.
#![cfg(unix)]

mod common;

use std::io::ErrorKind;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::Duration;

use common::os::{group_of, is_known};
use common::{TempDir, poll_once, run, runtime, wait_until, within_deadline};
use futures_lite::{AsyncReadExt, AsyncWriteExt};
use windlass_os::process::{Child, Command};
use windlass_runtime::{Handle, timer};

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

/// One that does not end by itself. It is not a shell, whose children would outlive it.
fn endless() -> Command {
    let mut command = Command::new("sleep");
    command.arg("100000");
    command
}

fn gone(process: u32) {
    wait_until("the OS has forgotten the child", || !is_known(process));
}

#[test]
fn output_captures_both_streams_and_the_status() {
    run(|| async {
        let output = shell("cat; echo out; echo err >&2; exit 7").output().await.unwrap();
        assert_eq!(output.stdout, b"out\n");
        assert_eq!(output.stderr, b"err\n");
        assert_eq!(output.status.code(), Some(7));
    });
}

#[test]
fn output_leaves_alone_what_was_set_and_spawn_inherits_after_it() {
    run(|| async {
        let mut command = shell("echo out; echo err >&2");
        command.stderr(Stdio::null());
        let output = command.output().await.unwrap();
        assert_eq!((&output.stdout[..], &output.stderr[..]), (&b"out\n"[..], &b""[..]));
        command.stdout(Stdio::null());
        let mut child = command.spawn().unwrap();
        assert!(child.stdin.is_none() && child.stdout.is_none() && child.stderr.is_none());
        assert!(child.wait().await.unwrap().success());
    });
}

#[test]
fn a_megabyte_goes_through_a_child_and_back() {
    run(|| async {
        let mut child =
            Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let sent: Vec<u8> = (0..1 << 20).map(|i| (i % 251) as u8).collect();
        let stdin = child.stdin.take().unwrap();
        let feeding = windlass_runtime::spawn({
            let sent = sent.clone();
            async move { stdin.write_all(&sent).await }
        });
        let output = child.wait_with_output().await.unwrap();
        feeding.await.unwrap().unwrap();
        assert!(output.stdout == sent);
    });
}

#[test]
fn closing_the_input_lets_the_child_see_the_end() {
    run(|| async {
        let mut child =
            Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        AsyncWriteExt::write_all(&mut stdin, b"bye").await.unwrap();
        stdin.close().await.unwrap();
        assert_eq!(stdin.write(b"more").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
        let mut text = String::new();
        child.stdout.take().unwrap().read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "bye");
        // The value is still there: it was the close that ended it.
        assert!(child.wait().await.unwrap().success());
        drop(stdin);
    });
}

#[test]
fn a_child_that_has_closed_its_input_breaks_the_pipe() {
    run(|| async {
        let mut child = shell("exec <&-; echo closed; exec sleep 100000")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut word = [0; 7];
        child.stdout.as_mut().unwrap().read_exact(&mut word).await.unwrap();
        let stdin = child.stdin.take().unwrap();
        // A child that another test is just starting may have the other end for a moment.
        let error = loop {
            match stdin.write(b"x").await {
                Ok(_) => timer::sleep(Duration::from_millis(1)).await,
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
        child.kill().await.unwrap();
    });
}

#[test]
fn one_child_pipes_into_another() {
    run(|| async {
        let mut first = shell("printf 'b\\na\\n'").stdout(Stdio::piped()).spawn().unwrap();
        let pipe: Stdio = first.stdout.take().unwrap().try_into().unwrap();
        let output = Command::new("sort").stdin(pipe).output().await.unwrap();
        assert_eq!(output.stdout, b"a\nb\n");
        assert!(first.wait().await.unwrap().success());
    });
}

#[test]
fn wait_can_be_given_up_and_taken_up_again() {
    run(|| async {
        let mut child = endless().spawn().unwrap();
        let id = child.id().unwrap();
        for _ in 0..10 {
            assert!(poll_once(&mut Box::pin(child.wait())).await.is_none());
        }
        assert!(timer::timeout(Duration::from_millis(5), child.wait()).await.is_err());
        assert!(child.try_wait().unwrap().is_none());
        child.start_kill().unwrap();
        let status = child.wait().await.unwrap();
        assert_eq!(status.signal(), Some(libc::SIGKILL));
        // Known from now on, and never asked of the OS again.
        assert_eq!(child.wait().await.unwrap(), status);
        assert_eq!(child.try_wait().unwrap(), Some(status));
        assert_eq!(child.id(), None);
        assert!(!is_known(id));
    });
}

#[test]
fn killing_a_child_that_was_waited_for_is_no_error() {
    run(|| async {
        let mut child = Command::new("true").spawn().unwrap();
        let status = child.wait().await.unwrap();
        child.start_kill().unwrap();
        child.kill().await.unwrap();
        assert_eq!(child.wait().await.unwrap(), status);
        assert!(status.success());
    });
}

#[test]
fn a_dropped_child_goes_on_and_leaves_no_zombie() {
    run(|| async {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let (id, stdin) = (child.id().unwrap(), child.stdin.take());
        drop(child);
        assert!(is_known(id));
        // It ends now.
        drop(stdin);
        gone(id);
    });
}

#[test]
fn a_child_that_never_ends_is_killed_when_it_is_dropped() {
    run(|| async {
        let child = endless().kill_on_drop(true).spawn().unwrap();
        let id = child.id().unwrap();
        drop(child);
        gone(id);

        let mut never = Box::pin(endless().kill_on_drop(true).status());
        assert!(poll_once(&mut never).await.is_none());
        drop(never);
    });
}

#[test]
fn no_thread_waits_for_a_child() {
    run(|| async {
        let mut children: Vec<Child> = (0..20).map(|_| endless().spawn().unwrap()).collect();
        for child in &mut children {
            assert!(poll_once(&mut Box::pin(child.wait())).await.is_none());
        }
        assert_eq!(Handle::current().metrics().blocking_threads, 0);
        for mut child in children {
            child.kill().await.unwrap();
        }
        assert_eq!(Handle::current().metrics().blocking_threads, 0);
    });
}

#[test]
fn two_hundred_children_at_once_leave_no_zombies() {
    run(|| async {
        // A half is waited for by tasks of their own, the other is dropped while it runs.
        let mut ids = Vec::new();
        let tasks: Vec<_> = (0..100)
            .map(|i| {
                let mut child = shell(&format!("exit {}", i % 7)).spawn().unwrap();
                ids.push(child.id().unwrap());
                windlass_runtime::spawn(async move { (i, child.wait().await.unwrap().code()) })
            })
            .collect();
        let mut children: Vec<Child> =
            (0..100).map(|_| Command::new("cat").stdin(Stdio::piped()).spawn().unwrap()).collect();
        ids.extend(children.iter().map(|child| child.id().unwrap()));
        let inputs: Vec<_> = children.iter_mut().map(|child| child.stdin.take()).collect();
        drop(children);
        drop(inputs);
        for task in tasks {
            let (i, code) = task.await.unwrap();
            assert_eq!(code, Some(i % 7));
        }
        ids.into_iter().for_each(gone);
    });
}

#[test]
fn a_shutdown_ends_the_wait_and_the_child_is_waited_for_later() {
    within_deadline(|| {
        let (first, second) = (runtime(), runtime());
        let mut child = {
            let _entered = first.handle().enter();
            Command::new("cat").stdin(Stdio::piped()).spawn().unwrap()
        };
        let (id, stdin) = (child.id().unwrap(), child.stdin.take());
        assert!(first.block_on(async { poll_once(&mut Box::pin(child.wait())).await.is_none() }));
        assert!(first.shutdown(common::DEADLINE).is_clean());
        assert!(second.block_on(child.wait()).is_err());
        // Another runtime does it.
        assert!(second.block_on(async { poll_once(&mut Box::pin(child.wait())).await.is_none() }));
        // Dropped, it has no runtime to wait for it; the next child that is started takes care of it.
        drop(child);
        drop(stdin);
        wait_until("the child was waited for", || {
            assert!(second.block_on(shell("exit 0").status()).unwrap().success());
            !is_known(id)
        });
    });
}

#[test]
fn settings_reach_the_child() {
    run(|| async {
        let dir = TempDir::new();
        let path = dir.path("").canonicalize().unwrap();
        let output = shell("echo $A$B$C; pwd")
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("A", "a")
            .envs([("B", "b"), ("C", "c")])
            .env_remove("C")
            .current_dir(&path)
            .output()
            .await
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "ab");
        assert_eq!(lines[1], path.to_str().unwrap());

        let mut child = endless().process_group(0).kill_on_drop(true).spawn().unwrap();
        assert_eq!(group_of(child.id().unwrap()), child.id().unwrap());
        child.kill().await.unwrap();
    });
}

#[test]
fn a_program_that_is_not_there_is_an_error() {
    run(|| async {
        let error = Command::new("windlass-has-no-such-program").spawn().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        let error = Command::new("windlass-has-no-such-program").status().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
    });
}

#[test]
fn a_part_of_the_output_is_read_as_it_comes_and_its_end_is_told() {
    run(|| async {
        let mut script = shell("printf ab; read go; printf cde");
        let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut four = [0; 4];
        let mut read = Box::pin(stdout.read_exact(&mut four));
        assert!(poll_once(&mut read).await.is_none(), "there are two at most");
        stdin.write_all(b"go\n").await.unwrap();
        read.await.unwrap();
        assert_eq!(&four, b"abcd");
        let error = stdout.read_exact(&mut four).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
        assert!(child.wait().await.unwrap().success());
    });
}
