//! Real candles: no decision sees the future, and real data does not kill by accident.

use std::fmt::Write;
use std::path::Path;

use golem::constitution::Constitution;
use golem::event::Event;
use golem::policy;
use golem::rule;
use golem::{Span, Time, Usdc};

use lab::Quantiles;
use lab::rehearsal::Rehearsal;
use world::{Candles, Ledger, Spec, World};

const HOUR: u64 = 3_600;
/// Everything was tuned on what came before.
const HELD_OUT: u64 = 1_704_067_200; // 2024-01-01

fn mix(n: u64) -> u64 {
    let z = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z ^ (z >> 27)
}

fn newborn(spec: &Spec, seed: u64, constitution: Constitution) -> Rehearsal {
    newborn_in(spec.open(Ledger::memory()).unwrap(), seed, constitution)
}

fn newborn_in(world: Box<dyn World + Send>, seed: u64, constitution: Constitution) -> Rehearsal {
    crate::common::rehearsal("real", seed, world, constitution, Usdc::dollars(30))
}

fn hourly() -> Constitution {
    Constitution { interval: Span::seconds(HOUR), ..Constitution::bare() }
}

/// Every decision of a life on these rows up to an instant, as text.
fn decisions(rows: &str, folder: &Path, until: Time) -> Vec<String> {
    let path = folder.join("rows.csv");
    std::fs::write(&path, rows).unwrap();
    // Acting on next to nothing, so that there are actions to compare as well.
    let mut constitution = hourly();
    (constitution.mind.samples, constitution.mind.sureness) = (2, 0.0);
    let mut life = newborn(&Spec::Replay { path, start: None, sha256: None }, 1, constitution);
    let mut decided = Vec::new();
    while life.life().due() <= until && !life.is_over() {
        let mut now = String::new();
        life.tick(&mut |record, _| {
            let decision = |e: &&Event| {
                use policy::Event::{Intended, Refused, Voted};
                use rule::Event::{Adopted, Predicted};
                matches!(e, Event::Rule(Predicted { .. } | Adopted { .. }))
                    || matches!(e, Event::Policy(Voted { .. } | Intended(_) | Refused { .. }))
            };
            record.events.iter().filter(decision).for_each(|e| write!(now, "{e:?}").unwrap());
        })
        .unwrap();
        decided.push(now);
    }
    decided
}

#[test]
fn no_decision_sees_the_future() {
    let Some(path) = crate::common::hourly("eth") else { return };
    let (candles, _) = Candles::read(&path).unwrap();
    let (bars, folder) = (candles.bars(), tempfile::tempdir().unwrap());
    let (mut decided, mut acted) = (0, 0);
    for trial in 0..110_u64 {
        let from = (mix(trial) % (bars.len() as u64 - 500)) as usize;
        let until = 200 + (mix(trial + 1_000) % 200) as usize;
        let rows = |garbage: bool| {
            let mut text = String::from("ts,open,high,low,close,volume\n");
            for (at, bar) in bars[from..from + until + 40].iter().enumerate() {
                let wild = if garbage && at > until { 0.2 + (mix(at as u64) % 50) as f64 } else { 1.0 };
                let ts = bar.opened.as_seconds();
                let [open, high, low, close] = [bar.open, bar.high, bar.low, bar.close].map(|price| price * wild);
                writeln!(text, "{ts},{open},{high},{low},{close},{}", bar.volume * wild).unwrap();
            }
            text
        };
        let closed = bars[from + until].opened + Span::seconds(HOUR);
        let honest = decisions(&rows(false), folder.path(), closed);
        let garbled = decisions(&rows(true), folder.path(), closed);
        assert_eq!(honest, garbled, "trial {trial}: a decision changed with what came after it");
        acted += honest.iter().filter(|decision| decision.contains("Intended")).count();
        decided += honest.iter().filter(|decision| !decision.is_empty()).count();
    }
    println!("{decided} looks with decisions, {acted} with an intent");
    assert!(decided > 110 * 150 && acted > 110, "there was something to compare: {decided} decisions, {acted} intents");
}

#[test]
fn real_data_does_not_kill_by_accident_and_shows_what_a_study_found() {
    let (mut fitness, mut volatility, mut direction) = (Vec::new(), [vec![], vec![]], [vec![], vec![]]);
    let (mut returns, mut holding, mut acted) = (vec![], vec![], 0);
    for name in ["eth", "btc"] {
        let Some(path) = crate::common::hourly(name) else { return };
        let (candles, _) = Candles::read(&path).unwrap();
        let bars = candles.bars();
        for seed in 0..200_u64 {
            let salt = if name.starts_with("eth") { 0 } else { 100_000 };
            let start = bars[(mix(seed + salt) % (bars.len() as u64 - 2_400)) as usize].opened;
            let config = world::ReplayConfig { start: Some(start), name: "real".into() };
            let world = world::Replay::new(candles.clone(), config, Ledger::memory()).unwrap();
            let mut life = newborn_in(Box::new(world), seed, hourly());
            while !life.is_over() && life.life().tick() < 2_208 {
                life.tick(&mut |_, _| {}).unwrap();
                if life.life().tick().is_multiple_of(200) {
                    fitness.push(life.life().vitality().epistemic);
                }
            }
            let now = life.life();
            let kept = now.capital().worth(now.seen().unit) + now.capital().withdrawn + now.capital().harvested;
            returns.push(kept.as_f64() / 1e8 - 1.0);
            let at = |time: Time| bars[bars.partition_point(|bar| bar.opened < time).min(bars.len() - 1)].open;
            holding.push(at(now.seen().until) / at(start) - 1.0);
            acted += u64::from(now.execution().domain.resolved > 0);
            if let Some(death) = &life.life().death() {
                let early = death.cause.name() == "epistemic_senescence" && death.tick <= 200;
                assert!(!early, "{name} {seed}: died of being wrong at tick {}", death.tick);
            }
            if life.life().tick() > 500 {
                let skill = |at: usize| life.life().epistemic().domains[at].skill();
                let era = usize::from(start.as_seconds() >= HELD_OUT);
                direction[era].push(skill(0));
                volatility[era].push(skill(1));
            }
        }
    }
    let (fitness, n) = (Quantiles::of(fitness).unwrap(), volatility.each_ref().map(Vec::len));
    let some = |values| Quantiles::of(values).unwrap();
    let ([before, volatility], [direction_before, direction]) = (volatility.map(some), direction.map(some));
    println!("fitness {fitness:?}");
    println!("{acted} of 400 lives acted: return {:?}, holding {:?}", Quantiles::of(returns), Quantiles::of(holding));
    println!("before 2024, {} lives: volatility {before:?}, direction {direction_before:?}", n[0]);
    println!("since 2024, {} lives: volatility {volatility:?}, direction {direction:?}", n[1]);
    assert!(fitness.p05 >= 0.40 && fitness.p95 <= 0.75, "{fitness:?}");
    assert!(volatility.p50 >= 0.03, "{volatility:?}");
    assert!(direction.p50.abs() <= 0.01, "a large edge would be a leak: {direction:?}");
}
