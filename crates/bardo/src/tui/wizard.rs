//! What is being filled in to make an heir. What is left empty is as its predecessor had it.

use golem::Usdc;
use serde_json::{Value, json};
use shell::life::heirs::Offer;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Field {
    #[default]
    Name,
    Credit,
    Inherit,
    Make,
}

impl Field {
    pub(crate) const ALL: [Field; 4] = [Field::Name, Field::Credit, Field::Inherit, Field::Make];
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Wizard {
    pub(crate) field: Field,
    pub(crate) name: String,
    pub(crate) credit: String,
    pub(crate) inherit: bool,
    touched: bool,
}

impl Wizard {
    /// As its predecessor's configuration has it; nothing that was typed is overwritten.
    pub(crate) fn prefill(&mut self, offer: &Offer) {
        if !self.touched {
            self.name = offer.next_name.clone();
            self.credit = offer.credit.to_string().trim_start_matches('$').to_owned();
            self.inherit = offer.inherit;
        }
    }

    pub(crate) fn step(&mut self, by: usize) {
        let at = Field::ALL.iter().position(|field| *field == self.field).unwrap_or_default();
        self.field = Field::ALL[(at + by) % Field::ALL.len()];
    }

    pub(crate) fn type_in(&mut self, letter: char) {
        self.touched = true;
        match self.field {
            Field::Name if self.name.len() < 32 => self.name.push(letter),
            Field::Credit if self.credit.len() < 12 => self.credit.push(letter),
            Field::Inherit if letter == ' ' => self.inherit = !self.inherit,
            _ => {}
        }
    }

    pub(crate) fn erase(&mut self) {
        self.touched = true;
        match self.field {
            Field::Name => drop(self.name.pop()),
            Field::Credit => drop(self.credit.pop()),
            _ => {}
        }
    }

    pub(crate) fn flip(&mut self) {
        (self.touched, self.inherit) = (true, !self.inherit);
    }

    /// The wish for the host, or what is wrong with the input.
    pub(crate) fn wish(&self) -> Result<Value, String> {
        let mut wish = json!({ "inherit": self.inherit });
        if !self.name.is_empty() {
            wish["name"] = json!(self.name);
        }
        if !self.credit.is_empty() {
            let credit: Usdc = self.credit.parse().map_err(|_| format!("{} is not an amount of money", self.credit))?;
            wish["credit"] = json!(credit);
        }
        Ok(wish)
    }
}
