//! Sets a key in one of the owner's files, and leaves every other byte of it as it is.

use toml_edit::{DocumentMut, value};

use super::layers::check_text;
use super::problem::File;

/// Returns the text of the file with this key set, or why it cannot be, in plain words.
pub fn put(file: File, name: &str, text: &str, key: &str, to: &str) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|why| format!("{name} cannot be read: {why}"))?;
    let (section, last) = key.split_once('.').ok_or_else(|| format!("there is no key {key}"))?;
    let text = if document.contains_key(section) {
        let table = document[section].as_table_mut().ok_or_else(|| format!("{name}: [{section}] is not a table"))?;
        table[last] = value(to);
        document.to_string()
    } else {
        // At the end, below everything that stands under no head.
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        let space = if text.trim().is_empty() { "" } else { "\n" };
        format!("{text}{end}{space}[{section}]\n{last} = {}\n", value(to))
    };
    check_text(file, name, &text).map_err(|why| why.to_string())?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_set_and_the_rest_stays() {
        let before = "# mine\n[styx]\n# url = \"x\"\n\n[api]\nlisten = \"\" # nowhere\n";
        let after = put(File::Bardo, "bardo.toml", before, "styx.url", "ws://a/v1").unwrap();
        assert!(
            after.contains("url = \"ws://a/v1\"")
                && after.contains("listen = \"\" # nowhere")
                && after.starts_with("# mine")
        );
        let again = put(File::Bardo, "bardo.toml", &after, "styx.url", "ws://b/v1").unwrap();
        assert!(again.contains("ws://b/v1") && !again.contains("ws://a/v1"));
        // Beside keys that stand under no head, and below keys that are not set yet.
        let below =
            put(File::Bardo, "bardo.toml", "gateway.listen = \"\"\n#api.listen = \"\"", "styx.url", "ws://a/v1")
                .unwrap();
        assert!(below.ends_with("#api.listen = \"\"\n\n[styx]\nurl = \"ws://a/v1\"\n"), "{below}");
        let dotted = put(File::Bardo, "bardo.toml", "styx.url = \"ws://b/v1\"\n", "styx.url", "ws://a/v1").unwrap();
        assert_eq!(dotted, "styx.url = \"ws://a/v1\"\n");
        assert!(put(File::Bardo, "bardo.toml", "[styx", "styx.url", "").unwrap_err().contains("cannot be read"));
        assert!(put(File::Bardo, "bardo.toml", "", "styx.nothing", "").is_err());
    }
}
