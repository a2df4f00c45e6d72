//! The flight record as a trace in Chrome's JSON format.

use std::fmt::{Display, Write as _};
use std::io::{self, Write};
use std::time::Instant;

use windlass_timer::nanos;

use super::event::{Event, Parked, What};
use super::nest::{begin, nest};
use super::watch::WatchPlace;
use crate::sched::{Pool, Slot};
use crate::task::WokenBy;

/// Writes what the workers of a pool did lately.
pub(super) fn write(pool: &Pool, writer: &mut impl Write) -> io::Result<()> {
    // All is collected first: the writer may take its time, and meanwhile events are overwritten.
    let workers: Vec<_> = pool.slots.iter().map(|slot| (slot, record(&slot.watch))).collect();
    let others = record(&pool.outside);
    let all = workers.iter().map(|(_, events)| events).chain([&others]);
    let first = all.filter_map(|events| events.first()).map(begin).min();
    let mut trace = Trace { writer, is_first: true, from: first.unwrap_or(0) };
    trace.writer.write_all(b"{\"traceEvents\":[")?;
    let name = &pool.config.thread_name;
    trace.event(&format_args!(
        "\"ph\":\"M\",\"pid\":1,\"tid\":0,\"name\":\"process_name\",\"args\":{{\"name\":\"{}\"}}",
        Json(name)
    ))?;
    for (worker, (slot, events)) in workers.iter().enumerate() {
        let role = if worker < pool.config.workers { "worker" } else { "spare" };
        trace.thread(worker, &format_args!("{role} {worker}"), events)?;
        trace.under_way(worker, slot, events)?;
    }
    trace.thread(workers.len(), &"other threads", &others)?;
    trace.writer.write_all(b"],\"displayTimeUnit\":\"ns\"}\n")
}

/// Returns the events of a worker, or of all other threads, in the order in which a viewer wants them.
fn record(place: &WatchPlace) -> Vec<Event> {
    let Some(watch) = place.get() else { return Vec::new() };
    // There are two rings if what is recorded was switched. The events of one tell nothing about a time of which the other
    // has lost what it had.
    let mut events = Vec::new();
    let mut from = 0;
    for ring in [&watch.ring, &watch.full_ring].into_iter().filter_map(|ring| ring.get()) {
        let read: Vec<_> = ring.read().into_iter().map(Event::unpack).collect();
        if ring.has_lost() {
            from = read.first().map_or(from, |first| from.max(first.at));
        }
        events.extend(read);
    }
    events.retain(|event| event.at >= from);
    nest(events)
}

/// A trace that is being written.
struct Trace<'a, W> {
    writer: &'a mut W,
    is_first: bool,
    /// Time 0 of the trace.
    from: u64,
}

impl<W: Write> Trace<'_, W> {
    /// Writes an event, given without its braces.
    fn event(&mut self, event: &dyn Display) -> io::Result<()> {
        let comma = if std::mem::take(&mut self.is_first) { "" } else { "," };
        write!(self.writer, "{comma}\n{{{event}}}")
    }

    fn micros(&self, nanos: u64) -> f64 {
        nanos.saturating_sub(self.from) as f64 / 1_000.0
    }

    /// Writes the events of a thread, if there are any, and its name.
    fn thread(&mut self, thread: usize, name: &dyn Display, events: &[Event]) -> io::Result<()> {
        if events.is_empty() {
            return Ok(());
        }
        self.event(&format_args!(
            "\"ph\":\"M\",\"pid\":1,\"tid\":{thread},\"name\":\"thread_name\",\
             \"args\":{{\"name\":\"{name}\"}}"
        ))?;
        for event in events {
            self.worker_event(thread, event)?;
            if let What::Idle(parked) = event.what {
                self.park(thread, event, parked)?;
            }
        }
        Ok(())
    }

    /// Writes when the thread slept within a search, if it did.
    fn park(&mut self, thread: usize, search: &Event, parked: Parked) -> io::Result<()> {
        let from = begin(search).saturating_add(parked.after.into());
        let to = search.at.saturating_sub(parked.before.into());
        if parked == Parked::NONE || from >= to {
            return Ok(());
        }
        let (start, lasted) = (self.micros(from), (to - from) as f64 / 1_000.0);
        self.event(&format_args!(
            "\"ph\":\"X\",\"pid\":1,\"tid\":{thread},\"ts\":{start:.3},\"dur\":{lasted:.3},\
             \"name\":\"parked\",\"args\":{{}}"
        ))
    }

    fn worker_event(&mut self, worker: usize, event: &Event) -> io::Result<()> {
        let mut args = String::new();
        let name = match event.what {
            What::Poll { site, task } => {
                let site = site.get();
                let _ = write!(args, "\"task\":{task},\"site\":\"{}\"", Json(site.location));
                match &site.name {
                    Some(name) => name.to_string(),
                    None => format!("poll {}", site.location),
                }
            }
            What::Polls(polls) => {
                let _ = write!(args, "\"polls\":{polls}");
                format!("{polls} polls")
            }
            What::Idle(_) => "idle".to_owned(),
            What::Steal(victim) => {
                let _ = write!(args, "\"victim\":{victim}");
                "steal".to_owned()
            }
            What::Os => "OS".to_owned(),
            What::Dispatch(events) => {
                let _ = write!(args, "\"events\":{events}");
                "dispatch".to_owned()
            }
            What::Timers => "timers fire".to_owned(),
            What::Compute => "compute".to_owned(),
            What::Wake { by, task, waker } => {
                let _ = write!(args, "\"task\":{task},\"from\":\"{}\"", origin(by));
                if waker > 0 {
                    let _ = write!(args, ",\"by_task\":{waker}");
                }
                "wake".to_owned()
            }
            What::Start => "thread starts".to_owned(),
            What::End => "thread ends".to_owned(),
        };
        let (start, lasted) = (self.micros(begin(event)), event.lasted as f64 / 1_000.0);
        let name = Json(&name);
        if event.lasted > 0 {
            self.event(&format_args!(
                "\"ph\":\"X\",\"pid\":1,\"tid\":{worker},\"ts\":{start:.3},\"dur\":{lasted:.3},\
                 \"name\":\"{name}\",\"args\":{{{args}}}"
            ))
        } else {
            self.event(&format_args!(
                "\"ph\":\"i\",\"s\":\"t\",\"pid\":1,\"tid\":{worker},\"ts\":{start:.3},\
                 \"name\":\"{name}\",\"args\":{{{args}}}"
            ))
        }
    }

    /// What the worker does at this moment is not in its record yet.
    fn under_way(&mut self, worker: usize, slot: &Slot, events: &[Event]) -> io::Result<()> {
        let now = nanos(Instant::now());
        // The one that ended last began before others that are within it.
        let last = events.iter().max_by_key(|event| event.at);
        let Some(last) = last.filter(|last| last.what != What::End && last.at < now) else {
            return Ok(());
        };
        let name = match (slot.is_polling(), slot.unlisted()) {
            (true, Some((site, _))) => format!("in a poll of {}", site.get().location),
            (true, None) => "in a poll".to_owned(),
            (false, _) => "idle".to_owned(),
        };
        let (start, lasted) = (self.micros(last.at), (now - last.at) as f64 / 1_000.0);
        self.event(&format_args!(
            "\"ph\":\"X\",\"pid\":1,\"tid\":{worker},\"ts\":{start:.3},\"dur\":{lasted:.3},\
             \"name\":\"{}\",\"args\":{{\"until\":\"now\"}}",
            Json(&name)
        ))
    }
}

fn origin(by: WokenBy) -> &'static str {
    match by {
        WokenBy::Io => "I/O",
        WokenBy::Timer => "timer",
        WokenBy::Task => "task",
        WokenBy::Foreign => "another thread",
    }
}

/// Text inside of a JSON string.
struct Json<T>(T);

impl<T: Display> Display for Json<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        struct Escaped<'a, 'b>(&'a mut std::fmt::Formatter<'b>);
        impl std::fmt::Write for Escaped<'_, '_> {
            fn write_str(&mut self, text: &str) -> std::fmt::Result {
                for character in text.chars() {
                    match character {
                        '"' | '\\' => write!(self.0, "\\{character}")?,
                        // HTML's characters too, in case somebody shows a trace in a page.
                        '<' | '>' | '&' | '\0'..='\x1f' | '\x7f' | '\u{2028}' | '\u{2029}' => {
                            write!(self.0, "\\u{:04x}", character as u32)?;
                        }
                        other => self.0.write_char(other)?,
                    }
                }
                Ok(())
            }
        }
        write!(Escaped(f), "{}", self.0)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn nothing_gets_out_of_a_string() {
        let name = "\"}],\n</script>\\\u{2028}é";
        assert_eq!(Json(name).to_string(), r#"\"}],\u000a\u003c/script\u003e\\\u2028é"#);
    }
}
