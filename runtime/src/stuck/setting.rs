//! The time after which a poll is reported: as set by the builder or the environment, or the default.

use std::ffi::OsStr;
use std::io;
use std::time::Duration;

use super::policy::SHORTEST_REPORT_AFTER;
use crate::builder_check;

/// Returns the time that the environment sets, or else that of the builder. `None` stands for no reports.
pub(crate) fn check(builder: Option<Duration>) -> io::Result<Option<Duration>> {
    let time = match std::env::var_os("WINDLASS_LONG_POLLS") {
        Some(value) => parse(&value)?,
        None => builder.filter(|time| *time < Duration::MAX),
    };
    let least = time.unwrap_or(SHORTEST_REPORT_AFTER);
    builder_check::check(
        least >= SHORTEST_REPORT_AFTER,
        format_args!(
            "report_long_polls of {least:?}: give at least {SHORTEST_REPORT_AFTER:?}, or `Duration::MAX` for no reports"
        ),
    )?;
    Ok(time)
}

/// Parses "off", or a number with a unit.
fn parse(value: &OsStr) -> io::Result<Option<Duration>> {
    let text = value.to_str().unwrap_or_default().trim();
    if text == "off" {
        return Ok(None);
    }
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number = number.parse::<u64>().ok();
    let time = number.and_then(|number| match unit.trim() {
        "ms" => Some(Duration::from_millis(number)),
        "s" => Some(Duration::from_secs(number)),
        _ => None,
    });
    builder_check::check(
        time.is_some_and(|time| time >= SHORTEST_REPORT_AFTER),
        format_args!(
            "the environment variable WINDLASS_LONG_POLLS is {value:?}: give a time such as \"50ms\" or \"2s\", of \
             {SHORTEST_REPORT_AFTER:?} or more, or \"off\""
        ),
    )?;
    Ok(time)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit() {
        let parse = |text: &str| parse(OsStr::new(text)).unwrap();
        assert_eq!(parse("50ms"), Some(Duration::from_millis(50)));
        assert_eq!(parse(" 2 s "), Some(Duration::from_secs(2)));
        assert_eq!(parse("off"), None);
    }

    #[test]
    fn bad_times_are_refused_with_advice() {
        for bad in
            ["", "50", "ms", "0ms", "-5ms", "1.5s", "5 minutes", "99999999999999999999ms", "on"]
        {
            let error = parse(OsStr::new(bad)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
            let message = error.to_string();
            assert!(
                message.contains("WINDLASS_LONG_POLLS") && message.contains("50ms"),
                "{message}"
            );
        }
    }

    #[test]
    fn the_builder_switches_off_with_the_longest_time() {
        assert_eq!(check(Some(Duration::MAX)).unwrap(), None);
        assert_eq!(check(None).unwrap(), None);
        assert!(check(Some(Duration::from_micros(10))).is_err());
    }
}
