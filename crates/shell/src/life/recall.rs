//! Search by meaning: the home's embedding model, where one is configured, beside words, which
//! always work. Vectors are filled in when asked for; a model that cannot be reached costs nothing but them.

use mind::{Embedder, Served, ServedConfig};
use settings::Settings;
use vault::{Reader, Vault, grimoire};

use crate::Error;

/// Texts sent at once.
const BATCH: usize = 32;

/// The embedding model of this home; none if it names none.
pub fn embedder(settings: &Settings) -> Result<Option<Served>, Error> {
    let Some(model) = settings.text("models.embedding") else { return Ok(None) };
    let mut config = ServedConfig { model: model.to_owned(), ..ServedConfig::default() };
    if let Some(url) = settings.text("models.url") {
        config.url = url.to_owned();
    }
    config.key_env = settings.text("models.key_variable").map(str::to_owned);
    Ok(Some(Served::open(&config)?))
}

/// Some models want to be told which side of a search a text is on.
fn prefix(model: &str, asked: bool) -> &'static str {
    match (model.starts_with("nomic-embed-text"), asked) {
        (true, true) => "search_query: ",
        (true, false) => "search_document: ",
        (false, _) => "",
    }
}

/// Fills in the vectors that are missing, telling how many are done.
pub fn fill(vault: &Vault, embedder: &dyn Embedder, mut tell: impl FnMut(usize)) -> Result<usize, Error> {
    let mut done = 0;
    loop {
        let waiting = vault.to_embed(embedder.model(), BATCH)?;
        if waiting.is_empty() {
            return Ok(done);
        }
        let before = prefix(embedder.model(), false);
        let texts: Vec<String> = waiting.iter().map(|waiting| format!("{before}{}", waiting.text)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        for (waiting, vector) in waiting.iter().zip(embedder.embed(&texts)?) {
            vault.embed(waiting, embedder.model(), &vector)?;
        }
        done += waiting.len();
        tell(done);
    }
}

/// The entries that fit a query. If the model does not answer, words alone decide, and the reason comes with the hits.
pub fn search(
    reader: &Reader,
    embedder: Option<&dyn Embedder>,
    query: &mut grimoire::Query,
) -> Result<(Vec<grimoire::Hit>, Option<mind::Error>), Error> {
    let Some(embedder) = embedder.filter(|_| !query.text.trim().is_empty()) else {
        return Ok((reader.search(None, query)?, None));
    };
    let asked = format!("{}{}", prefix(embedder.model(), true), query.text);
    match embedder.embed(&[&asked]) {
        Ok(mut vectors) => {
            query.embedding = vectors.pop();
            Ok((reader.search(Some(embedder.model()), query)?, None))
        }
        Err(why) => Ok((reader.search(None, query)?, Some(why))),
    }
}
