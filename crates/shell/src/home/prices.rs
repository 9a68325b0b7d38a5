//! The price book of a home: a newer one than the program has, put there by its owner. It is read whole or not at all,
//! and one that is older than the program's is not used.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::civil::Date;
use settings::Prices;
use tariff::Book;

use super::Home;
use crate::{Error, durable};

/// A book that was looked up more days ago is old: prices change by the month.
pub const LASTS: i64 = 60;

impl Home {
    /// The file of the owner's own book, whether there is one or not.
    pub fn price_book(&self) -> PathBuf {
        self.root().join("prices.csv")
    }

    /// The newer of the book that is here and the one that is built in.
    pub fn book(&self) -> Result<Arc<Book>, Error> {
        let (path, built_in) = (self.price_book(), Book::built_in());
        if !path.exists() {
            return Ok(built_in);
        }
        let text = fs::read_to_string(&path).map_err(Error::io("cannot read", &path))?;
        let book = Book::parse(&text).map_err(|why| {
            let way = "put one that is whole in its place with `bardo prices update FILE`, or remove it";
            Error::Usage(format!("{}: {why}; {way}", path.display()))
        })?;
        Ok(if book.looked_up() > built_in.looked_up() { Arc::new(book) } else { built_in })
    }

    /// The prices of models here.
    pub fn prices(&self) -> Result<Prices, Error> {
        Ok(Prices::new(self.settings()?.prices()?, self.book()?))
    }

    /// Replaces the book that is used here; refused, if the text is not a book or not newer.
    pub fn put_book(&self, text: &str) -> Result<Book, Error> {
        let book = Book::parse(text)?;
        let known = Book::built_in();
        if book.looked_up() <= known.looked_up() {
            return Err(Error::Usage(format!(
                "this book was looked up on {}, and the one this program brings on {}: it would not be used",
                book.looked_up(),
                known.looked_up()
            )));
        }
        durable::write(&self.price_book(), text.as_bytes())?;
        Ok(book)
    }
}

/// How many days ago a book was looked up; none, if the date is not one.
pub fn age(book: &Book, now_ms: i64) -> Option<i64> {
    let looked_up: Date = book.looked_up().parse().ok()?;
    let today = jiff::Timestamp::from_millisecond(now_ms).ok()?.to_zoned(jiff::tz::TimeZone::UTC).date();
    Some(i64::from(today.since(looked_up).ok()?.get_days()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400_000;

    fn text(day: &str, price: u64) -> String {
        let built_in = include_str!("../../../tariff/src/prices.csv");
        let columns = built_in.lines().find(|line| line.starts_with("provider/model")).unwrap();
        format!("# looked up {day}; by hand\n{columns}\nopenai/mine,{price},{price},,,,,,,,,,,,text,,,mine\n")
    }

    #[test]
    fn a_book_of_ones_own_counts_if_it_is_whole_and_newer() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().to_owned());
        assert_eq!(home.book().unwrap().looked_up(), Book::built_in().looked_up());
        let older = home.put_book(&text("2025-01-01", 7)).unwrap_err().to_string();
        assert!(older.contains("2025-01-01") && !home.price_book().exists(), "{older}");
        home.put_book(&text("2099-01-01", 7)).unwrap();
        assert_eq!(home.book().unwrap().find("openai/mine").unwrap().price.rates.input, 7);
        // A text that is not a book replaces none.
        assert!(home.put_book(&text("2099-02-01", 7).replace("openai/", "nobody/")).is_err());
        assert_eq!(home.book().unwrap().looked_up(), "2099-01-01");
        // A program that was made later knows better.
        fs::write(home.price_book(), text("2025-01-01", 7)).unwrap();
        assert!(home.book().unwrap().find("openai/mine").is_none());
        fs::write(home.price_book(), "cut off").unwrap();
        assert!(home.book().unwrap_err().to_string().contains("bardo prices update"));
    }

    #[test]
    fn a_book_is_as_old_as_the_days_since_it_was_looked_up() {
        let book = Book::parse(&text("2026-11-19", 7)).unwrap();
        let day = jiff::civil::date(2026, 11, 19).to_zoned(jiff::tz::TimeZone::UTC).unwrap().timestamp();
        let at = |days: i64| age(&book, day.as_millisecond() + days * DAY + DAY / 2);
        assert_eq!((at(0), at(60), at(400), at(-2)), (Some(0), Some(60), Some(400), Some(-2)));
    }
}
