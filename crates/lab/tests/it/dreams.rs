//! Do dreams help? Three arms on the same paths, with as many proposals and as much work: no dreams, ideas made up and
//! believed without asking, and the whole of it; and two that differ in nothing, to see what nothing looks like.
//! `just full` lives as many as the book reports; `BARDO_WRITE_DOCS=1` draws them.

use std::path::Path;

use golem::constitution::{Clocks, Constitution, DreamMethod};
use golem::dream;
use golem::event::Event;
use golem::policy;
use golem::rule;
use golem::world::Effect;
use golem::{Span, Usdc};
use lab::arms::{self, Cell};
use lab::lives::PLAN;
use lab::rehearsal::Rehearsal;
use lab::{LifeOutcome, Plan};
use world::{Ledger, Spec};

const NOTE: u64 = 200;
/// The tick at which the world turns, where it turns once.
const FLIP: u64 = 6_000;
/// Notes over which skill is smoothed before it counts as regained.
const SMOOTH: usize = 3;

fn full() -> bool {
    std::env::var_os("BARDO_FULL").is_some()
}

fn plan(lives: u64, seed: u64, relations_change_days: f64, flip: bool, ticks: u64) -> Plan {
    let clocks = Clocks { economic: false, epistemic: true, stochastic: false };
    let mut constitution = Constitution { clocks, ..Constitution::bare() };
    // Nobody dies of what is to be measured.
    constitution.vitality.epistemic_steepness = 0.1;
    constitution.epistemic.senescent = u32::MAX;
    let flip_days = flip.then(|| Span::seconds(40).times(FLIP).as_millis() as f64 / 86_400_000.0);
    Plan {
        version: PLAN,
        lives,
        seed,
        world: Spec::Sim { seed, bar_ms: 40_000, relations_change_days, edge_bps: None, flip_days },
        constitution,
        credit: Usdc::dollars(10),
        capital: Usdc::dollars(100),
        most_ticks: ticks,
        note_every: NOTE,
        disjoint: false,
        twin: 0,
        laws: None,
        generations: None,
        founder: None,
    }
}

type Lived = Vec<(String, Vec<LifeOutcome>)>;

fn live(plan: &Plan) -> Lived {
    let arm = |name: &str, change: &dyn Fn(&mut Plan)| {
        let mut plan = plan.clone();
        change(&mut plan);
        (name.to_owned(), plan)
    };
    let dreams = |method| {
        move |plan: &mut Plan| {
            (plan.constitution.dream.enabled, plan.constitution.dream.method) = (true, method);
        }
    };
    let arms = [
        arm("off", &|_| {}),
        arm("off, a twin", &|plan| plan.twin = 1),
        arm("random", &dreams(DreamMethod::Random)),
        arm("full", &dreams(DreamMethod::Careful)),
    ];
    arms::live(&arms, 2, |_| {}).unwrap()
}

fn row(name: &str, values: &[Vec<Option<f64>>]) -> Vec<Cell> {
    let cells: Vec<Cell> = arms::beside_the_first(values).into_iter().flatten().collect();
    let others = cells[1..].iter().map(|c| format!("{:+.4} ({:+.4} to {:+.4})", c.difference, c.low, c.high));
    println!("| {name} | {:.4} | {} |", cells[0].mean, others.collect::<Vec<_>>().join(" | "));
    cells
}

fn measured(lived: &Lived, measure: impl Fn(&LifeOutcome) -> Option<f64>) -> Vec<Vec<Option<f64>>> {
    lived.iter().map(|(_, outcomes)| outcomes.iter().map(&measure).collect()).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn table(title: &str, lived: &Lived) {
    println!(
        "\n{title}, {} paths\n| | {} |",
        lived[0].1.len(),
        lived.iter().map(|(n, _)| n.as_str()).collect::<Vec<_>>().join(" | ")
    );
    row("skill, whole life", &measured(lived, |o| o.skill));
    row("fitness at the end", &measured(lived, |o| Some(o.fitness)));
    row("return", &measured(lived, |o| o.returned));
    for (name, outcomes) in lived {
        let sum = |f: fn(&LifeOutcome) -> u64| outcomes.iter().map(f).sum::<u64>();
        let (nights, tried, right) = (sum(|o| o.nights), sum(|o| o.tried), sum(|o| o.borne_out));
        if tried > 0 {
            println!(
                "{name}: {nights} nights, {right} of {tried} trials borne out ({:.0} %)",
                100.0 * right as f64 / tried as f64
            );
        }
    }
}

/// Ticks from the turn until skill is back at four fifths of what the first arm had in the end, on the same path; all
/// that were lived if it never was.
fn recovery(lived: &Lived) -> Vec<Vec<Option<f64>>> {
    let turn = (FLIP / NOTE) as usize;
    let late = |o: &LifeOutcome| mean(&o.skill_lately[o.skill_lately.len() * 3 / 4..]);
    let targets: Vec<f64> = lived[0].1.iter().map(|o| 0.8 * late(o)).collect();
    let regained = |(o, target): (&LifeOutcome, &f64)| {
        let after = &o.skill_lately[turn..];
        let notes = after.windows(SMOOTH).position(|w| mean(w) >= *target).unwrap_or(after.len());
        Some((notes as u64 * NOTE) as f64)
    };
    lived.iter().map(|(_, outcomes)| outcomes.iter().zip(&targets).map(regained).collect()).collect()
}

#[test]
fn dreams_where_relations_change() {
    let (lives, ticks) = if full() { (300, 20_000) } else { (8, 6_000) };
    for (at, days) in [1.0, 3.0, 9.0].into_iter().enumerate() {
        let lived = live(&plan(lives, 8_100 + at as u64, days, false, ticks));
        table(&format!("relations change every {days} days on average"), &lived);
        let full = &lived[3].1;
        assert!(full.iter().all(|o| o.nights > 50), "they dream");
        assert!(full.iter().map(|o| o.borne_out).sum::<u64>() > 0, "something is borne out");
    }
}

#[test]
fn dreams_when_the_world_turns() {
    let (lives, ticks) = if full() { (300, 16_000) } else { (40, 10_000) };
    let lived = live(&plan(lives, 8_200, 0.0, true, ticks));
    table("the world turns once, at tick 6,000", &lived);
    let since = |o: &LifeOutcome| Some(mean(&o.skill_lately[(FLIP / NOTE) as usize..]));
    let skill = row("skill since the turn", &measured(&lived, since));
    let cells = row("ticks to recover", &recovery(&lived));
    println!("full against off: {:+.0} % of the time to recover", 100.0 * cells[3].difference / cells[0].mean);
    // Since trust is lost and won back by itself, dreams add nothing to that; nor do they take anything away.
    assert!(cells[3].difference < 200.0, "they do not make the way back longer: {:?}", cells[3]);
    assert!(skill[3].difference.abs() < 0.01, "nor is more or less known on it: {:?}", skill[3]);
    let whole = arms::beside_the_first(&measured(&lived, |o| o.skill));
    let whole = |arm: usize| whole[arm].as_ref().map_or(0.0, |cell| cell.difference);
    assert!(whole(3) > whole(2), "ideas nobody tests cost more: {} {}", whole(3), whole(2));
    if std::env::var_os("BARDO_WRITE_DOCS").is_some() {
        draw(&lived);
    }
}

/// Quarters of real hours that share no bar; the unit is the window.
#[test]
fn dreams_on_real_hours() {
    let Some(files) = crate::common::hours_of(&["eth", "btc", "link", "aave"]) else { return };
    let mut pooled: Lived = Vec::new();
    for file in files {
        let bars = world::Candles::read(&file).unwrap().0.bars().len() as u64;
        let window = 24 * 90;
        let base = plan(if full() { bars / window } else { 2 }, 8_300, 0.0, false, window);
        let constitution = Constitution { interval: Span::seconds(3_600), ..base.constitution.clone() };
        let world = Spec::Replay { path: file, start: None, sha256: None };
        for (at, (name, more)) in
            live(&Plan { world, disjoint: true, constitution, note_every: 60, ..base }).into_iter().enumerate()
        {
            match pooled.get_mut(at) {
                Some((_, all)) => all.extend(more),
                None => pooled.push((name, more)),
            }
        }
    }
    table("quarters of hourly ETH, BTC, LINK and AAVE", &pooled);
    assert!(pooled[0].1.len() >= 8);
}

/// Nights with something held: nothing is taken up in them, and what is given up is a stop or the breaker.
#[test]
fn nobody_takes_anything_up_in_a_dream() {
    let enough = if full() { 10_000 } else { 300 };
    let (mut nights, mut held, mut protected, mut seed) = (0_u64, 0_u64, 0_u64, 0_u64);
    while held < enough {
        seed += 1;
        let mut plan = plan(1, 0, 0.0, false, 0);
        plan.constitution.dream.enabled = true;
        plan.constitution.mind.samples = 5;
        let spec = Spec::Sim { seed, bar_ms: 40_000, relations_change_days: 1.0, edge_bps: Some(200), flip_days: None };
        let world = spec.open(Ledger::memory()).unwrap();
        let secret = settings::chance::Secret::from_seed(seed, "dreams");
        let birth = golem::Birth {
            id: settings::chance::identity(Some(seed), "dreams"),
            name: "dreams".parse().unwrap(),
            generation: 0,
            laws: golem::laws::NEWEST,
            secret_hash: secret.hash(),
            seeded: true,
            constitution: plan.constitution,
            world: world.manifest(),
            endowment: golem::Endowment::default(),
            lineage: None,
            unfinished: Vec::new(),
        };
        let adds: Vec<bool> = birth.world.actions.iter().map(|action| action.effect == Effect::Adds).collect();
        let (golem, _) = golem::Golem::born(birth, world.start());
        let mut life = Rehearsal::new(golem, world, secret);
        let funds = golem::What::Funded { transfer: 1, credit: Usdc::dollars(10), capital: Usdc::dollars(100) };
        life.feed(funds, &mut |_, _| {}).unwrap();
        let mut asleep = false;
        for _ in 0..8_000 {
            life.tick(&mut |record, life| {
                for event in &record.events {
                    match event {
                        Event::Dream(dream::Event::Began { .. }) => {
                            asleep = true;
                            nights += 1;
                            held += u64::from(life.capital().holding > 0);
                        }
                        Event::Dream(dream::Event::Left { .. }) => asleep = false,
                        Event::Policy(policy::Event::Intended(flight)) if asleep => {
                            assert!(
                                !adds[usize::from(flight.action)] && flight.closing,
                                "taken up in a dream: {flight:?}"
                            );
                            protected += 1;
                        }
                        Event::Rule(rule::Event::Predicted { .. }) => assert!(!asleep, "claimed in a dream"),
                        _ => {}
                    }
                }
            })
            .unwrap();
        }
        assert!(seed < 10 * enough, "too few hold anything: {held} of {nights} nights");
    }
    println!("counted: {nights} nights, {held} with something held, {protected} times it was protected in one");
}

/// Means with what they may be off by, from just before the turn.
fn draw(lived: &Lived) {
    let (width, height, left, top) = (640.0, 300.0, 60.0, 20.0);
    let (first, last) = (FLIP - 1_000, FLIP + 6_000);
    let x = |tick: f64| left + (tick - first as f64) / (last - first) as f64 * width;
    let y = |skill: f64| top + (0.3 - skill.clamp(-0.3, 0.3)) / 0.6 * height;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        left + width + 20.0,
        top + height + 45.0
    );
    for skill in [-0.2, -0.1, 0.0, 0.1, 0.2] {
        svg += &format!(
            "<line x1=\"{left}\" x2=\"{}\" y1=\"{1}\" y2=\"{1}\" stroke=\"#ccc\"/><text x=\"14\" y=\"{2}\">{skill:+.1}</text>\n",
            left + width,
            y(skill),
            y(skill) + 4.0
        );
    }
    let colours = [("off", "#555555", 40.0), ("random", "#c77d20", 56.0), ("full", "#2e6fb5", 72.0)];
    for (name, colour, at) in colours {
        let outcomes = &lived.iter().find(|(arm, _)| arm == name).unwrap().1;
        let points = (first / NOTE..last / NOTE).map(|note| {
            let there: Vec<f64> = outcomes.iter().filter_map(|o| o.skill_lately.get(note as usize).copied()).collect();
            format!("{:.1},{:.1}", x((note * NOTE) as f64 + NOTE as f64 / 2.0), y(mean(&there)))
        });
        let line = points.collect::<Vec<_>>().join(" ");
        svg += &format!("<polyline points=\"{line}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>\n");
        svg += &format!("<text x=\"{}\" y=\"{}\" fill=\"{colour}\">{name}</text>\n", left + width - 60.0, top + at);
    }
    let (turn, bottom) = (x(FLIP as f64), top + height);
    svg += &format!(
        "<line x1=\"{turn}\" x2=\"{turn}\" y1=\"{top}\" y2=\"{bottom}\" stroke=\"#666\" stroke-dasharray=\"4 3\"/>\n\
         <text x=\"{}\" y=\"{}\">the world turns</text>\n<text x=\"{}\" y=\"{}\">ticks of 40 s; skill against naive</text>\n",
        turn + 6.0,
        bottom - 8.0,
        left + width / 2.0 - 80.0,
        bottom + 36.0
    );
    for tick in (first..=last).step_by(1_000) {
        svg += &format!("<text x=\"{}\" y=\"{}\">{tick}</text>\n", x(tick as f64) - 14.0, bottom + 18.0);
    }
    svg += "</svg>\n";
    let path = Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("../../docs/dreams-after-a-turn.svg");
    std::fs::write(path, svg).unwrap();
}
