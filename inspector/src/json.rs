//! Writes JSON.

use std::fmt::Write as _;

/// Writes JSON into a string, value by value, with commas between them.
///
/// Nothing checks that objects and arrays are closed: [`object`](Self::object) and
/// [`array`](Self::array) close what they open.
#[derive(Debug, Default)]
pub(crate) struct Json {
    text: String,
}

impl Json {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// Writes the name of a member. Its value must follow.
    pub(crate) fn key(&mut self, name: &str) -> &mut Self {
        self.string(name);
        self.text.push(':');
        self
    }

    pub(crate) fn object(&mut self, members: impl FnOnce(&mut Self)) {
        self.separate();
        self.text.push('{');
        members(self);
        self.text.push('}');
    }

    /// Writes an array with an element for each item.
    pub(crate) fn array<I: IntoIterator>(
        &mut self,
        items: I,
        mut element: impl FnMut(&mut Self, I::Item),
    ) {
        self.separate();
        self.text.push('[');
        for item in items {
            element(self, item);
        }
        self.text.push(']');
    }

    pub(crate) fn string(&mut self, value: &str) {
        self.separate();
        self.text.push('"');
        for char in value.chars() {
            match char {
                '"' => self.text.push_str("\\\""),
                '\\' => self.text.push_str("\\\\"),
                '\n' => self.text.push_str("\\n"),
                // This includes characters that would end a script or a line of it, in case the text is ever put into
                // one.
                char if char.is_control()
                    || matches!(char, '<' | '>' | '&' | '\u{2028}' | '\u{2029}') =>
                {
                    let _ = write!(self.text, "\\u{:04x}", u32::from(char));
                }
                char => self.text.push(char),
            }
        }
        self.text.push('"');
    }

    pub(crate) fn number(&mut self, value: u64) {
        self.separate();
        let _ = write!(self.text, "{value}");
    }

    /// Writes a number with three decimals, or `null` if it is not finite.
    pub(crate) fn decimal(&mut self, value: f64) {
        self.separate();
        if value.is_finite() {
            let _ = write!(self.text, "{value:.3}");
        } else {
            self.text.push_str("null");
        }
    }

    pub(crate) fn bool(&mut self, value: bool) {
        self.separate();
        self.text.push_str(if value { "true" } else { "false" });
    }

    pub(crate) fn null(&mut self) {
        self.separate();
        self.text.push_str("null");
    }

    /// Writes a string, or `null` if there is none.
    pub(crate) fn string_or_null(&mut self, value: Option<&str>) {
        match value {
            Some(value) => self.string(value),
            None => self.null(),
        }
    }

    /// Writes a number, or `null` if there is none.
    pub(crate) fn number_or_null(&mut self, value: Option<u64>) {
        match value {
            Some(value) => self.number(value),
            None => self.null(),
        }
    }

    /// Writes the comma before a value, unless it is the first one or follows its name.
    fn separate(&mut self) {
        if !matches!(self.text.as_bytes().last(), None | Some(b'{' | b'[' | b':')) {
            self.text.push(',');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Json)) -> serde_json::Value {
        let mut json = Json::new();
        write(&mut json);
        serde_json::from_str(&json.into_text()).expect("valid JSON")
    }

    #[test]
    fn a_real_parser_reads_what_is_written() {
        let value = written(|json| {
            json.object(|json| {
                json.key("a").number(u64::MAX);
                json.key("b").decimal(0.5);
                json.key("c").decimal(f64::NAN);
                json.key("d").array([1, 2], |json, item| json.number(item));
                json.key("e").array([(), ()], |json, ()| json.object(|_| {}));
                json.key("f").bool(true);
                json.key("g").string_or_null(None);
                json.key("h").number_or_null(Some(3));
            });
        });
        let expected = serde_json::json!({
            "a": u64::MAX, "b": 0.5, "c": null, "d": [1, 2], "e": [{}, {}], "f": true, "g": null, "h": 3
        });
        assert_eq!(value, expected);
    }

    #[test]
    fn every_character_comes_through_as_it_is() {
        let odd: String =
            (0..0x3000).filter_map(char::from_u32).chain("\u{2028}𝄞".chars()).collect();
        assert_eq!(written(|json| json.string(&odd)), serde_json::json!(odd));
        // A colon or a bracket at the end of a string must not be mistaken for structure.
        let value = written(|json| json.array([":", "[", "{", ""], |json, item| json.string(item)));
        assert_eq!(value, serde_json::json!([":", "[", "{", ""]));
    }

    #[test]
    fn no_text_can_end_a_script_or_an_event() {
        let mut json = Json::new();
        json.string("</script><!--\r\n\ndata: x");
        let text = json.into_text();
        assert!(!text.contains(['<', '>', '\n', '\r']));
    }
}
