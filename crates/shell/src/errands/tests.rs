//! Questions over real connections to a provider with whom everything goes wrong that can: never more is paid or could
//! have been charged than was set aside, and those who share a provider wait alike.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use golem::books::Books;
use golem::constitution::{Constitution, MindKind, Mode};
use golem::policy::Refusal;
use golem::thought::prompt;
use golem::world::{Bar, Observation};
use golem::{Birth, Command, CommandId, Errand, Golem, GolemId, Input, Owed, Record, Span, Time, Usdc, What};
use settings::Prices;
use tariff::{Named, Price};
use testing::provider::{Act, Provider};

use super::slots::Errands;
use super::{Asking, Keep, Minds, Thinking};

fn full() -> bool {
    std::env::var_os("BARDO_FULL").is_some()
}

fn asking(model: &str, slots: usize) -> Asking {
    let name = Named::parse(model).unwrap().name;
    let prices = BTreeMap::from([(name, Price::parse("1/5").unwrap())]);
    Asking {
        prices: Prices::new(prices, tariff::Book::built_in()),
        slots,
        keep: Keep { folder: PathBuf::new(), days: 0 },
    }
}

/// One of those who ask, as fast as they are answered.
struct Asker {
    golem: Golem,
    records: Vec<Record>,
    asked: u64,
}

impl Asker {
    fn new(number: u64, model: &str) -> Asker {
        let mut constitution = Constitution::bare();
        constitution.mind.kind = MindKind::Reflex;
        constitution.mode = Mode::SelfHosted;
        constitution.interval = Span::seconds(3_600);
        constitution.dream.enabled = false;
        constitution.clocks.stochastic = false;
        constitution.clocks.epistemic = false;
        constitution.economic.monthly_allowance = Usdc::micros(2_000_000 + number as i64);
        constitution.thought.models[0] = Some(model.to_owned());
        constitution.thought.per_call[0] = Usdc::micros(12_000 + 7 * number as i64);
        constitution.thought.a_day = Usdc::micros(100_000 + 13 * number as i64);
        let month = if number.is_multiple_of(4) { 150_000 } else { 1_500_000 };
        constitution.thought.a_month = Usdc::micros(month + 17 * number as i64);
        let mut id = [7; 16];
        id[8..].copy_from_slice(&number.to_be_bytes());
        let birth = Birth {
            id: GolemId(id),
            name: format!("asker-{number}").parse().unwrap(),
            generation: 0,
            laws: golem::laws::NEWEST,
            secret_hash: [0; 32],
            seeded: true,
            constitution,
            world: world::Spec::Queue { seed: 1, bar_ms: 3_600_000 }.open(world::Ledger::memory()).unwrap().manifest(),
            endowment: golem::Endowment::default(),
            lineage: None,
            unfinished: Vec::new(),
        };
        let (golem, born) = Golem::born(birth, Time::seconds(1_700_000_000));
        let mut asker = Asker { golem, records: vec![born], asked: 0 };
        asker.feed(What::Funded { transfer: 1, credit: Usdc::dollars(50), capital: Usdc::ZERO });
        asker
    }

    fn feed(&mut self, what: What) {
        let life = self.golem.life();
        let now = if matches!(what, What::Observed(_)) { life.due() } else { life.now() };
        let record = self.golem.step(&Input { now, roll: u64::MAX / 2, what }).unwrap();
        self.records.extend(record);
        self.check();
    }

    /// Checks the invariants that hold after every record.
    fn check(&self) {
        let life = self.golem.life();
        let (purse, thoughts, figures) = (&life.purse(), &life.thoughts(), &life.constitution().thought);
        assert!(Books::of(life).adds_up());
        assert_eq!(purse.promised, thoughts.promised());
        assert!(purse.spent + purse.promised <= purse.given);
        // What was spent in earlier months is no matter of this one's.
        let this_month = purse.month == life.age().as_millis() / Span::DAY.times(30).as_millis();
        let spent = if this_month { purse.spent_this_month } else { Usdc::ZERO };
        assert!(spent + purse.promised <= life.constitution().economic.monthly_allowance, "{purse:?}");
        assert!(thoughts.day.taken <= figures.a_day && thoughts.month.taken <= figures.a_month);
        assert!(thoughts.open.iter().all(|question| question.most <= figures.per_call[0]));
    }

    fn tick(&mut self) {
        let life = self.golem.life();
        let world = &life.birth().world;
        let bar = Bar {
            closed: life.due(),
            values: world.domains.iter().map(|_| 1.0).collect(),
            features: world.features.iter().map(|_| 0.5).collect(),
            unit: Usdc::cents(100),
        };
        self.feed(What::Observed(Observation { bars: vec![bar] }));
    }

    /// A question by the owner; the refusal, if it was refused.
    fn is_asked(&mut self) -> Option<Refusal> {
        self.asked += 1;
        let id = CommandId(self.asked.to_be_bytes());
        self.feed(What::Commanded { id, command: Command::Ask { text: "how do you do?".to_owned() } });
        self.golem.life().commands().iter().find(|(known, _)| *known == id).and_then(|(_, why)| *why)
    }

    fn owed(&self) -> Option<Errand> {
        self.golem.owed().find_map(|owed| match owed {
            Owed::Errand(errand @ (Errand::Ask { .. } | Errand::Forfeit { .. })) => Some(errand),
            _ => None,
        })
    }

    /// Kills it: its life is folded again, as another process finds it.
    fn killed(&mut self) {
        let mut golem = Golem::reborn(&self.records[0]).unwrap();
        self.records[1..].iter().for_each(|record| golem.fold(record).unwrap());
        assert_eq!(golem, self.golem);
        self.golem = golem;
    }

    /// Sends it, or brings its answer.
    fn send(&self, thinking: &Arc<Thinking>, key: u64) -> Option<What> {
        let life = self.golem.life();
        let question = life.thoughts().find(key).unwrap();
        let model = golem::thought::model(life, question);
        let shown = || Ok((prompt(life, question, &[]), Vec::new()));
        thinking.ask(question, model, &life.birth().world, shown).unwrap()
    }
}

fn scattered(n: u64) -> u64 {
    let z = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (z ^ (z >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33
}

/// Everything that can go wrong, each now and then.
fn everything(n: u64) -> Act {
    match scattered(n) % 200 {
        0..=89 => Act::Honest,
        90..=109 => Act::SaysMore,
        110..=124 => Act::NoUsage,
        125..=134 => Act::OddUsage,
        135..=144 => Act::After(scattered(n + 1) % 400),
        145..=154 => Act::Cut,
        155..=164 => Act::HangUp,
        165..=174 => Act::Busy,
        175..=179 => Act::BusyFor(30),
        180..=189 => Act::Fails,
        190..=197 => Act::Garbage,
        198 => Act::Drips,
        _ => Act::Huge,
    }
}

#[test]
fn whatever_a_provider_does_nothing_is_paid_or_could_be_charged_beyond_what_was_set_aside() {
    let (calls, kills, askers) = if full() { (100_000, 1_000, 256) } else { (3_000, 60, 64) };
    let provider = Provider::start(everything, |_| r#"{"text":"well","records":[]}"#.to_owned());
    let model = format!("{}/v1/any", provider.url);
    let minds = Arc::new(Minds::new(Arc::new(Errands::default())));
    let (killed, refused) = (AtomicU64::new(0), Mutex::new(BTreeMap::<String, u64>::new()));
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for number in 0..askers {
            let (provider, minds, killed, refused, done, model) = (&provider, &minds, &killed, &refused, &done, &model);
            scope.spawn(move || {
                let mut asker = Asker::new(number, model);
                let mut thinking = Thinking::new(Arc::clone(minds), asking(model, 256));
                let mut dice = number;
                while provider.calls().0 < calls || killed.load(Ordering::SeqCst) < kills {
                    dice += askers;
                    asker.tick();
                    if let Some(why) = asker.is_asked() {
                        *refused.lock().unwrap().entry(format!("{why:?}")).or_default() += 1;
                    }
                    // Now and then the process is killed while somebody is being asked.
                    let dies = scattered(dice) % calls < 2 * kills;
                    while let Some(errand) = asker.owed() {
                        match errand {
                            Errand::Forfeit { key } => asker.feed(What::Forfeited { key }),
                            Errand::Ask { key } => match asker.send(&thinking, key) {
                                Some(what) => asker.feed(what),
                                None if dies => {
                                    std::thread::sleep(Duration::from_millis(scattered(dice + 7) % 5));
                                    thinking = Thinking::new(Arc::clone(minds), asking(model, 256));
                                    asker.killed();
                                    killed.fetch_add(1, Ordering::SeqCst);
                                }
                                None => thinking.wait(Duration::from_secs(1)),
                            },
                            other => unreachable!("{other:?}"),
                        }
                    }
                }
                done.lock().unwrap().push(asker);
            });
        }
    });
    // What was under way at a kill may still be arriving there.
    std::thread::sleep(Duration::from_secs(3));
    let (mut paid, mut charged) = (0, 0);
    for asker in done.into_inner().unwrap() {
        let life = asker.golem.life();
        let (spent, at_most) = (life.thoughts().spent.as_micros() as u64, provider.charged(life.birth().name.as_str()));
        assert!(at_most <= spent, "{} can have been charged {at_most} and has paid {spent}", life.birth().name);
        (paid, charged) = (paid + spent, charged + at_most);
    }
    let (sent, at_once) = provider.calls();
    let killed = killed.into_inner();
    println!("counted: {sent} calls, {at_once} at once, {killed} kills, charged {charged} of {paid} µ$ paid");
    println!("counted: {:?}, refused {:?}", provider.by_act(), refused.lock().unwrap());
    assert!(sent >= calls && killed >= kills && at_once <= 256);
    assert_eq!(provider.by_act().len(), 13, "everything went wrong that can: {:?}", provider.by_act());
    let refused = refused.into_inner().unwrap();
    assert!(refused.contains_key("Thought(Day)") && refused.contains_key("Thought(Month)"), "{refused:?}");
}

#[test]
fn those_who_share_a_slow_provider_wait_alike() {
    let (many, rounds, slots) = if full() { (1_000, 20, 8) } else { (200, 8, 8) };
    let slow = |n: u64| Act::After(10 + scattered(n) % 20);
    let provider = Provider::start(slow, |_| r#"{"text":"well","records":[]}"#.to_owned());
    let model = format!("{}/v1/any", provider.url);
    let minds = Arc::new(Minds::new(Arc::new(Errands::default())));
    let mut askers: Vec<(Asker, Arc<Thinking>, Instant, Vec<Duration>)> = (0..many)
        .map(|number| {
            let mut asker = Asker::new(number, &model);
            asker.tick();
            assert_eq!(asker.is_asked(), None);
            let thinking = Thinking::new(Arc::clone(&minds), asking(&model, slots));
            (asker, thinking, Instant::now(), Vec::new())
        })
        .collect();
    while askers.iter().any(|(_, _, _, waits)| waits.len() < rounds) {
        std::thread::sleep(Duration::from_millis(1));
        for (asker, thinking, since, waits) in askers.iter_mut().filter(|(_, _, _, waits)| waits.len() < rounds) {
            let Some(Errand::Ask { key }) = asker.owed() else { unreachable!() };
            if let Some(what) = asker.send(thinking, key) {
                waits.push(since.elapsed());
                asker.feed(what);
                asker.tick();
                assert_eq!(asker.is_asked(), None);
                *since = Instant::now();
            }
        }
    }
    // The first to come in the first round is lucky once.
    let mean = |waits: &[Duration]| waits[1..].iter().sum::<Duration>() / (rounds as u32 - 1);
    let mut means: Vec<Duration> = askers.iter().map(|(_, _, _, waits)| mean(waits)).collect();
    means.sort();
    let (median, longest) = (means[means.len() / 2], means[means.len() - 1]);
    let mut all: Vec<Duration> = askers.iter().flat_map(|(_, _, _, waits)| waits[1..].to_vec()).collect();
    all.sort();
    let worst = all[all.len() - 1];
    println!("counted: {many} who share {slots}: median {median:?}, the longest mean {longest:?}, any wait {worst:?}");
    assert!(provider.calls().1 <= slots as u64, "{:?}", provider.calls());
    assert!(longest <= 2 * median && worst <= 2 * all[all.len() / 2], "{median:?} {longest:?} {worst:?}");
}
