//! Spans of tasks, and events for what goes wrong, as a subscriber sees them.
#![cfg(feature = "tracing")]

mod util;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, Once};
use std::time::Duration;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};
use util::{Gate, OpenOnDrop, runtime, wait_for, wait_until};
use windlass::{Builder, task};

/// What was recorded of a span or an event.
#[derive(Clone, Debug, Default)]
struct Fields(HashMap<&'static str, String>);

impl Fields {
    fn is(&self, field: &str, value: &str) -> bool {
        self.0.get(field).is_some_and(|own| own == value)
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }
}

#[derive(Clone, Debug, Default)]
struct Seen {
    target: String,
    fields: Fields,
    entered: usize,
    exited: usize,
    closed: usize,
    is_root: bool,
}

#[derive(Default)]
struct Log {
    spans: Vec<Seen>,
    events: Vec<Seen>,
}

static LOG: Mutex<Option<Log>> = Mutex::new(None);

fn with_log<R>(f: impl FnOnce(&mut Log) -> R) -> R {
    let mut log = LOG.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    f(log.get_or_insert_default())
}

fn with_span(id: &Id, f: impl FnOnce(&mut Seen)) {
    with_log(|log| f(&mut log.spans[id.into_u64() as usize - 1]));
}

struct Recorder;

impl Subscriber for Recorder {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields::default();
        span.record(&mut fields);
        let (target, is_root) = (span.metadata().target().to_owned(), span.is_root());
        with_log(|log| {
            log.spans.push(Seen { target, fields, is_root, ..Seen::default() });
            Id::from_u64(log.spans.len() as u64)
        })
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let target = event.metadata().target().to_owned();
        with_log(|log| log.events.push(Seen { target, fields, ..Seen::default() }));
    }

    fn enter(&self, span: &Id) {
        with_span(span, |span| span.entered += 1);
    }

    fn exit(&self, span: &Id) {
        with_span(span, |span| span.exited += 1);
    }

    fn try_close(&self, span: Id) -> bool {
        with_span(&span, |span| span.closed += 1);
        true
    }
}

fn record() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| tracing::subscriber::set_global_default(Recorder).unwrap());
}

/// The span of the task with this name.
fn span_of(name: &str) -> Option<Seen> {
    let is_it = |span: &&Seen| span.fields.is("task.name", name);
    with_log(|log| log.spans.iter().find(is_it).cloned())
}

/// The first event with this field.
fn event_with(field: &str, value: &str) -> Option<Seen> {
    let is_it = |event: &&Seen| event.fields.is(field, value);
    with_log(|log| log.events.iter().find(is_it).cloned())
}

#[test]
fn each_task_has_a_span_that_is_entered_for_each_poll() {
    record();
    let runtime = runtime(2);
    let future = async { windlass::yield_now().await };
    let task = task::Builder::new().name("two polls").spawn_on(future, runtime.handle());
    let id = task.id().to_string();
    wait_for(task).unwrap();
    wait_until("it is closed", || span_of("two polls").is_some_and(|span| span.closed == 1));
    let span = span_of("two polls").unwrap();
    assert_eq!(span.target, "windlass::task");
    assert!(span.fields.is("task.id", &id), "{span:?}");
    let site = &span.fields.0["task.site"];
    assert!(site.contains("tracing.rs:"), "{site}");
    // Two polls, and the drop of the future.
    assert_eq!((span.entered, span.exited), (3, 3));
    assert!(span.is_root, "{span:?}");
}

#[test]
fn a_panic_is_an_event() {
    record();
    let runtime = runtime(1);
    let task = runtime.spawn(async { util::throw("it went wrong") });
    let id = task.id().to_string();
    assert!(wait_for(task).unwrap_err().is_panic());
    wait_until("it is told", || event_with("panic", "it went wrong").is_some());
    let event = event_with("panic", "it went wrong").unwrap();
    assert!(event.target == "windlass::task" && event.fields.is("task.id", &id), "{event:?}");
}

#[test]
fn a_long_poll_is_an_event() {
    record();
    let builder = Builder::new().workers(2).report_long_polls(Duration::from_millis(10));
    let runtime = builder.build().unwrap();
    let gate = OpenOnDrop(Gate::new());
    let inner = gate.0.clone();
    let task = task::Builder::new().name("stuck");
    let task = task.spawn_on(async move { inner.wait() }, runtime.handle());
    let is_it = |event: &Seen| event.target == "windlass::long_poll";
    wait_until("it is told", || event_with("task.name", "stuck").is_some_and(|it| is_it(&it)));
    let event = event_with("task.name", "stuck").unwrap();
    assert!(event.fields.is("task.id", &task.id().to_string()), "{event:?}");
    assert!(event.fields.0["message"].contains("has not returned from a poll"), "{event:?}");
    gate.0.open();
    wait_for(task).unwrap();
}

#[test]
fn stragglers_of_a_shutdown_are_events() {
    record();
    let builder = Builder::new().workers(1).report_long_polls(Duration::MAX);
    let runtime = builder.build().unwrap();
    let (gate, started) = (OpenOnDrop(Gate::new()), Gate::new());
    let (inner, told) = (gate.0.clone(), started.clone());
    let task = task::Builder::new().name("straggler");
    let task = task.spawn_on(
        async move {
            told.open();
            inner.wait();
        },
        runtime.handle(),
    );
    started.wait();
    assert!(!runtime.shutdown(Duration::from_millis(1)).is_clean());
    let event = event_with("task.name", "straggler").unwrap();
    assert_eq!(event.target, "windlass::shutdown");
    gate.0.open();
    wait_for(task).unwrap();
}
