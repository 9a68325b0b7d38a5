//! Heuristics as text, both ways, in the words of a world:
//!
//! ```text
//! when tide > 5 and wind < 1.5% expect surge x1.3 over 12 then add
//! always expect rising 55%
//! always expect surge like a blend of 0.3 tide, 0.2 wind over 12
//! when tide > 5 expect surge over 12 then add half until wind < 0 or up 2% or 6 bars
//! ```
//!
//! Printed text reads back as exactly the same heuristic. Text that makes no sense is refused with a sentence that says
//! where, what was found and what was expected.

mod exit;
mod number;

#[cfg(test)]
pub(super) mod tests;

use std::fmt;

use self::number::{number, percent, plain, read};
use super::{Comparison, Condition, Heuristic, Is, Mix, Stance, Term, neutral, rounded};
use crate::limits;
use crate::world::{DomainKind, DomainSpec, Manifest};

/// A heuristic as text, a model or a dream states it; the rest is learned.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    pub condition: Condition,
    pub domain: u8,
    pub effect: f64,
    /// The blend that the factor is on, instead of the last value.
    pub blend: Option<Mix>,
    pub stance: Stance,
}

/// The reason that something is not a heuristic of this world.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct RuleError {
    pub place: TextPlace,
    pub problem: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextPlace {
    /// A place in text, as a column of characters from 1.
    Column(usize),
    /// A place in data, such as `when[1].than`.
    Field(String),
}

/// Reads one heuristic in the words of this world.
pub fn parse(text: &str, manifest: &Manifest) -> Result<Parsed, RuleError> {
    TextReader { words: words(text), at: 0, end: text.chars().count() + 1, manifest }.heuristic()
}

/// Reads a condition alone, without an expectation.
pub fn parse_condition(text: &str, manifest: &Manifest) -> Result<Condition, RuleError> {
    let domain = domains(manifest).first().copied().unwrap_or_default();
    parse(&format!("when {text} expect {domain}"), manifest).map(|parsed| parsed.condition)
}

/// A condition alone, in the words of this world; empty if it has no words for it.
pub fn print_condition(condition: &Condition, manifest: &Manifest) -> String {
    let features = features(manifest);
    let comparisons = condition.0.iter().map(|Comparison { feature, is, than }| {
        let sign = if *is == Is::Above { '>' } else { '<' };
        format!("{} {sign} {}", sayable(&features, *feature).unwrap_or_default(), number(*than))
    });
    comparisons.collect::<Vec<_>>().join(" and ")
}

impl Parsed {
    /// The heuristic in the words of this world, so that it reads back as the same.
    pub fn print(&self, manifest: &Manifest) -> Result<String, RuleError> {
        self.check(manifest)?;
        let features = features(manifest);
        let mut text = if self.condition.0.is_empty() { "always".to_owned() } else { String::new() };
        for (at, Comparison { feature, is, than }) in self.condition.0.iter().enumerate() {
            let name = sayable(&features, *feature).map_err(|problem| field(format!("when[{at}].feature"), problem))?;
            let sign = if *is == Is::Above { '>' } else { '<' };
            text += &format!("{} {name} {sign} {}", if at == 0 { "when" } else { " and" }, number(*than));
        }
        let domain = &manifest.domains[usize::from(self.domain)];
        let name = sayable(&domains(manifest), self.domain).map_err(|problem| field("expect.domain", problem))?;
        text += &format!(" expect {name}");
        match domain.kind {
            kind if self.effect == neutral(kind) => {}
            DomainKind::Direction => text += &format!(" {}", percent(self.effect)),
            DomainKind::Value | DomainKind::Range => text += &format!(" x{}", plain(self.effect)),
        }
        if let Some(mix) = &self.blend {
            text += &blend_text(mix, &features)?;
        }
        if domain.horizon > 0 {
            text += &format!(" over {}", domain.horizon);
        }
        text += match self.stance {
            Stance::Watch => "",
            Stance::Add | Stance::Fragment(_) => " then add",
            Stance::Reduce => " then reduce",
        };
        if let Stance::Fragment(fragment) = &self.stance {
            text += &fragment.print(&features)?;
        }
        Ok(text)
    }

    /// Whether both rules speak of the same, whatever they expect of it: expectations and shares are learned.
    pub fn is_about_the_same(&self, other: &Parsed) -> bool {
        let blend = |parsed: &Parsed| {
            let mut features: Vec<u8> =
                parsed.blend.iter().flat_map(|mix| &mix.terms).map(|term| term.feature).collect();
            features.sort_unstable();
            features
        };
        (self.domain, self.stance) == (other.domain, other.stance)
            && self.condition.same(&other.condition)
            && blend(self) == blend(other)
    }

    /// Whether a golem of this world could hold it.
    pub fn check(&self, manifest: &Manifest) -> Result<(), RuleError> {
        for (at, comparison) in self.condition.0.iter().enumerate() {
            if usize::from(comparison.feature) >= features(manifest).len() {
                return Err(field(format!("when[{at}].feature"), format!("no feature {}", comparison.feature)));
            }
            fits(*comparison, &self.condition.0[..at]).map_err(|problem| field(format!("when[{at}]"), problem))?;
        }
        let Some(domain) = manifest.domains.get(usize::from(self.domain)) else {
            return Err(field("expect.domain", format!("no domain {}", self.domain)));
        };
        if let Some(mix) = &self.blend {
            blend_fits(mix, domain, features(manifest).len()).map_err(|problem| field("blend", problem))?;
        }
        if let Stance::Fragment(fragment) = &self.stance {
            fragment.check(features(manifest).len()).map_err(|problem| field("then", problem))?;
        }
        effect_fits(self.effect, domain).map_err(|problem| field("effect", problem))
    }
}

impl From<&Heuristic> for Parsed {
    fn from(of: &Heuristic) -> Parsed {
        let blend = of.blend.as_ref().map(|blend| said(blend.mix()));
        Parsed { condition: of.condition.clone(), domain: of.domain, effect: of.expects(), blend, stance: of.stance }
    }
}

impl Condition {
    /// The condition with its comparisons in a fixed order, each once.
    pub fn canonical(&self) -> Condition {
        let mut sorted = self.0.clone();
        for comparison in &mut sorted {
            // Both zeros are the same threshold.
            comparison.than += 0.0;
        }
        let place = |c: &Comparison| (c.feature, c.is == Is::Below);
        sorted.sort_by(|a, b| place(a).cmp(&place(b)).then(a.than.total_cmp(&b.than)));
        let mut canonical = Condition::default();
        for comparison in sorted {
            if canonical.0.last() != Some(&comparison) {
                canonical.0.push(comparison);
            }
        }
        canonical
    }

    /// Whether both hold in the same cases because they say the same, in whatever order.
    pub fn same(&self, other: &Condition) -> bool {
        self.canonical() == other.canonical()
    }
}

impl fmt::Display for TextPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TextPlace::Column(column) => write!(f, "column {column}"),
            TextPlace::Field(field) => f.write_str(field),
        }
    }
}

#[derive(Clone, Copy)]
struct TextWord<'a> {
    column: usize,
    text: &'a str,
}

/// Words are divided by space; comparison signs and commas stand for themselves.
fn words(text: &str) -> Vec<TextWord<'_>> {
    let kind = |c: char| if c.is_whitespace() { 0 } else { 1 + u8::from("<>=!".contains(c)) + 2 * u8::from(c == ',') };
    let (mut words, mut from, mut last) = (Vec::new(), (1, 0), 0);
    for (at, (byte, c)) in text.char_indices().chain([(text.len(), ' ')]).enumerate() {
        if kind(c) != last {
            if last != 0 {
                words.push(TextWord { column: from.0, text: &text[from.1..byte] });
            }
            (from, last) = ((at + 1, byte), kind(c));
        }
    }
    words
}

struct TextReader<'a> {
    words: Vec<TextWord<'a>>,
    at: usize,
    /// The column after the last.
    end: usize,
    manifest: &'a Manifest,
}

impl<'a> TextReader<'a> {
    fn heuristic(mut self) -> Result<Parsed, RuleError> {
        let condition = match self.one_of(&["when", "always"])? {
            "when" => self.condition()?,
            _ => self.one_of(&["expect"]).map(|_| Condition::default())?,
        };
        let (domain, _) = self.known("domain", &domains(self.manifest))?;
        let spec = &self.manifest.domains[usize::from(domain)];
        let effect = self.effect(spec)?;
        let blend = if self.taken("like") { Some(self.blend(spec)?) } else { None };
        let mut rest =
            if blend.is_some() { "',', 'sure', 'over', 'then' or the end" } else { "'over', 'then' or the end" };
        if self.taken("over") {
            self.horizon(spec)?;
            rest = "'then' or the end";
        }
        let mut stance = Stance::Watch;
        if self.taken("then") {
            (stance, rest) = match self.one_of(&["add", "reduce"])? {
                "add" => self.fragment()?,
                _ => (Stance::Reduce, "the end"),
            };
        }
        match self.peek() {
            Some(_) => Err(self.unexpected(rest)),
            None => Ok(Parsed { condition, domain, effect, blend, stance }),
        }
    }

    /// Comparisons up to and including `expect`.
    fn condition(&mut self) -> Result<Condition, RuleError> {
        let mut condition = Condition::default();
        loop {
            let (feature, column) = self.known("feature", &features(self.manifest))?;
            let is = if self.one_of(&[">", "<"])? == ">" { Is::Above } else { Is::Below };
            let than = self.number()?;
            let comparison = Comparison { feature, is, than };
            fits(comparison, &condition.0)
                .map_err(|problem| RuleError { place: TextPlace::Column(column), problem })?;
            condition.0.push(comparison);
            if condition.0.is_full() {
                let full =
                    format!("'expect' after {} comparisons, which is as many as there may be", condition.0.len());
                return self.taken("expect").then_some(condition).ok_or_else(|| self.unexpected(&full));
            }
            if self.one_of(&["and", "expect"])? == "expect" {
                return Ok(condition);
            }
        }
    }

    fn effect(&mut self, domain: &DomainSpec) -> Result<f64, RuleError> {
        let Some(word) = self.peek().filter(|word| !["like", "over", "then"].contains(&word.text)) else {
            return Ok(neutral(domain.kind));
        };
        let (expected, text) = match domain.kind {
            DomainKind::Direction => ("a probability such as 55%", word.text.ends_with('%').then_some(word.text)),
            DomainKind::Value => ("a factor such as x1.3, 'like'", word.text.strip_prefix('x')),
            DomainKind::Range => ("a factor such as x1.3", word.text.strip_prefix('x')),
        };
        let or_on = format!("{expected}, 'over', 'then' or the end");
        let effect = text.and_then(read).ok_or_else(|| self.unexpected(&or_on))?;
        let place = TextPlace::Column(word.column);
        effect_fits(effect, domain).map_err(|problem| RuleError { place, problem })?;
        self.at += 1;
        Ok(effect)
    }

    /// Reads the blend after `like`.
    fn blend(&mut self, domain: &DomainSpec) -> Result<Mix, RuleError> {
        for word in ["a", "blend", "of"] {
            self.one_of(&[word])?;
        }
        let place = TextPlace::Column(self.peek().map_or(self.end, |word| word.column));
        let (mut named, mut shares) = (Vec::new(), Vec::new());
        loop {
            let share = self.peek().and_then(|word| read(word.text));
            self.at += usize::from(share.is_some());
            named.push(self.known("feature", &features(self.manifest))?.0);
            shares.extend(share);
            if !self.taken(",") {
                break;
            }
        }
        let wrong = |problem: String| RuleError { place: place.clone(), problem };
        if named.len() > limits::TERMS {
            return Err(wrong(format!("found {} features, expected {} at most", named.len(), limits::TERMS)));
        }
        if !shares.is_empty() && shares.len() != named.len() {
            return Err(wrong(
                "some features have a share and some have none; give one to all of them, or to none".to_owned(),
            ));
        }
        let mut mix = Mix::even(named);
        for (term, share) in mix.terms.iter_mut().zip(shares) {
            term.share = share;
        }
        if self.taken("sure") {
            mix.sure = self.number()?;
        }
        blend_fits(&mix, domain, features(self.manifest).len()).map_err(wrong)?;
        Ok(mix)
    }

    fn horizon(&mut self, domain: &DomainSpec) -> Result<(), RuleError> {
        let expected = format!("{}, the bars that '{}' looks ahead", domain.horizon, domain.name);
        match self.peek().and_then(|word| word.text.parse::<u32>().ok()) {
            Some(bars) if bars == domain.horizon => self.at += 1,
            _ => return Err(self.unexpected(&expected)),
        }
        Ok(())
    }

    fn number(&mut self) -> Result<f64, RuleError> {
        let number = self.peek().and_then(|word| read(word.text));
        let number = number.ok_or_else(|| self.unexpected("a finite number such as 5, -0.2, 3e6 or 1.5%"))?;
        self.at += 1;
        Ok(number)
    }

    /// Reads a name. Returns its number and its column.
    fn known(&mut self, what: &str, names: &[&str]) -> Result<(u8, usize), RuleError> {
        let word = self.peek().ok_or_else(|| self.unexpected(&format!("a {what}")))?;
        let at = find(word.text, what, names)
            .map_err(|problem| RuleError { place: TextPlace::Column(word.column), problem })?;
        self.at += 1;
        Ok((at, word.column))
    }

    fn one_of(&mut self, expected: &[&'static str]) -> Result<&'static str, RuleError> {
        let found = expected.iter().find(|text| self.taken(text)).copied();
        found.ok_or_else(|| self.unexpected(&format!("'{}'", expected.join("' or '"))))
    }

    fn taken(&mut self, text: &str) -> bool {
        let taken = self.peek().is_some_and(|word| word.text == text);
        self.at += usize::from(taken);
        taken
    }

    fn peek(&self) -> Option<TextWord<'a>> {
        self.words.get(self.at).copied()
    }

    fn unexpected(&self, expected: &str) -> RuleError {
        let (column, found) = match self.peek() {
            Some(word) => (word.column, quoted(word.text)),
            None => (self.end, "the end".to_owned()),
        };
        RuleError { place: TextPlace::Column(column), problem: format!("found {found}, expected {expected}") }
    }
}

pub fn features(manifest: &Manifest) -> Vec<&str> {
    manifest.features.iter().take(limits::FEATURES).map(String::as_str).collect()
}

pub fn domains(manifest: &Manifest) -> Vec<&str> {
    manifest.domains.iter().map(|domain| domain.name.as_str()).collect()
}

pub fn field(field: impl Into<String>, problem: impl Into<String>) -> RuleError {
    RuleError { place: TextPlace::Field(field.into()), problem: problem.into() }
}

/// Text from outside in quotes, short and without anything a screen could stumble over.
pub fn quoted(text: &str) -> String {
    let dots = if text.chars().nth(40).is_some() { "…" } else { "" };
    format!("'{}{dots}'", text.chars().take(40).collect::<String>().escape_debug())
}

/// The number of this name, or what it may have been meant to be.
pub fn find(name: &str, what: &str, names: &[&str]) -> Result<u8, String> {
    if let Some(at) = names.iter().position(|known| *known == name) {
        return Ok(at as u8);
    }
    let found = quoted(name);
    match names.iter().map(|known| (distance(name, known), known)).min_by_key(|(far, _)| *far) {
        None => Err(format!("found {found}, expected a {what}, but this world has none")),
        Some((far, known)) if far <= (known.len() / 2).min(3) => {
            Err(format!("found {found}, expected a {what}; did you mean '{known}'?"))
        }
        Some(_) => Err(format!("found {found}, expected a {what}: {}", names.join(", "))),
    }
}

/// How many letters must be put in, left out or changed; upper and lower case are alike.
fn distance(found: &str, known: &str) -> usize {
    let known: Vec<char> = known.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=known.len()).collect();
    for (at, a) in found.to_lowercase().chars().take(4 * known.len() + 4).enumerate() {
        let mut before = std::mem::replace(&mut row[0], at + 1);
        for (to, b) in known.iter().enumerate() {
            let changed = before + usize::from(a != *b);
            before = row[to + 1];
            row[to + 1] = changed.min(before + 1).min(row[to] + 1);
        }
    }
    row[known.len()]
}

/// A name that reads back as the same number.
fn sayable<'a>(names: &[&'a str], number: u8) -> Result<&'a str, String> {
    let name = names[usize::from(number)];
    if words(name).first().is_none_or(|word| word.text != name) {
        return Err(format!("{} is not one word, so it cannot stand in text", quoted(name)));
    }
    match names.iter().position(|known| *known == name) {
        Some(first) if first == usize::from(number) => Ok(name),
        _ => Err(format!("{} stands for two things", quoted(name))),
    }
}

/// The mix with its shares no more exact than it is sure.
fn said(mix: Mix) -> Mix {
    let terms = mix.terms.iter().map(|term| Term { share: rounded(term.share, 3), ..*term }).collect();
    Mix { terms, sure: rounded(mix.sure, 2) }
}

fn blend_text(mix: &Mix, features: &[&str]) -> Result<String, RuleError> {
    let even = *mix == Mix::even(mix.terms.iter().map(|term| term.feature));
    let mut terms = Vec::new();
    for term in &mix.terms {
        let name = sayable(features, term.feature).map_err(|problem| field("blend", problem))?;
        terms.push(if even { name.to_owned() } else { format!("{} {name}", plain(term.share)) });
    }
    let sure = if mix.sure == super::blend::UNSURE { String::new() } else { format!(" sure {}", plain(mix.sure)) };
    Ok(format!(" like a blend of {}{sure}", terms.join(", ")))
}

/// Only a value can be like other values; a chance or a band is another thing.
fn blend_fits(mix: &Mix, domain: &DomainSpec, features: usize) -> Result<(), String> {
    match domain.kind {
        DomainKind::Value => mix.check(features),
        _ => Err(format!("'{}' is not a value, so nothing can be blended into it", domain.name)),
    }
}

/// Whether a comparison can join the others and still be met.
fn fits(next: Comparison, others: &[Comparison]) -> Result<(), String> {
    if !next.than.is_finite() {
        return Err(format!("found {}, expected a finite number", next.than));
    }
    for other in others.iter().filter(|other| other.feature == next.feature) {
        let (sign, stricter) = match next.is {
            Is::Above => ('>', next.than.max(other.than)),
            Is::Below => ('<', next.than.min(other.than)),
        };
        if other.is == next.is {
            return Err(format!(
                "this feature has a '{sign}' already; keep one, such as '{sign} {}'",
                number(stricter)
            ));
        }
        let (above, below) = if next.is == Is::Above { (next.than, other.than) } else { (other.than, next.than) };
        if above.next_up() >= below {
            return Err(format!(
                "no number is both > {} and < {}, so it would never hold",
                number(above),
                number(below)
            ));
        }
    }
    Ok(())
}

/// Whether this can be expected of the domain.
fn effect_fits(effect: f64, domain: &DomainSpec) -> Result<(), String> {
    let (fits, expected) = match domain.kind {
        DomainKind::Direction => ((0.0..=1.0).contains(&effect), "a probability from 0 to 1 (0% to 100%)"),
        DomainKind::Value | DomainKind::Range => (effect > 0.0 && effect.is_finite(), "a finite factor above 0"),
    };
    if fits { Ok(()) } else { Err(format!("found {effect}, expected {expected} for '{}'", domain.name)) }
}
