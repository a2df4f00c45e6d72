//! The terminal view of the inspector.
//!
//! ```text
//! windlass-inspector top [--once] [--rows N] [--sort COLUMN] [--filter TEXT] [URL]
//! ```

use std::io;
use std::process::ExitCode;

use windlass_inspector::top::{self, Options};

/// The environment variable for the URL if no argument has it.
const URL_VARIABLE: &str = "WINDLASS_INSPECTOR";

const USAGE: &str = "usage: windlass-inspector top [--once] [--rows N] [--sort COLUMN] [--filter TEXT] [URL]

The URL is the one that the program has printed, with its token. All users of a machine can read the arguments of a
program: to keep the token from them, pass the URL in WINDLASS_INSPECTOR, or give - and have it read from the
standard input. COLUMN is one of id, name, site, state, since, age, polls,
busy, waits. --once prints one frame and exits.";

fn main() -> ExitCode {
    let Some(options) = options(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match top::run(&options, &mut io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of our output has closed it.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn options(mut arguments: impl Iterator<Item = String>) -> Option<Options> {
    if arguments.next()? != "top" {
        return None;
    }
    // Used when the terminal does not report its width: wider lines are cut or wrapped.
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let mut options = Options {
        url: String::new(),
        once: false,
        rows: 0,
        sort: "busy".to_owned(),
        filter: String::new(),
        width: columns.unwrap_or(160),
        fit: true,
    };
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--once" => options.once = true,
            "--rows" => options.rows = arguments.next()?.parse().ok()?,
            "--sort" => options.sort = arguments.next()?,
            "--filter" => options.filter = arguments.next()?,
            other if other.starts_with('-') && other != "-" => return None,
            _ if !options.url.is_empty() => return None,
            _ => options.url = argument,
        }
    }
    if options.url.is_empty() {
        options.url = std::env::var(URL_VARIABLE).unwrap_or_default();
    } else if options.url == "-" {
        options.url.clear();
        let _ = io::stdin().read_line(&mut options.url);
    }
    options.url.truncate(options.url.trim_end().len());
    (!options.url.is_empty()).then_some(options)
}
