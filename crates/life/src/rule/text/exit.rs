//! The part of a heuristic's text after `then add`: how much, and when to leave.
//!
//! ```text
//! then add half until tide < 0 or up 2% or down 1% or 12 bars
//! ```

use super::number::{number, percent, read};
use super::{Comparison, Is, RuleError, Stance, TextPlace, TextReader, features, field, sayable};
use crate::rule::{Fragment, WHOLE};

/// Shares that have a word.
const SHARES: [(&str, u16); 2] = [("half", 500), ("quarter", 250)];
/// Basis points in one.
const BPS: f64 = 10_000.0;

impl Fragment {
    /// The fragment in the words of the world, with a space before it.
    pub(super) fn print(&self, names: &[&str]) -> Result<String, RuleError> {
        let Fragment { share, until, up, down, bars } = self;
        let word = SHARES.iter().find(|(_, known)| known == share).map(|(word, _)| (*word).to_owned());
        let size = word.unwrap_or_else(|| percent(f64::from(*share) / f64::from(WHOLE)));
        let mut text = if *share == WHOLE { String::new() } else { format!(" {size}") };
        let mut ways = Vec::new();
        if let Some(Comparison { feature, is, than }) = until {
            let name = sayable(names, *feature).map_err(|problem| field("then.until", problem))?;
            ways.push(format!("{name} {} {}", if *is == Is::Above { '>' } else { '<' }, number(*than)));
        }
        let share_of = |bps: u32| percent(f64::from(bps) / BPS);
        ways.extend(up.map(|up| format!("up {}", share_of(up))));
        ways.extend(down.map(|down| format!("down {}", share_of(down))));
        ways.extend(bars.map(|bars| format!("{bars} bars")));
        if !ways.is_empty() {
            text += &format!(" until {}", ways.join(" or "));
        }
        Ok(text)
    }
}

impl TextReader<'_> {
    /// Reads what follows `then add`: nothing, or a fragment. Returns what could still have followed.
    pub(super) fn fragment(&mut self) -> Result<(Stance, &'static str), RuleError> {
        let place = TextPlace::Column(self.peek().map_or(self.end, |word| word.column));
        let wrong = |problem: String| RuleError { place: place.clone(), problem };
        let share = self.share()?;
        let mut fragment = Fragment { share: share.unwrap_or(WHOLE), until: None, up: None, down: None, bars: None };
        let mut rest =
            if share.is_some() { "'until' or the end" } else { "a share such as 'half' or 30%, 'until' or the end" };
        if self.taken("until") {
            loop {
                self.way_out(&mut fragment)?;
                if !self.taken("or") {
                    break;
                }
            }
            rest = "'or' or the end";
        } else if share.is_none() {
            return Ok((Stance::Add, rest));
        }
        fragment.check(features(self.manifest).len()).map_err(wrong)?;
        Ok((Stance::Fragment(fragment), rest))
    }

    /// Reads a share of the allowed size, if there is one.
    fn share(&mut self) -> Result<Option<u16>, RuleError> {
        let Some(word) = self.peek().filter(|word| word.text != "until") else { return Ok(None) };
        let known = SHARES.iter().find(|(name, _)| *name == word.text).map(|(_, share)| *share);
        let share = known.or_else(|| {
            let percent = word.text.ends_with('%').then(|| read(word.text)).flatten()?;
            whole(percent * f64::from(WHOLE)).and_then(|share| u16::try_from(share).ok())
        });
        let expected = "a share such as 'half' or 30%, 'until' or the end";
        let share = share.ok_or_else(|| self.unexpected(expected))?;
        self.at += 1;
        Ok(Some(share))
    }

    /// Reads one way out. Each kind stands in a fragment once.
    fn way_out(&mut self, fragment: &mut Fragment) -> Result<(), RuleError> {
        let place = TextPlace::Column(self.peek().map_or(self.end, |word| word.column));
        let twice = |what: &str| RuleError { place: place.clone(), problem: format!("there are two {what}; keep one") };
        // A feature of the world may be named like one of these words.
        let sign = self.words.get(self.at + 1).is_some_and(|word| word.text == ">" || word.text == "<");
        let moves = ["up", "down"].into_iter().find(|word| !sign && self.taken(word));
        if let Some(way) = moves {
            let found = self.peek().and_then(|word| read(word.text)).and_then(|share| whole(share * BPS));
            let bps = found.ok_or_else(|| self.unexpected("a share such as 2% or 0.25%, in hundredths of 1%"))?;
            self.at += 1;
            let known = if way == "up" { &mut fragment.up } else { &mut fragment.down };
            return if known.replace(bps).is_none() { Ok(()) } else { Err(twice("such ways out")) };
        }
        if let Some(bars) = self.peek().filter(|_| !sign).and_then(|word| word.text.parse::<u32>().ok()) {
            self.at += 1;
            let _ = self.taken("bars");
            return if fragment.bars.replace(bars).is_none() { Ok(()) } else { Err(twice("numbers of bars")) };
        }
        if !sign {
            return Err(self.unexpected("a comparison such as 'tide < 0', 'up 2%', 'down 1%' or a number of bars"));
        }
        let (feature, _) = self.known("feature", &features(self.manifest))?;
        let is = if self.one_of(&[">", "<"])? == ">" { Is::Above } else { Is::Below };
        let than = self.number()?;
        let comparison = Comparison { feature, is, than };
        if fragment.until.replace(comparison).is_none() { Ok(()) } else { Err(twice("comparisons")) }
    }
}

/// The number as a count, if it is one but for how it is written in binary.
fn whole(number: f64) -> Option<u32> {
    let rounded = number.round();
    let near = (number - rounded).abs() < 1e-6 && (0.0..=f64::from(u32::MAX)).contains(&rounded);
    near.then_some(rounded as u32)
}
