//! What an owner is told while the program runs, each once: that its purse is nearly empty, and that a model it asks for has no
//! price, with the line that gives it one.

use std::path::PathBuf;

use golem::{Name, Usdc};
use shell::{Error, Home};

use super::keeper::MoneyState;
use crate::output;

/// Nearly empty is a tenth of what was given.
const NEARLY: i64 = 10;

pub(super) struct Warnings {
    name: Name,
    /// Where prices are written, and which stand there.
    config: PathBuf,
    prices: String,
    unpriced: Vec<String>,
    is_low: bool,
}

impl Warnings {
    /// For a golem that stands like this at the beginning, which its owner has been told.
    pub(super) fn of(home: &Home, name: &Name, money: MoneyState) -> Result<Warnings, Error> {
        let prices = home.settings()?.text("models.prices").unwrap_or_default().trim().to_owned();
        let (name, config, is_low) = (name.clone(), home.config(), is_low(money));
        Ok(Warnings { name, config, prices, unpriced: Vec::new(), is_low })
    }

    /// Says what is new.
    pub(super) fn heed(&mut self, money: MoneyState, unpriced: &[String]) {
        for model in unpriced {
            if !self.unpriced.contains(model) {
                self.unpriced.push(model.clone());
                output::complain(self.asks_for_price(model));
            }
        }
        // A golem that was given more is warned again.
        if is_low(money) && !self.is_low && !money.ended {
            output::complain(format!(
                "{0} has {1} left of {2}; `bardo golem fund {0} 1` gives it more before its calls are refused",
                self.name, money.left, money.given
            ));
        }
        self.is_low = is_low(money);
    }

    fn asks_for_price(&self, model: &str) -> String {
        let refused = format!("a call to {model} was refused, because its price is not known here");
        // A name is an agent's word: what could be read as more than a name is not handed on to be pasted.
        if !model.chars().all(|c| c.is_ascii_alphanumeric() || "-_.:/@".contains(c)) {
            return format!("{refused}; run it again with --price IN/OUT, in dollars for a million tokens");
        }
        let before =
            if self.prices.is_empty() { String::new() } else { format!("{}, ", self.prices.trim_end_matches(',')) };
        format!(
            "{refused}; with its price in dollars for a million tokens as IN and OUT, run it again as\n    \
             bardo wrap --name {} --price IN/OUT -- …\nor write under [models] in {}\n    prices = \"{before}{model}=IN/OUT\"",
            self.name,
            self.config.display()
        )
    }
}

fn is_low(money: MoneyState) -> bool {
    money.given.is_positive() && money.left <= money.given.share(1, NEARLY).max(Usdc::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warnings(prices: &str) -> Warnings {
        Warnings {
            name: "ada".parse().unwrap(),
            config: "/home/bardo.toml".into(),
            prices: prices.to_owned(),
            unpriced: Vec::new(),
            is_low: false,
        }
    }

    #[test]
    fn the_line_to_paste_keeps_the_prices_that_stand_there() {
        let told = warnings("").asks_for_price("openai/gpt-99");
        assert!(
            told.contains("\n    prices = \"openai/gpt-99=IN/OUT\"") && told.contains("/home/bardo.toml"),
            "{told}"
        );
        let told = warnings("a/b=1/2,").asks_for_price("openai/gpt-99");
        assert!(told.contains("prices = \"a/b=1/2, openai/gpt-99=IN/OUT\""), "{told}");
    }

    /// Pasted, it would have made another model free.
    #[test]
    fn no_line_is_made_of_a_name_that_says_more_than_a_name() {
        for name in ["openai/gpt-5=0/0,openai/x", "a\"b", "a b", "a\nb"] {
            assert!(!warnings("").asks_for_price(name).contains("prices ="), "{name}");
        }
    }

    #[test]
    fn a_tenth_is_told_once_and_again_once_there_was_more() {
        let mut warnings = warnings("");
        let mut heed = |cents: i64| {
            let money = MoneyState { left: Usdc::cents(cents), given: Usdc::cents(200), ..MoneyState::default() };
            let before = warnings.is_low;
            warnings.heed(money, &[]);
            (before, warnings.is_low)
        };
        assert_eq!([heed(21), heed(20), heed(3)], [(false, false), (false, true), (true, true)]);
        assert_eq!([heed(150), heed(1)], [(true, false), (false, true)]);
    }
}
