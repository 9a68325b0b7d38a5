//! Is a clade worth anything, and can it be poisoned? Groups of siblings that tell each other what they find out, beside the
//! same golems that do not. `BARDO_FULL=1` runs as many groups as the book reports.

use crate::common::full;
use golem::constitution::Constitution;
use golem::time::Span;
use lab::arms::Cell;
use lab::clades::{Group, Groups, Liars, run};
use world::Spec;

const TICK: Span = Span::seconds(40);
/// Ticks of a life, and after which its world turns, where it does.
const TICKS: u64 = 6_000;
const TURNS: u64 = 2_500;
const NOTE: u64 = 100;

fn sim(turns: Option<u64>) -> Spec {
    let flip_days = turns.map(|tick| TICK.times(tick).as_millis() as f64 / 86_400_000.0);
    Spec::Sim { seed: 0, bar_ms: TICK.as_millis(), relations_change_days: 0.0, edge_bps: None, flip_days }
}

fn groups(number: u64, seed: u64, siblings: Vec<Spec>, share: bool) -> Groups {
    let mut constitution: Constitution = crate::common::plan(sim(None), 1, 1, TICKS, TICK).constitution;
    constitution.clade.share = share;
    Groups {
        groups: number,
        seed,
        siblings,
        one_path: false,
        constitution,
        ticks: TICKS,
        note_every: NOTE,
        liars: Liars::default(),
    }
}

fn beside(ours: &[Group], alone: &[Group], what: impl Fn(&Group) -> f64) -> Cell {
    let of = |groups: &[Group]| groups.iter().map(&what).collect::<Vec<_>>();
    Cell::of(&of(ours), &of(alone))
}

/// Skill over these ticks, on average over siblings.
fn between(lately: &[f64], from: u64, to: u64) -> f64 {
    let part = &lately[(from / NOTE) as usize..(to / NOTE) as usize];
    part.iter().sum::<f64>() / part.len() as f64
}

fn show(what: &str, cell: &Cell) {
    println!(
        "counted: {what}: {:+.4} ({:+.4} to {:+.4}), on average {:+.4}, over {} groups",
        cell.difference, cell.low, cell.high, cell.mean, cell.paths
    );
}

#[test]
fn what_a_clade_is_worth_is_measured_and_told_either_way() {
    let number = if full() { 120 } else { 4 };
    let late = TURNS + 1_500;
    let mut turned = vec![sim(Some(late)); 8];
    turned[0] = sim(Some(TURNS));
    let kinds = [
        ("worlds alike", vec![sim(None); 8]),
        ("worlds that differ", (0..8).map(|n| sim((n % 2 == 0).then_some(0))).collect()),
        ("a world that turns at one first", turned),
    ];
    for (at, (name, siblings)) in kinds.into_iter().enumerate() {
        let seed = 9_970_000 + at as u64;
        let [ours, alone] =
            [true, false].map(|share| run(&groups(number, seed, siblings.clone(), share), 2, || {}).unwrap());
        let told = |groups: &[Group]| groups.iter().map(|group| group.told).sum::<u64>();
        let held_up = ours.iter().map(|group| group.held_up).sum::<u64>();
        println!("counted: {name}: {} entries told, {held_up} of them seen to hold by a sibling", told(&ours));
        assert!(told(&ours) > 0 && told(&alone) == 0);
        let whole = beside(&ours, &alone, Group::skill);
        show(&format!("{name}: skill of a clade of 8 beside 8 loners"), &whole);
        show(
            &format!("{name}: in the first {} ticks", 1_000),
            &beside(&ours, &alone, |g| between(&g.lately, 0, 1_000)),
        );
        show(
            &format!("{name}: in the last {} ticks", 1_000),
            &beside(&ours, &alone, |g| between(&g.lately, TICKS - 1_000, TICKS)),
        );
        if at == 2 {
            let after = |g: &Group| between(&g.last, late, late + 1_000);
            show(
                &format!("{name}: the last to see it turn, in the {} ticks after", 1_000),
                &beside(&ours, &alone, after),
            );
        }
        // Whatever it is worth, it costs nobody more than chance could.
        assert!(whole.difference > -0.005, "{whole:?}");
    }
}

#[test]
fn liars_are_tried_and_nobody_is_worse_for_them() {
    let (number, honest, most) = if full() { (8, 80, 20) } else { (2, 12, 4) };
    let plan = |liars: Liars| {
        let mut plan = groups(number, 9_971_000, vec![sim(None); honest], true);
        (plan.ticks, plan.liars) = (3_000, liars);
        plan
    };
    let clean = run(&plan(Liars::default()), 2, || {}).unwrap();
    for liars in [
        Liars { number: 1, together: false },
        Liars { number: most, together: false },
        Liars { number: most, together: true },
    ] {
        let with = run(&plan(liars), 2, || {}).unwrap();
        let sum = |of: fn(&Group) -> u64| with.iter().map(of).sum::<u64>();
        let (lies, tried, believed) = (sum(|g| g.lies), sum(|g| g.tried), sum(|g| g.believed));
        let cell = beside(&with, &clean, Group::skill);
        println!(
            "counted: {honest} honest siblings beside {} liars{}: {lies} lies told, {tried} on trial or tried, {believed} \
             believed after it, {} passed on, {} caught from those, {} with a say before",
            liars.number,
            if liars.together { " of one mind" } else { "" },
            sum(|g| g.passed_on),
            sum(|g| g.caught),
            sum(|g| g.untried),
        );
        show("    skill of the honest beside a clade without liars", &cell);
        assert!(tried > 0, "they were heard");
        assert_eq!(sum(|g| g.untried), 0, "nothing has a say before its trial");
        assert!(sum(|g| g.caught) < sum(|g| g.passed_on).max(1), "each carrier infects fewer than one");
        assert!(cell.difference > -0.002, "{cell:?}");
    }
}
