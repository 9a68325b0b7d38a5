//! The prices of models: from the owner, from the book, or the one given for models without a price.

use std::collections::BTreeMap;
use std::sync::Arc;

use tariff::{Book, Named, Price, without_brackets};

#[derive(Clone, Debug)]
pub struct Prices {
    own: BTreeMap<String, Price>,
    book: Arc<Book>,
    otherwise: Option<Price>,
}

impl Prices {
    pub fn new(own: BTreeMap<String, Price>, book: Arc<Book>) -> Prices {
        Prices { own, book, otherwise: None }
    }

    /// Adds a price for models that have none.
    pub fn otherwise(self, price: Option<Price>) -> Prices {
        Prices { otherwise: price, ..self }
    }

    pub fn of(&self, named: &Named) -> Result<Price, tariff::Error> {
        let own = self.own.get(&named.name).or_else(|| self.own.get(without_brackets(&named.name)));
        let known = own.copied().or_else(|| self.book.find(&named.name).map(|row| row.price)).or(self.otherwise);
        known.map_or_else(|| self.book.price(named), Ok)
    }

    pub fn book(&self) -> &Book {
        &self.book
    }

    /// The owner's own prices, by model.
    pub fn own(&self) -> &BTreeMap<String, Price> {
        &self.own
    }
}

impl Default for Prices {
    /// The prices of the built-in book.
    fn default() -> Prices {
        Prices::new(BTreeMap::new(), Book::built_in())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owners_word_goes_before_the_book_and_the_book_before_a_price_for_the_rest() {
        let price = |text: &str| Price::parse(text).unwrap();
        let named = |name: &str| Named::parse(name).unwrap();
        let own = BTreeMap::from([("openai/gpt-5-mini".to_owned(), price("7/8"))]);
        let prices = Prices::new(own, Book::built_in());
        assert_eq!(prices.of(&named("openai/gpt-5-mini[1m]")).unwrap(), price("7/8"));
        assert_eq!(prices.of(&named("openai/gpt-5")).unwrap().rates.input, 1_250_000);
        assert_eq!(prices.of(&named("ollama/qwen3")).unwrap(), Price::NOTHING);
        assert!(prices.of(&named("openai/gpt-99")).is_err());
        let prices = prices.otherwise(Some(price("5/25")));
        assert_eq!(prices.of(&named("openai/gpt-99")).unwrap(), price("5/25"));
        assert_eq!(prices.of(&named("openai/gpt-5")).unwrap().rates.input, 1_250_000);
    }
}
