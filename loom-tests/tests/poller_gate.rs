//! Events reach who waits for them, whoever sits on the OS, stands guard or relies on the gate. Here the
//! OS is a stand-in and everything above it is the real thing: sources, seat, guard, gate and the poller's
//! thread. An event that nobody harvests shows as a deadlock, for the pool is closed by the task that waits
//! for it and by nobody else.
#![cfg(loom)]

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

use loom::thread;
use windlass_loom_tests::{Poison, check, check_large};
use windlass_runtime::model::{Pipe, Pool, Reader};
use windlass_sync::Parker;

#[global_allocator]
static POISON: Poison = Poison;

/// A pool with a task that waits for a pipe, polled once and idle. It calls `then` when it has read.
fn waiting(pool: &Pool, reader: Reader, then: impl FnOnce(&Pool) + Send + 'static) {
    let home = pool.clone();
    drop(pool.spawn(async move {
        // Sends the worker home that polls it first.
        home.retire(0);
        reader.read().await;
        then(&home);
    }));
    pool.occupy(0).work();
}

fn close(pool: &Pool) {
    loom::skip_branch();
    pool.close();
}

/// Waits for a pipe that is written to only then, on the current thread.
fn read_late(reader: &Reader, pipe: &Pipe) {
    let mut read = pin!(reader.read());
    let first = read.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(first.is_pending());
    pipe.write();
    windlass_sync::block_on(read);
}

/// Starts workers and the poller's thread.
fn start(pool: &Pool, workers: usize) -> Vec<thread::JoinHandle<()>> {
    pool.start_poller();
    let places = (0..workers).map(|index| pool.occupy(index)).collect::<Vec<_>>();
    places.into_iter().map(|place| thread::spawn(move || place.work())).collect()
}

/// Property: an event that comes while the only worker falls asleep, sits down or gets up reaches the
/// task.
///
/// Seen to fail with: no fence in `Worker::sleep`. (Not without the gate or the guard: whoever falls asleep
/// last takes the seat.)
#[test]
fn an_event_comes_while_the_worker_falls_asleep() {
    check(2, || {
        let pool = Pool::new(1, 0);
        let pipe: Pipe = pool.pipe(1);
        waiting(&pool, pipe.register(), close);
        let workers = start(&pool, 1);
        pipe.write();
        for worker in workers {
            worker.join().unwrap();
        }
        assert!(pool.is_over());
    });
}

/// Property: an event that comes while one worker parks and another looks at the OS, or sits, reaches the
/// task.
///
/// Seen to fail with: a `see_to_it` that does not tell the worker it wakes to harvest (that leaves it to the
/// other, and there is no end to it).
#[test]
fn an_event_comes_while_one_parks_and_another_looks() {
    check_large(1, || {
        let pool = Pool::new(2, 0);
        let pipe: Pipe = pool.pipe(1);
        waiting(&pool, pipe.register(), close);
        let workers = start(&pool, 2);
        pipe.write();
        for worker in workers {
            worker.join().unwrap();
        }
        assert!(pool.is_over());
    });
}

/// Property: the worker that was in the seat is stuck in the task its event was for; the next event reaches
/// its task all the same, by the guard and the other worker.
///
/// Seen to fail with: as above. (Not with a `want_guard` that does nothing: it takes more preemptions than
/// this model has until nobody but the guard is left.)
#[test]
fn the_worker_from_the_seat_gets_stuck_while_the_next_event_comes() {
    check_large(1, || {
        let pool = Pool::new(2, 0);
        let pipes = [pool.pipe(1), pool.pipe(2)];
        let parker = Parker::new();
        let unparker = parker.unparker();
        waiting(&pool, pipes[0].register(), move |pool| {
            parker.park();
            close(pool);
        });
        waiting(&pool, pipes[1].register(), move |_| unparker.unpark());
        let workers = start(&pool, 2);
        pipes[0].write();
        pipes[1].write();
        for worker in workers {
            worker.join().unwrap();
        }
        assert!(pool.is_over());
    });
}

/// Property: the worker leaves its seat while the thread gives up its guard over those who were awake, because
/// somebody sits; the next event reaches who waits for it all the same, though the worker is stuck.
///
/// Seen to fail with: no `want_guard`; no fence in `Timers::leave`, on which it rests; no fence in the thread's
/// loop, or no gate armed after it; a `leave` that says late that nobody sits.
#[test]
fn the_seat_is_left_while_the_guard_is_given_up() {
    check(2, || {
        loom::stop_exploring();
        let pool = Pool::new(1, 0);
        let pipes = [pool.pipe(1), pool.pipe(2)];
        let (stuck, heard) = (Parker::new(), Parker::new());
        let (in_poll, go_on) = (stuck.unparker(), heard.unparker());
        waiting(&pool, pipes[0].register(), move |pool| {
            in_poll.unpark();
            heard.park();
            close(pool);
        });
        // Waits on a thread of its own: nobody but the poller's thread is left to tell it.
        let reader = pipes[1].register();
        let workers = start(&pool, 1);
        while !(pool.is_seated() && pool.shut_gate()) {
            thread::yield_now();
        }
        loom::explore();
        pool.want_guard();
        pipes[0].write();
        stuck.park();
        read_late(&reader, &pipes[1]);
        loom::skip_branch();
        drop(reader);
        go_on.unpark();
        for worker in workers {
            worker.join().unwrap();
        }
        assert!(pool.is_over());
    });
}

/// Property: while the only worker is stuck, one event after the other reaches who waits for it, for the gate
/// is armed again each time.
///
/// Seen to fail with: `gate_fired` that leaves `armed` as it is; a thread that does not arm the gate at the end
/// of its loop.
#[test]
fn events_come_one_after_the_other_while_the_worker_is_stuck() {
    check(2, || {
        loom::stop_exploring();
        let pool = Pool::new(1, 0);
        let (stuck, heard) = (Parker::new(), Parker::new());
        let (in_poll, go_on) = (stuck.unparker(), heard.unparker());
        drop(pool.spawn({
            let pool = pool.clone();
            async move {
                in_poll.unpark();
                heard.park();
                close(&pool);
            }
        }));
        let workers = start(&pool, 1);
        stuck.park();
        let pipes = [pool.pipe(1), pool.pipe(2), pool.pipe(3)];
        let readers = pipes.each_ref().map(Pipe::register);
        loom::explore();
        for (pipe, reader) in pipes.iter().zip(&readers) {
            read_late(reader, pipe);
        }
        loom::skip_branch();
        drop(readers);
        go_on.unpark();
        for worker in workers {
            worker.join().unwrap();
        }
        assert!(pool.is_over());
    });
}

/// Property: two workers sleep, one of them in the seat, and that one gets stuck in the task its event was for;
/// the next event reaches its task all the same, by the guard and the other worker.
///
/// Seen to fail with: no `want_guard`.
#[test]
fn the_worker_from_the_seat_gets_stuck_while_the_other_sleeps() {
    check_large(1, || {
        loom::stop_exploring();
        let pool = Pool::new(2, 0);
        let pipes = [pool.pipe(1), pool.pipe(2)];
        let (stuck, heard) = (Parker::new(), Parker::new());
        let (in_poll, go_on) = (stuck.unparker(), heard.unparker());
        waiting(&pool, pipes[0].register(), move |pool| {
            in_poll.unpark();
            heard.park();
            close(pool);
        });
        waiting(&pool, pipes[1].register(), move |_| go_on.unpark());
        let workers = start(&pool, 2);
        while !(pool.sleeping() == 2 && pool.is_seated() && pool.shut_gate()) {
            thread::yield_now();
        }
        loom::explore();
        pipes[0].write();
        stuck.park();
        pipes[1].write();
        for worker in workers {
            worker.join().unwrap();
        }
        assert!(pool.is_over());
    });
}

/// Property: a harvest is handed out once: a worker that is called before it has waited leaves the seat with
/// nothing in its hands.
///
/// Seen to fail with: `dispatch` that does not clear the events.
#[test]
fn a_harvest_is_handed_out_once() {
    check(0, || {
        let pool = Pool::new(1, 0);
        let pipe = pool.pipe(1);
        let reader = pipe.register();
        pipe.write();
        pool.harvest();
        reader.try_read();
        pool.sit_in_vain();
        assert!(reader.is_blank(), "it was told of the same event twice");
    });
}

/// Property: an event of the first source there is reaches who waits for it, though the worker fell asleep
/// when there was nothing to wait for.
///
/// Seen to fail with: a `register` that does not arm the gate for the first source.
#[test]
fn the_first_source_comes_while_the_worker_sleeps() {
    check_large(1, || {
        let pool = Pool::new(1, 0);
        loom::stop_exploring();
        let workers = start(&pool, 1);
        while pool.sleeping() < 1 {
            thread::yield_now();
        }
        loom::explore();
        let pipe = pool.pipe(1);
        let reader = pipe.register();
        let writing = thread::spawn(move || pipe.write());
        // Waits on a thread of its own, so that no task wakes the worker.
        windlass_sync::block_on(reader.read());
        writing.join().unwrap();
        loom::skip_branch();
        drop(reader);
        pool.shut_down();
        for worker in workers {
            worker.join().unwrap();
        }
    });
}

/// Property: an event on its way for a source that goes does not reach the one that gets its place.
///
/// Seen to fail with: `Slab::event` that does not compare the generations.
#[test]
fn an_event_is_on_its_way_while_its_source_goes_and_another_comes() {
    check(3, || {
        let pool = Pool::new(1, 0);
        let old = pool.pipe(1);
        let reader = old.register();
        old.write();
        let harvest = {
            let pool = pool.clone();
            thread::spawn(move || pool.harvest())
        };
        drop(reader);
        let new = pool.pipe(2).register();
        new.try_read();
        harvest.join().unwrap();
        assert!(new.is_blank(), "it has met an event that was not its own");
    });
}
