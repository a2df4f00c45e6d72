//! The system has no descriptor left for anybody (`ENFILE`): accepting fails, and loses nothing.
#![cfg(target_os = "linux")]

mod common;
#[path = "common/seccomp.rs"]
mod seccomp;

use common::{os, poll_once, runtime, within_deadline};
use windlass_net::{TcpListener, TcpStream};

#[test]
fn accept_reports_a_full_system_without_spinning_and_goes_on_later() {
    within_deadline(|| {
        let runtime = runtime();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let client = runtime.block_on(TcpStream::connect(address)).unwrap();

        // The thread that asks is the one that is refused; the others find the system as it is.
        std::thread::scope(|scope| {
            scope.spawn(|| {
                seccomp::refuse(&[libc::SYS_accept4], libc::ENFILE);
                runtime.block_on(async {
                    for _ in 0..3 {
                        let refused = listener.accept().await.unwrap_err();
                        assert_eq!(refused.raw_os_error(), Some(libc::ENFILE));
                    }
                });
            });
        });
        // One that spins uses all of it each time.
        let rests = (0..10).any(|_| {
            let before = os::cpu_micros();
            std::thread::sleep(std::time::Duration::from_millis(100));
            os::cpu_micros() - before < 50_000
        });
        assert!(rests, "it uses CPU time while nobody asks");

        let (_server, peer) = runtime.block_on(listener.accept()).unwrap();
        assert_eq!(peer, client.local_addr().unwrap());
        runtime.block_on(async {
            let mut next = Box::pin(listener.accept());
            assert!(poll_once(&mut next).await.is_none(), "there was one connection");
        });
    });
}
