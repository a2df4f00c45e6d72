//! The inspector in a terminal: the same frames as in the browser, as text.
//!
//! A plain client on the standard library, without a runtime. Names come from the inspected program, and through it
//! from anybody, so control characters are removed before they reach the terminal.

use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::http::escape;
use crate::lines::{plain, render};
use crate::sys;
use crate::value::Value;

/// The longest line that is read from the server: a frame of 500 rows takes a tenth of it.
const LINE_LIMIT: u64 = 16 << 20;
/// The number of task rows if it is not known how many fit.
const ROWS: usize = 20;
/// How long a server may be silent.
const SILENCE: Duration = Duration::from_secs(30);

/// The options of `top`.
#[derive(Debug, Clone)]
pub struct Options {
    /// The URL of the inspector, with its token.
    pub url: String,
    /// Whether to end after one frame.
    pub once: bool,
    /// The number of rows in the table of tasks; 0 means as many as fit, or 20 if that is not known.
    pub rows: usize,
    /// The column to sort the tasks by.
    pub sort: String,
    /// A text that the shown tasks must contain.
    pub filter: String,
    /// The largest number of characters in a line.
    pub width: usize,
    /// Whether to fit frames to the terminal on standard output, if its size is known: no line is wider than the
    /// terminal, and there are no more lines than it shows.
    pub fit: bool,
}

/// Shows frames until the connection ends, or only one.
///
/// # Errors
///
/// Returns an error if the inspector can't be reached, refuses the request, or sends something that is not a frame.
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
    // The first frame has no rates yet, so a single frame is the second one.
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
        // Asked each time, because somebody may have resized it.
        let size = if options.fit { sys::terminal_size() } else { None };
        let width = size.map_or(options.width, |(columns, _)| columns);
        let height = size.map_or(usize::MAX, |(_, lines)| lines.saturating_sub(1));
        let text = render(&frame, width, if options.once { usize::MAX } else { height });
        if options.once {
            return out.write_all(text.as_bytes());
        }
        let text = first_lines(&text, height);
        // Starts at the top left, and clears the rest of each old line and everything below.
        write!(out, "\x1b[H{}\x1b[J", text.replace('\n', "\x1b[K\n"))?;
        out.flush()?;
    }
}

/// Returns the first lines of a text.
pub(crate) fn first_lines(text: &str, lines: usize) -> &str {
    let end = text.match_indices('\n').nth(lines.saturating_sub(1)).map(|(at, _)| at + 1);
    if lines == 0 { "" } else { &text[..end.unwrap_or(text.len())] }
}

/// Requests the events, and returns the stream after the head of the response.
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
    let rows = match sys::terminal_size() {
        _ if options.rows > 0 => options.rows,
        Some((_, lines)) if options.fit && !options.once => lines,
        _ => ROWS,
    };
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(SILENCE))?;
    write!(
        stream,
        "GET /events?token={token}&n={rows}&sort={}&filter={} HTTP/1.1\r\nHost: {host}\r\n\r\n",
        escape(&options.sort),
        escape(&options.filter),
    )?;
    let mut lines = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        let limit = 16 * 1024 - head.len() as u64;
        if io::Read::take(&mut lines, limit).read_line(&mut head)? == 0 {
            let why = "the server has sent no response";
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
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

#[cfg(test)]
mod tests {
    use super::*;

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
