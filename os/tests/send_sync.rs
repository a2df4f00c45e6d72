//! What may be sent to and shared with other threads.

use windlass_os::{fs, io, process, signal};

fn send<T: Send>() {}
fn sync<T: Sync>() {}
fn send_value<T: Send>(_: T) {}

#[test]
fn public_types() {
    macro_rules! both {
        ($($type:ty),* $(,)?) => {$(send::<$type>(); sync::<$type>();)*};
    }
    both!(fs::File, fs::OpenOptions, fs::DirBuilder, fs::DirEntry, fs::ReadDir);
    both!(process::Command, process::Child);
    both!(process::ChildStdin, process::ChildStdout, process::ChildStderr);
    both!(io::Stdin, io::Stdout, io::Stderr, io::CopyOptions, signal::CtrlC, signal::Termination);
    #[cfg(unix)]
    both!(signal::unix::Signal, signal::unix::SignalKind);
}

#[test]
fn futures() {
    send_value(fs::read("x"));
    send_value(fs::write("x", "y"));
    send_value(fs::File::open("x"));
    let file = |file: &'static fs::File| {
        send_value(file.read(&mut []));
        send_value(file.write_all(&[]));
        send_value(file.read_at(&mut [], 0));
    };
    let child = |child: &'static mut process::Child| send_value(child.wait());
    let output = |child: process::Child| send_value(child.wait_with_output());
    let streams = |input: &'static io::Stdin, out: &'static io::Stdout| {
        send_value(input.read(&mut []));
        send_value(out.write_all(&[]));
    };
    let _ = (file, child, output, streams);
    let copying = |a: &'static mut windlass_net::TcpStream, b| {
        let b: &'static mut windlass_net::TcpStream = b;
        send_value(io::copy_bidirectional(a, b));
    };
    let _ = copying;
}
