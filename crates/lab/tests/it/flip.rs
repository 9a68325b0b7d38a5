//! Fitness means something: when what was learned stops being true, whoever cannot learn any more loses touch,
//! and whoever can finds it again. `BARDO_WRITE_DOCS=1` also draws what happened into docs/.

use golem::constitution::{Clocks, Constitution};
use golem::{Span, Usdc};
use lab::{Plan, Summary, lives};
use world::Spec;

/// Ticks from the beginning to the flip, and to the end.
const FLIP: u64 = 6_000;
const END: u64 = 24_000;
const NOTE: u64 = 200;

fn lived(learning: bool, lives: u64) -> Summary {
    let clocks = Clocks { economic: false, epistemic: true, stochastic: false };
    let mut constitution = Constitution { clocks, ..Constitution::bare() };
    // Senescence is what is looked for; death by it would hide what comes after.
    constitution.vitality.epistemic_steepness = 0.1;
    constitution.epistemic.senescent = u32::MAX;
    let tick = Span::seconds(40);
    if !learning {
        constitution.mind.learn_until = Some(tick.times(FLIP));
    }
    let world = Spec::Sim {
        seed: 0,
        bar_ms: tick.as_millis(),
        relations_change_days: 0.0,
        edge_bps: None,
        flip_days: Some(tick.times(FLIP).as_millis() as f64 / 86_400_000.0),
    };
    let (credit, capital) = (Usdc::dollars(10), Usdc::dollars(100));
    let plan = Plan {
        version: lives::PLAN,
        lives,
        seed: 77,
        world,
        constitution,
        credit,
        capital,
        most_ticks: END,
        note_every: NOTE,
        disjoint: false,
        twin: 0,
        laws: None,
        generations: None,
        founder: None,
    };
    lives::run(&plan, 2, |_| {}).unwrap().0
}

/// The median at a tick.
fn median(summary: &Summary, tick: u64) -> f64 {
    summary.fitness_over_time.iter().find(|moment| moment.tick == tick).unwrap().fitness.p50
}

#[test]
fn who_cannot_learn_loses_touch_when_the_world_turns_and_who_can_finds_it_again() {
    let lives = 100;
    let (frozen, learning) = (lived(false, lives), lived(true, lives));
    for tick in [2_000, FLIP, FLIP + 1_000, FLIP + 2_000, FLIP + 4_000, FLIP + 8_000, END] {
        println!("tick {tick}: frozen {:.3}, learning {:.3}", median(&frozen, tick), median(&learning, tick));
    }
    println!("senesced: {} of {lives} frozen, {} learning", frozen.senesced, learning.senesced);
    println!("{:?}\n{:?}", frozen.skills, learning.skills);
    assert!(median(&frozen, FLIP) > 0.5 && median(&learning, FLIP) > 0.5, "both knew something before");
    assert!(median(&frozen, FLIP + 4_000) < 0.5 && median(&frozen, END) < 0.35);
    assert!(frozen.senesced * 2 > lives, "most who cannot learn lose touch");
    assert!(median(&learning, END) > 0.5, "{}", median(&learning, END));
    if std::env::var_os("BARDO_WRITE_DOCS").is_some() {
        draw(&frozen, &learning);
    }
}

/// Medians with the middle nine tenths around them, as a picture anyone's browser can show.
fn draw(frozen: &Summary, learning: &Summary) {
    let (width, height, left, top) = (640.0, 300.0, 50.0, 20.0);
    let x = |tick: u64| left + tick as f64 / END as f64 * width;
    let y = |fitness: f64| top + (1.0 - fitness) * height;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        left + width + 20.0,
        top + height + 45.0
    );
    for fitness in [0.0, 0.35, 0.5, 1.0] {
        svg += &format!(
            "<line x1=\"{left}\" x2=\"{}\" y1=\"{1}\" y2=\"{1}\" stroke=\"#ccc\"/><text x=\"8\" y=\"{2}\">{fitness:.2}</text>\n",
            left + width,
            y(fitness),
            y(fitness) + 4.0
        );
    }
    for (summary, colour) in [(frozen, "#b5442e"), (learning, "#2e6fb5")] {
        let points = |pick: fn(&lab::Moment) -> f64| -> Vec<String> {
            summary.fitness_over_time.iter().map(|m| format!("{:.1},{:.1}", x(m.tick), y(pick(m)))).collect()
        };
        let mut band = points(|m| m.fitness.p05);
        band.extend(points(|m| m.fitness.p95).into_iter().rev());
        svg += &format!("<polygon points=\"{}\" fill=\"{colour}\" opacity=\"0.15\"/>\n", band.join(" "));
        let line = points(|m| m.fitness.p50).join(" ");
        svg += &format!("<polyline points=\"{line}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>\n");
    }
    let (flip, bottom) = (x(FLIP), top + height);
    svg += &format!(
        "<line x1=\"{flip}\" x2=\"{flip}\" y1=\"{top}\" y2=\"{bottom}\" stroke=\"#666\" stroke-dasharray=\"4 3\"/>\n\
         <text x=\"{}\" y=\"{}\">the world turns</text>\n\
         <text x=\"{}\" y=\"{}\" fill=\"#2e6fb5\">goes on learning</text>\n\
         <text x=\"{}\" y=\"{}\" fill=\"#b5442e\">stopped learning</text>\n\
         <text x=\"{}\" y=\"{}\">ticks of 40 s</text>\n",
        flip + 6.0,
        top + 14.0,
        x(END) - 110.0,
        y(median(learning, END)) - 14.0,
        x(END) - 110.0,
        y(median(frozen, END)) - 14.0,
        left + width / 2.0 - 30.0,
        bottom + 36.0
    );
    for tick in (0..=END).step_by(6_000) {
        svg += &format!("<text x=\"{}\" y=\"{}\">{tick}</text>\n", x(tick) - 14.0, bottom + 18.0);
    }
    svg += "</svg>\n";
    let path =
        std::path::Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("../../docs/fitness-after-a-flip.svg");
    std::fs::write(path, svg).unwrap();
}
