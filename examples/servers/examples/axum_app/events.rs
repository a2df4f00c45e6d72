//! Server-sent events: the uptime, each second, until the client disconnects or the server ends.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::response::Sse;
use axum::response::sse::Event;
use windlass::channel::{self, Receiver};
use windlass::serve::Switch;
use windlass::timer::interval;

/// Returns the events of a task that makes them until nobody takes them.
pub(crate) async fn stream(
    State(switch): State<Switch>,
) -> Sse<Receiver<Result<Event, Infallible>>> {
    let (sender, receiver) = channel::bounded(16);
    drop(windlass::spawn(async move {
        let start = Instant::now();
        let mut seconds = interval(Duration::from_secs(1));
        while switch.token().run_until_cancelled(seconds.tick()).await.is_some() {
            let uptime = format!("{} s", start.elapsed().as_secs());
            if sender.send(Ok(Event::default().event("uptime").data(uptime))).await.is_err() {
                return;
            }
        }
        // After this event the response ends, and so does the connection.
        let _ = sender.send(Ok(Event::default().event("end").data("the server ends"))).await;
    }));
    Sse::new(receiver)
}
