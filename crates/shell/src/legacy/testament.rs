//! The last two steps of a death that need hands: the testament on disk, and the legacy on the shelf. Each can be done
//! again from the beginning and comes to the same, so a way cut short anywhere is simply gone again.

use std::fs;
use std::ops::ControlFlow;

use golem::grimoire::Grimoire;
use golem::inheritance::{BUDGET, Way, estate, whole};
use golem::thanatopsis::{Outside, Review, Section, Testament, write};
use golem::{Life, Time, hex};
use settings::chance::Secret;
use vault::Reader;

use super::bundle::pack;
use super::{remains, shelf};
use crate::Error;
use crate::durable;
use crate::home::GolemHome;
use crate::home::key::OwnerKey;
use crate::view::narrator::Narrator;

/// Writes the testament, for people and for programs, and returns its hash.
pub(crate) fn reflect(place: &GolemHome, life: &Life, grimoire: &Grimoire, secret: &Secret) -> Result<[u8; 32], Error> {
    let testament = draft(place, life, grimoire, secret)?;
    let json = serde_json::to_string_pretty(&testament).expect("a testament is plain data");
    durable::write(&place.testament("json"), json.as_bytes())?;
    durable::write(&place.testament("md"), testament.markdown(date).as_bytes())?;
    Ok(*blake3::hash(json.as_bytes()).as_bytes())
}

/// The testament in lines, for a model that is asked for last words; nothing secret is among them.
pub(crate) fn lines(
    place: &GolemHome,
    life: &Life,
    grimoire: &Grimoire,
    secret: &Secret,
) -> Result<Vec<String>, Error> {
    let testament = draft(place, life, grimoire, secret)?;
    let first = format!("died {}", testament.cause_in_words);
    let of = |section: &Section| section.lines.iter().map(|line| format!("{}: {line}", section.title)).collect();
    let said = testament.sections.iter().flat_map(|section| -> Vec<String> { of(section) });
    Ok(std::iter::once(first).chain(said).collect())
}

fn draft(place: &GolemHome, life: &Life, grimoire: &Grimoire, secret: &Secret) -> Result<Testament, Error> {
    let reader = Reader::open(&place.database())?;
    let (mut review, mut narrator) = (Review::default(), Narrator::before(&reader)?);
    reader.replay(|record| {
        narrator.tell(&record, |_| {})?;
        if let Some(life) = narrator.life() {
            review.hear(&record, life);
        }
        Ok::<_, Error>(ControlFlow::Continue(()))
    })?;
    let tip = reader.tip()?;
    let journal = hex::encode(&tip.hash);
    let outside = Outside { secret: secret.reveal(), records: tip.seq, journal };
    let whole = whole(grimoire, life);
    let written = write(life, &whole, &review, outside);
    let written = written.ok_or_else(|| Error::Usage(format!("{} is not dead", place.name)))?;
    Ok(Testament { name: place.name.to_string(), remains: remains::read(place), ..written })
}

/// Packs what was known and may cross a death into a bundle, and puts what is worth it onto the owner's shelf.
pub(crate) fn bequeath(place: &GolemHome, life: &Life, grimoire: &Grimoire) -> Result<([u8; 32], u32), Error> {
    let whole = whole(grimoire, life);
    let lines = estate(&whole, life, BUDGET);
    let key = OwnerKey::of(place.home())?;
    let text = pack(&key, place.name.as_str(), Some(life), &lines);
    durable::write(&place.legacy(), text.as_bytes())?;
    shelf::leave(place, life, whole.in_use(), Way::Deposit)?;
    Ok((*blake3::hash(text.as_bytes()).as_bytes(), lines.len() as u32))
}

/// The testament as it is on disk, if it is the one that the journal says was written; under the name its golem has now.
pub fn read(place: &GolemHome, life: &Life) -> Result<Option<Testament>, Error> {
    let Some(hash) = life.death().and_then(|death| death.progress.testament) else { return Ok(None) };
    let path = place.testament("json");
    let text = fs::read(&path).map_err(Error::io("cannot read", &path))?;
    if *blake3::hash(&text).as_bytes() != hash {
        let why = format!("{} is not the testament that was written; bring it back from a backup", path.display());
        return Err(Error::Refused(why));
    }
    let testament: Result<Testament, _> = serde_json::from_slice(&text);
    let testament = testament.map_err(|e| Error::Refused(format!("{} cannot be read: {e}", path.display())))?;
    Ok(Some(Testament { name: place.name.to_string(), ..testament }))
}

fn date(at: Time) -> String {
    jiff::Timestamp::from_second(at.as_seconds() as i64)
        .map_or(String::new(), |at| at.strftime("%Y-%m-%d %H:%M").to_string())
}
