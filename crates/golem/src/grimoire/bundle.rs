//! Entries on their way between golems: one JSON object a line, in names instead of numbers, so that another
//! world can read what it has words for.
//!
//! A line says what its sender believes. The golem that takes it in decides for itself what of that to believe.

use life::Life;
use life::grimoire::{Class, Entry, Expectation, How, Kind, Link, Provenance, Shown};
use life::plain::{self, is_plain};
use life::regime::Regime;
use life::rule::{rounded, text};
use life::time::Time;
use life::world::Manifest;
use serde::{Deserialize, Serialize};

use super::admission::draft;
use super::round::{source, words};

/// The version of lines this program writes and reads.
pub const VERSION: u32 = 1;
/// The longest line that is read, in bytes.
pub const LINE: usize = 8 * 1024;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BundleLine {
    pub bundle: u32,
    pub kind: Kind,
    pub text: String,
    /// Condition and claim, in the words of the sender's world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<NamedLink>,
    /// Evidence that the sender saw; believed only of a predecessor in one's own line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<Shown>,
    #[serde(default)]
    pub regime: Option<Regime>,
    pub class: Class,
    /// The sender's confidence when it was sent.
    pub confidence: f64,
    pub evidence_for: f64,
    pub evidence_against: f64,
    pub born: Time,
    pub validated_at: Time,
    #[serde(default)]
    pub bloodstain: bool,
    pub provenance: Provenance,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedLink {
    pub cause: String,
    pub effect: String,
    pub same_way: bool,
}

/// One entry, as it is now.
pub fn export(entry: &Entry, life: &Life) -> BundleLine {
    let name = |feature: u8| life.birth().world.features.get(usize::from(feature)).cloned().unwrap_or_default();
    // No more exact than it is sure, so that two golems that found the same say the same.
    let rule = entry.claim.map(|claim| {
        let claim = Expectation { effect: rounded(claim.effect, 3), ..claim };
        words(&entry.condition.clone().unwrap_or_default(), &claim, entry.blend.as_ref(), life)
    });
    BundleLine {
        bundle: VERSION,
        kind: entry.kind,
        text: entry.text.clone(),
        rule,
        link: entry.link.map(|Link { cause, effect, same_way }| NamedLink {
            cause: name(cause),
            effect: name(effect),
            same_way,
        }),
        shown: entry.shown,
        regime: entry.regime,
        class: entry.class,
        confidence: entry.confidence(life.now()),
        evidence_for: entry.evidence_for,
        evidence_against: entry.evidence_against,
        born: entry.born,
        validated_at: entry.validated_at,
        bloodstain: entry.bloodstain,
        provenance: Provenance { brought: None, ..entry.provenance.clone() },
    }
}

/// A note from a golem's agent for it to remember, as a line like any other.
pub fn noted(text: &str, life: &Life) -> BundleLine {
    export(&draft(Kind::Insight, text, source(life, How::Agent), life.now()), life)
}

/// Reads a line, or says in plain words why it is not one. Nothing in it reaches a terminal as a control sequence, and
/// confidence is held between 0 and 1.
pub fn read(line: &str) -> Result<BundleLine, String> {
    if line.len() > LINE {
        return Err(format!("longer than {LINE} bytes"));
    }
    let mut line: BundleLine = serde_json::from_str(line).map_err(|e| format!("not a line of a bundle ({e})"))?;
    let texts = [Some(&mut line.text), line.rule.as_mut()];
    let link = line.link.as_mut().map(|link| [&mut link.cause, &mut link.effect]);
    for text in texts.into_iter().flatten().chain(link.into_iter().flatten()) {
        if !text.chars().all(is_plain) {
            *text = plain::line(text, LINE);
        }
    }
    line.confidence = if line.confidence.is_finite() { line.confidence.clamp(0.0, 1.0) } else { 0.0 };
    match line.bundle {
        VERSION => Ok(line),
        other => Err(format!("bundles of version {other} are not supported")),
    }
}

impl BundleLine {
    /// The rule or link of a line, in terms of this world; an error where this world lacks a feature it names.
    pub(super) fn meaning(&self, manifest: &Manifest) -> Result<(Option<text::Parsed>, Option<Link>), String> {
        let rule = self.rule.as_deref().map(|rule| text::parse(rule, manifest)).transpose();
        let rule = rule.map_err(|e| format!("its rule does not fit this world: {e}"))?;
        let find = |name: &str| manifest.features.iter().position(|feature| feature == name).map(|at| at as u8);
        let link = match &self.link {
            Some(NamedLink { cause, effect, same_way }) => match (find(cause), find(effect)) {
                (Some(cause), Some(effect)) => Some(Link { cause, effect, same_way: *same_way }),
                _ => return Err("its link is between features this world does not have".to_owned()),
            },
            None => None,
        };
        Ok((rule, link))
    }
}
