//! Tests of the contract that `mod.rs` lists, for every backend on Unix.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use super::{Events, Selector, raw};
use crate::poller::source::Readiness;

/// Long enough for any machine; never waited for when all is well.
const LONG: Option<Duration> = Some(Duration::from_secs(60));
const AT_ONCE: Option<Duration> = Some(Duration::ZERO);

const FIRST: u64 = 0x0000_0001_0000_0000;
const SECOND: u64 = 0xffff_fffe_0000_0007;

fn pair() -> (UnixStream, UnixStream) {
    let (a, b) = UnixStream::pair().unwrap();
    a.set_nonblocking(true).unwrap();
    b.set_nonblocking(true).unwrap();
    (a, b)
}

fn pipe() -> (File, File) {
    let mut ends = [-1; 2];
    // SAFETY: there is room for two descriptors, and they are ours.
    let ends = unsafe {
        assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
        ends.map(|fd| OwnedFd::from_raw_fd(fd))
    };
    let [reader, writer] = ends.map(File::from);
    (reader, writer)
}

/// All available events of a token, combined.
fn taken(selector: &Selector, token: u64) -> Readiness {
    let mut events = Events::new();
    selector.wait(&mut events, AT_ONCE).unwrap();
    together(&events, token)
}

fn together(events: &Events, token: u64) -> Readiness {
    let mut all = Readiness::default();
    for (_, readiness) in events.iter().filter(|event| event.0 == token) {
        all.read |= readiness.read;
        all.write |= readiness.write;
        all.read_ends |= readiness.read_ends;
        all.broken |= readiness.broken;
    }
    all
}

fn is_readable(fd: BorrowedFd<'_>) -> bool {
    let mut entry = libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: there is one entry.
    let ready = unsafe { libc::poll(&raw mut entry, 1, 0) };
    assert!(ready >= 0);
    ready == 1 && entry.revents & libc::POLLIN != 0
}

#[test]
fn both_directions_are_reported_once_a_change() {
    let selector = Selector::new().unwrap();
    let (mut a, mut b) = pair();
    selector.register(a.as_fd(), FIRST).unwrap();
    selector.register(b.as_fd(), SECOND).unwrap();
    let (first, second) = {
        let mut events = Events::new();
        selector.wait(&mut events, AT_ONCE).unwrap();
        (together(&events, FIRST), together(&events, SECOND))
    };
    assert!(first.write && !first.read && !first.broken, "{first:?}");
    assert_eq!(first, second);

    a.write_all(b"x").unwrap();
    let readable = taken(&selector, SECOND);
    assert!(readable.read && !readable.broken, "{readable:?}");
    assert!(!taken(&selector, SECOND).read, "reported twice");
    a.write_all(b"y").unwrap();
    assert!(taken(&selector, SECOND).read, "a second byte on top of the first is news");
    assert_eq!(b.read(&mut [0; 8]).unwrap(), 2);
}

#[test]
fn a_peer_that_will_send_no_more() {
    let selector = Selector::new().unwrap();
    let (a, b) = pair();
    selector.register(a.as_fd(), FIRST).unwrap();
    taken(&selector, FIRST);
    b.shutdown(std::net::Shutdown::Write).unwrap();
    let ended = taken(&selector, FIRST);
    assert!(ended.read && ended.read_ends, "{ended:?}");
}

#[test]
fn a_peer_that_has_gone_breaks_both_directions() {
    let selector = Selector::new().unwrap();
    let (a, b) = pair();
    selector.register(a.as_fd(), FIRST).unwrap();
    taken(&selector, FIRST);
    drop(b);
    let gone = taken(&selector, FIRST);
    assert!(gone.broken || (gone.read_ends && gone.write), "{gone:?}");
}

#[test]
fn the_ends_of_a_pipe() {
    let selector = Selector::new().unwrap();
    let (reader, mut writer) = pipe();
    selector.register(reader.as_fd(), FIRST).unwrap();
    selector.register(writer.as_fd(), SECOND).unwrap();
    let mut events = Events::new();
    selector.wait(&mut events, AT_ONCE).unwrap();
    assert!(together(&events, SECOND).write);
    assert!(!together(&events, FIRST).read);
    writer.write_all(b"x").unwrap();
    assert!(taken(&selector, FIRST).read);
    selector.deregister(raw(writer.as_fd()));
    drop(writer);
    let ended = taken(&selector, FIRST);
    assert!(ended.broken || ended.read_ends, "{ended:?}");

    // One whose other end has already gone. The caller has to make the write that would show it.
    let (reader, writer) = pipe();
    drop(reader);
    selector.register(writer.as_fd(), SECOND).unwrap();
    selector.deregister(raw(writer.as_fd()));
}

#[test]
fn a_descriptor_is_taken_once() {
    let selector = Selector::new().unwrap();
    let (a, mut b) = pair();
    selector.register(a.as_fd(), FIRST).unwrap();
    let error = selector.register(a.as_fd(), SECOND).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    b.write_all(b"x").unwrap();
    assert!(taken(&selector, FIRST).read, "the second attempt has taken the place of the first");
    selector.deregister(raw(a.as_fd()));
    selector.register(a.as_fd(), SECOND).unwrap();
    assert!(taken(&selector, SECOND).read);
}

#[test]
fn what_has_no_readiness_is_refused() {
    let selector = Selector::new().unwrap();
    let file = File::open(std::env::current_exe().unwrap()).unwrap();
    let directory = File::open(std::env::temp_dir()).unwrap();
    for descriptor in [file, directory] {
        let error = selector.register(descriptor.as_fd(), FIRST).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EPERM));
    }
}

#[test]
fn no_event_comes_of_what_was_taken_off() {
    let selector = Selector::new().unwrap();
    let (a, mut b) = pair();
    selector.register(a.as_fd(), FIRST).unwrap();
    b.write_all(b"x").unwrap();
    selector.deregister(raw(a.as_fd()));
    selector.deregister(raw(a.as_fd()));
    let mut events = Events::new();
    selector.wait(&mut events, AT_ONCE).unwrap();
    assert_eq!(events.iter().count(), 0);
}

/// Waits, and returns true if there were events.
fn wait(selector: &Selector, timeout: Option<Duration>) -> bool {
    let mut events = Events::new();
    selector.wait(&mut events, timeout).unwrap();
    events.iter().next().is_some()
}

#[test]
fn a_wait_ends_with_a_kick_or_with_events() {
    let selector = Selector::new().unwrap();
    selector.kick();
    selector.kick();
    assert!(!wait(&selector, None), "kicks are kept, and are no events");
    for _ in 0..1000 {
        std::thread::scope(|scope| {
            scope.spawn(|| selector.kick());
            assert!(!wait(&selector, None));
        });
    }
    let (mut a, b) = pair();
    selector.register(b.as_fd(), FIRST).unwrap();
    taken(&selector, FIRST);
    std::thread::scope(|scope| {
        scope.spawn(|| a.write_all(b"x").unwrap());
        while !wait(&selector, LONG) {}
    });
}

#[test]
fn its_descriptor_is_readable_when_a_wait_would_return() {
    let selector = Selector::new().unwrap();
    let (mut a, b) = pair();
    selector.register(b.as_fd(), FIRST).unwrap();
    taken(&selector, FIRST);
    assert!(!is_readable(selector.descriptor()));
    a.write_all(b"x").unwrap();
    assert!(is_readable(selector.descriptor()));
    assert!(taken(&selector, FIRST).read);
    assert!(!is_readable(selector.descriptor()));
    selector.kick();
    assert!(is_readable(selector.descriptor()));
    assert!(!wait(&selector, LONG));
    assert!(!is_readable(selector.descriptor()));
}

#[test]
fn a_wait_is_never_too_short() {
    let selector = Selector::new().unwrap();
    for micros in [1, 50, 999, 1000, 1001, 2500] {
        let time = Duration::from_micros(micros);
        let since = Instant::now();
        assert!(!wait(&selector, Some(time)));
        assert!(since.elapsed() >= time, "{:?} for {time:?}", since.elapsed());
    }
}

#[test]
fn the_alarm_makes_its_descriptor_readable_and_can_be_taken_back() {
    let selector = Selector::new().unwrap();
    let readable = || is_readable(selector.descriptor());
    selector.alarm(None).unwrap();
    for micros in [0, 1500] {
        let (time, since) = (Duration::from_micros(micros), Instant::now());
        selector.alarm(Some(Duration::from_secs(3600))).unwrap();
        assert!(!readable());
        selector.alarm(Some(time)).unwrap();
        while !readable() {
            assert!(since.elapsed() < LONG.unwrap());
            std::thread::yield_now();
        }
        assert!(since.elapsed() >= time);
        // With a time-out, a kernel without `epoll_pwait2` would time this wait by the same alarm, and cancel the old
        // one.
        assert!(!wait(&selector, None));
        selector.alarm(None).unwrap();
        assert!(!readable());
    }
    selector.alarm(Some(Duration::MAX)).unwrap();
    assert!(!readable());
}

#[test]
fn a_time_out_longer_than_the_os_takes_is_cut() {
    let selector = Selector::new().unwrap();
    for time in [Duration::MAX, Duration::from_secs(u64::from(u32::MAX))] {
        std::thread::scope(|scope| {
            scope.spawn(|| selector.kick());
            assert!(!wait(&selector, Some(time)));
        });
    }
}
