//! `config show|check|schema`.

use std::process::ExitCode;

use settings::{File, Settings, schema};
use shell::{Error, Home};

use crate::args::{ConfigFile, ConfigVerb};
use crate::named;
use crate::output::{self, line};

pub(crate) fn dispatch(home: &Home, verb: &ConfigVerb, json: bool) -> Result<ExitCode, Error> {
    match verb {
        ConfigVerb::Show { name } => {
            let settings = match name {
                None => home.settings()?,
                Some(name) => {
                    let place = named::golem(home, name)?;
                    let settings = Settings::load(File::Golem, Some(&place.config()), std::iter::empty(), &[])?;
                    let (golem, _) = vault::Reader::open(&place.database())?.wake()?;
                    if let Some((key, _, is)) = settings.contradicts(golem.life().birth())? {
                        output::complain(format!(
                            "golem.toml differs from what {name} was born with ({key} was {is}); only the birth counts"
                        ));
                    }
                    settings
                }
            };
            if json { output::json(&settings.show_json()) } else { line(settings.show().trim_end()) }
        }
        ConfigVerb::Check { file } => {
            let path = file.clone().unwrap_or_else(|| home.config());
            let kind = match path.file_name().and_then(|name| name.to_str()) {
                Some("bardo.toml") => File::Bardo,
                _ => File::Golem,
            };
            let settings = Settings::load(kind, Some(&path), std::iter::empty(), &[])?;
            if kind == File::Golem {
                settings.constitution()?;
            }
            let remarks: Vec<String> = settings.remarks().iter().map(ToString::to_string).collect();
            if json {
                output::json(&serde_json::json!({ "file": path, "fine": true, "remarks": remarks }));
            } else {
                remarks.iter().for_each(output::complain);
                line(format!("{} is fine", path.display()));
            }
        }
        ConfigVerb::Schema { file } => {
            let schema = schema(match file {
                ConfigFile::Bardo => File::Bardo,
                ConfigFile::Golem => File::Golem,
            });
            line(serde_json::to_string_pretty(&schema).expect("plain data"));
        }
    }
    Ok(ExitCode::SUCCESS)
}
