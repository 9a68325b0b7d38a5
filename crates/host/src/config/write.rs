//! Sets a key in a file of an owner's, and leaves every other byte of it as it is.

use toml_edit::{DocumentMut, Item, Table, value};

use super::layers::check_text;
use super::problem::File;

/// The file with this key set; why it cannot be, in plain words.
pub(crate) fn put(file: File, name: &str, text: &str, key: &str, to: &str) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|why| format!("{name} cannot be read: {why}"))?;
    let (section, last) = key.split_once('.').ok_or_else(|| format!("there is no key {key}"))?;
    let table = document.entry(section).or_insert_with(|| Item::Table(Table::new()));
    let table = table.as_table_mut().ok_or_else(|| format!("{name}: [{section}] is no table"))?;
    table[last] = value(to);
    let text = document.to_string();
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
        assert!(put(File::Bardo, "bardo.toml", "[styx", "styx.url", "").unwrap_err().contains("cannot be read"));
        assert!(put(File::Bardo, "bardo.toml", "", "styx.nothing", "").is_err());
    }
}
