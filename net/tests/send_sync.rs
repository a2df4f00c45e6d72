//! Which types and futures may go to other threads.

use std::net::SocketAddr;
use std::panic::{RefUnwindSafe, UnwindSafe};

use windlass_net::{
    Addresses, Async, Incoming, Keepalive, Lookup, OsEvent, OwnedReadHalf, OwnedWriteHalf,
    ReadHalf, ReadyGuard, ReuniteError, TcpListener, TcpSocket, TcpStream, UdpSocket, WriteHalf,
};

/// And what may be used again after a panic went by: no operation of theirs leaves anything half done.
const fn both<T: Send + Sync + UnwindSafe + RefUnwindSafe + 'static>() {}
const fn borrowed<T: Send + Sync + UnwindSafe + RefUnwindSafe>() {}

const _: () = {
    both::<TcpListener>();
    both::<TcpStream>();
    both::<TcpSocket>();
    both::<Keepalive>();
    both::<UdpSocket>();
    both::<Async<std::net::TcpStream>>();
    both::<OsEvent>();
    both::<Addresses>();
    both::<Lookup>();
    both::<OwnedReadHalf<TcpStream>>();
    both::<OwnedWriteHalf<TcpStream>>();
    both::<ReuniteError<TcpStream>>();
    borrowed::<ReadyGuard<'_>>();
    borrowed::<ReadHalf<'_, TcpStream>>();
    borrowed::<WriteHalf<'_, TcpStream>>();
    borrowed::<Incoming<'_, TcpListener>>();
};

#[cfg(unix)]
const _: () = {
    use windlass_net::unix::pipe::{Receiver, Sender};
    use windlass_net::unix::{Credentials, UnixDatagram, UnixListener, UnixSocket, UnixStream};

    both::<UnixListener>();
    both::<UnixStream>();
    both::<UnixDatagram>();
    both::<UnixSocket>();
    both::<Credentials>();
    both::<Sender>();
    both::<Receiver>();
    both::<Async<std::fs::File>>();
    both::<OwnedReadHalf<UnixStream>>();
    both::<OwnedWriteHalf<UnixStream>>();
    borrowed::<WriteHalf<'_, UnixStream>>();
    borrowed::<Incoming<'_, UnixListener>>();
};

#[cfg(windows)]
const _: () = {
    both::<windlass_net::WaitHandle<std::process::Child>>();
};

fn send<F: Future + Send>(_: F) {}

/// Compiling is the test.
#[test]
fn futures_can_be_spawned() {
    fn table(tcp: &TcpStream, listener: &TcpListener, udp: &UdpSocket, event: &OsEvent) {
        let (mut buf, mut vec) = ([0; 4], Vec::new());
        send(TcpStream::connect("a:1"));
        send(TcpListener::bind("a:1"));
        send(windlass_net::resolve(("a", 1)));
        send(listener.accept());
        send(listener.incoming().next());
        send(tcp.read(&mut buf));
        send(tcp.read_exact(&mut buf));
        send(tcp.read_to_end(&mut vec));
        send(tcp.read_vectored(&mut []));
        send(tcp.peek(&mut buf));
        send(tcp.write(&buf));
        send(tcp.write_all(&buf));
        send(tcp.write_vectored(&[]));
        send(tcp.readable());
        send(tcp.writable());
        send(udp.send_to(&buf, SocketAddr::from(([0; 4], 1))));
        send(udp.recv_from(&mut buf));
        send(event.wait());
    }
    let _ = table;
    #[cfg(unix)]
    send(windlass_net::unix::UnixStream::connect("a"));
    #[cfg(windows)]
    fn windows(process: &windlass_net::WaitHandle<std::process::Child>) {
        send(process.wait());
    }
    #[cfg(windows)]
    let _ = windows;
}
