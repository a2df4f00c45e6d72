//! The lines of a frame in a terminal.

use std::fmt::Write as _;
use std::time::Duration;

use crate::text::{duration, thousands};
use crate::value::Value;

/// In terminals narrower than this, lines are shortened.
const NARROW: usize = 110;

/// The number of task rows for which stacks and times make room in a terminal with few lines.
const LEAST_ROWS: usize = 6;

/// Returns a frame as text, with lines no longer than `width`. Less important parts are left out if they would leave no
/// room for tasks.
pub(crate) fn render(frame: &Value, width: usize, height: usize) -> String {
    let mut lines = Vec::new();
    let totals = frame.get("totals");
    lines.push(format!(
        "windlass {}   {} tasks, {:.0} spawned/s, {:.0} finished/s, {} panicked",
        plain(frame.get("runtime").text()),
        number(totals.get("alive")),
        totals.get("spawn_rate").number().unwrap_or(0.0),
        totals.get("finish_rate").number().unwrap_or(0.0),
        number(totals.get("panicked")),
    ));
    let queues: Vec<_> = match frame.get("queues") {
        Value::Object(queues) => queues
            .iter()
            .filter(|(_, count)| count.number() != Some(0.0))
            .map(|(name, count)| format!("{} {}", plain(name), number(count)))
            .collect(),
        _ => Vec::new(),
    };
    lines.push(if queues.is_empty() { "nothing is queued".to_owned() } else { queues.join(", ") });
    lines.push(String::new());
    let workers = frame.get("workers").items().iter().filter(|worker| is_seen(worker));
    lines.extend(workers.map(|worker| worker_line(worker, width)));
    for finding in frame.get("findings").items() {
        let mark = if finding.get("severity").text() == "bad" { "!!" } else { " !" };
        lines.extend(finding_lines(mark, &plain(finding.get("text").text()), width));
    }
    let lasting = |stuck: &&Value| *stuck.get("lasts") == Value::Bool(true);
    let stacks = frame.get("stuck").items().iter().filter(lasting);
    let stacks = stacks.flat_map(|stuck| stuck.get("stack").items().iter().take(8));
    let stacks: Vec<_> = stacks.map(|line| format!("      {}", plain(line.text()))).collect();
    let times = times_lines(frame);
    let rows = frame.get("tasks").get("rows").items().len().min(LEAST_ROWS);
    let mut room = height.saturating_sub(lines.len() + 2 + rows);
    let mut fitting = |mut part: Vec<String>, least: usize| {
        part.truncate(if room >= least { room } else { 0 });
        room -= part.len();
        part
    };
    lines.extend(fitting(stacks, 1));
    let whole = times.len();
    lines.extend(fitting(times, whole));
    lines.push(String::new());
    let tasks = frame.get("tasks");
    let count = format!(
        "WAITS FOR   ({} of {} tasks)",
        tasks.get("rows").items().len(),
        number(tasks.get("total"))
    );
    let (names, waits) =
        if width < NARROW { ("NAME", "WAITS FOR") } else { ("NAME, SITE", &*count) };
    let head = ["TASK", "STATE", "for", "busy", "polls", names, waits];
    lines.push(row(&head.map(str::to_owned), width));
    lines.extend(tasks.get("rows").items().iter().map(|task| row(&task_cells(task, width), width)));
    let mut text = String::new();
    for line in lines {
        let _ = writeln!(text, "{}", line.chars().take(width).collect::<String>().trim_end());
    }
    text
}

/// Returns the table of times, after an empty line.
fn times_lines(frame: &Value) -> Vec<String> {
    let line = |name: &str, [count, p50, p99, longest]: [String; 4]| {
        format!("{name:<24} {count:>10} {p50:>9} {p99:>9} {longest:>9}")
    };
    let head = line("TIMES", ["count", "p50", "p99", "longest"].map(str::to_owned));
    let counted = |times: &&Value| times.get("count").number() > Some(0.0);
    let times = frame.get("times").items().iter().filter(counted).map(|times| {
        let [p50, p99] = ["p50", "p99"].map(|name| sampled(times.get(name)));
        let count = number(times.get("count"));
        line(&plain(times.get("name").text()), [count, p50, p99, time(times.get("max"))])
    });
    [String::new(), head].into_iter().chain(times).collect()
}

/// Returns false for a spare that has done nothing since the last frame.
fn is_seen(worker: &Value) -> bool {
    let did = |name: &&str| worker.get(name).number() > Some(0.0005);
    *worker.get("spare") != Value::Bool(true)
        || ["blocked", "poll", "computing", "os", "steals", "queued"].iter().any(did)
}

/// Returns a finding, on two lines if one is too short.
fn finding_lines(mark: &str, text: &str, width: usize) -> Vec<String> {
    let room = width.saturating_sub(3).max(10);
    if text.chars().count() <= room {
        return vec![format!("{mark} {text}")];
    }
    // Cut at the last space that fits.
    let cut = text.char_indices().nth(room).map_or(text.len(), |(at, _)| at);
    let (first, rest) = text.split_at(text[..cut].rfind(' ').unwrap_or(cut));
    vec![format!("{mark} {first}"), format!("   {}", rest.trim_start())]
}

fn worker_line(worker: &Value, width: usize) -> String {
    let share = |name: &str| worker.get(name).number().unwrap_or(0.0).clamp(0.0, 1.0);
    let cells = if width < NARROW { 20 } else { 30 };
    let mut bar = String::new();
    for (name, mark) in [("blocked", '!'), ("poll", '#'), ("computing", '%'), ("os", 'o')] {
        let more = (share(name) * cells as f64).round() as usize;
        bar.extend(std::iter::repeat_n(mark, more.min(cells - bar.len())));
    }
    let kind = if *worker.get("spare") == Value::Bool(true) { "spare " } else { "worker" };
    let queued = number(worker.get("queued"));
    format!(
        "{kind} {:>2} [{bar:<cells$}] {:>3.0} % {:>8.0} polls/s {:>6.0} steals/s {}{}",
        number(worker.get("index")),
        100.0 * (share("blocked") + share("poll") + share("computing")),
        worker.get("polls").number().unwrap_or(0.0),
        worker.get("steals").number().unwrap_or(0.0),
        if width < NARROW {
            String::new()
        } else {
            let parks = worker.get("parks").number().unwrap_or(0.0);
            format!("{parks:>6.0} parks/s {queued:>5} queued  ")
        },
        plain(worker.get("task").text()),
    )
}

/// Returns a row of the table of tasks. In a narrow terminal, what a task waits for matters more than its polls.
fn row([id, state, since, busy, polls, label, waits]: &[String; 7], width: usize) -> String {
    if width < NARROW {
        let room = width.saturating_sub(42 + 18).max(20);
        let label: String = label.chars().take(room).collect();
        return format!("{id:>8} {state:<9} {since:>9} {busy:>9}  {label:<room$}  {waits}");
    }
    // About 50 characters are left for what it waits for.
    let room = width.saturating_sub(53 + 50).clamp(20, 70);
    let label: String = label.chars().take(room).collect();
    format!("{id:>8} {state:<11} {since:>9} {busy:>9} {polls:>9}  {label:<room$} {waits}")
}

fn task_cells(task: &Value, width: usize) -> [String; 7] {
    let state = match task.get("worker").number() {
        Some(worker) => format!("runs on {worker}"),
        None => plain(task.get("state").text()),
    };
    let name = plain(task.get("name").text());
    let site = plain(task.get("site").text());
    let kind = plain(task.get("kind").text());
    let mut label = match (name.is_empty(), width < NARROW) {
        // The end of a path is the most useful part.
        (true, true) => site.rsplit('/').next().unwrap_or_default().to_owned(),
        (true, false) => site,
        (false, true) => name,
        (false, false) => format!("{name}, {site}"),
    };
    if !kind.is_empty() {
        label = format!("{kind}: {label}");
    }
    let (waits, detail) = (plain(task.get("waits").text()), plain(task.get("detail").text()));
    [
        // Ids are names, not amounts.
        task.get("id").number().unwrap_or(0.0).to_string(),
        state,
        time(task.get("since")),
        time(task.get("busy")),
        number(task.get("polls")),
        label,
        format!("{waits} {detail}"),
    ]
}

fn number(value: &Value) -> String {
    thousands(value.number().unwrap_or(0.0) as u64)
}

fn time(value: &Value) -> String {
    duration(Duration::from_nanos(value.number().unwrap_or(0.0) as u64))
}

/// Like [`time`], for sampled values: very short times can't be told apart.
fn sampled(value: &Value) -> String {
    if value.number() < Some(100.0) { "< 100 ns".to_owned() } else { time(value) }
}

/// Returns a text without characters that control a terminal.
pub(crate) fn plain(text: &str) -> String {
    let is_obeyed = |char: char| char.is_control() || is_bidi_control(char);
    text.trim_end().chars().map(|char| if is_obeyed(char) { ' ' } else { char }).collect()
}

/// Returns true for a character that switches the following text to right-to-left, or ends that. With one, a name could
/// make a whole line look different.
fn is_bidi_control(char: char) -> bool {
    matches!(char, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::top::first_lines;

    #[test]
    fn a_frame_is_drawn_and_no_name_reaches_the_terminal_as_a_command() {
        let frame = Value::parse(
            r#"{"runtime": "web", "totals": {"alive": 1234}, "queues": {"injector": 0, "timers armed": 3},
                "workers": [{"index": 0, "spare": false, "poll": 0.5, "blocked": 0.0, "os": 0.1, "queued": 2, "task": "a\u001b[2Jb"}],
                "findings": [{"severity": "bad", "text": "task “x” is stuck"}],
                "tasks": {"total": 1234, "rows": [
                    {"id": 7, "name": "evil\u001b]0;\u0007\nname", "site": "src/a.rs:1", "state": "idle", "worker": null,
                     "since": 1500000, "busy": 0, "polls": 9, "waits": "timer", "detail": "in 3 s"}]}}"#,
        )
        .unwrap();
        let text = render(&frame, 200, usize::MAX);
        assert!(!text.contains(['\x1b', '\x07']), "{text}");
        assert!(text.contains("windlass web   1,234 tasks"), "{text}");
        assert!(text.contains("timers armed 3"), "{text}");
        assert!(text.contains("[###############ooo            ]  50 %"), "{text}");
        assert!(text.contains("!! task “x” is stuck"), "{text}");
        assert!(
            text.contains(
                "       7 idle          1.50 ms         0         9  evil ]0;  name, src/a.rs:1"
            ),
            "{text}"
        );
        assert!(text.lines().all(|line| line.chars().count() <= 200));
    }

    /// With them, a name could reverse the rest of its line.
    #[test]
    fn no_character_that_changes_the_direction_reaches_the_terminal() {
        let turned = "\u{202e}gnp.exe\u{202c} \u{2066}a\u{2069}\u{200f}\u{61c}b";
        assert_eq!(plain(turned), " gnp.exe   a   b");
        assert_eq!(plain("שלום, é, 漢字"), "שלום, é, 漢字", "letters of all scripts stay");
    }

    /// Stacks and times used to fill a small terminal, so that no task was ever seen.
    #[test]
    fn tasks_are_seen_in_a_small_terminal() {
        let stack = vec![r#""frame""#; 30].join(",");
        let rows = vec![r#"{"id": 7, "name": "of a task", "state": "idle"}"#; 20].join(",");
        let frame = format!(
            r#"{{"workers": [{{"index": 0, "poll": 0.5}}, {{"index": 1, "spare": true}}],
                "stuck": [{{"lasts": true, "stack": [{stack}]}}],
                "times": [{{"name": "poll time", "count": 5}}],
                "tasks": {{"total": 20, "rows": [{rows}]}}}}"#
        );
        let frame = Value::parse(&frame).unwrap();
        let count =
            |height, part| first_lines(&render(&frame, 80, height), height).matches(part).count();
        assert_eq!((count(23, "of a task"), count(23, "frame")), (6, 8));
        assert_eq!((count(14, "of a task"), count(14, "frame")), (6, 2));
        assert_eq!((count(14, "TIMES"), count(60, "TIMES")), (0, 1));
        assert_eq!(count(60, "of a task"), 20);
        assert_eq!(
            (count(60, "worker"), count(60, "spare")),
            (1, 0),
            "a spare that has done nothing"
        );
    }

    /// Names and sites used to displace what tasks wait for, and findings were cut.
    #[test]
    fn eighty_columns_are_enough_for_what_matters() {
        let frame = Value::parse(
            r#"{"workers": [{"index": 0, "poll": 1.0, "polls": 123456.0, "steals": 1000.0, "task": "busy"}],
                "findings": [{"severity": "bad", "text": "site of a cache (src/somewhere/deep/cache.rs:64) blocks its worker for 53 ms at p99: use spawn_blocking or compute"}],
                "tasks": {"total": 2, "rows": [
                    {"id": 7, "name": "", "site": "a/long/way/to/a/file.rs:46", "state": "idle", "waits": "timer", "detail": "in 13 ms"},
                    {"id": 8, "name": "cache", "site": "src/cache.rs:1", "state": "running", "worker": 0, "waits": "", "detail": ""}]}}"#,
        )
        .unwrap();
        let text = render(&frame, 80, usize::MAX);
        for whole in [
            "1000 steals/s busy\n",
            "at p99: use",
            "or compute\n",
            "  file.rs:46 ",
            "timer in 13 ms\n",
            "runs on 0 ",
        ] {
            assert!(text.contains(whole), "{whole} in {text}");
        }
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}
