//! Notes: what an owner is told without asking, such as deaths, caps, freezes and anything that is wrong with the host.

use golem::Life;
use golem::plain;
use golem::policy::Refusal;
use golem::wire::Message;
use vault::Note;

use super::narrator::Told;
use super::saying::sentence;

/// Every kind of note there is.
pub const KINDS: [&str; 19] = [
    "agent", "approval", "backup", "breaker", "cap", "clade", "crash", "daily", "death", "disk", "feed", "freeze",
    "head", "heir", "lock", "model", "money", "stop", "unread",
];
/// Characters of a note: it goes to phones and terminals, and may hold what another program wrote.
const LONGEST: usize = 1_000;
const DAY_MS: i64 = 86_400_000;

/// The note that a message is worth, if any.
pub fn note(name: &str, life: &Life, told: &Told<'_>, now: i64) -> Option<Note> {
    let (kind, advice) = match &told.message {
        Message::Died { .. } => ("death", String::new()),
        Message::Froze { .. } => ("freeze", String::new()),
        Message::Suspended => ("breaker", String::new()),
        Message::ApprovalSought { ask: Some(ask) } => {
            let within = life.policy().approve_within;
            ("approval", format!(". `bardo golem approve {name} {}`, or --deny, within {within} of its time", ask.key))
        }
        Message::CallsHeld { key, .. } => ("approval", format!(". `bardo golem approve {name} {key}` lets it")),
        Message::Said { .. } => ("agent", format!(". `bardo golem steer {name} \"…\"` answers")),
        Message::Stopped { .. } => ("stop", String::new()),
        Message::EconomicCritical { .. } => ("money", format!(". `bardo golem fund {name} AMOUNT` gives it more")),
        Message::Refused {
            rule: rule @ (Refusal::PerDay | Refusal::ActionsPerDay | Refusal::Gas | Refusal::Reserve),
            ..
        } => {
            return Some(cap(name, life, told, *rule, now));
        }
        // A golem that has used up a day's share does not ask again that day, so there would be no refusal to tell of.
        Message::Granted { .. } => return used_up(life).map(|rule| cap(name, life, told, rule, now)),
        Message::Answered { over, .. } | Message::Silent { over, .. } if over.is_positive() => {
            // Once a day: a provider that bills over a cap once does so again.
            let key = format!("{}:over:{}", life.id(), now / DAY_MS);
            let text = format!("{name} {}; look at what your provider charges", sentence(&told.message));
            return Some(host_note(key, "model", Some(name), text, now));
        }
        _ => return None,
    };
    let text = format!("{name} {}{advice}", sentence(&told.message));
    let key = format!("{}:{}:{kind}", life.id(), told.seq);
    Some(Note { key, kind: kind.into(), golem: Some(name.into()), text: plain::line(&text, LONGEST), at: now })
}

/// Once a day for each rule: a cap that is reached is reached again and again.
fn cap(name: &str, life: &Life, told: &Told<'_>, rule: Refusal, now: i64) -> Note {
    let day = told.at.as_millis() as i64 / DAY_MS;
    let key = format!("{}:cap:{rule:?}:{day}", life.id());
    let refused = Message::Refused { rule, why: rule.to_string() };
    let text = format!("{name} {}; it has reached a cap of its policy", sentence(&refused));
    Note { key, kind: "cap".into(), golem: Some(name.into()), text, at: now }
}

/// Which of a day's caps leaves no room for another action: none in number, or less than a basis point in money.
fn used_up(life: &Life) -> Option<Refusal> {
    let (policy, day) = (&life.policy(), &life.day());
    if day.actions == 0 {
        return None;
    }
    if day.actions >= policy.actions_per_day {
        return Some(Refusal::ActionsPerDay);
    }
    let least = life.capital().worth(life.seen().unit).share(1, 10_000);
    (policy.per_day_most - day.value < least).then_some(Refusal::PerDay)
}

/// A note about the host itself, or about one of its golems that its life knows nothing of.
pub fn host_note(key: String, kind: &str, golem: Option<&str>, text: String, at: i64) -> Note {
    Note { key, kind: kind.into(), golem: golem.map(str::to_owned), text: plain::line(&text, LONGEST), at }
}

#[cfg(test)]
mod tests {
    use super::*;
    use golem::Usdc;
    use serde_json::json;

    #[test]
    fn what_an_owner_is_told_of_and_how_often() {
        let birth = golem::Birth {
            id: golem::GolemId([1; 16]),
            name: "ada".parse().unwrap(),
            generation: 0,
            laws: golem::laws::NEWEST,
            secret_hash: [0; 32],
            seeded: true,
            constitution: golem::constitution::Constitution::bare(),
            world: world::Spec::Queue { seed: 1, bar_ms: 40_000 }.open(world::Ledger::memory()).unwrap().manifest(),
            endowment: golem::Endowment::default(),
            lineage: None,
            unfinished: Vec::new(),
        };
        let (golem, _) = golem::Golem::born(birth, golem::Time::default());
        let told = |seq: u64, hours: u64, message: Message<'static>| {
            let told = Told { seq, at: golem::Time::seconds(hours * 3_600), tick: 1, message };
            note("ada", golem.life(), &told, 0)
        };
        let refused = |rule: Refusal| Message::Refused { rule, why: rule.to_string() };
        let cap = told(5, 1, refused(Refusal::PerDay)).unwrap();
        assert_eq!(
            (cap.kind.as_str(), cap.text.as_str()),
            ("cap", "ada was refused: over the daily limit (policy.per_day); it has reached a cap of its policy")
        );
        assert_eq!(cap.key, told(9, 23, refused(Refusal::PerDay)).unwrap().key, "once a day for each rule");
        assert_ne!(cap.key, told(9, 25, refused(Refusal::PerDay)).unwrap().key);
        assert_ne!(cap.key, told(9, 1, refused(Refusal::ActionsPerDay)).unwrap().key);
        assert_eq!(told(5, 1, refused(Refusal::NoEdge)), None, "to stay out is no news");
        // A golem that has had its share does not ask for more: the last grant tells of it.
        let granted = |actions: u32, value: i64| {
            let mut life = serde_json::to_value(golem.life()).unwrap();
            life["policy"]["actions_per_day"] = json!(3);
            life["policy"]["per_day_most"] = json!(Usdc::micros(1_000));
            (life["day"]["actions"], life["day"]["value"]) = (json!(actions), json!(Usdc::micros(value)));
            life["capital"]["cash"] = json!(Usdc::micros(100_000));
            let life: Life = serde_json::from_value(life).unwrap();
            let (cash, fee, expires) = (Usdc::ZERO, Usdc::ZERO, golem::Time::default());
            let message = Message::Granted { key: 1, cash, fee, expires };
            let told = Told { seq: 5, at: golem::Time::seconds(3_600), tick: 1, message };
            note("ada", &life, &told, 0).map(|note| note.key)
        };
        assert_eq!((granted(0, 1_000), granted(2, 990)), (None, None), "there is room");
        assert_eq!(granted(3, 0), told(9, 2, refused(Refusal::ActionsPerDay)).map(|note| note.key));
        assert_eq!(granted(2, 991), Some(cap.key));
        assert_eq!(told(5, 1, Message::Suspended).unwrap().kind, "breaker");
        assert_eq!(told(5, 1, Message::Stopped { holding: 1, unit: Usdc::ZERO }).unwrap().kind, "stop");
        let frozen = told(5, 1, Message::Froze { reason: "enough" }).unwrap();
        assert_eq!(frozen.text, "ada was frozen: no new exposure (enough)");
        assert_ne!(frozen.key, told(6, 1, Message::Froze { reason: "enough" }).unwrap().key);
    }
}
