//! Child processes: they inherit nothing of a runtime that they could disturb. One test, because it
//! looks at the whole process.
#![cfg(target_os = "linux")]

mod common;

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use common::{os, runtime, within_deadline};
use windlass_net::unix::{UnixStream, pipe};
use windlass_net::{OsEvent, TcpListener, TcpStream, UdpSocket};
use windlass_runtime::timer::sleep;

#[test]
fn children_inherit_no_descriptor_and_a_fork_disturbs_nobody() {
    within_deadline(|| {
        let before = descriptors_of_a_child();
        let runtime = runtime();
        let mut tasks = windlass_runtime::Builder::new().build_manual().unwrap();
        let waits = tasks.spawn_local(sleep(Duration::from_secs(3600)));
        tasks.ready_tasks(None).unwrap().for_each(windlass_runtime::manual::Runnable::run);
        assert!(!waits.is_finished(), "the loop has an alarm");
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            let client = Arc::new(client);
            let (server, _) = listener.accept().await.unwrap();
            let _others = (
                UdpSocket::bind("127.0.0.1:0").await.unwrap(),
                pipe().unwrap(),
                UnixStream::pair().unwrap(),
                OsEvent::new(false).unwrap(),
            );
            assert_eq!(descriptors_of_a_child(), before);
            for round in 0..10_u8 {
                // The reader waits while a copy of everything that it waits with is closed elsewhere.
                let reading = windlass_runtime::spawn({
                    let client = client.clone();
                    async move {
                        let mut byte = [0];
                        client.read_exact(&mut byte).await.unwrap();
                        byte[0]
                    }
                });
                assert_eq!(os::fork_and_close_everything(), 0);
                server.write_all(&[round]).await.unwrap();
                assert_eq!(reading.await.unwrap(), round);
                sleep(Duration::from_micros(100)).await;
            }
        });
    });
}

/// Lists the descriptors that a program finds open when it is executed, and that of the list itself.
fn descriptors_of_a_child() -> String {
    let mut child = Command::new("ls")
        .arg("/proc/self/fd")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut listed = String::new();
    child.stdout.take().unwrap().read_to_string(&mut listed).unwrap();
    assert!(child.wait().unwrap().success());
    listed
}
