//! A request as its provider understands it: pieces in the order in which the model reads them, each with its tokens.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use super::hidden::{Elsewhere, Hidden};
use super::media::{CountingWay, decode, pages, size};
use super::price::Extras;
use super::tokens::Tokeniser;

/// Tokens around each message, and before the answer.
pub(crate) const AROUND: u64 = 3;
/// With this begins the text of a piece that has no letters of its own.
pub(crate) const NO_LETTERS: char = '\0';

/// The protocol of a request, and the endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Chat,
    Responses,
    Embeddings,
    Messages,
    /// Counting, which costs nothing.
    CountMessages,
    CountResponses,
    Gemini,
    CountGemini,
}

impl Protocol {
    pub(crate) fn way(self) -> CountingWay {
        match self {
            Protocol::Chat | Protocol::Responses | Protocol::CountResponses | Protocol::Embeddings => {
                CountingWay::OpenAi
            }
            Protocol::Messages | Protocol::CountMessages => CountingWay::Anthropic,
            Protocol::Gemini | Protocol::CountGemini => CountingWay::Gemini,
        }
    }

    pub(crate) fn counts(self) -> bool {
        matches!(self, Protocol::CountMessages | Protocol::CountResponses | Protocol::CountGemini)
    }
}

/// For how long a prefix is cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ttl {
    FiveMinutes,
    Hour,
}

#[derive(Clone, Debug)]
pub struct Piece {
    /// The text the model reads, or a name for a part without letters.
    pub text: String,
    pub tokens: u64,
    /// The cache is to keep everything up to here.
    pub mark: Option<Ttl>,
}

/// A tool of the client's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    pub name: String,
    /// Whether it takes text, not JSON.
    pub custom: bool,
    /// The room it is in, where tools have rooms.
    pub room: Option<String>,
}

#[derive(Clone, Debug)]
pub struct BilledRequest {
    pub protocol: Protocol,
    pub model: String,
    pub stream: bool,
    pub pieces: Vec<Piece>,
    /// Tokens of one answer, where the client says.
    pub most: Option<u64>,
    pub answers: u64,
    pub tools: Vec<Tool>,
    /// How often the model has spoken in it before.
    pub rounds: usize,
    /// Tools that run at the provider, each with how often it may be used.
    pub searches: Vec<u64>,
    pub extras: Extras,
    /// Tokens billed as output but never shown: a prediction that was not kept.
    pub lost: u64,
    pub body: Value,
}

impl BilledRequest {
    pub(crate) fn new(protocol: Protocol, model: &str, body: &Value) -> BilledRequest {
        BilledRequest {
            protocol,
            model: model.to_owned(),
            stream: body["stream"] == true,
            pieces: Vec::new(),
            most: None,
            answers: 1,
            tools: Vec::new(),
            rounds: 0,
            searches: Vec::new(),
            extras: Extras::default(),
            lost: 0,
            body: body.clone(),
        }
    }

    pub fn input(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.tokens).sum()
    }

    pub fn offers(&self, tool: &str) -> Option<&Tool> {
        self.tools.iter().find(|known| known.name == tool)
    }
}

/// Why a provider does not answer, and bills nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderProblem {
    pub status: u16,
    pub message: String,
}

impl ProviderProblem {
    pub(crate) fn wrong(message: impl Into<String>) -> ProviderProblem {
        ProviderProblem { status: 400, message: message.into() }
    }
}

/// By what a request is counted.
pub(crate) struct Ground<'a> {
    pub(crate) tokeniser: Tokeniser,
    pub(crate) elsewhere: Elsewhere,
    pub(crate) hidden: &'a Hidden,
    pub(crate) way: CountingWay,
    pub(crate) model: &'a str,
}

impl Ground<'_> {
    pub(crate) fn text(&self, text: &str) -> Piece {
        Piece { text: text.to_owned(), tokens: self.tokeniser.count(text), mark: None }
    }

    /// Text as the model reads JSON.
    pub(crate) fn json(&self, value: &Value) -> Piece {
        self.text(&value.to_string())
    }

    /// A part without letters, such as a picture, by its name.
    pub(crate) fn counted(&self, name: &str, tokens: u64) -> Piece {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        Piece { text: format!("{NO_LETTERS}{:016x}", hasher.finish()), tokens, mark: None }
    }

    /// Tokens that surround a message from this side.
    pub(crate) fn around(&self, role: &str) -> Piece {
        Piece { text: format!("{NO_LETTERS}{role}"), tokens: AROUND, mark: None }
    }

    /// Something that was handed out here under this name, or that is kept elsewhere under it.
    pub(crate) fn named(&self, name: &str) -> Piece {
        self.counted(name, self.hidden.behind(name).unwrap_or(self.elsewhere.named))
    }

    pub(crate) fn sealed(&self, blob: &str) -> Piece {
        self.counted(blob, self.hidden.sealed(blob))
    }

    /// A picture in base64.
    pub(crate) fn picture(&self, data: &str, low: bool) -> Result<Piece, ProviderProblem> {
        let size = decode(data).and_then(|bytes| size(&bytes));
        let size = size.ok_or_else(|| ProviderProblem::wrong("could not process image"))?;
        Ok(self.counted(data, self.way.picture(self.model, size, low)))
    }

    /// A picture by its address, or inside one that begins with `data:`.
    pub(crate) fn picture_at(&self, url: &str, low: bool) -> Result<Piece, ProviderProblem> {
        match url.strip_prefix("data:").and_then(|data| data.split_once(";base64,")) {
            Some((_, data)) => self.picture(data, low),
            None => Ok(self.counted(url, self.way.picture(self.model, self.elsewhere.picture, low))),
        }
    }

    /// A document in base64, of which only those with pages are known.
    pub(crate) fn document(&self, data: &str) -> Result<Piece, ProviderProblem> {
        let data = data.split_once(";base64,").map_or(data, |(_, data)| data);
        let bytes = decode(data).filter(|bytes| bytes.starts_with(b"%PDF"));
        let bytes = bytes.ok_or_else(|| ProviderProblem::wrong("could not process document"))?;
        Ok(self.counted(data, pages(&bytes) * self.way.page()))
    }

    pub(crate) fn document_at(&self, url: &str) -> Piece {
        self.counted(url, self.elsewhere.document)
    }
}

/// How often a run of the model's own pieces begins.
pub(crate) fn runs(own: impl Iterator<Item = bool>) -> usize {
    let (mut runs, mut before) = (0, false);
    for now in own {
        runs += usize::from(now && !before);
        before = now;
    }
    runs
}

pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A number that is there and whole; whatever else is there is refused, as servers do.
pub(crate) fn number(body: &Value, name: &str) -> Result<Option<u64>, ProviderProblem> {
    match &body[name] {
        Value::Null => Ok(None),
        value => {
            value.as_u64().map(Some).ok_or_else(|| ProviderProblem::wrong(format!("{name}: a whole number is wanted")))
        }
    }
}
