//! The flight record as a trace in Chrome's JSON format.

use std::collections::{HashMap, HashSet};
use std::fmt::{Display, Write as _};
use std::io::{self, Write};
use std::time::Instant;

use windlass_timer::{in_nanos, nanos};

use super::arrows::{Arrow, arrows};
use super::event::{Event, Parked, What};
use super::nest::{begin, nest};
use super::observed::ObservedPlace;
use super::policy::RECORDED_TOGETHER;
use crate::sched::{Pool, Slot};
use crate::task::{Id, Origin, WokenBy};

/// Writes what the workers of a pool did lately.
pub(super) fn write(pool: &Pool, writer: &mut impl Write) -> io::Result<()> {
    // Everything is collected first, because the writer may be slow and events are overwritten meanwhile.
    let workers: Vec<_> = pool.slots.iter().map(|slot| (slot, record(&slot.observed))).collect();
    let others = record(&pool.observed_outside);
    let culprits = culprits(pool, workers.iter().map(|(_, events)| &events[..]));
    let all = workers.iter().map(|(_, events)| events).chain([&others]);
    let first = all.clone().filter_map(|events| events.first()).map(begin).min();
    let arrows = arrows(&all.map(|events| &events[..]).collect::<Vec<_>>());
    let mut trace = Trace { writer, is_first: true, from: first.unwrap_or(0), arrows };
    trace.writer.write_all(b"{\"traceEvents\":[")?;
    let name = &pool.config.thread_name;
    trace.event(&format_args!(
        "\"ph\":\"M\",\"pid\":1,\"tid\":2,\"name\":\"process_name\",\"args\":{{\"name\":\"{}\"}}",
        Json(name)
    ))?;
    for (worker, (slot, events)) in workers.iter().enumerate() {
        let role = if worker < pool.config.workers { "worker" } else { "spare" };
        trace.thread(worker, &format_args!("{role} {worker}"), events)?;
        trace.under_way(worker, slot, events, culprits.get(&worker))?;
    }
    trace.thread(workers.len(), &"other threads", &others)?;
    trace.writer.write_all(b"],\"displayTimeUnit\":\"ns\"}\n")
}

/// Returns the events of a worker, or of all other threads, in the order in which a viewer wants them.
fn record(place: &ObservedPlace) -> Vec<Event> {
    let Some(observed) = place.get() else { return Vec::new() };
    // There are two rings if the recorder was switched. The events of one are of no use for a time whose events the
    // other has lost.
    let mut events = Vec::new();
    let mut from = 0;
    for ring in [&observed.ring, &observed.full_ring].into_iter().filter_map(|ring| ring.get()) {
        let read: Vec<_> = ring.read().into_iter().map(Event::unpack).collect();
        if ring.has_lost() {
            from = read.first().map_or(from, |first| from.max(first.at));
        }
        events.extend(read);
    }
    events.retain(|event| event.at >= from);
    nest(events)
}

/// Returns the event that ended last, if the thread is still there. It began before others that are within it.
fn last(events: &[Event]) -> Option<&Event> {
    events.iter().max_by_key(|event| event.at).filter(|last| last.what != What::End)
}

/// Returns the tasks whose polls are under way, by worker. Tasks that may be stuck are looked up in the list of all
/// tasks, but not those in short polls.
fn culprits<'a>(
    pool: &Pool,
    events: impl Iterator<Item = &'a [Event]>,
) -> HashMap<usize, (Id, Origin)> {
    let began = nanos(Instant::now()).saturating_sub(in_nanos(RECORDED_TOGETHER));
    let mut culprits = HashMap::new();
    let mut wanted = HashMap::new();
    for ((worker, slot), events) in pool.slots.iter().enumerate().zip(events) {
        let progress = slot.progress();
        let is_long = last(events).is_some_and(|last| last.at < began) && slot.is_polling();
        if let Some((site, id)) = slot.unlisted() {
            culprits.insert(worker, (id, Origin::new(site.get().location, None)));
        } else if let Some(task) = slot.innermost().filter(|_| is_long) {
            wanted.insert(worker, (task, progress));
        }
    }
    if wanted.is_empty() {
        return culprits;
    }
    let pointers: HashSet<_> = wanted.values().map(|(task, _)| *task).collect();
    let listed = pool.owned.all();
    let listed: HashMap<_, _> = listed
        .iter()
        .filter(|task| pointers.contains(&task.as_pointer()))
        .map(|task| (task.as_pointer(), task))
        .collect();
    for (worker, (task, progress)) in wanted {
        // If the progress is unchanged, all of the above belongs to this poll.
        if let Some(task) = listed.get(&task).filter(|_| pool.slots[worker].progress() == progress)
        {
            culprits.insert(worker, (task.header().id, task.origin()));
        }
    }
    culprits
}

/// A trace that is being written.
struct Trace<'a, W> {
    writer: &'a mut W,
    is_first: bool,
    /// Time 0 of the trace.
    from: u64,
    /// By thread and event.
    arrows: HashMap<(usize, usize), Arrow>,
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
        let tid = tid(thread);
        if events.is_empty() {
            return Ok(());
        }
        self.event(&format_args!(
            "\"ph\":\"M\",\"pid\":1,\"tid\":{tid},\"name\":\"thread_name\",\
             \"args\":{{\"name\":\"{name}\"}}"
        ))?;
        for (index, event) in events.iter().enumerate() {
            self.worker_event(thread, event)?;
            self.arrow(thread, index, event)?;
            if let What::Idle(parked) = event.what {
                self.park(thread, event, parked)?;
            }
        }
        Ok(())
    }

    /// Writes the end of an arrow at an event, if there is one. It is attached to the slice around the event, or to the
    /// slice that the event is.
    fn arrow(&mut self, thread: usize, index: usize, event: &Event) -> io::Result<()> {
        let tid = tid(thread);
        let (phase, number) = match self.arrows.get(&(thread, index)) {
            Some(&Arrow::From(number)) => ("\"s\"", number),
            Some(&Arrow::To(number)) => ("\"f\",\"bp\":\"e\"", number),
            None => return Ok(()),
        };
        let at = self.micros(begin(event));
        self.event(&format_args!(
            "\"ph\":{phase},\"id\":{number},\"pid\":1,\"tid\":{tid},\"ts\":{at:.3},\
             \"cat\":\"wake\",\"name\":\"wakes\""
        ))
    }

    /// Writes when the thread slept within a search, if it did.
    fn park(&mut self, thread: usize, search: &Event, parked: Parked) -> io::Result<()> {
        let tid = tid(thread);
        let from = begin(search).saturating_add(parked.after.into());
        let to = search.at.saturating_sub(parked.before.into());
        if parked == Parked::NONE || from >= to {
            return Ok(());
        }
        let (start, lasted) = (self.micros(from), (to - from) as f64 / 1_000.0);
        self.event(&format_args!(
            "\"ph\":\"X\",\"pid\":1,\"tid\":{tid},\"ts\":{start:.3},\"dur\":{lasted:.3},\
             \"name\":\"parked\",\"args\":{{}}"
        ))
    }

    fn worker_event(&mut self, worker: usize, event: &Event) -> io::Result<()> {
        let tid = tid(worker);
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
                "\"ph\":\"X\",\"pid\":1,\"tid\":{tid},\"ts\":{start:.3},\"dur\":{lasted:.3},\
                 \"name\":\"{name}\",\"args\":{{{args}}}"
            ))
        } else {
            self.event(&format_args!(
                "\"ph\":\"i\",\"s\":\"t\",\"pid\":1,\"tid\":{tid},\"ts\":{start:.3},\
                 \"name\":\"{name}\",\"args\":{{{args}}}"
            ))
        }
    }

    /// Writes what the worker does at this moment, which is not in its record yet.
    fn under_way(
        &mut self,
        worker: usize,
        slot: &Slot,
        events: &[Event],
        culprit: Option<&(Id, Origin)>,
    ) -> io::Result<()> {
        let tid = tid(worker);
        let now = nanos(Instant::now());
        let Some(last) = last(events).filter(|last| last.at < now) else { return Ok(()) };
        let mut args = String::new();
        let name = match culprit.filter(|_| slot.is_polling()) {
            Some((id, Origin { location, name })) => {
                let _ = write!(args, "\"task\":{},\"site\":\"{}\",", id.number(), Json(location));
                match name {
                    Some(name) => format!("in a poll of {name}"),
                    None => format!("in a poll of {location}"),
                }
            }
            None if slot.is_polling() => "in a poll".to_owned(),
            None => "idle".to_owned(),
        };
        let (start, lasted) = (self.micros(last.at), (now - last.at) as f64 / 1_000.0);
        self.event(&format_args!(
            "\"ph\":\"X\",\"pid\":1,\"tid\":{tid},\"ts\":{start:.3},\"dur\":{lasted:.3},\
             \"name\":\"{}\",\"args\":{{{args}\"until\":\"now\"}}",
            Json(&name)
        ))
    }
}

/// Returns the number of a worker in a trace, or of an entry after all workers. Perfetto takes 0 for the thread that
/// has the number of the process, which is 1 here, and calls that the main thread.
fn tid(thread: usize) -> usize {
    thread + 2
}

fn origin(by: WokenBy) -> &'static str {
    match by {
        WokenBy::Io => "I/O",
        WokenBy::Timer => "timer",
        WokenBy::Task => "task",
        WokenBy::Outside => "another thread",
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
