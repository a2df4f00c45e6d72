//! The page that is sent to the browser.

use crate::token::Token;

/// The styles.
pub(crate) const CSS: &str = include_str!("page/page.css");
/// The script.
pub(crate) const JS: &str = include_str!("page/page.js");
/// The part of the script that makes elements, numbers and tables.
pub(crate) const PARTS_JS: &str = include_str!("page/parts.js");
/// The part of the script that draws which tasks wait for which.
pub(crate) const GRAPH_JS: &str = include_str!("page/graph.js");

const HTML: &str = include_str!("page/page.html");

/// Returns the page. The browser requests the script and the styles with the token, like everything else.
pub(crate) fn html(token: &Token) -> String {
    // A token consists of letters, digits, '-' and '_', none of which means anything in HTML.
    HTML.replace("TOKEN", token.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_inserted_as_html_or_run_as_code() {
        for risky in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
            "srcdoc",
            "DOMParser",
            "setAttribute('on",
            "javascript:",
        ] {
            for script in [JS, PARTS_JS, GRAPH_JS] {
                assert!(!script.contains(risky), "{risky}");
            }
        }
        for inline in ["<script>", "style=", "onclick", "onload", "http://", "https://", "//cdn"] {
            assert!(!HTML.contains(inline), "{inline}");
        }
    }

    #[test]
    fn the_page_asks_for_its_files_with_the_token() {
        let html = html(&Token::chosen("0123456789abcdef").unwrap());
        assert!(html.contains("page.js?token=0123456789abcdef"));
        assert!(html.contains("parts.js?token=0123456789abcdef"));
        assert!(html.contains("graph.js?token=0123456789abcdef"));
        assert!(html.contains("page.css?token=0123456789abcdef"));
    }
}
