//! The list of a runtime's tasks: whatever is in it is reached by its closing.
#![cfg(loom)]

use std::future;

use loom::thread;
use windlass_loom_tests::{Drops, Poison, check, output};
use windlass_runtime::model::Owner;

#[global_allocator]
static POISON: Poison = Poison;

/// Property: a task spawned while the list closes is either refused or cancelled by the closing.
///
/// Seen to fail with: `bind` that does not look at `closed`; `close` that sets `closed` in a
/// critical section of its own after the visit; `close` that drops the `Runnable`s of idle tasks.
#[test]
fn bind_while_the_list_closes() {
    check(4, || {
        let drops = Drops::default();
        let owner = Owner::new();
        let (runnable, mut handle) = owner.task({
            let guard = drops.guard();
            async move {
                let _guard = guard;
                future::pending::<()>().await
            }
        });
        let spawner = {
            let owner = owner.clone();
            thread::spawn(move || owner.bind_and_run(runnable))
        };
        owner.close();
        spawner.join().unwrap();
        owner.run_all();
        assert!(handle.is_finished(), "neither refused nor cancelled");
        assert!(output(&mut handle).is_err_and(|error| error.is_cancelled()));
        assert_eq!(drops.count(), 1);
        assert!(owner.is_over());
    });
}

/// Property: tasks that end while the list closes leave it intact, and the closing touches none
/// that was freed.
///
/// Seen to fail with: `complete` that gives up the owner's reference before it leaves the list;
/// `remove` that does not mend the link of its successor.
#[test]
fn neighbours_end_while_the_list_closes() {
    check(3, || {
        let owner = Owner::new();
        let [first, second] = [(); 2].map(|()| {
            let (runnable, handle) = owner.task(async {});
            drop(handle);
            assert!(owner.bind(&runnable));
            runnable
        });
        let runner = thread::spawn(move || first.run());
        let closer = {
            let owner = owner.clone();
            thread::spawn(move || owner.close())
        };
        second.run();
        runner.join().unwrap();
        closer.join().unwrap();
        owner.run_all();
        assert!(owner.is_over());
    });
}
