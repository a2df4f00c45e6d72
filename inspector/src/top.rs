//! The inspector in a terminal: the same frames as in the browser, as text.
//!
//! A plain client of the standard library, on no runtime. Names come from the program that is looked at, and through it
//! from anybody, so control characters are taken out before they reach the terminal.

use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::http::escape;
use crate::sys;
use crate::text::{duration, thousands};
use crate::value::Value;

/// The longest line that is read from the server: a frame of 500 rows takes a tenth of it.
const LINE_LIMIT: u64 = 16 << 20;
/// How long a server may be silent.
const SILENCE: Duration = Duration::from_secs(30);

/// What to show.
#[derive(Debug, Clone)]
pub struct Options {
    /// The URL of the inspector, with its token.
    pub url: String,
    /// One frame, and the end.
    pub once: bool,
    /// The rows of the table of tasks.
    pub rows: usize,
    /// The column to sort the tasks by.
    pub sort: String,
    /// What tasks must contain.
    pub filter: String,
    /// The characters of a line, at most.
    pub width: usize,
    /// Fits frames to the terminal that standard output is, if its size is known: no line is wider, and there are no more
    /// lines than it shows.
    pub fit: bool,
}

/// Shows frames until the connection ends, or one.
///
/// # Errors
///
/// Returns an error if the inspector can't be reached, refuses, or sends what is not a frame.
///
/// # Examples
///
/// ```
/// use windlass_inspector::top::{self, Options};
///
/// let runtime = windlass::Runtime::new()?;
/// let inspector = runtime.block_on(windlass_inspector::serve("127.0.0.1:0"))?;
/// let options = Options {
///     url: inspector.url(),
///     once: true,
///     rows: 10,
///     sort: "busy".to_owned(),
///     filter: String::new(),
///     width: 100,
///     fit: false,
/// };
/// let mut text = Vec::new();
/// top::run(&options, &mut text)?;
/// assert!(!text.is_empty());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn run(options: &Options, out: &mut impl Write) -> io::Result<()> {
    let mut lines = open(options)?;
    // The first frame has no rates yet, so one frame is the second.
    let mut skip = usize::from(options.once);
    loop {
        let mut line = String::new();
        if io::Read::take(&mut lines, LINE_LIMIT).read_line(&mut line)? == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the inspector has ended"));
        }
        let Some(text) = line.strip_prefix("data: ") else { continue };
        if skip > 0 {
            skip -= 1;
            continue;
        }
        let frame = Value::parse(text)
            .ok_or_else(|| io::Error::other("the inspector has sent what is not JSON"))?;
        // Each time: somebody may have resized it.
        let size = if options.fit { sys::terminal_size() } else { None };
        let text = render(&frame, size.map_or(options.width, |(columns, _)| columns));
        if options.once {
            return out.write_all(text.as_bytes());
        }
        let text = first_lines(&text, size.map_or(usize::MAX, |(_, lines)| lines - 1));
        // To the top left, each line with the rest of the old one taken out, and what is below.
        write!(out, "\x1b[H{}\x1b[J", text.replace('\n', "\x1b[K\n"))?;
        out.flush()?;
    }
}

/// Returns this many lines of a text.
fn first_lines(text: &str, lines: usize) -> &str {
    let end = text.match_indices('\n').nth(lines.saturating_sub(1)).map(|(at, _)| at + 1);
    if lines == 0 { "" } else { &text[..end.unwrap_or(text.len())] }
}

/// Asks for the events and returns the stream after the head of the response.
fn open(options: &Options) -> io::Result<BufReader<TcpStream>> {
    let wrong = || {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            "expected a URL like http://127.0.0.1:7001/?token=…",
        )
    };
    let rest = options.url.strip_prefix("http://").ok_or_else(wrong)?;
    let (host, query) = rest.split_once('/').ok_or_else(wrong)?;
    let token =
        query.split(['?', '&']).find_map(|pair| pair.strip_prefix("token=")).ok_or_else(wrong)?;
    if host.contains(char::is_whitespace) || token.contains(char::is_whitespace) {
        return Err(wrong());
    }
    let address = if host.rsplit(']').next().is_some_and(|rest| rest.contains(':')) {
        host.to_owned()
    } else {
        format!("{host}:80")
    };
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(SILENCE))?;
    write!(
        stream,
        "GET /events?token={token}&n={}&sort={}&filter={} HTTP/1.1\r\nHost: {host}\r\n\r\n",
        options.rows,
        escape(&options.sort),
        escape(&options.filter),
    )?;
    let mut lines = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        let limit = 16 * 1024 - head.len() as u64;
        if io::Read::take(&mut lines, limit).read_line(&mut head)? == 0 {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the server has sent no response",
            ));
        }
    }
    if !head.starts_with("HTTP/1.1 200 ") {
        let mut why = String::new();
        io::Read::take(&mut lines, 1024).read_line(&mut why)?;
        let status = head.lines().next().unwrap_or_default();
        return Err(io::Error::other(format!("{}: {}", plain(status), plain(&why))));
    }
    Ok(lines)
}

/// Returns a frame as text.
fn render(frame: &Value, width: usize) -> String {
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
    for worker in frame.get("workers").items() {
        lines.push(worker_line(worker));
    }
    for finding in frame.get("findings").items() {
        let mark = if finding.get("severity").text() == "bad" { "!!" } else { " !" };
        lines.push(format!("{mark} {}", plain(finding.get("text").text())));
    }
    for stuck in
        frame.get("stuck").items().iter().filter(|stuck| *stuck.get("lasts") == Value::Bool(true))
    {
        for line in stuck.get("stack").items().iter().take(8) {
            lines.push(format!("      {}", plain(line.text())));
        }
    }
    lines.push(String::new());
    lines.push(format!(
        "{:<24} {:>10} {:>9} {:>9} {:>9}",
        "TIMES", "count", "p50", "p99", "longest"
    ));
    for times in
        frame.get("times").items().iter().filter(|times| times.get("count").number() > Some(0.0))
    {
        lines.push(format!(
            "{:<24} {:>10} {:>9} {:>9} {:>9}",
            plain(times.get("name").text()),
            number(times.get("count")),
            sampled(times.get("p50")),
            sampled(times.get("p99")),
            time(times.get("max")),
        ));
    }
    lines.push(String::new());
    let tasks = frame.get("tasks");
    lines.push(format!(
        "{:>8} {:<11} {:>9} {:>9} {:>9}  {:<34} WAITS FOR   {} of {}",
        "TASK",
        "STATE",
        "for",
        "busy",
        "polls",
        "NAME, SITE",
        tasks.get("rows").items().len(),
        number(tasks.get("total")),
    ));
    for task in tasks.get("rows").items() {
        lines.push(task_line(task));
    }
    let mut text = String::new();
    for line in lines {
        let _ = writeln!(text, "{}", line.chars().take(width).collect::<String>().trim_end());
    }
    text
}

/// The width of the bar that shows a worker's time.
const BAR: usize = 30;

fn worker_line(worker: &Value) -> String {
    let share = |name: &str| worker.get(name).number().unwrap_or(0.0).clamp(0.0, 1.0);
    let mut bar = String::new();
    for (name, mark) in [("blocked", '!'), ("poll", '#'), ("computing", '%'), ("os", 'o')] {
        let cells = (share(name) * BAR as f64).round() as usize;
        bar.extend(std::iter::repeat_n(mark, cells.min(BAR - bar.len())));
    }
    let kind = if *worker.get("spare") == Value::Bool(true) { "spare " } else { "worker" };
    format!(
        "{kind} {:>2} [{bar:<BAR$}] {:>3.0} % {:>8.0} polls/s {:>6.0} steals/s {:>5} queued  {}",
        number(worker.get("index")),
        100.0 * (share("blocked") + share("poll") + share("computing")),
        worker.get("polls").number().unwrap_or(0.0),
        worker.get("steals").number().unwrap_or(0.0),
        number(worker.get("queued")),
        plain(worker.get("task").text()),
    )
}

fn task_line(task: &Value) -> String {
    let state = match task.get("worker").number() {
        Some(worker) => format!("running on {worker}"),
        None => plain(task.get("state").text()),
    };
    let name = plain(task.get("name").text());
    let site = plain(task.get("site").text());
    let mut label = if name.is_empty() { site } else { format!("{name}, {site}") };
    let kind = plain(task.get("kind").text());
    if !kind.is_empty() {
        label = format!("{kind}: {label}");
    }
    format!(
        "{:>8} {state:<11} {:>9} {:>9} {:>9}  {:<34} {} {}",
        // Ids are names, not amounts.
        task.get("id").number().unwrap_or(0.0),
        time(task.get("since")),
        time(task.get("busy")),
        number(task.get("polls")),
        label.chars().take(34).collect::<String>(),
        plain(task.get("waits").text()),
        plain(task.get("detail").text()),
    )
}

fn number(value: &Value) -> String {
    thousands(value.number().unwrap_or(0.0) as u64)
}

fn time(value: &Value) -> String {
    duration(Duration::from_nanos(value.number().unwrap_or(0.0) as u64))
}

/// As [`time`], of what is sampled: what is very short is not told apart.
fn sampled(value: &Value) -> String {
    if value.number() < Some(100.0) { "< 100 ns".to_owned() } else { time(value) }
}

/// Returns a text without what a terminal would obey.
fn plain(text: &str) -> String {
    text.trim_end().chars().map(|char| if char.is_control() { ' ' } else { char }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let text = render(&frame, 200);
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

    #[test]
    fn no_more_lines_are_drawn_than_there_are_in_the_terminal() {
        let text = "a\nb\nc\n";
        for (lines, shown) in [(0, ""), (1, "a\n"), (2, "a\nb\n"), (3, text), (usize::MAX, text)] {
            assert_eq!(first_lines(text, lines), shown, "{lines} lines");
        }
    }

    #[test]
    fn what_is_no_url_of_an_inspector_is_refused() {
        for url in [
            "",
            "https://127.0.0.1:1/?token=a",
            "http://127.0.0.1:1",
            "http://127.0.0.1:1/",
            "http://a b/?token=c",
        ] {
            let options = Options {
                url: url.to_owned(),
                once: true,
                rows: 1,
                sort: "busy".to_owned(),
                filter: String::new(),
                width: 80,
                fit: false,
            };
            let error = run(&options, &mut Vec::new()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{url}");
        }
    }
}
