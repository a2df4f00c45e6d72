//! Reads JSON, for the terminal view.

use std::collections::BTreeMap;

/// How deeply values may be nested. The inspector's own go no deeper than six.
const DEPTH: usize = 16;

/// A JSON value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Number(f64),
    String(String),
    Array(Vec<Value>),
    Object(BTreeMap<String, Value>),
}

impl Value {
    /// Parses a text that is a single value, or returns `None` if it is not.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut reader = Reader { rest: text };
        let value = reader.value(DEPTH)?;
        reader.skip_space();
        reader.rest.is_empty().then_some(value)
    }

    /// Returns a member of an object, or null.
    pub(crate) fn get(&self, name: &str) -> &Value {
        match self {
            Self::Object(members) => members.get(name).unwrap_or(&Self::Null),
            _ => &Self::Null,
        }
    }

    /// Returns the elements of an array, or none.
    pub(crate) fn items(&self) -> &[Value] {
        match self {
            Self::Array(items) => items,
            _ => &[],
        }
    }

    /// Returns the text of a string, or an empty one.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::String(text) => text,
            _ => "",
        }
    }

    /// Returns a number, or `None` if the value is not one.
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
    }

    fn take(&mut self, token: &str) -> bool {
        self.skip_space();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        let depth = depth.checked_sub(1)?;
        self.skip_space();
        if self.take("null") {
            return Some(Value::Null);
        }
        if self.take("true") {
            return Some(Value::Bool(true));
        }
        if self.take("false") {
            return Some(Value::Bool(false));
        }
        if self.rest.starts_with('"') {
            return self.string().map(Value::String);
        }
        if self.take("[") {
            return self.array(depth);
        }
        if self.take("{") {
            return self.object(depth);
        }
        self.number()
    }

    fn array(&mut self, depth: usize) -> Option<Value> {
        let mut items = Vec::new();
        if self.take("]") {
            return Some(Value::Array(items));
        }
        loop {
            items.push(self.value(depth)?);
            if self.take("]") {
                return Some(Value::Array(items));
            }
            if !self.take(",") {
                return None;
            }
        }
    }

    fn object(&mut self, depth: usize) -> Option<Value> {
        let mut members = BTreeMap::new();
        if self.take("}") {
            return Some(Value::Object(members));
        }
        loop {
            self.skip_space();
            let name = self.string()?;
            if !self.take(":") {
                return None;
            }
            members.insert(name, self.value(depth)?);
            if self.take("}") {
                return Some(Value::Object(members));
            }
            if !self.take(",") {
                return None;
            }
        }
    }

    fn number(&mut self) -> Option<Value> {
        let end = self
            .rest
            .find(|char: char| !matches!(char, '0'..='9' | '-' | '+' | '.' | 'e' | 'E'))
            .unwrap_or(self.rest.len());
        let (number, rest) = self.rest.split_at(end);
        self.rest = rest;
        number.parse().ok().map(Value::Number)
    }

    fn string(&mut self) -> Option<String> {
        let mut text = String::new();
        let mut chars = self.rest.strip_prefix('"')?.chars();
        loop {
            match chars.next()? {
                '"' => break,
                '\\' => text.push(match chars.next()? {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    'b' => '\u{8}',
                    'f' => '\u{c}',
                    'u' => {
                        let digits = chars.as_str().get(..4)?;
                        chars = chars.as_str().get(4..)?.chars();
                        // The inspector writes characters of other planes without escapes, so there are no surrogate
                        // pairs.
                        char::from_u32(u32::from_str_radix(digits, 16).ok()?)?
                    }
                    other @ ('"' | '\\' | '/') => other,
                    _ => return None,
                }),
                other => text.push(other),
            }
        }
        self.rest = chars.as_str();
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Json;

    #[test]
    fn values_of_all_kinds_are_read() {
        let value =
            Value::parse(r#" {"a": [1, -2.5e1, "x\n\u00e9"], "b": {"c": true, "d": null}} "#)
                .unwrap();
        assert_eq!(value.get("a").items()[1].number(), Some(-25.0));
        assert_eq!(value.get("a").items()[2].text(), "x\né");
        assert_eq!(*value.get("b").get("c"), Value::Bool(true));
        assert_eq!(*value.get("b").get("d").get("e"), Value::Null);
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for text in [
            "",
            "{",
            "[1,]",
            "[1 2]",
            "{\"a\"}",
            "{a:1}",
            "\"",
            "\"\\x\"",
            "\"\\u12\"",
            "1 2",
            "nul",
        ] {
            assert_eq!(Value::parse(text), None, "{text}");
        }
        assert_eq!(Value::parse(&"[".repeat(100_000)), None);
    }

    #[test]
    fn what_our_writer_writes_is_read_back() {
        let odd: String = (0..0x3000).filter_map(char::from_u32).chain("𝄞".chars()).collect();
        let mut json = Json::new();
        json.string(&odd);
        assert_eq!(Value::parse(&json.into_text()), Some(Value::String(odd)));
    }
}
