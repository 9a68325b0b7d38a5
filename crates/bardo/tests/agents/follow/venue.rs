//! A venue that speaks like each of the three, over real HTTP and by a clock that the test moves. What it shows depends on
//! its weather, which follows from a seed; what is true of its market does not.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use shell::feeds::Venue;

/// What is true: nothing where nobody traded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct True {
    pub(crate) open: f64,
    pub(crate) close: f64,
    pub(crate) volume: f64,
}

/// What a venue does to whoever asks at this moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Fine,
    /// An answer of this status, or what stands for it.
    Refuses(u16),
    /// Too often; wait so many seconds.
    Wait(u16, u64),
    Garbage,
    HangsUp,
    /// Leaves a bar out that is there.
    Omits,
    /// Shows the newest bar otherwise than it was.
    Revises,
    /// Twice, and backwards.
    Shuffles,
    /// Shows what has closed only so many seconds later.
    Late(i64),
    /// Its clock is so many seconds ahead, or behind.
    Skewed(i64),
}

pub(crate) struct Weather {
    pub(crate) at: Box<dyn Fn(i64) -> Act + Send + Sync>,
}

#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) at_ms: i64,
    pub(crate) act: Act,
}

#[derive(Clone)]
pub(crate) struct Exchange {
    pub(crate) url: String,
    pub(crate) clock: Arc<AtomicI64>,
    pub(crate) asked: Arc<Mutex<Vec<Asked>>>,
}

/// Deterministic, and the same on each machine.
pub(crate) fn dice(seed: u64, n: u64) -> u64 {
    let mut z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(n.wrapping_mul(0xbf58_476d_1ce4_e5b9));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Exchange {
    pub(crate) fn open(venue: Venue, market: Arc<BTreeMap<u64, True>>, bar: u64, weather: Weather) -> Exchange {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (clock, asked) = (Arc::new(AtomicI64::new(0)), Arc::new(Mutex::new(Vec::new())));
        let exchange = Exchange { url, clock, asked };
        let (serving, weather) = (exchange.clone(), Arc::new(weather));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (serving, market, weather) = (serving.clone(), Arc::clone(&market), Arc::clone(&weather));
                thread::spawn(move || serving.serve(&stream, venue, &market, bar, &weather));
            }
        });
        exchange
    }

    fn serve(&self, stream: &TcpStream, venue: Venue, market: &BTreeMap<u64, True>, bar: u64, weather: &Weather) {
        let mut lines = BufReader::new(stream.try_clone().unwrap());
        loop {
            let (mut first, mut line) = (String::new(), String::new());
            if lines.read_line(&mut first).unwrap_or(0) == 0 {
                return;
            }
            while lines.read_line(&mut line).unwrap_or(0) > 0 && line.trim() != "" {
                line.clear();
            }
            let now = self.clock.load(Ordering::SeqCst);
            let act = (weather.at)(now);
            self.asked.lock().unwrap().push(Asked { at_ms: now, act });
            let query = first.split_whitespace().nth(1).unwrap_or_default().to_owned();
            let (status, wait, body) = match act {
                _ if !query.contains("ETH") => unknown(venue),
                Act::HangsUp => return,
                Act::Refuses(status) => (status, None, refusal(venue, status)),
                Act::Wait(status, seconds) => (status, Some(seconds), String::new()),
                Act::Garbage => (200, None, "<html>We will be back soon</html>".to_owned()),
                _ => (200, None, self.candles(venue, &query, now, act, market, bar)),
            };
            let skew = if let Act::Skewed(seconds) = act { seconds * 1_000 } else { 0 };
            let date = jiff::Timestamp::from_millisecond(now + skew).unwrap().strftime("%a, %d %b %Y %H:%M:%S GMT");
            let wait = wait.map_or(String::new(), |seconds| format!("retry-after: {seconds}\r\n"));
            let head = format!("HTTP/1.1 {status} X\r\ndate: {date}\r\n{wait}content-length: {}\r\n\r\n", body.len());
            if (&*stream).write_all((head + &body).as_bytes()).is_err() {
                return;
            }
        }
    }

    fn candles(&self, venue: Venue, query: &str, now: i64, act: Act, market: &BTreeMap<u64, True>, bar: u64) -> String {
        let value = |name: &str| query.split(['?', '&']).find_map(|part| part.strip_prefix(&format!("{name}=")));
        let stamp = |text: &str| text.parse::<jiff::Timestamp>().unwrap().as_second() as u64;
        let (from, to) = match venue {
            Venue::Binance => (value("startTime").unwrap().parse::<u64>().unwrap() / 1_000, u64::MAX),
            Venue::Coinbase => (stamp(value("start").unwrap()), stamp(value("end").unwrap())),
            Venue::Kraken => (value("since").unwrap().parse::<u64>().unwrap() + 1, u64::MAX),
        };
        assert!(venue != Venue::Coinbase || (to - from) / bar < 300, "more bars than it gives");
        let seen = (now - if let Act::Late(seconds) = act { seconds * 1_000 } else { 0 }).max(0) as u64 / 1_000;
        let shown = market.range(from..=to.min(seen).max(from));
        let mut rows: Vec<(u64, True)> = match venue {
            Venue::Binance => shown.take(1_000).map(|(at, bar)| (*at, *bar)).collect(),
            Venue::Coinbase => shown.map(|(at, bar)| (*at, *bar)).collect(),
            Venue::Kraken => shown.rev().take(720).map(|(at, bar)| (*at, *bar)).collect(),
        };
        rows.sort_by_key(|(at, _)| *at);
        // What is not over yet looks like nothing that will ever be true.
        for (at, row) in rows.iter_mut().filter(|(at, _)| (at + bar) * 1_000 > now as u64) {
            row.close = row.open * (1.5 + (dice(*at, now as u64) % 100) as f64 / 1e3);
        }
        let newest = rows.len().saturating_sub(2);
        match act {
            Act::Omits if rows.len() > 1 => drop(rows.remove(newest)),
            Act::Revises if rows.len() > 1 => rows[newest].1.volume += 0.25,
            Act::Shuffles => {
                rows = rows.iter().chain(&rows).copied().rev().collect();
            }
            _ => {}
        }
        written(venue, &rows)
    }
}

fn written(venue: Venue, rows: &[(u64, True)]) -> String {
    let mut rows: Vec<_> = rows.to_vec();
    if venue == Venue::Coinbase {
        rows.reverse();
    }
    let text: Vec<String> = rows
        .iter()
        .map(|(at, True { open, close, volume })| {
            let (high, low) = (open.max(*close), open.min(*close));
            match venue {
                Venue::Binance => format!(
                    r#"[{},"{open}","{high}","{low}","{close}","{volume}",{},"0",1,"0","0","0"]"#,
                    at * 1_000,
                    (at + 60) * 1_000 - 1
                ),
                Venue::Coinbase => format!("[{at},{low},{high},{open},{close},{volume}]"),
                Venue::Kraken => format!(r#"[{at},"{open}","{high}","{low}","{close}","{open}","{volume}",9]"#),
            }
        })
        .collect();
    let (rows, last) = (text.join(","), rows.last().map_or(0, |(at, _)| *at));
    if venue == Venue::Kraken {
        format!(r#"{{"error":[],"result":{{"XETHZUSD":[{rows}],"last":{last}}}}}"#)
    } else {
        format!("[{rows}]")
    }
}

/// What it was asked for is no market of its.
fn unknown(venue: Venue) -> (u16, Option<u64>, String) {
    match venue {
        Venue::Binance => (400, None, r#"{"code":-1121,"msg":"Invalid symbol."}"#.to_owned()),
        Venue::Coinbase => (404, None, r#"{"message":"NotFound"}"#.to_owned()),
        Venue::Kraken => (200, None, r#"{"error":["EQuery:Unknown asset pair"]}"#.to_owned()),
    }
}

fn refusal(venue: Venue, status: u16) -> String {
    match (venue, status) {
        // It refuses with a smile.
        (Venue::Kraken, 200) => r#"{"error":["EService:Unavailable"]}"#.to_owned(),
        (Venue::Binance, _) => r#"{"code":-1000,"msg":"An unknown error occurred."}"#.to_owned(),
        (Venue::Coinbase, _) => r#"{"message":"Internal server error"}"#.to_owned(),
        _ => String::new(),
    }
}
