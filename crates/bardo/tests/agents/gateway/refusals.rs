//! Both errors of a cap. Too much is a bill above what was given; too little is a call refused though what was left would have paid
//! for it. The judge of both is the ledger of a provider that bills, and its own count of each call: a refusal is right only if
//! what was left is less than that call could have been billed by the price page, with its cache missed and its answer as short
//! as an answer may be.

use std::collections::BTreeMap;

use serde_json::Value;
use tariff::Book;
use testing::billing::{
    BilledRequest, Double, Extras, Habit, Plays, Price, Prices, Protocol, Setting, Turn, Used, bill,
};

use super::beside::{Other, THEIRS};
use super::sessions::{self, Session, Spoken, Talk};
use super::{Agency, Answer, UNWATCHED, post};

/// Who has each model, and what it costs.
const PRICES: [(&str, &str, &str); 4] = [
    ("anthropic", "claude-sonnet-4-5", "3/15/0.3/3.75/6"),
    ("openai", "gpt-5", "1.25/10/0.125/1.25/1.25"),
    ("openai", "gpt-6.1-sol", "2/10/0.1/2.5/2.5"),
    ("gemini", "gemini-2.5-pro", "1.25/10/0.125/1.25/1.25"),
];
/// Its cache is written at a price of its own.
const WRITES: &str = "gpt-6.1-sol";
/// Purses, in halves of what a session costs.
const HALVES: [u64; 5] = [1, 2, 3, 4, 8];
/// What is as good as endless, in micro-dollars.
const ENDLESS: u64 = 500_000_000;
/// An answer that is shorter is none, unless the client wants one so short.
const USEFUL: u64 = 4_096;

fn prices() -> Prices {
    let row = |(_, model, price): &(&str, &str, &str)| {
        format!("{model}={price}{}", if *model == WRITES { "+writes" } else { "" })
    };
    Prices::parse(&PRICES.iter().map(row).collect::<Vec<_>>().join(",")).unwrap()
}

fn config(url: &str) -> String {
    let price = |(provider, model, price): &(&str, &str, &str)| format!("{provider}/{model}={price}");
    let prices = PRICES.iter().map(price).collect::<Vec<_>>().join(", ");
    let upstreams = format!("openai={url}/v1, anthropic={url}, gemini={url}/v1");
    format!("[models]\nprices = \"{prices}\"\n[gateway]\nupstreams = \"{upstreams}\"\n")
}

fn dollars(micros: u64) -> String {
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

/// The model says as much as it said in the session.
fn says(session: &Session) -> Box<Plays> {
    let says: Vec<u64> = session.steps.iter().map(|step| step.says).collect();
    Box::new(move |_: u64, asked: &BilledRequest| (Turn::words(says[asked.rounds.min(says.len() - 1)]), Habit::HONEST))
}

/// How a session went with so much money.
#[derive(Debug, Default)]
struct Played {
    given: u64,
    billed: u64,
    calls: usize,
    /// The call it was refused, what that could have been billed and what was left.
    refused: Option<(usize, u64, u64)>,
    /// Of each call, what was taken for its tokens in at most by what they were.
    ratios: Vec<f64>,
    aside: u64,
    /// Tokens of its longest call.
    context: u64,
}

impl Played {
    fn is_wronged(&self) -> bool {
        self.refused.is_some_and(|(_, worst, left)| left >= worst)
    }

    fn stranded(&self) -> u64 {
        self.given.saturating_sub(self.billed)
    }
}

/// By what the calls of a session are judged.
struct Judge<'a> {
    session: &'a Session,
    spoken: Spoken,
    model: &'a str,
    price: Price,
    double: &'a Double,
}

impl Judge<'_> {
    /// Micro-dollars that so many tokens in can come to with the shortest answer.
    fn worst(&self, body: &Value) -> u64 {
        let protocol = match self.spoken {
            Spoken::Chat => Protocol::Chat,
            Spoken::Responses => Protocol::Responses,
            Spoken::Messages => Protocol::Messages,
            Spoken::Generate => Protocol::Gemini,
        };
        let tokens = self.double.counts(protocol, self.model, body).unwrap();
        let said = self.session.most.map_or(USEFUL, |most| most.min(USEFUL));
        let used = if self.writes() {
            Used { write_5m: tokens, said, ..Used::default() }
        } else {
            Used { input: tokens, said, ..Used::default() }
        };
        bill(self.price, used, Extras::default())
    }

    fn writes(&self) -> bool {
        (self.session.marks && self.spoken == Spoken::Messages) || self.price.counts_writes
    }

    /// What was taken for the tokens in of a call at most, by what was set aside for it.
    fn taken_for(&self, answer: &Answer) -> f64 {
        let number = |name: &str| answer.header(name).and_then(|value| value.parse::<u64>().ok());
        let longest = || {
            let (provider, model, _) = PRICES.iter().find(|(_, model, _)| *model == self.model).unwrap();
            Book::built_in().find(&format!("{provider}/{model}")).unwrap().longest_answer.unwrap()
        };
        let output = number("x-bardo-lowered-to").unwrap_or_else(|| self.session.most.unwrap_or_else(longest));
        let aside = number("x-bardo-aside-micros").expect("it says what is set aside") as f64 * 1e6;
        let rate = self.price.rate;
        let each = if self.writes() { rate.write_5m } else { rate.input };
        (aside - (output * rate.output) as f64) / each as f64
    }
}

/// Plays a session through the gateway, until its end or the first refusal.
fn play(session: &Session, spoken: Spoken, model: &str, given: u64) -> Played {
    let double = Double::start(Setting::new(prices(), says(session))).unwrap();
    let judge = Judge { session, spoken, model, price: prices().find(model).unwrap(), double: &double };
    let agency = Agency::with(&config(&double.url), &dollars(given), &UNWATCHED);
    let up = agency.up();
    let talk = Talk::new(session, spoken, model);
    let path = format!("/g/ada{}", talk.path());
    let mut played = Played { given, ..Played::default() };
    for nth in 0..session.steps.len() {
        let body = talk.body(nth);
        let answer = up.post(&path, &agency.token, "anthropic-version: 2023-06-01\r\n", &body.to_string());
        if answer.status != 200 {
            assert_eq!(answer.status, 402, "{} at {nth}: {}", session.name, answer.body);
            let left: u64 = answer.header("x-bardo-left-micros").unwrap().parse().unwrap();
            // A fiftieth is kept for the end of a life.
            let rest = given - double.ledger.billed_in_all();
            assert!(left <= rest && rest - left <= given / 50 + 1_000, "{left} of {rest} is left");
            played.refused = Some((nth, judge.worst(&body), left));
            break;
        }
        let entry = double.ledger.last().unwrap();
        let aside: u64 = answer.header("x-bardo-aside-micros").unwrap().parse().unwrap();
        assert!(entry.bill <= aside, "{} at {nth}: {} billed, {aside} set aside", session.name, entry.bill);
        let counted = entry.used.all_input();
        played.ratios.push(judge.taken_for(&answer) / counted as f64);
        played.calls += 1;
        played.aside += aside;
        played.context = played.context.max(counted);
    }
    played.billed = double.ledger.billed_in_all();
    let life = agency.settled();
    assert!(played.billed <= given, "{}: {} billed of {given}", session.name, played.billed);
    assert_eq!(life.calls().spent.as_micros() as u64, played.billed, "what was billed is what is booked");
    up.stop();
    played
}

fn at(sorted: &[f64], share: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * share) as usize]
}

/// What was left on purses that ended with a refusal, by the longest call there was and by the purse.
fn tell_stranded(all: &[(String, u64, Played)]) {
    let sizes = [(8, "up to 8k"), (32, "8k to 32k"), (64, "32k to 64k"), (u64::MAX, "above 64k")];
    let size = |played: &Played| sizes.iter().position(|(most, _)| played.context / 1_000 < *most).unwrap();
    let mut table: BTreeMap<(usize, u64), Vec<f64>> = BTreeMap::new();
    for (_, halves, played) in all.iter().filter(|(_, _, played)| played.refused.is_some()) {
        let share = 100.0 * played.stranded() as f64 / played.given as f64;
        table.entry((size(played), *halves)).or_default().push(share);
    }
    println!("counted: | longest call, in tokens | purse ÷ cost | refused | left at the end, of the purse |");
    println!("counted: | --- | --- | --- | --- |");
    for ((size, halves), mut shares) in table {
        shares.sort_by(f64::total_cmp);
        let (least, most) = (shares[0], shares[shares.len() - 1]);
        let (size, purse, times) = (sizes[size].1, halves as f64 / 2.0, shares.len());
        println!("counted: | {size} | {purse} | {times} | {least:.1} % to {most:.1} % |");
    }
}

/// Sessions of coding agents, frameworks and chats, each on purses of half to four times what it costs.
#[test]
fn no_call_is_refused_that_what_is_left_would_have_paid_for() {
    let (many, purses) = (crate::common::full(12, 4) as usize, crate::common::full(5, 2) as usize);
    let mut all = Vec::new();
    for session in &sessions::all()[..many] {
        let whole = play(session, session.spoken, &session.model, ENDLESS);
        assert_eq!(whole.refused, None, "{}", session.name);
        for halves in &HALVES[..purses] {
            let played = play(session, session.spoken, &session.model, whole.billed * halves / 2);
            all.push((session.name.clone(), *halves, played));
        }
    }
    println!("counted: | session | purse ÷ cost | calls | refused | rightly | set aside ÷ billed |");
    println!("counted: | --- | --- | --- | --- | --- | --- |");
    for (name, halves, played) in &all {
        let (refused, right) = (played.refused.is_some(), !played.is_wronged());
        let told = if refused { if right { "yes" } else { "no" } } else { "" };
        let times = played.aside as f64 / played.billed.max(1) as f64;
        let (purse, calls) = (*halves as f64 / 2.0, played.calls);
        println!("counted: | {name} | {purse} | {calls} | {} | {told} | {times:.1} |", u64::from(refused));
    }
    tell_stranded(&all);
    let mut ratios: Vec<f64> = all.iter().flat_map(|(_, _, played)| played.ratios.iter().copied()).collect();
    ratios.sort_by(f64::total_cmp);
    let (middle, high, most) = (at(&ratios, 0.5), at(&ratios, 0.95), at(&ratios, 1.0));
    let wronged: Vec<_> = all.iter().filter(|(_, _, played)| played.is_wronged()).collect();
    println!(
        "counted: {} calls of {many} sessions on {purses} purses each: bound of what goes in by what was counted {middle:.2} in the \
         middle, {high:.2} at 95 %, {most:.2} at most; {} refused that could have been paid",
        ratios.len(),
        wronged.len()
    );
    assert!(wronged.is_empty(), "{wronged:?}");
    assert!(ratios[0] >= 1.0, "{}", ratios[0]);
    // A share of it is mostly first calls.
    if many == 12 && purses == 5 {
        assert!(middle <= 1.15 && high <= 1.5, "{middle} {high}");
    }
}

/// What the other gateway lets through of a session, until its first refusal.
fn play_there(session: &Session, model: &str, given: u64) -> Option<Played> {
    let double = Double::start(Setting::new(prices(), says(session))).unwrap();
    let judge = Judge { session, spoken: Spoken::Chat, model, price: prices().find(model).unwrap(), double: &double };
    let offers = [model, "0.00000125", "0.00001", "128000"];
    let other = Other::start(&double.url, &dollars(given), "reserve", offers)?;
    let talk = Talk::new(session, Spoken::Chat, model);
    let mut played = Played { given, ..Played::default() };
    for nth in 0..session.steps.len() {
        let body = talk.body(nth);
        let answer = post(&other.address, THEIRS, "any", "", &body.to_string());
        if answer.status != 200 {
            let left = given.saturating_sub(double.ledger.billed_in_all());
            played.refused = Some((nth, judge.worst(&body), left));
            break;
        }
        played.calls += 1;
    }
    played.billed = double.ledger.billed_in_all();
    Some(played)
}

/// The same sessions, all of them as chat completions of one model, on the same purses: what each gateway lets through too much,
/// and what too little.
#[test]
fn both_errors_of_a_cap_beside_another_gateway() {
    if crate::common::full(1, 0) == 0 {
        return;
    }
    const MODEL: &str = "gpt-5";
    println!(
        "counted: | gateway | purse ÷ cost | sessions | calls | above the purse | refused | of those, would have been paid |"
    );
    println!("counted: | --- | --- | --- | --- | --- | --- | --- |");
    let all = sessions::all();
    let costs: Vec<u64> = all.iter().map(|session| play(session, Spoken::Chat, MODEL, ENDLESS).billed).collect();
    for halves in [1, 2, 4] {
        let given = |at: usize| costs[at] * halves / 2;
        let each = all.iter().enumerate();
        let ours: Vec<Played> =
            each.clone().map(|(at, session)| play(session, Spoken::Chat, MODEL, given(at))).collect();
        let theirs: Vec<Played> = each.filter_map(|(at, session)| play_there(session, MODEL, given(at))).collect();
        for (who, played) in [("bardo", ours), ("litellm", theirs)] {
            let over: u64 = played.iter().map(|played| played.billed.saturating_sub(played.given)).sum();
            let (calls, purse) = (played.iter().map(|played| played.calls).sum::<usize>(), halves as f64 / 2.0);
            let refused = played.iter().filter(|played| played.refused.is_some()).count();
            let wronged = played.iter().filter(|played| played.is_wronged()).count();
            let (sessions, over) = (played.len(), dollars(over));
            println!("counted: | {who} | {purse} | {sessions} | {calls} | ${over} | {refused} | {wronged} |");
            if who == "bardo" {
                assert_eq!((over.as_str(), wronged), ("0.000000", 0));
            }
        }
    }
}
