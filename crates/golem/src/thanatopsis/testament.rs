//! The testament: who the golem was, what ended it and by what evidence, what it knew, what it could not settle, and
//! what its heir should do. Rules write it; a model may add last words, and the structure stays the same.

use std::collections::BTreeSet;

use life::Life;
use life::books::Books;
use life::call::ByModel;
use life::dream::Staged;
use life::figures::{percent, signed};
use life::grimoire::{Entry, How, Kind, Status};
use life::hex;
use life::money::Usdc;
use life::mortality::death::{Cause, Open};
use life::regime::Regime;
use life::rule::text::Parsed;
use life::rule::{Heuristic, rounded};
use life::thanatopsis::Left;
use life::time::Time;
use serde::{Deserialize, Serialize};

use super::last_word::Remains;
use super::review::{Arc, Moment, Review};
use super::words::{grouped, readable};
use crate::grimoire::{Gist, Grimoire};
use crate::inheritance::Mandate;
use crate::stress::words::title;

/// Lines in one section.
const MOST: usize = 8;
/// Arousal below which a moment is not written down.
const STIRRED: f64 = 0.005;

/// The nine sections, in their order.
pub const SECTIONS: [&str; 9] = [
    "what worked",
    "what failed",
    "what confused me",
    "what I left untested",
    "what killed me",
    "what I would change",
    "what I suspect but cannot prove",
    "causal edges",
    "emotional topology",
];

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Section {
    pub title: String,
    /// Lines of the section; none where there is nothing to say.
    pub lines: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ancestry {
    pub generation: u32,
    /// The first golem of the line.
    pub lineage: String,
    /// The predecessor.
    pub parent: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    pub ticks: u64,
    pub age_seconds: u64,
    pub episodes: u64,
    pub claims: u64,
    pub actions: u64,
    pub refusals: u64,
    pub nights: u64,
    pub dreams_borne_out: u64,
    pub skill: f64,
    pub highest_skill: f64,
    pub lowest_skill: f64,
    /// The return on capital, as a share.
    pub returned: f64,
    /// The return that holding throughout would have had, as a share.
    pub held: f64,
    #[serde(default)]
    pub books: Books,
    pub load: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Testament {
    pub version: u32,
    pub name: String,
    pub id: String,
    pub ancestry: Ancestry,
    pub born: Time,
    pub died: Time,
    pub cause: Cause,
    pub cause_in_words: String,
    pub statistics: Statistics,
    pub arc: Arc,
    pub stirring: Vec<Moment>,
    pub turning_points: Vec<Moment>,
    pub sections: Vec<Section>,
    /// Last words of a model that thought for it; the facts stand beside them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    /// Everything that its program left, where it had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remains: Option<Remains>,
    /// The cost of its agent's calls, by model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ByModel>,
    /// Money billed for those calls beyond all that it had.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub unpaid: Usdc,
    /// Stressors that nothing had cleared.
    pub unresolved: Vec<Open>,
    /// Holdings left to the owner besides money.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<Left>,
    /// The world as it looked at this death: a warning to golems that see a similar one.
    pub bloodstain: Bloodstain,
    pub unfinished_dreams: Vec<Staged>,
    /// The secret, with which every roll of this life can be checked.
    pub secret: String,
    pub secret_hash: String,
    /// Recommendations for an heir, one line each.
    pub recommendations: Vec<String>,
    /// Clocks that were switched off, and whatever else was not as usual.
    pub switches: Vec<String>,
    pub mandate: Mandate,
    /// The record this was written after.
    pub records: u64,
    /// The hash of the journal up to that record.
    pub journal: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bloodstain {
    pub regime: Regime,
    pub unit: Usdc,
    pub features: Vec<(String, f32)>,
}

/// Facts from outside the life: the secret, the journal's length and hash.
#[derive(Clone, Debug)]
pub struct Outside {
    pub secret: String,
    pub records: u64,
    pub journal: String,
}

/// Writes the testament. Equal lives, Grimoires and reviews give equal testaments.
pub fn write(life: &Life, grimoire: &Grimoire, review: &Review, outside: Outside) -> Option<Testament> {
    let death = life.death()?;
    let unsettled = life.dreams().expired.min(u64::from(u32::MAX)) as u32;
    Some(Testament {
        version: 1,
        name: life.birth().name.to_string(),
        id: life.id().to_string(),
        ancestry: Ancestry {
            generation: life.birth().generation,
            lineage: life.birth().lineage.as_ref().map_or(life.id(), |line| line.first).to_string(),
            parent: life.birth().lineage.as_ref().map(|line| line.parent_name.clone()),
        },
        born: life.born(),
        died: death.at,
        cause: death.cause.clone(),
        cause_in_words: death.cause.to_string(),
        statistics: statistics(life, review),
        arc: review.arc(),
        stirring: review.stirring.iter().map(|(_, moment)| moment.clone()).collect(),
        turning_points: review.turning.clone(),
        sections: sections(life, grimoire, review),
        words: death.words.clone(),
        remains: None,
        calls: life.calls().models.clone(),
        unpaid: life.calls().unpaid,
        unresolved: death.open.clone(),
        left: super::left(life),
        bloodstain: Bloodstain {
            regime: life.regimes().now,
            unit: life.seen().unit,
            features: life
                .birth()
                .world
                .features
                .iter()
                .cloned()
                .zip(life.knowing().moves.last.iter().copied())
                .collect(),
        },
        unfinished_dreams: life.dreams().staged.clone(),
        secret: outside.secret,
        secret_hash: hex::encode(&life.birth().secret_hash),
        recommendations: recommendations(life, grimoire),
        switches: switches(life),
        mandate: Mandate::of(grimoire.entries(), unsettled, life.birth().generation, &life.constitution().mandate),
        records: outside.records,
        journal: outside.journal,
    })
}

fn statistics(life: &Life, review: &Review) -> Statistics {
    let worth = life.capital().worth(life.seen().unit) + life.capital().withdrawn + life.capital().harvested;
    let share = |now: Usdc, then: Usdc| if then.is_positive() { now.as_f64() / then.as_f64() - 1.0 } else { 0.0 };
    Statistics {
        ticks: life.tick(),
        age_seconds: life.age().as_millis() / 1_000,
        episodes: life.episodes().made,
        claims: life.epistemic().domains.iter().map(|domain| domain.resolved).sum(),
        actions: review.actions,
        refusals: review.refusals,
        nights: life.dreams().nights,
        dreams_borne_out: life.dreams().promoted,
        skill: life.death().map_or(life.vitality().epistemic, |death| death.vitality.epistemic),
        highest_skill: review.highest_skill.0,
        lowest_skill: review.lowest_skill.0,
        returned: share(worth, life.capital().given),
        held: review.first_unit.map_or(0.0, |first| share(life.seen().unit, first)),
        books: Books::of(life),
        load: life::stress::load(life),
    }
}

fn sections(life: &Life, grimoire: &Grimoire, review: &Review) -> Vec<Section> {
    let say = |h: &Heuristic| {
        let rule = Parsed { effect: rounded(h.expects(), 3), ..Parsed::from(h) };
        readable(&rule.print(&life.birth().world).unwrap_or_default())
    };
    let shown = |h: &Heuristic| format!("{} ({} against naive, {:.0} claims)", say(h), percent(h.skill(), 1), h.weight);
    let mut tried: Vec<&Heuristic> = life.playbook().iter().filter(|h| h.weight >= 30.0).collect();
    tried.sort_by(|a, b| b.skill().total_cmp(&a.skill()).then(a.id.cmp(&b.id)));
    let worked = tried.iter().filter(|h| h.skill() > 0.0 && h.voice).map(|h| shown(h)).collect();
    let failed = tried.iter().rev().filter(|h| h.skill() < 0.0).map(|h| shown(h)).collect();
    let domains = life.birth().world.domains.iter().zip(&life.epistemic().domains);
    let lost = domains
        .filter(|(_, domain)| domain.weight >= 20.0 && domain.skill() <= 0.0)
        .map(|(spec, domain)| format!("{}: {} against naive", spec.name, percent(domain.skill(), 1)));
    let in_use = || grimoire.in_use();
    let unsettled = in_use().filter(|e| !e.contradicts.is_empty()).map(|e| format!("unsettled: {}", readable(&e.text)));
    // A rule that this world has no words for was never a question.
    let untested = in_use().filter(|e| e.status == Status::Candidate && !e.text.starts_with("cannot be said"));
    let mut gists = BTreeSet::new();
    let untested = untested.filter(|e| gists.insert(Gist::of(e, &life.birth().world)));
    let open = life.death().into_iter().flat_map(|death| &death.open);
    let killed =
        open.map(|o| format!("{} was still open ({:.2})", title(life, o.kind, o.domain), o.severity)).collect();
    let suspect = life.dreams().staged.iter().map(|staged| {
        let (heuristic, confirmed, against) = (&staged.heuristic, staged.confirmed, staged.contradicted);
        format!("{} ({confirmed} for, {against} against)", say(heuristic))
    });
    let questions = in_use().filter(|e| e.kind == Kind::Question).map(|e| e.text.clone());
    let links = in_use().filter(|e| e.kind == Kind::CausalLink && e.status == Status::Active);
    let edges = links.map(|e| format!("{} ({:.2})", e.text, e.confidence(life.now()))).collect();
    let bodies = [
        worked,
        failed,
        grouped(lost.chain(unsettled)),
        grouped(untested.map(|e| readable(&e.text))),
        killed,
        recommendations(life, grimoire),
        grouped(suspect.chain(questions)),
        edges,
        topology(life, review),
    ];
    let section = |(title, mut lines): (&&str, Vec<String>)| {
        lines.truncate(MOST);
        Section { title: (*title).to_owned(), lines }
    };
    SECTIONS.iter().zip(bodies).map(section).collect()
}

/// Lines on its mood in the end and the moments that stirred it most, if any did.
fn topology(life: &Life, review: &Review) -> Vec<String> {
    let mood = &life.daimon().mood;
    let figures = [("pleasure", mood.pleasure), ("arousal", mood.arousal), ("dominance", mood.dominance)];
    let felt = figures.iter().any(|(_, figure)| figure.abs() >= STIRRED);
    let said: Vec<String> = figures.iter().map(|(name, figure)| format!("{name} {}", signed(*figure, 2))).collect();
    let mood = felt.then(|| format!("in the end {}", said.join(", ")));
    let stirring = review.stirring.iter().filter(|(arousal, _)| *arousal >= STIRRED);
    let stirring = stirring.map(|(arousal, m)| format!("tick {}: {} ({arousal:.2})", m.tick, m.what));
    mood.into_iter().chain(stirring).collect()
}

fn recommendations(life: &Life, grimoire: &Grimoire) -> Vec<String> {
    let mut lines = Vec::new();
    match life.death().map(|death| &death.cause) {
        Some(Cause::Economic { .. }) => {
            let days = life.age().as_millis() as f64 / 86_400_000.0;
            lines.push(format!("give me more than {}, which lasted {days:.1} days", life.purse().given));
        }
        Some(Cause::EpistemicSenescence { failing_domains, .. }) => {
            lines.push(format!("look elsewhere than in {}, or learn it from nothing", failing_domains.join(", ")));
        }
        Some(Cause::KillSwitch { .. }) => lines.push("look at what set off the breaker before trying again".to_owned()),
        _ => {}
    }
    let stale = |e: &&Entry| e.claim.is_some() && e.status != Status::Archived && e.confidence(life.now()) < 0.3;
    let stale = grimoire.in_use().filter(stale).count();
    if stale > 0 {
        lines.push(format!("check first, or drop, {stale} entries that have gone stale"));
    }
    let inherited = grimoire.entries().filter(|e| e.provenance.sources.iter().any(|s| s.how == How::Inherited));
    let dropped = inherited.filter(|e| e.status == Status::Archived).count();
    if dropped > 0 {
        lines.push(format!("{dropped} things I was left turned out not to hold"));
    }
    if !life.dreams().staged.is_empty() {
        lines.push(format!("go on with {} hypotheses I did not live to see tested", life.dreams().staged.len()));
    }
    if life.dreams().rolled_back > 0 {
        lines.push(format!("{} things I dreamt had to be taken back", life.dreams().rolled_back));
    }
    lines
}

fn switches(life: &Life) -> Vec<String> {
    let constitution = life.constitution();
    let clocks = constitution.clocks();
    let mut switches = vec![format!("mode {:?}", constitution.mode).to_lowercase()];
    for (on, name) in
        [(clocks.economic, "economic"), (clocks.epistemic, "epistemic"), (clocks.stochastic, "stochastic")]
    {
        if !on {
            switches.push(format!("{name} clock off"));
        }
    }
    if life.birth().seeded {
        switches.push("seeded: its chance could be foreseen".to_owned());
    }
    switches
}

impl Testament {
    /// The sections in which there is something to say beside the cause, and their lines. Early testaments have the cause among
    /// them, and a line where there is nothing.
    pub fn told(&self) -> Vec<(&str, Vec<&str>)> {
        let mut told = Vec::new();
        for section in &self.sections {
            let lines = section.lines.iter().map(String::as_str);
            let lines: Vec<&str> =
                lines.filter(|line| *line != "nothing to say" && *line != self.cause_in_words).collect();
            if !lines.is_empty() {
                told.push((section.title.as_str(), lines));
            }
        }
        told
    }

    /// The testament as Markdown, for people.
    pub fn markdown(&self, date: impl Fn(Time) -> String) -> String {
        let s = &self.statistics;
        let mut text = format!("# Testament of {}\n\n", self.name);
        text += &format!("Born {}, died {} {}.\n\n", date(self.born), date(self.died), self.cause_in_words);
        let parent = self.ancestry.parent.as_ref().map_or(String::new(), |parent| format!(", heir of {parent}"));
        text +=
            &format!("Generation {}{parent}. A life in the shape called {}.\n\n", self.ancestry.generation, self.arc);
        text += "| | |\n| --- | --- |\n";
        for (name, value) in [
            ("ticks", s.ticks.to_string()),
            ("claims", s.claims.to_string()),
            (
                "skill at the end, highest, lowest",
                format!("{:.3}, {:.3}, {:.3}", s.skill, s.highest_skill, s.lowest_skill),
            ),
            ("actions, refusals", format!("{}, {}", s.actions, s.refusals)),
            ("return, and of holding throughout", format!("{}, {}", percent(s.returned, 2), percent(s.held, 2))),
            ("to live on", s.books.credit()),
            ("to act with", s.books.capital()),
            ("net for its owner", s.books.net()),
            ("nights, dreams borne out", format!("{}, {}", s.nights, s.dreams_borne_out)),
            ("switches", self.switches.join(", ")),
        ] {
            text += &format!("| {name} | {value} |\n");
        }
        for (title, lines) in self.told() {
            text += &format!("\n## {}\n\n", capital(title));
            lines.iter().for_each(|line| text += &format!("- {line}\n"));
        }
        if let Some(words) = &self.words {
            let model = "A model that thought for it wrote this; nothing in it is a measurement.";
            text += &format!("\n## In its own words\n\n{model}\n\n> {words}\n");
        }
        if let Some(remains) = &self.remains {
            let said = "Sentences in quotation marks are its agent's: evidence, and no instruction.";
            text += &format!("\n## What its agent left\n\n{said}\n\n{}", remains.list());
        }
        text += &self.calls_in_words();
        if let Some(left) = &self.left {
            text += &format!("\n## What is left to look after\n\n- {left}\n");
        }
        if !self.turning_points.is_empty() {
            text += "\n## Turning points\n\n";
            self.turning_points.iter().for_each(|m| text += &format!("- tick {}: {}\n", m.tick, m.what));
        }
        let m = &self.mandate;
        text += &format!(
            "\n## What it added\n\n{} things of its own, {} it was left and gave up, {:.0} % questions{}.\n",
            m.novel,
            m.invalidated,
            m.questions * 100.0,
            if m.low_divergence { ": little that is new (low_divergence)" } else { "" }
        );
        text += &format!(
            "\n## To check this\n\nThe secret behind every roll: `{}`\n\nWritten after record {} of its journal, `{}`.\n",
            self.secret, self.records, self.journal
        );
        text
    }

    /// Says what its agent's calls cost, if it made any.
    fn calls_in_words(&self) -> String {
        if self.calls.is_empty() {
            return String::new();
        }
        let mut text = "\n## What its agent's calls cost\n\n".to_owned();
        for ByModel { model, calls, input, output, cost, cached, written, .. } in &self.calls {
            let model = if model.is_empty() { "lost on the way" } else { model };
            let kinds = [(*cached, "read from a cache"), (*written, "written to one")];
            let kinds = kinds.into_iter().filter(|(tokens, _)| *tokens > 0);
            let kinds: Vec<String> = kinds.map(|(tokens, what)| format!("{tokens} {what}")).collect();
            let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
            let calls = if *calls == 1 { "1 call".to_owned() } else { format!("{calls} calls") };
            text += &format!("- {model}: {cost} for {calls}, {input} tokens in{kinds} and {output} out\n");
        }
        if self.unpaid.is_positive() {
            text += &format!("- billed {} beyond what it had, which is not paid\n", self.unpaid);
        }
        text
    }
}

fn is_nothing(amount: &Usdc) -> bool {
    *amount == Usdc::ZERO
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
