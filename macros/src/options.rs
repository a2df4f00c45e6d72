//! The options in the attribute's parentheses: `workers = 4, thread_name = "web"`.

use crate::Error;
use proc_macro::{Delimiter, TokenStream, TokenTree};

/// The options that were given, each as source text for the expansion.
#[derive(Default)]
pub(crate) struct Options {
    workers: Option<String>,
    thread_name: Option<String>,
    /// Whether a tokio runtime is started beside it: `true` or `false`.
    tokio: Option<String>,
    /// Whether the runtime is in virtual time: `true` or `false`.
    virtual_time: Option<String>,
    /// The path to windlass. (`crate` is a keyword.)
    root: Option<String>,
}

/// Converts the source text of a literal into text for the expansion, or returns what was expected.
type Reader = fn(&str) -> Result<String, &'static str>;

impl Options {
    /// Reads `name = literal` pairs, each name at most once, with commas between.
    pub(crate) fn parse(tokens: TokenStream) -> Result<Self, Error> {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut pairs: Vec<_> = tokens.split(|token| is_punct(token, ',')).collect();
        if pairs.last().is_some_and(|pair| pair.is_empty()) {
            pairs.pop(); // no options at all, or a comma after the last
        }
        let mut options = Self::default();
        for pair in pairs {
            options.set(pair)?;
        }
        Ok(options)
    }

    fn set(&mut self, pair: &[TokenTree]) -> Result<(), Error> {
        let Some((name, rest)) = pair.split_first() else {
            return Err(Error::about(pair, "an option is missing before a comma"));
        };
        let key = name.to_string();
        let (slot, read): (_, Reader) = match key.as_str() {
            "workers" => (&mut self.workers, read_workers),
            "thread_name" => (&mut self.thread_name, read_string),
            "tokio" => (&mut self.tokio, read_bool),
            "virtual_time" => (&mut self.virtual_time, read_bool),
            "crate" => (&mut self.root, read_path),
            _ => {
                return Err(Error::new(name.span(), unknown(&key)));
            }
        };
        if slot.is_some() {
            return Err(Error::new(name.span(), format!("`{key}` is given twice")));
        }
        let value = match rest.split_first() {
            Some((equals, value)) if is_punct(equals, '=') && !value.is_empty() => value,
            _ => return Err(Error::about(pair, format!("expected `{key} = value`"))),
        };
        let text = read(&literal_text(value))
            .map_err(|expected| Error::about(value, format!("`{key}` takes {expected}")))?;
        *slot = Some(text);
        Ok(())
    }

    /// Returns the expression that starts the runtime.
    pub(crate) fn runtime_source(&self, default_workers: Option<usize>) -> String {
        let root = self.root.as_deref().unwrap_or("::windlass");
        let workers = self.workers.clone().or(default_workers.map(|n| n.to_string()));
        let is_true = |option: &Option<String>| option.as_deref() == Some("true");
        let with_tokio = is_true(&self.tokio);
        let virtual_time = is_true(&self.virtual_time);
        let start = match (workers, &self.thread_name) {
            (None, None) if !with_tokio && !virtual_time => format!("{root}::Runtime::new()"),
            (workers, thread_name) => {
                let workers = workers.map_or(String::new(), |n| format!(".workers({n})"));
                let name =
                    thread_name.as_ref().map_or(String::new(), |s| format!(".thread_name({s})"));
                let time = if virtual_time { ".virtual_time()" } else { "" };
                let builder = format!("{root}::Builder::new(){workers}{name}{time}");
                match with_tokio {
                    true => format!("{root}::tokio::BuilderExt::with_tokio({builder}).build()"),
                    false => format!("{builder}.build()"),
                }
            }
        };
        format!(r#"{start}.expect("the windlass runtime could not be started")"#)
    }
}

/// Returns the message for an option that does not exist. For an option of tokio's, it names ours.
fn unknown(key: &str) -> String {
    let hint = match key {
        "worker_threads" => "; tokio's `worker_threads` is `workers` here",
        "start_paused" => "; tokio's `start_paused` is `virtual_time` here",
        "flavor" => "; there is one kind of runtime, and `workers = 1` makes it small",
        _ => "",
    };
    format!(
        "unknown option `{key}`{hint}; there are `workers`, `thread_name`, `virtual_time`, `tokio` and `crate`"
    )
}

fn is_punct(token: &TokenTree, char: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == char)
}

/// Returns the source text of the value if it is a literal or a word, and an empty string otherwise.
fn literal_text(value: &[TokenTree]) -> String {
    match value {
        [TokenTree::Literal(literal)] => literal.to_string(),
        // `true` and `false` among them.
        [TokenTree::Ident(word)] => word.to_string(),
        // `$value:literal` of a `macro_rules!`
        [TokenTree::Group(group)] if group.delimiter() == Delimiter::None => {
            literal_text(&group.stream().into_iter().collect::<Vec<_>>())
        }
        _ => String::new(),
    }
}

fn read_workers(literal: &str) -> Result<String, &'static str> {
    let digits = literal.strip_suffix("usize").unwrap_or(literal).replace('_', "");
    match digits.parse::<usize>() {
        Ok(1..) => Ok(digits),
        _ => Err("a whole number of at least 1, such as `4`"),
    }
}

fn read_string(literal: &str) -> Result<String, &'static str> {
    match literal.as_bytes() {
        [b'"', .., b'"'] | [b'r', b'"' | b'#', ..] => Ok(literal.to_string()),
        _ => Err("a string, such as `\"web\"`"),
    }
}

fn read_bool(literal: &str) -> Result<String, &'static str> {
    match literal {
        "true" | "false" => Ok(literal.to_string()),
        _ => Err("`true` or `false`"),
    }
}

fn read_path(literal: &str) -> Result<String, &'static str> {
    let path = literal.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or("");
    let is_ident = |part: &str| {
        !part.starts_with(|c: char| c.is_ascii_digit())
            && !part.is_empty()
            && part.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    let mut parts = path.strip_prefix("::").unwrap_or(path).split("::");
    match parts.all(is_ident) {
        true => Ok(path.to_string()),
        false => Err("a path in quotes, such as `\"crate::runtime\"`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_are_a_positive_decimal_number() {
        for (literal, digits) in [("1", "1"), ("4usize", "4"), ("1_024", "1024")] {
            assert_eq!(read_workers(literal).as_deref(), Ok(digits), "{literal}");
        }
        for literal in ["", "0", "-1", "1.5", "0x4", "4u8", "\"4\"", "99999999999999999999999"] {
            assert!(read_workers(literal).is_err(), "{literal}");
        }
    }

    #[test]
    fn strings_keep_their_source_text() {
        for literal in [r#""web""#, r#""""#, r##"r#"raw"#"##, r#"r"raw""#, r#""a \" b""#] {
            assert_eq!(read_string(literal).as_deref(), Ok(literal));
        }
        for literal in ["", "4", "'c'", "b\"bytes\"", "c\"text\""] {
            assert!(read_string(literal).is_err(), "{literal}");
        }
    }

    #[test]
    fn paths_are_identifiers_with_colons_between() {
        for path in ["::windlass", "crate", "crate::rt", "self::a::b_2"] {
            assert_eq!(read_path(&format!("\"{path}\"")).as_deref(), Ok(path));
        }
        for literal in ["", "\"", "\"\"", "\"a b\"", "\"a::\"", "\"a:b\"", "\"2a\"", "\"f()\""] {
            assert!(read_path(literal).is_err(), "{literal}");
        }
    }

    #[test]
    fn tokio_is_set_beside_by_its_own_trait_if_that_is_true() {
        for (literal, text) in [("true", Ok("true")), ("false", Ok("false")), ("1", Err(()))] {
            assert_eq!(read_bool(literal).as_deref().map_err(drop), text);
        }
        let with = |tokio: &str| Options { tokio: Some(tokio.into()), ..Options::default() };
        assert!(with("false").runtime_source(None).starts_with("::windlass::Runtime::new()."));
        let source = with("true").runtime_source(Some(2));
        let builder = "::windlass::Builder::new().workers(2)";
        let expected = format!("::windlass::tokio::BuilderExt::with_tokio({builder}).build().");
        assert!(source.starts_with(&expected), "{source}");
    }

    #[test]
    fn without_options_the_runtime_is_the_default_one() {
        assert!(Options::default().runtime_source(None).starts_with("::windlass::Runtime::new()."));
    }

    #[test]
    fn options_reach_the_builder() {
        let options = Options {
            workers: Some("4".into()),
            thread_name: Some("\"web\"".into()),
            root: Some("crate::rt".into()),
            ..Options::default()
        };
        let source = options.runtime_source(Some(2));
        let expected = r#"crate::rt::Builder::new().workers(4).thread_name("web").build().expect("#;
        assert!(source.starts_with(expected), "{source}");
    }

    #[test]
    fn virtual_time_is_a_setting_of_the_builder() {
        let options = Options { virtual_time: Some("true".into()), ..Options::default() };
        let source = options.runtime_source(None);
        assert!(
            source.starts_with("::windlass::Builder::new().virtual_time().build()."),
            "{source}"
        );
    }

    #[test]
    fn options_of_tokio_are_answered_with_ours() {
        for (theirs, ours) in [("worker_threads", "`workers`"), ("start_paused", "`virtual_time`")]
        {
            assert!(unknown(theirs).contains(&format!("is {ours} here")), "{theirs}");
        }
        assert!(unknown("flavor").contains("workers = 1"));
        assert!(!unknown("colour").contains("tokio's"));
    }

    #[test]
    fn a_default_number_of_workers_gives_way_to_the_option() {
        let source = Options::default().runtime_source(Some(2));
        assert!(source.contains("::Builder::new().workers(2).build()"), "{source}");
        let options = Options { workers: Some("1".into()), ..Options::default() };
        assert!(options.runtime_source(Some(2)).contains(".workers(1)"));
    }
}
