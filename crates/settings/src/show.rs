//! Settings written out: for people, for programs, and as files to begin from.

use serde_json::json;

use super::keys::{SettingKey, available};
use super::layers::LayerEntry;
use super::{File, Origin, Settings};

impl Settings {
    /// Each key, its value and where that came from.
    pub fn show(&self) -> String {
        let rows: Vec<(&str, String, String)> = self
            .entries()
            .iter()
            .map(|entry| {
                let mut value = entry.value.to_toml();
                if let Some(remark) = entry.value.remark() {
                    value += &format!(" ({remark})");
                }
                (entry.key.path, value, entry.origin.to_string())
            })
            .collect();
        let keys = rows.iter().map(|(key, ..)| key.len()).max().unwrap_or(0);
        let values = rows.iter().map(|(_, value, _)| value.chars().count()).max().unwrap_or(0);
        rows.iter().map(|(key, value, origin)| format!("{key:<keys$}  {value:<values$}  {origin}\n")).collect()
    }

    /// All settings for programs: `{"world.seed": {"value": 7, "from": "flag", "at": "world.seed=7"}, …}`.
    pub fn show_json(&self) -> serde_json::Value {
        let entry = |entry: &LayerEntry| {
            let value = entry.value.to_json();
            let shown = match &entry.origin {
                Origin::Default => json!({ "value": value, "from": "default" }),
                Origin::Follows(path) => json!({ "value": value, "from": "follows", "at": path }),
                Origin::File { name, line } => {
                    json!({ "value": value, "from": "file", "at": name, "line": line })
                }
                Origin::Environment(variable) => {
                    json!({ "value": value, "from": "environment", "at": variable })
                }
                Origin::Flag(flag) => json!({ "value": value, "from": "flag", "at": flag }),
            };
            (entry.key.path.to_owned(), shown)
        };
        self.entries().iter().map(entry).collect::<serde_json::Map<_, _>>().into()
    }

    /// The keys whose values have changed.
    pub fn changed_since(&self, before: &Settings) -> Vec<&'static str> {
        let differs = |(now, was): &(&LayerEntry, &LayerEntry)| now.value != was.value;
        self.entries().iter().zip(before.entries()).filter(differs).map(|(now, _)| now.key.path).collect()
    }

    /// A file with the chosen values that leaves the rest to the defaults.
    pub fn to_toml(&self) -> String {
        let chosen = |entry: &&LayerEntry| {
            !matches!(entry.origin, Origin::Follows(_)) && entry.value != entry.key.default_value()
        };
        let mut text = match self.file() {
            File::Bardo => "# The owner and the machine.\n".to_owned(),
            File::Golem => "# One golem. The figures of its life were fixed when it was born.\n".to_owned(),
        };
        text += "# A key that is not here stands at its default; `bardo config schema golem` lists them all.\n";
        let mut section = "";
        for entry in self.entries().iter().filter(chosen) {
            open_section(&mut text, &mut section, entry.key);
            text += &format!("# {}\n{} = {}\n", entry.key.about, entry.key.split().1, entry.value.to_toml());
        }
        text
    }
}

/// Every available key at its default with a word on it, ready to be changed: the keys are commented out, so the file
/// as it stands changes nothing. Each is written with its section and none stands under a section head, so that an
/// owner who adds a section at the end does not write its head twice.
pub fn template(file: File) -> String {
    let mut text = match file {
        File::Bardo => "# The owner and the machine.\n".to_owned(),
        File::Golem => "# One golem, as it will be born.\n".to_owned(),
    };
    text += "# Every key stands at its default. To change one, take the '#' from its line.\n";
    let mut section = "";
    for key in available(file) {
        if section != key.split().0 {
            section = key.split().0;
            text.push('\n');
        }
        let value = key.default_value();
        let remark = value.remark().map_or(String::new(), |remark| format!("; {remark}"));
        text += &format!("# {} ({}{remark})\n", key.about, key.kind.expected());
        text += &format!("#{} = {}\n", key.path, value.to_toml());
    }
    text
}

fn open_section<'a>(text: &mut String, section: &mut &'a str, key: &'a SettingKey) {
    let own = key.split().0;
    if *section != own {
        *section = own;
        text.push_str(&format!("\n[{own}]\n"));
    }
}
