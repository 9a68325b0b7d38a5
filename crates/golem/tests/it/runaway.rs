//! Loops are stopped before they cost more than two hundredths of what a golem was given, within a minute; and a golem
//! that is merely busy is not.

use crate::agent::Agent;
use crate::common::{Dice, START};
use golem::call::{self, Denied, How, Runaway};
use golem::mortality::phase::Tier;
use golem::{Command, Event, Span, Time, Usdc};

const GIVEN: Usdc = Usdc::dollars(20);

/// A call of a pattern: when it begins and ends, in milliseconds, what it costs and can cost, and what it asks.
#[derive(Clone, Copy, Debug)]
struct Planned {
    begins: u64,
    lasts: u64,
    cost: i64,
    asks: u64,
    /// The provider is not reached.
    fails: bool,
}

/// Makes every call of a pattern in its order of time; gives why it was stopped, when, and what the calls from `since` on
/// had cost by then.
fn play(agent: &mut Agent, plan: &[Planned], since: u64) -> Option<(Denied, u64, i64)> {
    let mut begins: Vec<Planned> = plan.to_vec();
    begins.sort_by_key(|call| call.begins);
    let mut open: Vec<(u64, u64, Planned)> = Vec::new();
    let mut cost = 0;
    let mut settle = |agent: &mut Agent, open: &mut Vec<(u64, u64, Planned)>, until: u64| {
        open.sort_by_key(|(ends, ..)| *ends);
        while open.first().is_some_and(|(ends, ..)| *ends <= until) {
            let (ends, key, call) = open.remove(0);
            agent.now = agent.now.max(at(ends));
            agent.settle(key, Usdc::micros(call.cost), if call.fails { How::Nothing } else { How::Told });
            cost += if call.begins >= since && !call.fails { call.cost } else { 0 };
        }
        cost
    };
    for call in begins {
        settle(agent, &mut open, call.begins);
        agent.now = agent.now.max(at(call.begins));
        // The most a call can cost is three times what it does, and far more where the request does not bound the
        // answer.
        let most = 3 * call.cost + 41_000 * (call.asks as i64 % 2);
        match agent.call_like(Usdc::micros(most), Tier::Cheap, call.asks) {
            Ok(key) => open.push((call.begins + call.lasts, key, call)),
            Err(why) => {
                let under_way: i64 = open.iter().map(|(_, _, call)| call.cost).sum();
                return Some((why, call.begins, settle(agent, &mut open, 0) + under_way));
            }
        }
    }
    settle(agent, &mut open, u64::MAX >> 1);
    None
}

fn at(millis: u64) -> Time {
    START + Span::millis(millis)
}

struct Pattern {
    dice: Dice,
    calls: Vec<Planned>,
    now: u64,
    asked: u64,
}

impl Pattern {
    fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.dice.below(most - least + 1)
    }

    /// The next call, of something that was not asked before.
    fn fresh(&mut self, begins: u64, lasts: u64, cost: i64) -> u64 {
        self.asked += 1;
        let asks = self.asked;
        self.calls.push(Planned { begins, lasts, cost, asks, fails: false });
        begins + lasts
    }

    fn again(&mut self, begins: u64, lasts: u64, cost: i64, asks: u64) -> u64 {
        self.calls.push(Planned { begins, lasts, cost, asks, fails: false });
        begins + lasts
    }

    /// A user talks with it: sessions of turns with longer and longer histories.
    fn chat(&mut self) {
        for _ in 0..12 {
            for turn in 0..self.between(4, 25) {
                let lasts = self.between(800, 9_000);
                self.now = self.fresh(self.now, lasts, 300 + 150 * turn as i64);
                self.now += self.between(4_000, 90_000);
            }
            self.now += self.between(600_000, 30_000_000);
        }
    }

    /// It works through tools: call after call, a history that grows and is cut short, the same test run again, a step tried
    /// again from where it was.
    fn code(&mut self) {
        for _ in 0..8 {
            let mut history = 1_500;
            for _ in 0..self.between(30, 160) {
                let lasts = self.between(1_500, 12_000);
                self.now = self.fresh(self.now, lasts, history);
                self.now += self.between(100, 15_000);
                history = if history > 9_000 { 2_000 } else { history + self.between(0, 250) as i64 };
                if self.dice.below(20) == 0 {
                    let asks = self.asked;
                    for _ in 0..self.between(1, 3) {
                        let lasts = self.between(1_500, 8_000);
                        self.now = self.again(self.now, lasts, history.min(4_000), asks) + 500;
                    }
                }
            }
            self.now += self.between(1_200_000, 60_000_000);
        }
    }

    /// The same question every so often, for days.
    fn cron(&mut self) {
        let every = self.dice.of(&[60_000, 300_000, 900_000]);
        let lasts = self.between(1_000, 20_000);
        for _ in 0..400 {
            self.again(self.now, lasts, 900, 7);
            self.now += every;
        }
    }

    /// Has it come yet? Every half a minute, for an hour, now and then.
    fn poll(&mut self) {
        for round in 0..6 {
            for _ in 0..120 {
                self.again(self.now, 900, 120, 1_000 + round);
                self.now += self.between(20_000, 35_000);
            }
            self.now += 20_000_000;
        }
    }

    /// A list is worked through by several at once, every night.
    fn batch(&mut self) {
        let workers = self.dice.of(&[4, 8, 16, 24]);
        for _ in 0..6 {
            let mut free = vec![self.now; workers];
            for _ in 0..self.between(100, 300) {
                free.sort_unstable();
                let lasts = self.between(700, 4_000);
                free[0] = self.fresh(free[0], lasts, 350);
            }
            self.now += 86_400_000;
        }
    }

    /// A plan, several who look into its parts, one who puts it together.
    fn research(&mut self) {
        for _ in 0..20 {
            let lasts = self.between(4_000, 15_000);
            let begun = self.fresh(self.now, lasts, 2_500);
            let mut over = begun;
            for _ in 0..self.between(3, 6) {
                let mut each = begun + self.between(0, 400);
                for _ in 0..self.between(2, 6) {
                    let (lasts, cost) = (self.between(2_000, 9_000), self.between(800, 3_000) as i64);
                    each = self.fresh(each, lasts, cost) + 300;
                }
                over = over.max(each);
            }
            self.now = self.fresh(over, 12_000, 5_000) + self.between(60_000, 7_200_000);
        }
    }

    /// The same question to several, whose answers are put to the vote.
    fn vote(&mut self) {
        for _ in 0..60 {
            self.asked += 1;
            let asks = self.asked;
            for _ in 0..self.dice.of(&[3, 5, 8]) {
                let lasts = self.between(900, 6_000);
                self.again(self.now, lasts, 600, asks);
            }
            self.now += self.between(15_000, 400_000);
        }
    }

    /// What is asked is looked up first, and long documents come in now and then.
    fn read(&mut self) {
        for _ in 0..200 {
            let lasts = self.between(100, 400);
            self.now = self.fresh(self.now, lasts, 4);
            let cost = if self.dice.below(15) == 0 { 30_000 } else { 700 };
            self.now = self.fresh(self.now, 3_000, cost) + self.between(2_000, 120_000);
        }
    }

    /// The provider is away for a while, and is tried again and again.
    fn flaky(&mut self) {
        for _ in 0..80 {
            let end = self.fresh(self.now, 2_500, 1_000);
            if self.dice.below(4) == 0 {
                for retry in 0..self.between(3, 12) {
                    let begins = end + 900 * retry;
                    let asks = self.asked;
                    self.calls.push(Planned { begins, lasts: 400, cost: 1_000, asks, fails: true });
                }
            }
            self.now = end + self.between(12_000, 60_000);
        }
    }

    /// Several people use it, each at their own pace.
    fn team(&mut self) {
        let mut last = 0;
        for _ in 0..self.between(3, 6) {
            let mut each = self.now + self.between(0, 600_000);
            for turn in 0..120 {
                let (lasts, waits) = (self.between(900, 7_000), self.between(5_000, 200_000));
                each = self.fresh(each, lasts, 400 + 30 * (turn % 30)) + waits;
            }
            last = last.max(each);
        }
        self.now = last;
    }
}

type Kind = (&'static str, fn(&mut Pattern));

const HONEST: [Kind; 10] = [
    ("chat", Pattern::chat),
    ("code", Pattern::code),
    ("cron", Pattern::cron),
    ("poll", Pattern::poll),
    ("batch", Pattern::batch),
    ("research", Pattern::research),
    ("vote", Pattern::vote),
    ("read", Pattern::read),
    ("flaky", Pattern::flaky),
    ("team", Pattern::team),
];

fn pattern(kind: Kind, seed: u64) -> (Vec<Planned>, u64) {
    let mut pattern = Pattern { dice: Dice(seed), calls: Vec::new(), now: 1_000, asked: 1 << 32 };
    kind.1(&mut pattern);
    (pattern.calls, pattern.now)
}

#[test]
fn nobody_who_is_merely_busy_is_stopped() {
    let each = if std::env::var_os("BARDO_FULL").is_some() { 200 } else { 10 };
    let (mut patterns, mut stopped) = (0_u32, Vec::new());
    for kind in HONEST {
        for seed in 0..each {
            let (plan, _) = pattern(kind, 9_985_000 + seed);
            assert!(plan.len() > 40, "{}", kind.0);
            let mut agent = Agent::given(GIVEN.share(if seed % 10 < 5 { 10 } else { 5 }, 10), |_| {});
            if let Some((why, when, _)) = play(&mut agent, &plan, 0) {
                let hold = agent.life().calls().hold.map(|hold| hold.to_string());
                stopped.push(format!("{} {seed} at {when}: {why} ({hold:?})", kind.0));
            }
            patterns += 1;
        }
    }
    println!("counted: {patterns} patterns of honest use, {} stopped {stopped:#?}", stopped.len());
    // Of very many, one in a thousand may look like a loop; of a hundred, none.
    assert!(stopped.len() <= patterns as usize / 1_000, "{stopped:#?}");
}

/// The same call, again as soon as it is answered.
fn round_and_round(dice: &mut Dice, from: u64) -> Vec<Planned> {
    let (lasts, cost) = (300 + dice.below(5_500), dice.of(&[200, 4_000, 40_000, 130_000]));
    (0..2_000).map(|n| Planned { begins: from + n * (lasts + 100), lasts, cost, asks: 99, fails: false }).collect()
}

/// Each call that is done has two others do the rest.
fn wider_and_wider(dice: &mut Dice, from: u64) -> Vec<Planned> {
    let cost = dice.of(&[500, 5_000, 25_000]);
    let mut calls = Vec::new();
    let mut born = vec![from];
    while calls.len() < 600 {
        let mut next = Vec::new();
        for begins in born {
            let lasts = 1_000 + dice.below(6_000);
            calls.push(Planned { begins, lasts, cost, asks: calls.len() as u64, fails: false });
            next.extend([begins + lasts + 50, begins + lasts + 90]);
        }
        born = next;
    }
    calls
}

/// Another thing every time, as fast as it goes, for a fifth of a hundredth of what was given a minute at least, and ten times what the busiest minute so far could have cost and more.
fn faster_and_faster(dice: &mut Dice, from: u64, busiest: Usdc) -> Vec<Planned> {
    let a_minute = dice.of(&[12, 40, 120]);
    let cost = busiest.as_micros().max(GIVEN.as_micros() / 5_000) * dice.of(&[10, 25, 50]) / a_minute;
    // A handful of calls that cost more than this each are two hundredths before anyone can call them a loop.
    let cost = cost.min(GIVEN.as_micros() / 250);
    let lasts = 60_000 / a_minute as u64;
    (0..2_000).map(|n| Planned { begins: from + n * lasts, lasts: lasts - 1, cost, asks: n, fails: false }).collect()
}

#[test]
fn loops_are_stopped_within_a_minute_and_two_hundredths_of_what_was_given() {
    let seeds = if std::env::var_os("BARDO_FULL").is_some() { 200 } else { 20 };
    let usual = [HONEST[0], HONEST[1], HONEST[7]];
    for expected in [Runaway::Alike, Runaway::Fan, Runaway::Pace] {
        let (mut slowest, mut dearest, mut mistaken) = (0, 0, 0);
        for seed in 0..seeds {
            let mut dice = Dice(9_997_000 + seed);
            let (plan, until) = pattern(usual[seed as usize % usual.len()], 9_997_000 + seed);
            let mut agent = Agent::given(GIVEN, |_| {});
            // One in many hundreds of honest histories looks like a loop by itself.
            if play(&mut agent, &plan, 0).is_some() {
                mistaken += 1;
                continue;
            }
            let from = until + 60_000 + dice.below(3_600_000);
            let run = match expected {
                Runaway::Alike => round_and_round(&mut dice, from),
                Runaway::Fan => wider_and_wider(&mut dice, from),
                Runaway::Pace => faster_and_faster(&mut dice, from, agent.life().calls().habits.busiest),
                Runaway::Bill => unreachable!("that is a provider's doing"),
            };
            let (why, when, cost) = play(&mut agent, &run, from).expect("it is stopped");
            assert!(matches!(why, Denied::Held(_)), "{expected:?} {seed}: {why}");
            (slowest, dearest) = (slowest.max(when - from), dearest.max(cost));
            assert!(when - from <= 60_000, "{expected:?} {seed} ran for {} ms", when - from);
            assert!(Usdc::micros(cost) <= GIVEN.share(2, 100), "{expected:?} {seed} cost {cost}: {why}");
            let told = |event: &Event| matches!(event, Event::Call(call::Event::Held { .. }));
            assert!(agent.records.iter().flat_map(|record| &record.events).any(told));
        }
        assert!(mistaken <= seeds / 100);
        let share = dearest as f64 / GIVEN.as_micros() as f64 * 100.0;
        println!("{expected:?}: {seeds} loops, stopped after {slowest} ms and {share:.2} % of what was given at most");
    }
}

#[test]
fn only_its_owner_lets_it_go_on_and_what_had_a_yes_is_usual() {
    let mut agent = Agent::given(GIVEN, |_| {});
    let same = |agent: &mut Agent| agent.call_like(Usdc::micros(10), Tier::Cheap, 5);
    for _ in 0..8 {
        let key = same(&mut agent).unwrap();
        agent.settle(key, Usdc::micros(4), How::Told);
    }
    assert_eq!(same(&mut agent), Err(Denied::Held(Runaway::Alike)));
    let hold = agent.life().calls().hold.unwrap();
    assert_eq!((hold.times, hold.sum), (9, Usdc::micros(8 * 4)), "with what those before did cost");
    // Anything else is stopped too, for as long as it takes.
    agent.now = agent.now + Span::DAY;
    assert_eq!(agent.call(Usdc::ZERO, Tier::Cheap), Err(Denied::Held(Runaway::Alike)));
    // A yes to something else, and a no, change nothing.
    for (key, yes) in [(hold.key + 1, true), (hold.key, false)] {
        agent.command(Command::Approve { key, yes });
        assert!(agent.life().calls().hold.is_some());
    }
    agent.command(Command::Approve { key: hold.key, yes: true });
    // The yes holds for that loop, and for no other.
    for _ in 0..30 {
        let key = same(&mut agent).unwrap();
        agent.settle(key, Usdc::micros(4), How::Told);
    }
    for again in 0..9 {
        match agent.call_like(Usdc::micros(10), Tier::Cheap, 8) {
            Ok(key) => agent.settle(key, Usdc::micros(4), How::Told),
            Err(why) => assert_eq!((again, why), (8, Denied::Held(Runaway::Alike))),
        }
    }
    assert!(agent.life().calls().hold.is_some());
    // Fan-out that had a yes is not asked about again until it doubles.
    let mut agent = Agent::given(GIVEN, |_| {});
    let mut wide = 0;
    while agent.call(Usdc::micros(1), Tier::Cheap).is_ok() {
        wide += 1;
    }
    assert_eq!(wide, 48);
    let hold = agent.life().calls().hold.unwrap();
    assert_eq!((hold.by, hold.times), (Runaway::Fan, 49));
    agent.command(Command::Approve { key: hold.key, yes: true });
    while agent.call(Usdc::micros(1), Tier::Cheap).is_ok() {
        wide += 1;
    }
    assert_eq!(wide, 64, "as many as may be under way at all");
    assert!(agent.life().calls().hold.is_none());
}

#[test]
fn whoever_wants_none_of_it_switches_it_off() {
    let mut agent = Agent::given(GIVEN, |policy| {
        (policy.calls_alike, policy.calls_fan, policy.calls_leap) = (0, 0, 0);
        policy.calls_at_once = 256;
    });
    for _ in 0..200 {
        assert!(agent.call_like(Usdc::micros(1_000), Tier::Cheap, 5).is_ok());
    }
}
