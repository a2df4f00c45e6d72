//! Sockets that another process has, too: a supervisor, or the process that takes over. A duplicate in this process is
//! the same to the OS.

mod common;

use std::time::Duration;

use common::{ask, echo, run};
use windlass_net::{TcpListener, TcpStream};
use windlass_runtime::spawn;
use windlass_serve::Drain;

/// The drain attached a filter to the socket, which stayed when the descriptor was closed: nobody could connect to the
/// next process that had the socket, for good.
#[test]
fn the_end_of_one_server_does_not_close_a_tcp_socket_for_the_next() {
    run(|| async {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        for _ in 0..3 {
            let listener = TcpListener::from_std(socket.try_clone().unwrap()).unwrap();
            let drain = Drain::new().grace(Duration::ZERO);
            let switch = drain.switch();
            let serving = spawn(drain.serve(listener, echo));
            // The client tries again after a second, so this would wait for two minutes.
            let connected = std::net::TcpStream::connect_timeout(&address, Duration::from_secs(5));
            let client = TcpStream::from_std(connected.unwrap()).unwrap();
            ask(&client).await.unwrap();
            switch.flip();
            assert_eq!(serving.await.unwrap().unwrap().accepted(), 1);
        }
    });
}

#[cfg(unix)]
#[test]
fn a_listener_of_a_socket_that_was_made_elsewhere_may_be_shared() {
    use std::os::fd::AsFd;
    use windlass_net::TcpSocket;

    run(|| async {
        let own = TcpSocket::new_v4().unwrap();
        own.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let duplicate = own.as_fd().try_clone_to_owned().unwrap();
        let other = TcpSocket::from_std_stream(duplicate.into()).unwrap();
        assert!(other.listen(1).unwrap().is_shared());
        assert!(!own.listen(1).unwrap().is_shared());
    });
}

#[cfg(unix)]
#[test]
fn the_end_of_one_server_does_not_close_a_local_socket_for_the_next() {
    use std::os::unix::net as std_net;
    use windlass_net::unix::{UnixListener, UnixStream};

    run(|| async {
        let path = std::env::temp_dir().join(format!("windlass-shared-{}", std::process::id()));
        let socket = std_net::UnixListener::bind(&path).unwrap();
        for _ in 0..3 {
            let listener = UnixListener::from_std(socket.try_clone().unwrap()).unwrap();
            let drain = Drain::new().grace(Duration::ZERO);
            let switch = drain.switch();
            let serving = spawn(drain.serve(listener, |stream, _, _| async move {
                stream.write_all(b"!").await.unwrap();
            }));
            let client = UnixStream::connect(&path).await.unwrap();
            client.read_exact(&mut [0]).await.unwrap();
            switch.flip();
            assert_eq!(serving.await.unwrap().unwrap().accepted(), 1);
        }
        std::fs::remove_file(&path).unwrap();
    });
}

#[test]
fn who_shares_a_socket_can_be_said() {
    run(|| async {
        let mut bound = TcpListener::bind("127.0.0.1:0").await.unwrap();
        assert!(!bound.is_shared());
        bound.set_shared(true);
        assert!(!bound.refuse_new().unwrap(), "another process may have it");
        let client = TcpStream::connect(bound.local_addr().unwrap()).await.unwrap();
        let (_server, peer) = bound.accept().await.unwrap();
        assert_eq!(peer, client.local_addr().unwrap());

        let std = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut alone = TcpListener::from_std(std).unwrap();
        assert!(alone.is_shared());
        alone.set_shared(false);
        assert_eq!(alone.refuse_new().unwrap(), cfg!(target_os = "linux"));
    });
}
