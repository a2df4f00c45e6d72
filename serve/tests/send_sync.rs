//! Which types and futures may go to other threads.

use windlass_net::{TcpListener, TcpStream};
use windlass_serve::{Drain, DrainReport, Hold, Switch};

const fn both<T: Send + Sync + 'static>() {}
const fn sent<T: Send + 'static>() {}

const _: () = {
    both::<Switch>();
    both::<Hold>();
    both::<DrainReport>();
    sent::<Drain>();
};

fn sent_value<T: Send + 'static>(_: &T) {}

#[test]
fn a_server_can_be_spawned() {
    windlass_runtime::block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let serving = Drain::new().serve(listener, |stream: TcpStream, _, _| async move {
            drop(stream);
        });
        sent_value(&serving);
    });
}
