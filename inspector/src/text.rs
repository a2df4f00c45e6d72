//! Times and numbers for people to read.

use std::time::Duration;

/// Returns a time with up to three digits: "1.20 s", "30 ms".
pub(crate) fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let (value, unit) = match seconds {
        s if s >= 86_400.0 => (s / 86_400.0, "d"),
        s if s >= 3_600.0 => (s / 3_600.0, "h"),
        s if s >= 100.0 => (s / 60.0, "min"),
        s if s >= 0.999_5 => (s, "s"),
        s if s >= 0.000_999_5 => (s * 1e3, "ms"),
        s if s >= 0.000_000_999_5 => (s * 1e6, "µs"),
        0.0 => return "0".to_owned(),
        s => (s * 1e9, "ns"),
    };
    let whole = (value - value.round()).abs() < 0.005 && unit != "s";
    let digits = if value >= 99.95 || whole {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {unit}")
}

/// Returns a number with commas between the thousands.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits() {
        for (nanos, text) in [
            (0, "0"),
            (7, "7 ns"),
            (1_500, "1.50 µs"),
            (30_000_000, "30 ms"),
            (12_345_000, "12.3 ms"),
            (999_900_000, "1.00 s"),
            (1_200_000_000, "1.20 s"),
            (150_000_000_000, "2.50 min"),
            (7_200_000_000_000, "2 h"),
            (259_200_000_000_000, "3 d"),
        ] {
            assert_eq!(duration(Duration::from_nanos(nanos)), text);
        }
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1_000), "1,000");
        assert_eq!(thousands(12_345_678), "12,345,678");
    }
}
