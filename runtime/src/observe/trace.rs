//! The flight record as a trace in Chrome's JSON format.

use std::fmt::{Display, Write as _};
use std::io::{self, Write};
use std::time::Instant;

use windlass_timer::nanos;

use super::event::{Event, What};
use crate::sched::{Pool, Slot};
use crate::task::WokenBy;

/// Writes what the workers of a pool did lately.
pub(super) fn write(pool: &Pool, writer: &mut impl Write) -> io::Result<()> {
    // All is collected first: the writer may take its time, and meanwhile events are overwritten.
    let workers: Vec<_> = pool.slots.iter().enumerate().map(|(i, slot)| record(i, slot)).collect();
    let first = workers.iter().flat_map(|(_, events)| events.first()).map(begin).min();
    let mut trace = Trace { writer, is_first: true, from: first.unwrap_or(0) };
    trace.writer.write_all(b"{\"traceEvents\":[")?;
    let name = &pool.config.thread_name;
    trace.event(&format_args!(
        "\"ph\":\"M\",\"pid\":1,\"tid\":0,\"name\":\"process_name\",\"args\":{{\"name\":\"{}\"}}",
        Json(name)
    ))?;
    for (worker, (slot, events)) in workers.iter().enumerate() {
        if events.is_empty() {
            continue;
        }
        let role = if worker < pool.config.workers { "worker" } else { "spare" };
        trace.event(&format_args!(
            "\"ph\":\"M\",\"pid\":1,\"tid\":{worker},\"name\":\"thread_name\",\
             \"args\":{{\"name\":\"{role} {worker}\"}}"
        ))?;
        for event in events {
            trace.worker_event(worker, event)?;
        }
        trace.under_way(worker, slot, events.last())?;
    }
    trace.writer.write_all(b"],\"displayTimeUnit\":\"ns\"}\n")
}

fn record(_worker: usize, slot: &Slot) -> (&Slot, Vec<Event>) {
    let words = slot.watch.get().and_then(|watch| watch.ring.get()).map(|ring| ring.read());
    let mut events: Vec<_> = words.into_iter().flatten().map(Event::unpack).collect();
    events.sort_by_key(begin);
    (slot, events)
}

fn begin(event: &Event) -> u64 {
    event.at.saturating_sub(event.lasted)
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
            What::Idle => "idle".to_owned(),
            What::Steal => "steal".to_owned(),
            What::Os => "OS".to_owned(),
            What::Dispatch(events) => {
                let _ = write!(args, "\"events\":{events}");
                "dispatch".to_owned()
            }
            What::Timers => "timers fire".to_owned(),
            What::Compute => "compute".to_owned(),
            What::Wake { by, task } => {
                let _ = write!(args, "\"task\":{task},\"from\":\"{}\"", origin(by));
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
    fn under_way(&mut self, worker: usize, slot: &Slot, last: Option<&Event>) -> io::Result<()> {
        let now = nanos(Instant::now());
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
