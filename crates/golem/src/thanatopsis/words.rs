//! Sentences of a testament as they are read aloud: figures a person can take in, and what is alike said once.

use life::rule::rounded;

/// Sentences that are named beside the first of those alike.
const NAMED: usize = 3;
/// The fewest words of a sentence that can be grouped with others: a shorter one has too little in common with them.
const WORDS: usize = 5;

/// A rule with numbers that can be said. It reads as the same rule, except for digits that do not matter.
///
/// A threshold of a tenth or more is no percentage: `hour < 96%` is an hour before one in the morning.
pub(super) fn readable(text: &str) -> String {
    let mut said: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let compared = said.last().is_some_and(|before| ["<", ">"].contains(&before.as_str()));
        said.push(figure(word, compared).unwrap_or_else(|| word.to_owned()));
    }
    said.join(" ")
}

/// A word that is a number, with what stands around it.
fn figure(word: &str, compared: bool) -> Option<String> {
    let from = word.find(|c: char| c.is_ascii_digit())?;
    let (before, rest) = word.split_at(from);
    if !before.chars().all(|c| "+-x$(".contains(c)) {
        return None;
    }
    let to = rest.find(|c: char| !c.is_ascii_digit() && !".e-".contains(c)).unwrap_or(rest.len());
    let digits = rest[..to].trim_end_matches(['.', 'e', '-']);
    let after = &rest[digits.len()..];
    let number: f64 = digits.parse().ok().filter(|number: &f64| number.is_finite())?;
    if before.contains('$') {
        let cents = digits.split_once('.').is_some_and(|(_, cents)| cents.len() > 2) && number >= 0.01;
        return cents.then(|| format!("{before}{number:.2}{after}"));
    }
    if let Some(after) = after.strip_prefix('%').filter(|_| compared && number >= 10.0) {
        return Some(format!("{before}{}{after}", rounded(number / 100.0, 3)));
    }
    let exact = digits.chars().filter(char::is_ascii_digit).skip_while(|digit| *digit == '0').count();
    let long = digits.contains(['.', 'e']) && exact > 4;
    long.then(|| format!("{before}{}{after}", rounded(number, 3)))
}

/// Groups sentences that are alike into one: the same said of several cases, or of several things.
pub(super) fn grouped(lines: impl IntoIterator<Item = String>) -> Vec<String> {
    one_word(one_case(lines))
}

/// Joins long rules that say the same of different conditions: the first, and when else.
fn one_case(lines: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut groups: Vec<(String, String, Vec<String>)> = Vec::new();
    for line in lines {
        let case = line.strip_prefix("when ").and_then(|rest| rest.split_once(" expect "));
        // What follows a colon is the same sentence about other figures.
        let Some((when, what)) = case.filter(|(_, what)| what.contains(": ")) else {
            groups.push((String::new(), line, Vec::new()));
            continue;
        };
        let shape: String = what.chars().filter(|c| !c.is_ascii_digit() && !".,-+$%".contains(*c)).collect();
        match groups.iter_mut().find(|(other, ..)| *other == shape) {
            Some((_, _, more)) => more.push(format!("when {when}")),
            None => groups.push((shape, line, Vec::new())),
        }
    }
    groups.into_iter().map(|(_, first, more)| if more.is_empty() { first } else { also(&first, more) }).collect()
}

fn also(first: &str, mut more: Vec<String>) -> String {
    let left = more.len().saturating_sub(NAMED);
    more.truncate(NAMED);
    match left {
        0 => {}
        1 => more.push("in 1 other case".to_owned()),
        _ => more.push(format!("in {left} other cases")),
    }
    format!("{first}; and alike {}", list(&more))
}

/// A sentence said of several things, which differ in one word.
struct OneWord {
    words: Vec<String>,
    /// The index of the word that differs, once there are two sentences, and the words that stand there.
    at: Option<usize>,
    things: Vec<String>,
}

impl OneWord {
    fn new(line: &str) -> OneWord {
        OneWord { words: line.split(' ').map(str::to_owned).collect(), at: None, things: Vec::new() }
    }

    /// Whether it was the same sentence about something else, which is then among its things.
    fn takes(&mut self, other: &OneWord) -> bool {
        if self.words.len() != other.words.len() || self.words.len() < WORDS || self.words[0] == "when" {
            return false;
        }
        let pairs = self.words.iter().zip(&other.words).enumerate();
        let apart: Vec<usize> = pairs.filter(|(_, (one, other))| one != other).map(|(at, _)| at).collect();
        let [at] = apart[..] else { return false };
        let (one, other) = (thing(&self.words[at]), thing(&other.words[at]));
        let (Some((one, tail)), Some((other, other_tail))) = (one, other) else { return false };
        if tail != other_tail || self.at.is_some_and(|before| before != at) {
            return false;
        }
        if self.things.is_empty() {
            self.things.push(one.to_owned());
        }
        self.things.push(other.to_owned());
        self.at = Some(at);
        true
    }

    fn said(mut self) -> String {
        if let Some(at) = self.at {
            let tail = thing(&self.words[at]).map_or(String::new(), |(_, tail)| tail.to_owned());
            self.words[at] = list(&self.things) + &tail;
        }
        self.words.join(" ")
    }
}

/// The name that a word is, and the marks behind it.
fn thing(word: &str) -> Option<(&str, &str)> {
    let end = word.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(word.len());
    let (name, tail) = word.split_at(end);
    (name.starts_with(char::is_alphabetic) && !tail.contains(char::is_alphanumeric)).then_some((name, tail))
}

fn one_word(lines: Vec<String>) -> Vec<String> {
    let mut groups: Vec<OneWord> = Vec::new();
    for line in lines {
        let line = OneWord::new(&line);
        if !groups.iter_mut().any(|group| group.takes(&line)) {
            groups.push(line);
        }
    }
    groups.into_iter().map(OneWord::said).collect()
}

/// Lists names with commas between them, and a word before the last.
fn list(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grouped_lines(lines: &[&str]) -> Vec<String> {
        grouped(lines.iter().map(|line| (*line).to_owned()))
    }

    #[test]
    fn an_hour_is_no_percentage_and_nobody_reads_sixteen_digits() {
        for (written, read) in [
            ("when hour < 96% expect direction 40% over 24", "when hour < 0.96 expect direction 40% over 24"),
            ("when ret_168 < -2.12% expect range x1.55", "when ret_168 < -2.12% expect range x1.55"),
            ("expect range x1.0422494997889769 over 24", "expect range x1.04 over 24"),
            ("expect direction 6.517833426826545e1% over 24", "expect direction 65.2% over 24"),
            ("a fall of 20.0 % would cost $2.487971; rehearsed", "a fall of 20.0 % would cost $2.49; rehearsed"),
            ("for $0.000913 a tick, 2024-01-01, tick 116491.", "for $0.000913 a tick, 2024-01-01, tick 116491."),
            ("vol_168 is high (0.79)", "vol_168 is high (0.79)"),
        ] {
            assert_eq!(readable(written), read);
        }
    }

    #[test]
    fn the_same_sentence_in_other_cases_is_said_once() {
        let crash = |when: &str, cost: &str, night: u32| {
            format!("when {when} expect direction 40% over 24 then reduce: a fall would cost {cost}; night {night}")
        };
        let lines = [
            crash("vol_168 > 0.16%", "$2.50", 1),
            "when gas_ratio > 1.12 expect gas x0.98 over 1".to_owned(),
            crash("dist_mean < -1.75%", "$2.49", 3),
            "when gas_ratio > 1.30 expect gas x0.98 over 1".to_owned(),
        ];
        let said = grouped(lines.clone());
        let first = lines[0].clone() + "; and alike when dist_mean < -1.75%";
        assert_eq!(said, [first, lines[1].clone(), lines[3].clone()]);

        let many = grouped((1..=6).map(|n| crash(&format!("hour > {n}"), "$2", n)));
        assert_eq!(many.len(), 1);
        assert!(many[0].ends_with("; and alike when hour > 2, when hour > 3, when hour > 4 and in 2 other cases"));
    }

    #[test]
    fn a_sentence_about_several_things_names_them_together() {
        let foretells = |what: &str| format!("what foretells {what}? nothing known here does better than naive");
        let said = grouped([foretells("direction"), foretells("range"), "is it calm?".to_owned(), foretells("gas")]);
        assert_eq!(said, [foretells("direction, range and gas"), "is it calm?".to_owned()]);
        let said = grouped_lines(&[
            "direction: 0.0 % against naive",
            "range: -2.0 % against naive",
            "gas: 0.0 % against naive",
        ]);
        assert_eq!(said, ["direction and gas: 0.0 % against naive", "range: -2.0 % against naive"]);
        // Numbers are not things, short words say too little, and nothing is lost.
        for apart in [["tick 3 of a long night", "tick 4 of a long night"], ["it was calm", "it was wild"]] {
            assert_eq!(grouped_lines(&apart), apart);
        }
        assert!(grouped_lines(&[]).is_empty());
    }
}
