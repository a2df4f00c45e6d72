//! `#[windlass::main]` and `#[windlass::test]` as users meet them.
//!
//! What the attributes refuse is pinned down beside them, in `macros/tests/errors.rs`.

use std::cell::Cell;
use std::fmt::Display;
use std::num::ParseIntError;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[windlass::test]
async fn a_test_can_spawn_and_await() {
    assert_eq!(windlass::spawn(async { 6 * 7 }).await.unwrap(), 42);
}

#[windlass::test]
async fn a_test_may_hold_what_is_not_send() {
    let cell = Rc::new(Cell::new(1));
    windlass::yield_now().await;
    cell.set(cell.get() + 1);
    assert_eq!(cell.get(), 2);
}

#[windlass::test]
async fn a_test_may_return_a_result_and_use_the_question_mark() -> Result<(), ParseIntError> {
    let number: u32 = "17".parse()?;
    assert_eq!(number, 17);
    Ok(())
}

#[windlass::test]
async fn errors_of_all_kinds_meet_in_a_boxed_one() -> Result<(), Box<dyn std::error::Error>> {
    let number: u32 = windlass::spawn(async { "17".parse() }).await??;
    assert_eq!(number, 17);
    Ok(())
}

#[windlass::test]
#[should_panic(expected = "as promised")]
async fn should_panic_below_the_attribute_is_kept() {
    panic!("as promised");
}

#[should_panic(expected = "as promised")]
#[windlass::test]
async fn should_panic_above_the_attribute_is_kept() {
    panic!("as promised");
}

#[windlass::test]
#[should_panic]
async fn a_failed_assertion_after_an_await_fails_the_test() {
    windlass::yield_now().await;
    assert_eq!(windlass::spawn(async { 1 }).await.unwrap(), 2);
}

#[windlass::test]
#[ignore = "must not run: it proves that `ignore` is kept"]
async fn ignore_is_kept() {
    panic!("this test is ignored");
}

#[windlass::test(workers = 1, thread_name = "shuttle")]
async fn options_shape_the_runtime_of_a_test() {
    assert!(worker_name().await.starts_with("shuttle"));
}

/// The name of the thread that a spawned task runs on.
async fn worker_name() -> String {
    let name = async { std::thread::current().name().unwrap_or_default().to_owned() };
    windlass::spawn(name).await.unwrap()
}

mod programs {
    use super::*;

    #[windlass::main]
    pub(super) async fn returns_a_value() -> u32 {
        windlass::spawn(async { 3 }).await.unwrap() + 4
    }

    #[windlass::main(workers = 2, thread_name = "web")]
    pub(super) async fn named() -> String {
        worker_name().await
    }

    #[windlass::main]
    pub(super) async fn leaves_early() -> Result<u32, ParseIntError> {
        if "x".parse::<u32>()? == 0 {
            return Ok(0);
        }
        unreachable!("an `x` is not a number")
    }

    #[windlass::main]
    pub(super) async fn coerces() -> Box<dyn Display> {
        Box::new(5)
    }

    #[windlass::main]
    pub(super) async fn hides_its_type() -> impl Display {
        "opaque"
    }

    thread_local! {
        pub(super) static LEFT_BEHIND: Arc<AtomicBool> = Arc::default();
    }

    /// Returns while a task of its runtime waits for what never comes.
    #[windlass::main]
    pub(super) async fn leaves_a_task_behind() {
        struct SetOnDrop(Arc<AtomicBool>);

        impl Drop for SetOnDrop {
            fn drop(&mut self) {
                self.0.store(true, Ordering::SeqCst);
            }
        }

        let guard = SetOnDrop(LEFT_BEHIND.with(Arc::clone));
        drop(windlass::spawn(async move {
            std::future::pending::<()>().await;
            drop(guard);
        }));
    }
}

#[test]
fn main_returns_what_the_function_returns() {
    assert_eq!(programs::returns_a_value(), 7);
    assert!(programs::leaves_early().is_err());
    assert_eq!(programs::coerces().to_string(), "5");
    assert_eq!(programs::hides_its_type().to_string(), "opaque");
}

#[test]
fn main_takes_options() {
    assert!(programs::named().starts_with("web"));
}

#[test]
fn main_shuts_its_runtime_down_when_it_returns() {
    programs::leaves_a_task_behind();
    assert!(programs::LEFT_BEHIND.with(|dropped| dropped.load(Ordering::SeqCst)));
}

/// As a crate would do that offers windlass under a name of its own.
mod framework {
    pub(crate) mod rt {
        pub(crate) use windlass::{Builder, Runtime};
    }
}

#[windlass::test(crate = "crate::framework::rt")]
async fn a_test_finds_windlass_under_another_path() {
    windlass::yield_now().await;
}

#[windlass::main(crate = "self::framework::rt")]
async fn found_under_another_path() -> u32 {
    8
}

#[test]
fn main_finds_windlass_under_another_path() {
    assert_eq!(found_under_another_path(), 8);
}

/// Everything comes through a macro here, so that tokens arrive in invisible groups.
macro_rules! generated_test {
    ($visibility:vis $name:ident, $workers:literal, $returns:ty, $body:block) => {
        #[windlass::test(workers = $workers)]
        $visibility async fn $name() -> $returns $body
    };
}

generated_test!(a_test_may_come_out_of_a_macro, 1, Result<(), ParseIntError>, {
    windlass::yield_now().await;
    "4".parse::<u8>().map(drop)
});

generated_test!(pub(crate) a_public_test_may_come_out_of_a_macro, 2, (), {
    windlass::yield_now().await;
});
