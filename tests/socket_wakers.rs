//! Hand-made wakers of sockets that panic, when they are cloned, called or dropped: whichever thread it happens on, it
//! goes on with everything else.

mod util;

use std::future::Future;
use std::io;
use std::mem::ManuallyDrop;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};
use std::time::Duration;

use util::{Count, PATIENCE, text_of, throw, wait_for};
use windlass::net::UdpSocket;
use windlass::timer::{sleep, timeout};
use windlass::{Builder, Runtime};

type Receiving = Pin<Box<dyn Future<Output = io::Result<usize>> + Send>>;

/// A socket that waits for a datagram, and its address.
fn receiving(runtime: &Runtime) -> (Receiving, SocketAddr) {
    let socket = runtime.block_on(UdpSocket::bind("127.0.0.1:0")).unwrap();
    let address = socket.local_addr().unwrap();
    (Box::pin(async move { socket.recv(&mut [0; 8]).await }), address)
}

fn send(addresses: &[SocketAddr]) {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    for address in addresses {
        socket.send_to(&[1], address).unwrap();
    }
}

/// Tasks run, timers fire and sockets deliver.
fn everything_goes_on(runtime: &Runtime) {
    let task = runtime.spawn(async {
        sleep(Duration::from_millis(1)).await;
        let socket = UdpSocket::bind("127.0.0.1:0").await?;
        socket.send_to(&[7], socket.local_addr()?).await?;
        let mut byte = [0];
        timeout(PATIENCE, socket.recv(&mut byte)).await.expect("a datagram")?;
        windlass::spawn(async move { io::Result::Ok(byte[0]) }).await.unwrap()
    });
    assert_eq!(wait_for(task).unwrap().unwrap(), 7);
}

/// On workers, and in virtual time on the poller's thread, which then calls all wakers.
fn for_each_thread(check: impl Fn(&Runtime)) {
    let lone = || Builder::new().workers(1).max_spares(0);
    for builder in [lone(), lone().workers(4), lone().virtual_time()] {
        check(&builder.build().unwrap());
    }
}

/// A waker that counts its calls, and panics in each of the functions of the vtable that does.
fn hand_made(vtable: &'static RawWakerVTable, woken: &Count) -> ManuallyDrop<Waker> {
    // For the rest of the process, because nothing tells when the last clone of such a waker has gone. In a static, so
    // that a leak checker knows it is meant to stay.
    static KEPT: Mutex<Vec<&'static Count>> = Mutex::new(Vec::new());
    let woken: &'static Count = Box::leak(Box::new(woken.clone()));
    KEPT.lock().unwrap().push(woken);
    // SAFETY: the data is a `Count` that is never freed and may be used by any thread, and the functions of the vtables
    // do nothing else with it.
    ManuallyDrop::new(unsafe { Waker::new(std::ptr::from_ref(woken).cast(), vtable) })
}

static EXPLOSIVE: RawWakerVTable = RawWakerVTable::new(
    |data| RawWaker::new(data, &EXPLOSIVE),
    woken,
    woken,
    |_| throw("in a waker's drop"),
);
static EXPLOSIVE_CLONE: RawWakerVTable =
    RawWakerVTable::new(|_| throw("in a waker's clone"), woken, woken, |_| ());

fn woken(data: *const ()) {
    // SAFETY: `hand_made` is the only one that makes wakers of these vtables.
    let woken = unsafe { &*data.cast::<Count>() };
    woken.add();
    throw("in a waker");
}

fn poll(runtime: &Runtime, receiving: &mut Receiving, waker: &Waker) -> Poll<io::Result<usize>> {
    let _entered = runtime.enter();
    receiving.as_mut().poll(&mut Context::from_waker(waker))
}

#[test]
fn a_waker_that_panics_when_it_is_called_spares_those_behind_it() {
    for_each_thread(|runtime| {
        let called = Count::new();
        let waker = hand_made(&EXPLOSIVE, &called);
        let (mut bad, mut addresses): (Vec<_>, Vec<_>) = (0..4).map(|_| receiving(runtime)).unzip();
        for receiving in &mut bad {
            assert!(poll(runtime, receiving, &waker).is_pending());
        }
        let (good, address) = receiving(runtime);
        let good = runtime.spawn(good);
        addresses.push(address);
        // In one poll, so that all of it comes with one look at the OS.
        wait_for(runtime.spawn(async move { send(&addresses) })).unwrap();
        called.wait_for(4);
        assert_eq!(wait_for(good).unwrap().unwrap(), 1);
        everything_goes_on(runtime);
        for receiving in bad {
            assert_eq!(wait_for(receiving).unwrap(), 1);
        }
        assert_eq!(called.get(), 4);
    });
}

#[test]
fn a_waker_that_panics_when_it_is_cloned_panics_for_its_owner_alone() {
    for_each_thread(|runtime| {
        let called = Count::new();
        let waker = hand_made(&EXPLOSIVE_CLONE, &called);
        let (mut receiving, address) = receiving(runtime);
        let polled = catch_unwind(AssertUnwindSafe(|| poll(runtime, &mut receiving, &waker)));
        assert_eq!(text_of(&*polled.unwrap_err()), "in a waker's clone");
        send(&[address]);
        everything_goes_on(runtime);
        drop(receiving);
        everything_goes_on(runtime);
        assert_eq!(called.get(), 0);
    });
}

#[test]
fn a_waker_that_panics_when_it_is_dropped_is_survived() {
    for_each_thread(|runtime| {
        let called = Count::new();
        let waker = hand_made(&EXPLOSIVE, &called);
        let waiting = || {
            let (mut receiving, address) = receiving(runtime);
            assert!(poll(runtime, &mut receiving, &waker).is_pending());
            (receiving, address)
        };
        // When another takes its place, and when nobody waits any more. Whether the panic comes out is not promised.
        let (mut replaced, address) = waiting();
        let again = || poll(runtime, &mut replaced, Waker::noop());
        let _ = catch_unwind(AssertUnwindSafe(again));
        send(&[address]);
        everything_goes_on(runtime);
        drop(replaced);
        let (cancelled, _) = waiting();
        let _ = catch_unwind(AssertUnwindSafe(|| drop(cancelled)));
        everything_goes_on(runtime);
        assert_eq!(called.get(), 0);
        // And when it is called.
        let (called_at_last, address) = waiting();
        send(&[address]);
        called.wait_for(1);
        everything_goes_on(runtime);
        assert_eq!(wait_for(called_at_last).unwrap(), 1);
    });
}
