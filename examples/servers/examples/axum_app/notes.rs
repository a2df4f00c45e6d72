//! Notes, in memory: `GET`, `POST` and `DELETE`, in JSON.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::extract::{Json, Path, State};
use axum::http::StatusCode;
use axum::routing::get;
use serde_json::{Value, json};

/// The notes, by number, and the next number.
#[derive(Clone, Default)]
pub(crate) struct Notes(Arc<Mutex<(BTreeMap<u64, String>, u64)>>);

impl Notes {
    fn lock(&self) -> MutexGuard<'_, (BTreeMap<u64, String>, u64)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn routes<S: Clone + Send + Sync + 'static>(notes: Notes) -> Router<S> {
    Router::new()
        .route("/", get(list).post(create))
        .route("/{id}", get(show).delete(remove))
        .with_state(notes)
}

async fn list(State(notes): State<Notes>) -> Json<Value> {
    let notes = notes.lock();
    Json(notes.0.iter().map(|(id, text)| note(*id, text)).collect())
}

async fn create(
    State(notes): State<Notes>,
    Json(body): Json<Value>,
) -> Result<(StatusCode, Json<Value>), (StatusCode, &'static str)> {
    let text = body["text"]
        .as_str()
        .ok_or((StatusCode::UNPROCESSABLE_ENTITY, "a note has a text: {\"text\": \"…\"}\n"))?;
    let mut notes = notes.lock();
    notes.1 += 1;
    let id = notes.1;
    notes.0.insert(id, text.to_owned());
    Ok((StatusCode::CREATED, Json(note(id, text))))
}

async fn show(State(notes): State<Notes>, Path(id): Path<u64>) -> Result<Json<Value>, StatusCode> {
    let notes = notes.lock();
    let text = notes.0.get(&id).ok_or(StatusCode::NOT_FOUND)?;
    Ok(Json(note(id, text)))
}

async fn remove(State(notes): State<Notes>, Path(id): Path<u64>) -> StatusCode {
    match notes.lock().0.remove(&id) {
        Some(_) => StatusCode::NO_CONTENT,
        None => StatusCode::NOT_FOUND,
    }
}

fn note(id: u64, text: &str) -> Value {
    json!({ "id": id, "text": text })
}
