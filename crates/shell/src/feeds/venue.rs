//! Venues that show candles without a key: how each is asked, what it answers, and what its refusals mean.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use golem::plain;
use golem::time::{Span, Time};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use world::Candle;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Venue {
    Binance,
    Coinbase,
    Kraken,
}

/// An answer as it came over the wire.
#[derive(Clone, Debug, Default)]
pub struct VenueAnswer {
    pub status: u16,
    /// Seconds for which the venue wants to be left alone.
    pub retry_after: Option<u64>,
    /// The venue's clock, in milliseconds.
    pub date_ms: Option<i64>,
    pub body: Vec<u8>,
}

/// Why there are no candles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The venue was asked too often, and perhaps says how long it wants to be left alone.
    TooOften(Option<Duration>),
    /// The venue has failed, or cannot be reached.
    Away(String),
    /// The venue will never have an answer to this.
    Wrong(String),
}

impl Trouble {
    /// Whether asking again will not help.
    pub fn is_for_good(&self) -> bool {
        matches!(self, Trouble::Wrong(_))
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::TooOften(_) => f.write_str("it was asked too often"),
            Trouble::Away(why) | Trouble::Wrong(why) => f.write_str(why),
        }
    }
}

const MINUTE: u64 = 60;
const HOUR: u64 = 3_600;
const DAY: u64 = 86_400;

impl Venue {
    pub const ALL: [Venue; 3] = [Venue::Binance, Venue::Coinbase, Venue::Kraken];

    pub fn name(self) -> &'static str {
        match self {
            Venue::Binance => "binance",
            Venue::Coinbase => "coinbase",
            Venue::Kraken => "kraken",
        }
    }

    pub fn address(self) -> &'static str {
        match self {
            Venue::Binance => "https://api.binance.com",
            Venue::Coinbase => "https://api.exchange.coinbase.com",
            Venue::Kraken => "https://api.kraken.com",
        }
    }

    /// The venue's most likely name for the dollar market of this asset.
    pub fn product(self, name: &str) -> String {
        let name = name.to_uppercase();
        match self {
            Venue::Binance => format!("{name}USDT"),
            Venue::Coinbase => format!("{name}-USD"),
            Venue::Kraken => format!("{name}USD"),
        }
    }

    /// How long its bars can be, in seconds.
    pub fn intervals(self) -> &'static [u64] {
        match self {
            Venue::Binance => &[
                MINUTE,
                5 * MINUTE,
                15 * MINUTE,
                30 * MINUTE,
                HOUR,
                2 * HOUR,
                4 * HOUR,
                6 * HOUR,
                8 * HOUR,
                12 * HOUR,
                DAY,
            ],
            Venue::Coinbase => &[MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 6 * HOUR, DAY],
            Venue::Kraken => &[MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 4 * HOUR, DAY],
        }
    }

    /// Bars in one answer, at most.
    pub fn page(self) -> u64 {
        match self {
            Venue::Binance => 1_000,
            Venue::Coinbase => 300,
            Venue::Kraken => 720,
        }
    }

    /// The least time between two questions: well within what it documents (6,000 of weight a minute, of which one takes
    /// two; ten a second; about one a second).
    pub fn apart(self) -> Duration {
        match self {
            Venue::Binance | Venue::Coinbase => Duration::from_millis(250),
            Venue::Kraken => Duration::from_millis(1_500),
        }
    }

    /// The address at which to ask for bars from this time on.
    pub fn url(self, address: &str, product: &str, interval: Span, from: Time) -> String {
        let (seconds, from_s) = (interval.as_millis() / 1_000, from.as_seconds());
        let page = self.page();
        match self {
            Venue::Binance => {
                let from_ms = from.as_millis();
                let interval = binance_interval(seconds);
                format!("{address}/api/v3/klines?symbol={product}&interval={interval}&startTime={from_ms}&limit={page}")
            }
            Venue::Coinbase => {
                // Both ends count, and one bar too many is refused.
                let to = from_s + seconds * (page - 1);
                let range = format!("start={}&end={}", iso(from_s), iso(to));
                format!("{address}/products/{product}/candles?granularity={seconds}&{range}")
            }
            // Kraken answers with bars after the moment named.
            Venue::Kraken => {
                let (minutes, since) = (seconds / MINUTE, from_s.saturating_sub(1));
                format!("{address}/0/public/OHLC?pair={product}&interval={minutes}&since={since}")
            }
        }
    }

    /// The bars of an answer, as they stand there: in any order, the one that is not over included.
    pub fn read(self, answer: &VenueAnswer) -> Result<Vec<Candle>, Trouble> {
        let value: Option<Value> = serde_json::from_slice(&answer.body).ok();
        if let Some(trouble) = self.trouble(answer, value.as_ref()) {
            return Err(trouble);
        }
        let unreadable = || Trouble::Away(format!("{} gave an answer that cannot be read", self.name()));
        let value = value.ok_or_else(unreadable)?;
        let rows = match self {
            Venue::Binance | Venue::Coinbase => value.as_array(),
            Venue::Kraken => value.get("result").and_then(Value::as_object).and_then(|result| {
                result.iter().find(|(name, _)| *name != "last").and_then(|(_, rows)| rows.as_array())
            }),
        };
        let read: Option<Vec<Candle>> = rows.ok_or_else(unreadable)?.iter().map(|row| self.row(row)).collect();
        read.ok_or_else(unreadable)
    }

    fn row(self, row: &Value) -> Option<Candle> {
        let number = |at: usize| match row.get(at)? {
            Value::String(text) => text.parse::<f64>().ok(),
            other => other.as_f64(),
        };
        let time = row.get(0)?.as_u64()?;
        let bar = |opened, [open, high, low, close, volume]: [usize; 5]| {
            Some(Candle {
                opened,
                open: number(open)?,
                high: number(high)?,
                low: number(low)?,
                close: number(close)?,
                volume: number(volume)?,
                gas: 0.0,
            })
        };
        match self {
            Venue::Binance => bar(Time::millis(time), [1, 2, 3, 4, 5]),
            Venue::Coinbase => bar(Time::seconds(time), [3, 2, 1, 4, 5]),
            Venue::Kraken => bar(Time::seconds(time), [1, 2, 3, 4, 6]),
        }
    }

    /// The meaning of a refusal; `None` if the answer is not a refusal.
    fn trouble(self, answer: &VenueAnswer, value: Option<&Value>) -> Option<Trouble> {
        let wait = answer.retry_after.map(Duration::from_secs);
        let said = |key: &str| value.and_then(|value| value.get(key)).and_then(Value::as_str).map(str::to_owned);
        let text = match self {
            Venue::Binance => said("msg"),
            Venue::Coinbase => said("message"),
            Venue::Kraken => {
                value.and_then(|value| value.get("error")?.as_array()?.first()?.as_str()).map(str::to_owned)
            }
        };
        let says = |what: &str| match &text {
            Some(text) => format!("{} says: {}", self.name(), plain::line(text, 120)),
            None => format!("{} {what} ({})", self.name(), answer.status),
        };
        match answer.status {
            // 418 is a ban for not heeding 429.
            429 | 418 => Some(Trouble::TooOften(wait)),
            403 | 451 => Some(Trouble::Wrong(says("does not serve this location"))),
            400 | 404 => Some(Trouble::Wrong(says("does not know what it was asked for"))),
            200..=299 => match &text {
                // Kraken says everything with 200.
                Some(text) if self == Venue::Kraken => Some(kraken_trouble(text, says(""))),
                _ => None,
            },
            _ => Some(Trouble::Away(says("has failed"))),
        }
    }
}

fn kraken_trouble(text: &str, says: String) -> Trouble {
    if text.contains("Rate limit") || text.contains("Too many requests") || text.contains("Throttled") {
        Trouble::TooOften(None)
    } else if text.starts_with("EService") || text.contains("Internal error") || text.contains("Temporary lockout") {
        Trouble::Away(says)
    } else {
        Trouble::Wrong(says)
    }
}

fn binance_interval(seconds: u64) -> String {
    match seconds {
        _ if seconds.is_multiple_of(DAY) => format!("{}d", seconds / DAY),
        _ if seconds.is_multiple_of(HOUR) => format!("{}h", seconds / HOUR),
        _ => format!("{}m", seconds / MINUTE),
    }
}

fn iso(seconds: u64) -> String {
    let at = jiff::Timestamp::from_second(i64::try_from(seconds).unwrap_or(i64::MAX)).unwrap_or(jiff::Timestamp::MAX);
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

impl fmt::Display for Venue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Venue {
    type Err = String;

    fn from_str(text: &str) -> Result<Venue, String> {
        let found = Venue::ALL.into_iter().find(|venue| venue.name() == text);
        found.ok_or_else(|| format!("there is no venue {text:?}; there are binance, coinbase and kraken"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_BAR: Span = Span::seconds(3_600);

    fn answer(status: u16, body: &str) -> VenueAnswer {
        VenueAnswer { status, body: body.as_bytes().to_vec(), ..VenueAnswer::default() }
    }

    /// One bar, as each venue writes it.
    #[test]
    fn each_venue_is_read_as_it_writes() {
        let bar = |seconds| Candle {
            opened: Time::seconds(seconds),
            open: 3_000.5,
            high: 3_010.0,
            low: 2_990.25,
            close: 3_001.0,
            volume: 12.5,
            gas: 0.0,
        };
        let binance =
            r#"[[1700002800000,"3000.50","3010.00","2990.25","3001.00","12.5",1700006399999,"1",9,"1","1","0"]]"#;
        let coinbase = "[[1700006400,2990.25,3010,3000.5,3001,12.5],[1700002800,2990.25,3010,3000.5,3001,12.5]]";
        let kraken = r#"{"error":[],"result":{"XETHZUSD":[[1700002800,"3000.5","3010.0","2990.25","3001.0","3000.9","12.5",42]],"last":1700002800}}"#;
        assert_eq!(Venue::Binance.read(&answer(200, binance)), Ok(vec![bar(1_700_002_800)]));
        assert_eq!(Venue::Coinbase.read(&answer(200, coinbase)), Ok(vec![bar(1_700_006_400), bar(1_700_002_800)]));
        assert_eq!(Venue::Kraken.read(&answer(200, kraken)), Ok(vec![bar(1_700_002_800)]));
    }

    #[test]
    fn each_venue_is_asked_as_it_documents() {
        let url = |venue: Venue| venue.url("https://x", &venue.product("eth"), HOUR_BAR, Time::seconds(1_700_002_800));
        assert_eq!(
            url(Venue::Binance),
            "https://x/api/v3/klines?symbol=ETHUSDT&interval=1h&startTime=1700002800000&limit=1000"
        );
        assert_eq!(
            url(Venue::Coinbase),
            "https://x/products/ETH-USD/candles?granularity=3600&start=2023-11-14T23:00:00Z&end=2023-11-27T10:00:00Z"
        );
        assert_eq!(url(Venue::Kraken), "https://x/0/public/OHLC?pair=ETHUSD&interval=60&since=1700002799");
        assert_eq!(binance_interval(900), "15m");
        assert_eq!(binance_interval(86_400), "1d");
    }

    #[test]
    fn every_refusal_they_document_is_known_for_what_it_is() {
        use Trouble::{Away, TooOften, Wrong};
        let away = |venue: Venue, text: &str| Err(Away(format!("{venue} {text}")));
        let wrong = |venue: Venue, text: &str| Err(Wrong(format!("{venue} {text}")));
        type Meant = Result<Vec<Candle>, Trouble>;
        let table: Vec<(Venue, u16, &str, Meant)> = vec![
            (
                Venue::Binance,
                400,
                r#"{"code":-1121,"msg":"Invalid symbol."}"#,
                wrong(Venue::Binance, "says: Invalid symbol."),
            ),
            (Venue::Binance, 429, r#"{"code":-1003,"msg":"Too many requests."}"#, Err(TooOften(None))),
            (Venue::Binance, 418, "", Err(TooOften(None))),
            (Venue::Binance, 403, "<html>", wrong(Venue::Binance, "does not serve this location (403)")),
            (
                Venue::Binance,
                451,
                r#"{"code":0,"msg":"Service unavailable from a restricted location."}"#,
                wrong(Venue::Binance, "says: Service unavailable from a restricted location."),
            ),
            (Venue::Binance, 503, "", away(Venue::Binance, "has failed (503)")),
            (
                Venue::Binance,
                200,
                "<html>maintenance</html>",
                away(Venue::Binance, "gave an answer that cannot be read"),
            ),
            (
                Venue::Binance,
                200,
                r#"[[1,"a","b","c","d","e"]]"#,
                away(Venue::Binance, "gave an answer that cannot be read"),
            ),
            (Venue::Coinbase, 404, r#"{"message":"NotFound"}"#, wrong(Venue::Coinbase, "says: NotFound")),
            (Venue::Coinbase, 429, r#"{"message":"Public rate limit exceeded"}"#, Err(TooOften(None))),
            (
                Venue::Coinbase,
                500,
                r#"{"message":"Internal server error"}"#,
                away(Venue::Coinbase, "says: Internal server error"),
            ),
            (
                Venue::Kraken,
                200,
                r#"{"error":["EQuery:Unknown asset pair"]}"#,
                wrong(Venue::Kraken, "says: EQuery:Unknown asset pair"),
            ),
            (Venue::Kraken, 200, r#"{"error":["EAPI:Rate limit exceeded"]}"#, Err(TooOften(None))),
            (Venue::Kraken, 200, r#"{"error":["EGeneral:Too many requests"]}"#, Err(TooOften(None))),
            (
                Venue::Kraken,
                200,
                r#"{"error":["EService:Unavailable"]}"#,
                away(Venue::Kraken, "says: EService:Unavailable"),
            ),
            (Venue::Kraken, 200, r#"{"error":["EService:Busy"]}"#, away(Venue::Kraken, "says: EService:Busy")),
            (Venue::Kraken, 520, "", away(Venue::Kraken, "has failed (520)")),
            (Venue::Kraken, 200, r#"{"error":[]}"#, away(Venue::Kraken, "gave an answer that cannot be read")),
        ];
        for (venue, status, body, meant) in table {
            assert_eq!(venue.read(&answer(status, body)), meant, "{venue} {status} {body}");
        }
        let banned = VenueAnswer { status: 418, retry_after: Some(120), ..VenueAnswer::default() };
        assert_eq!(Venue::Binance.read(&banned), Err(TooOften(Some(Duration::from_secs(120)))));
    }
}
