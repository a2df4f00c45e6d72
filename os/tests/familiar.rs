//! Methods of files and commands that std's and tokio's users expect.

use std::fs::FileTimes;
use std::io::ErrorKind;
use std::time::{Duration, SystemTime};

use windlass_os::fs::{self, File};
use windlass_os::process::Command;
use windlass_runtime::block_on;

#[test]
fn a_file_is_rewound_and_read_as_text() {
    let path = std::env::temp_dir().join(format!("windlass-familiar-{}", std::process::id()));
    block_on(async {
        let file = File::create_new(&path).await.unwrap();
        file.write_all("naïve".as_bytes()).await.unwrap();
        file.flush().await.unwrap();
        assert_eq!(file.stream_position().await.unwrap(), 6);
        file.rewind().await.unwrap();
        let mut text = String::from("a ");
        assert_eq!(file.read_to_string(&mut text).await.unwrap(), 6);
        assert_eq!(text, "a naïve");

        // Half of a character is no text, and nothing is appended.
        file.seek(std::io::SeekFrom::Start(3)).await.unwrap();
        let error = file.read_to_string(&mut text).await.unwrap_err();
        assert_eq!((error.kind(), &text[..]), (ErrorKind::InvalidData, "a naïve"));

        let mut word = [0; 4];
        file.read_exact_at(&mut word, 1).await.unwrap();
        assert_eq!(&word, "aïv".as_bytes());
        let error = file.read_exact_at(&mut word, 4).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
        file.write_all_at(b"ni", 2).await.unwrap();
        assert_eq!(fs::read(&path).await.unwrap(), b"nanive");

        let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        file.set_modified(then).await.unwrap();
        assert_eq!(file.metadata().await.unwrap().modified().unwrap(), then);
        file.set_times(FileTimes::new().set_accessed(then)).await.unwrap();
        assert_eq!(file.metadata().await.unwrap().accessed().unwrap(), then);
        fs::remove_file(&path).await.unwrap();
    });
}

#[test]
fn a_command_tells_what_was_set() {
    let mut command = Command::new("ls");
    command.arg("-l").env("LANG", "C").env_remove("TERM").current_dir("/tmp");
    assert_eq!(command.get_program(), "ls");
    assert!(command.get_args().eq(["-l"]));
    assert_eq!(command.get_envs().filter(|(_, value)| value.is_some()).count(), 1);
    assert_eq!(command.get_current_dir(), Some("/tmp".as_ref()));
}

/// What came from std, or was touched through it, inherited both streams: the output went to the terminal, and what was
/// returned was empty.
#[cfg(unix)]
#[test]
fn the_output_of_a_command_of_stds_is_captured() {
    block_on(async {
        let script = ["-c", "echo out; echo err >&2"];
        let mut std = std::process::Command::new("sh");
        std.args(script);
        let from_std = Command::from(std);
        let mut touched = Command::new("sh");
        touched.as_std_mut().args(script);
        for mut command in [from_std, touched] {
            // Twice, because a command can be used again.
            for _ in 0..2 {
                let output = command.output().await.unwrap();
                assert_eq!(
                    (&output.stdout[..], &output.stderr[..]),
                    (&b"out\n"[..], &b"err\n"[..])
                );
            }
        }
        // What is set here holds.
        let mut silent = Command::new("sh");
        silent.as_std_mut().args(script);
        let output = silent.stdout(std::process::Stdio::null()).output().await.unwrap();
        assert_eq!((&output.stdout[..], &output.stderr[..]), (&b""[..], &b"err\n"[..]));
        // And so does the input that std has been given.
        let mut fed = std::process::Command::new("cat");
        let (writer, reader) = windlass_net::unix::pipe().unwrap();
        let reader = reader.into_std().unwrap();
        writer.write_all(b"fed").await.unwrap();
        drop(writer);
        fed.stdin(reader);
        assert_eq!(Command::from(fed).output().await.unwrap().stdout, b"fed");
    });
}

#[cfg(unix)]
#[test]
fn a_command_may_be_started_by_a_function_of_the_callers() {
    block_on(async {
        let mut command = Command::new("sh");
        let mut child = command.spawn_with(|std| std.args(["-c", "exit 7"]).spawn()).unwrap();
        assert_eq!(child.wait().await.unwrap().code(), Some(7));
        let refused = command.spawn_with(|_| Err(ErrorKind::PermissionDenied.into())).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::PermissionDenied);
    });
}

#[cfg(unix)]
#[test]
fn the_pipes_of_a_child_have_descriptors() {
    use std::io::{Read, Write};
    use std::os::fd::{AsFd, AsRawFd};
    use std::process::Stdio;

    block_on(async {
        let mut command = Command::new("cat");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        assert_eq!(input.as_fd().as_raw_fd(), input.as_raw_fd());
        let mut input = std::fs::File::from(input.into_owned_fd().unwrap());
        let mut output = std::fs::File::from(output.into_owned_fd().unwrap());
        let read = std::thread::spawn(move || {
            // Blocks until something comes.
            let mut text = String::new();
            output.read_to_string(&mut text).map(|_| text)
        });
        input.write_all(b"through the cat").unwrap();
        drop(input);
        assert_eq!(read.join().unwrap().unwrap(), "through the cat");
        assert!(child.wait().await.unwrap().success());
    });
}
