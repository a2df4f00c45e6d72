//! A small application: a JSON API, a page, server-sent events, a WebSocket, and a shutdown that loses nothing.
//!
//! ```text
//! cargo run -p windlass-servers --example axum_app          on a free port
//! PORT=8080 cargo run -p windlass-servers --example axum_app
//! ```

mod events;
mod notes;
mod websocket;

use axum::Router;
use axum::extract::{Request, State};
use axum::response::{Html, Response};
use axum::routing::get;
use windlass::serve::{Drain, Switch};
use windlass_servers::listen;

use notes::Notes;

#[windlass::main]
async fn main() -> std::io::Result<()> {
    let listener = listen().await?;
    let url = format!("http://{}", listener.local_addr()?);
    println!("{url}");
    println!("  curl {url}/api/notes");
    println!("  curl --json '{{\"text\": \"buy milk\"}}' {url}/api/notes");
    println!("  curl -N {url}/events");
    println!("  a browser at {url}/ for the WebSocket");
    println!("  Ctrl-C or SIGTERM ends it when the last request is answered, and twice at once");

    let drain = Drain::new().on_signals()?;
    let app = Router::new()
        .route("/", get(Html(include_str!("page.html"))))
        .route("/events", get(events::stream))
        .route("/ws", get(chat))
        .with_state(drain.switch())
        .nest("/api/notes", notes::routes(Notes::default()));
    let report = windlass::axum::serve(listener, app).drain(drain).await?;
    println!("{report}");
    Ok(())
}

/// Echoes messages in capitals.
async fn chat(State(switch): State<Switch>, request: Request) -> Response {
    websocket::upgrade(request, move |socket| websocket::shout(socket, switch))
}
