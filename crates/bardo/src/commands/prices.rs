//! `prices`: what models cost here, and a newer book of it.

use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};
use shell::home::prices::age;
use shell::{Error, Home};
use tariff::{Named, Price, PriceRow, Rates, without_brackets};

use crate::args::PricesVerb;
use crate::output::{self, count, line};

/// The largest book that is read.
const LARGEST: u64 = 8 << 20;

pub(crate) fn dispatch(home: &Home, verb: &PricesVerb, json: bool) -> Result<ExitCode, Error> {
    match verb {
        PricesVerb::Show { model } => show(home, model, json)?,
        PricesVerb::List { provider } => list(home, provider.as_deref(), json)?,
        PricesVerb::Update { file } => update(home, file, json)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn show(home: &Home, model: &str, json: bool) -> Result<(), Error> {
    let (prices, named) = (home.prices()?, Named::parse(model)?);
    let price = prices.of(&named)?;
    let row = prices.book().find(&named.name).filter(|row| row.price == price);
    if json {
        let told = row.map_or_else(|| as_json(&named.name, &price), in_full);
        output::json(&told);
        return Ok(());
    }
    line(row.map_or(named.name.as_str(), |row| row.name.as_str()));
    let told = |about: &str, says: String| line(format!("  {about:<14} {says}"));
    let rates = |rates: &Rates| {
        let kinds = [rates.input, rates.output, rates.cached, rates.write_5m, rates.write_1h].map(dollars);
        let [input, output, cached, minutes, hours] = kinds;
        format!("{input} in, {output} out, {cached} from a cache, {minutes} into one for minutes, {hours} for hours")
    };
    told("a million", rates(&price.rates));
    if let Some(above) = price.above {
        told(&format!("above {}", count(above.threshold)), rates(&above.rates));
    }
    let Some(row) = row else {
        let own = prices.own().contains_key(without_brackets(&named.name)) || prices.own().contains_key(&named.name);
        told("says", if own { "models.prices in bardo.toml" } else { "models on this machine are free" }.to_owned());
        return Ok(());
    };
    let tokens = |tokens: Option<u64>| {
        tokens.map_or_else(|| "not known".to_owned(), |tokens| format!("{} tokens", count(tokens)))
    };
    told("context", format!("{}; an answer {}", tokens(row.context), tokens(row.longest_answer)));
    told("is given", if row.kinds.is_empty() { "not known".to_owned() } else { row.kinds.join(", ") });
    if !row.also.is_empty() {
        told("also called", row.also.join(", "));
    }
    let since = row.valid_from.as_ref().map_or_else(String::new, |day| format!(", so since {day}"));
    told("says", format!("{}, looked up on {}{since}", row.source, prices.book().looked_up()));
    Ok(())
}

fn list(home: &Home, provider: Option<&str>, json: bool) -> Result<(), Error> {
    let prices = home.prices()?;
    let of = |name: &str| provider.is_none_or(|wanted| name.split('/').next() == Some(wanted));
    if let Some(wanted) = provider.filter(|wanted| !tariff::PROVIDERS.iter().any(|known| known.name == *wanted)) {
        let names: Vec<&str> = tariff::PROVIDERS.iter().map(|known| known.name).collect();
        return Err(Error::Usage(format!("unknown provider {wanted}; known are {}", names.join(", "))));
    }
    let rows: Vec<&PriceRow> =
        prices.book().rows().iter().filter(|row| of(&row.name) && !prices.own().contains_key(&row.name)).collect();
    let own: Vec<(&String, &Price)> = prices.own().iter().filter(|(name, _)| of(name)).collect();
    if json {
        own.iter().for_each(|(name, price)| output::json(&as_json(name, price)));
        rows.iter().for_each(|row| output::json(&in_full(row)));
        return Ok(());
    }
    let names = rows.iter().map(|row| row.name.len()).chain(own.iter().map(|(name, _)| name.len()));
    let wide = names.max().unwrap_or(0).clamp(5, 60);
    line(format!("{:<wide$}  {:>11}  {:>11}  {:>11}  {:>9}  {}", "MODEL", "IN", "OUT", "CACHED", "CONTEXT", "SAYS"));
    let row = |name: &str, price: &Price, context: Option<u64>, says: &str| {
        let [input, output, cached] = [price.rates.input, price.rates.output, price.rates.cached].map(dollars);
        let context = context.map_or_else(String::new, count);
        line(format!("{name:<wide$}  {input:>11}  {output:>11}  {cached:>11}  {context:>9}  {says}"));
    };
    own.iter().for_each(|(name, price)| row(name, price, None, "bardo.toml"));
    rows.iter().for_each(|known| row(&known.name, &known.price, known.context, &known.source));
    let looked_up = prices.book().looked_up();
    line(format!("in dollars for a million tokens, looked up on {looked_up}; `bardo prices show MODEL` says more"));
    Ok(())
}

fn update(home: &Home, file: &Path, json: bool) -> Result<(), Error> {
    home.require()?;
    let cannot = |source| Error::Io { what: "cannot read", path: file.to_owned(), source };
    if std::fs::metadata(file).map_err(cannot)?.len() > LARGEST {
        return Err(Error::Usage(format!("{} is larger than {LARGEST} bytes, which no price book is", file.display())));
    }
    let book = home.put_book(&std::fs::read_to_string(file).map_err(cannot)?)?;
    if json {
        output::json(&json!({ "models": book.rows().len(), "looked_up": book.looked_up() }));
        return Ok(());
    }
    let days = age(&book, shell::wall::now_ms()).unwrap_or(0);
    line(format!("{} models, looked up on {}, {days} days ago", count(book.rows().len() as u64), book.looked_up()));
    if home.is_up() {
        line("the host that is up uses it from its next start on");
    }
    Ok(())
}

/// Micro-dollars as dollars, with no more digits than it takes.
fn dollars(micros: u64) -> String {
    let part = format!("{:06}", micros % 1_000_000);
    let part = part.trim_end_matches('0');
    format!("{}.{part:0<2}", micros / 1_000_000)
}

/// In micro-dollars for a million tokens, which are whole.
fn as_json(name: &str, price: &Price) -> Value {
    let rates = |rates: &Rates| {
        json!({ "input": rates.input, "output": rates.output, "cached": rates.cached,
                "write_5m": rates.write_5m, "write_1h": rates.write_1h })
    };
    let above = price.above.map(|above| json!({ "threshold": above.threshold, "micros": rates(&above.rates) }));
    json!({ "model": name, "micros": rates(&price.rates), "above": above })
}

fn in_full(row: &PriceRow) -> Value {
    let mut told = as_json(&row.name, &row.price);
    told["context"] = json!(row.context);
    told["longest_answer"] = json!(row.longest_answer);
    told["kinds"] = json!(row.kinds);
    told["also"] = json!(row.also);
    told["valid_from"] = json!(row.valid_from);
    told["source"] = json!(row.source);
    told
}
