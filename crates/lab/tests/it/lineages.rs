//! Does inheritance help? Five ways of going on after a death, or of not dying, on the same paths with the same ticks
//! and money; and one of them twice, with other chance ideas, to see what nothing looks like. `just full` lives as many
//! as the book reports; `BARDO_WRITE_DOCS=1` draws them.

use std::path::Path;

use golem::constitution::{Clocks, Constitution, Mode};
use golem::{Span, Usdc};
use lab::Plan;
use lab::arms::{Cell, beside_the_first};
use lab::lineages::{self, Kin, Way};
use lab::lives::PLAN;
use world::Spec;

const GENERATIONS: u64 = 5;

fn full() -> bool {
    std::env::var_os("BARDO_FULL").is_some()
}

fn plan(lives: u64, seed: u64, relations_change_days: f64, flip_tick: Option<u64>, ticks: u64) -> Plan {
    let clocks = Clocks { economic: false, epistemic: true, stochastic: false };
    let mut constitution = Constitution { clocks, ..Constitution::bare() };
    // They die when it is time, and of nothing else.
    constitution.vitality.epistemic_steepness = 0.1;
    constitution.epistemic.senescent = u32::MAX;
    let flip_days = flip_tick.map(|tick| Span::seconds(40).times(tick).as_millis() as f64 / 86_400_000.0);
    Plan {
        version: PLAN,
        lives,
        seed,
        world: Spec::Sim { seed, bar_ms: 40_000, relations_change_days, edge_bps: None, flip_days },
        constitution,
        credit: Usdc::dollars(10),
        capital: Usdc::dollars(100),
        most_ticks: ticks,
        note_every: ticks / GENERATIONS / 40,
        disjoint: false,
        twin: 0,
        laws: None,
        generations: Some(GENERATIONS),
        founder: None,
    }
}

type Lines = Vec<(String, Vec<Kin>)>;

fn live(plan: &Plan) -> Lines {
    let mut lines: Lines = Vec::new();
    for way in Way::ALL {
        lines.push((way.name().to_owned(), lineages::run(plan, way, 2, || {}).unwrap()));
        if way == Way::Fresh {
            let twin = Plan { twin: 1, ..plan.clone() };
            lines.push(("fresh, a twin".to_owned(), lineages::run(&twin, way, 2, || {}).unwrap()));
        }
    }
    lines
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn row(name: &str, lines: &Lines, measure: impl Fn(&Kin) -> Option<f64>) -> Vec<Cell> {
    let values: Vec<Vec<_>> = lines.iter().map(|(_, kin)| kin.iter().map(&measure).collect()).collect();
    let cells: Vec<Cell> = beside_the_first(&values).into_iter().flatten().collect();
    let others = cells[1..].iter().map(|c| format!("{:+.4} ({:+.4} to {:+.4})", c.difference, c.low, c.high));
    println!("| {name} | {:.4} | {} |", cells[0].mean, others.collect::<Vec<_>>().join(" | "));
    cells
}

/// What was printed of each way in the first tenth of a life, and over whole lives, in the order of [`live`].
fn table(title: &str, lines: &Lines) -> [Vec<Cell>; 2] {
    let names: Vec<&str> = lines.iter().map(|(name, _)| name.as_str()).collect();
    println!("\n{title}, {} paths\n| | {} |", lines[0].1.len(), names.join(" | "));
    let early = row("skill in the first tenth of a life", lines, |kin| kin.early);
    let later = row("over whole lives", lines, |kin| kin.later);
    row("return, all generations", lines, |kin| kin.returned);
    row("rules of its own, in the end", lines, |kin| Some(kin.own_rules));
    row("entries that crossed a death", lines, |kin| Some(kin.crossed));
    [early, later]
}

/// The places of the ways in a row.
const TWIN: usize = 1;
const COPY: usize = 2;
const BOTTLENECK: usize = 3;
const IMMORTAL: usize = 5;

#[test]
fn lines_where_relations_change() {
    let (lives, ticks) = if full() { (200, 20_000) } else { (6, 4_000) };
    for (at, days) in [1.0, 3.0, 9.0].into_iter().enumerate() {
        let lines = live(&plan(lives, 9_400 + at as u64, days, None, ticks));
        table(&format!("relations change every {days} days on average"), &lines);
        let crossed = &lines.iter().find(|(name, _)| name == "bottleneck").unwrap().1;
        assert!(crossed.iter().all(|kin| kin.crossed > 10.0), "something crosses every death");
    }
}

/// A world with something to know, and one in which that turns in the middle of the third life.
#[test]
fn lines_where_there_is_something_to_know() {
    let (lives, ticks) = if full() { (200, 20_000) } else { (6, 4_000) };
    let lines = live(&plan(lives, 9_500, 0.0, Some(10 * ticks), ticks));
    let [early, later] = table("a world with a tide that does not turn", &lines);
    // What the book says: an heir knows sooner what there is to know, and who never ends sooner still.
    assert!(early[BOTTLENECK].low > 0.0, "an heir is better off than a newborn: {:?}", early[BOTTLENECK]);
    assert!(
        early[IMMORTAL].difference > early[BOTTLENECK].difference && later[IMMORTAL].low > 0.0,
        "{:?}",
        later[IMMORTAL]
    );
    assert!(early[TWIN].difference.abs() < early[BOTTLENECK].difference / 2.0, "nothing looks like nothing");
    let turns = ticks / 2;
    let lines = live(&plan(lives, 9_501, 0.0, Some(turns), ticks));
    table("the tide turns in the middle of the third life", &lines);
    let after = |kin: &Kin| mean(&kin.skill_lately[kin.skill_lately.len() / 2..]);
    let since = row("since it turned", &lines, |kin| Some(after(kin)));
    // What the book says: since it turned, those who die and leave what they knew do better than those who never end. Lives
    // as short as a share of it are too short for that.
    if full() {
        assert!(since[BOTTLENECK].low > since[IMMORTAL].high && since[COPY].high < 0.0, "{:?}", since[COPY]);
    }
    let cells = |name: &str| lines.iter().find(|(n, _)| n == name).unwrap().1.iter().map(after).collect::<Vec<f64>>();
    for other in ["copy", "immortal"] {
        let beside = Cell::of(&cells("bottleneck"), &cells(other));
        println!(
            "since it turned, bottleneck beside {other}: {:+.4} ({:+.4} to {:+.4})",
            beside.difference, beside.low, beside.high
        );
    }
    if std::env::var_os("BARDO_WRITE_DOCS").is_some() {
        draw(&lines, turns, ticks);
    }
}

/// Stretches of two years of real hours that share no bar; the unit is the stretch.
#[test]
fn lines_on_real_hours() {
    let Some(files) = crate::common::hours_of(&["eth", "btc", "link", "aave"]) else { return };
    let mut pooled: Lines = Vec::new();
    for file in files {
        let bars = world::Candles::read(&file).unwrap().0.bars().len() as u64;
        let window = 24 * 200;
        let base = plan(if full() { (bars - 1) / window } else { 1 }, 9_600, 0.0, None, window);
        let constitution = Constitution { interval: Span::seconds(3_600), ..base.constitution.clone() };
        let world = Spec::Replay { path: file, start: None, sha256: None };
        let lines = live(&Plan { world, disjoint: true, constitution, ..base });
        for (at, (name, more)) in lines.into_iter().enumerate() {
            match pooled.get_mut(at) {
                Some((_, all)) => all.extend(more),
                None => pooled.push((name, more)),
            }
        }
    }
    table("stretches of 200 days of hourly ETH, BTC, LINK and AAVE", &pooled);
}

fn draw(lines: &Lines, turns: u64, ticks: u64) {
    let (width, height, left, top) = (640.0, 300.0, 60.0, 20.0);
    let notes = lines[0].1[0].skill_lately.len();
    let x = |note: f64| left + note / notes as f64 * width;
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
    let colours = [("fresh", "#555555"), ("copy", "#c77d20"), ("bottleneck", "#2e6fb5"), ("immortal", "#8a3fa0")];
    for (at, (name, colour)) in colours.into_iter().enumerate() {
        let kin = &lines.iter().find(|(arm, _)| arm == name).unwrap().1;
        let points = (0..notes).map(|note| {
            let there: Vec<f64> = kin.iter().filter_map(|kin| kin.skill_lately.get(note).copied()).collect();
            format!("{:.1},{:.1}", x(note as f64 + 0.5), y(mean(&there)))
        });
        let line = points.collect::<Vec<_>>().join(" ");
        svg += &format!("<polyline points=\"{line}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>\n");
        let down = top + 190.0 + 16.0 * at as f64;
        svg += &format!("<text x=\"{}\" y=\"{down}\" fill=\"{colour}\">{name}</text>\n", left + 12.0);
    }
    let bottom = top + height;
    for generation in 0..=GENERATIONS {
        let at = x(notes as f64 * generation as f64 / GENERATIONS as f64);
        svg += &format!("<line x1=\"{at}\" x2=\"{at}\" y1=\"{bottom}\" y2=\"{}\" stroke=\"#333\"/>\n", bottom + 6.0);
        let tick = ticks * generation / GENERATIONS;
        svg += &format!("<text x=\"{}\" y=\"{}\">{tick}</text>\n", at - 14.0, bottom + 20.0);
    }
    let turn = x(notes as f64 * turns as f64 / ticks as f64);
    svg += &format!(
        "<line x1=\"{turn}\" x2=\"{turn}\" y1=\"{top}\" y2=\"{bottom}\" stroke=\"#666\" stroke-dasharray=\"4 3\"/>\n\
         <text x=\"{}\" y=\"{}\">the tide turns</text>\n\
         <text x=\"{}\" y=\"{}\">ticks; a death at every mark but for the immortal; skill against naive</text>\n",
        turn + 6.0,
        bottom - 8.0,
        left + 110.0,
        bottom + 38.0
    );
    svg += "</svg>\n";
    let path = Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("../../docs/inheritance.svg");
    std::fs::write(path, svg).unwrap();
}

/// The clocks of the plan ran in every way, so that whoever was called immortal starved like the rest.
#[test]
fn an_immortal_has_no_clocks() {
    let mut plan = plan(4, 9_700, 3.0, None, 3_000);
    plan.constitution.clocks = Clocks { economic: true, epistemic: true, stochastic: true };
    plan.constitution.mode = Mode::Hosted;
    plan.constitution.economic.machine_per_day = Usdc::dollars(200);
    let deaths = |way| lineages::run(&plan, way, 2, || {}).unwrap().iter().map(|kin| kin.deaths).sum::<u64>();
    assert!(deaths(Way::Fresh) >= 4, "with these clocks lives end before their time");
    assert_eq!(deaths(Way::Immortal), 0);
}
