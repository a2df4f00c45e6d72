//! Which types and futures may go to other threads.

mod common;

use hyper::service::service_fn;
use windlass_hyper::server::{Error, Http};
use windlass_hyper::{Connector, Executor, FuturesIo, Io, Timer};
use windlass_net::{OwnedReadHalf, OwnedWriteHalf, TcpStream};
use windlass_sync::CancellationToken;

const fn both<T: Send + Sync + 'static>() {}

const _: () = {
    both::<Io<TcpStream>>();
    both::<Io<OwnedReadHalf<TcpStream>>>();
    both::<Io<OwnedWriteHalf<TcpStream>>>();
    both::<FuturesIo<TcpStream>>();
    both::<Executor>();
    both::<Timer>();
    both::<Connector>();
    both::<Http>();
    both::<Error>();
};

fn sent<T: Send>(_: &T) {}

#[test]
fn a_connection_can_be_spawned() {
    common::run(|| async {
        let (_client, server) = common::tcp_pair().await;
        let (http, drain) = (Http::new(), CancellationToken::new());
        sent(&http.serve_connection(Io::new(server), service_fn(common::hello), &drain));
    });
}
