//! Words about the load for a golem or its owner: how much, why, what would clear it, and what is open meanwhile. Plain
//! facts in a fixed order; a limit is told only where it is enforced.

use std::fmt::Write;

use life::Life;
use life::constitution::StressMode;
use life::mortality::economic;
use life::stress::threshold::{COMPLETED, DECISIONS, EFFECTS, FAILED_PERCENT, GOALS, HOURS_SAFE, SKILL_SAFE};
use life::stress::{Band, Kind, Named, Past, Stressor, allowed, band, find, load, load_as_told};
use life::time::Span;

/// The block for a model's prompt, above its task; none while there is nothing to say.
pub fn block(life: &Life) -> Option<String> {
    let told = load_as_told(life);
    if life.constitution().stress.mode == StressMode::Off || told < Band::Elevated.from() {
        return None;
    }
    let figures = &life.constitution().stress;
    let mut text = format!("Load {:.2} of 1.00, {}.\n", load(life), band(life));
    if !life.stress().named.is_empty() {
        let _ = writeln!(text, "With what you have named yourself {told:.2}; that closes nothing.");
    }
    let mut active: Vec<&Stressor> = life.stress().active.iter().collect();
    active.sort_by(|a, b| b.severity(figures).total_cmp(&a.severity(figures)));
    for stressor in active {
        let _ = writeln!(text, "{}", line(&title(life, stressor.kind, stressor.domain), stressor.severity(figures)));
        let _ = writeln!(text, "  {}", why(life, stressor));
        let _ = writeln!(text, "  clears when {}", clears_when(life, stressor));
    }
    for named in &life.stress().named {
        let _ = writeln!(text, "{}", line(&named.name, named.severity(figures.named_rate)));
        let _ = writeln!(text, "  named by yourself: {}", named.description);
        let _ = writeln!(text, "  clears when {} no longer holds", condition(life, named));
    }
    if let Some(closed) = closed(life) {
        let _ = writeln!(text, "Closed now: {closed}.");
    }
    text += OPEN;
    Some(text)
}

const OPEN: &str = "Open at any load: giving up exposure, looking and predicting, examining your own claims, asking your \
                    owner or your peers.\nA claim that something has passed is answered by looking again.\n";

/// Says what the band closes, if it closes anything.
pub fn closed(life: &Life) -> Option<&'static str> {
    let allowed = allowed(life);
    match (allowed.explore, allowed.add, allowed.keep) {
        (true, _, _) => None,
        (_, true, _) => Some("new ideas and strategies; new exposure is half the usual size"),
        (_, _, true) => Some("new ideas, strategies and exposure"),
        _ => Some("new ideas, strategies and exposure, and holding on to exposure whose time is up"),
    }
}

/// A bar, a title and a severity: `[####......] repeated_failure (tide) 0.42`.
pub fn line(title: &str, severity: f64) -> String {
    let filled = (severity * 10.0).round().clamp(0.0, 10.0) as usize;
    format!("[{}{}] {title} {severity:.2}", "#".repeat(filled), ".".repeat(10 - filled))
}

pub fn title(life: &Life, kind: Kind, domain: Option<u8>) -> String {
    match domain {
        Some(at) => format!("{kind} ({})", domain_name(life, at)),
        None => kind.to_string(),
    }
}

fn domain_name(life: &Life, domain: u8) -> &str {
    life.birth().world.domains.get(usize::from(domain)).map_or("?", |spec| &spec.name)
}

fn condition(life: &Life, named: &Named) -> String {
    life::rule::text::print_condition(&named.condition, &life.birth().world)
}

/// Says why a stressor is active, by the record.
pub fn why(life: &Life, stressor: &Stressor) -> String {
    reasons(life, stressor).0
}

/// Says what would clear a stressor, and how far away that is.
pub fn clears_when(life: &Life, stressor: &Stressor) -> String {
    reasons(life, stressor).1
}

/// The words of each kind: why it is active, and what would clear it.
fn reasons(life: &Life, stressor: &Stressor) -> (String, String) {
    let ledger = &life.stress().ledger;
    let found = find(life, stressor.kind, stressor.domain, stressor.served);
    let tally = life.goals().get(usize::from(stressor.domain.unwrap_or_default()));
    let (known, failed, effects) = tally.map_or((0, 0, 0), |tally| tally.last(GOALS));
    match (stressor.kind, stressor.domain) {
        (Kind::RepeatedFailure, _) => (
            format!("{failed} of the last {known} goals here failed"),
            format!(
                "fewer than {FAILED_PERCENT} % of the last {GOALS} goals failed and {COMPLETED} were completed \
                 (now {:.0} %, {})",
                found.figure * 100.0,
                known - failed
            ),
        ),
        (Kind::Futility, Some(_)) => (
            format!("{effects} of the last {known} goals here had any effect"),
            format!("{EFFECTS} of the last {GOALS} goals had an effect (now {:.0})", found.figure),
        ),
        (Kind::Futility, None) => (
            "this week's actions lost money, and more than doing nothing would have".to_owned(),
            "a week's result is no worse than doing nothing, or nothing is done for a week".to_owned(),
        ),
        (Kind::Invisibility, _) => {
            let days = Span::millis(life.age().as_millis() - ledger.answered.as_millis().min(life.age().as_millis()));
            (
                format!("{} asks and no answer for {days}", ledger.outputs),
                "an ask is answered: by the owner, or by the world with a fill".to_owned(),
            )
        }
        (Kind::IdentityViolation, _) => (
            format!("a rule of the owner's was run into {} decisions ago", ledger.decisions),
            format!("{DECISIONS} decisions keep to the rules (now {})", ledger.decisions),
        ),
        (Kind::ExistentialThreat, _) => {
            let left = economic::projected_life(life);
            let money = left.map_or("money is no concern".to_owned(), |left| format!("money for {left}"));
            let way = if ledger.falling { ", falling" } else { "" };
            (
                format!("{money}; skill {:.2}{way}", life.vitality().epistemic),
                format!("there is money for {HOURS_SAFE} hours, and skill is {SKILL_SAFE:.2} or no longer falling"),
            )
        }
        (Kind::Purposelessness, _) => {
            let (known, serving, repeating) = ledger.purpose(GOALS);
            (
                format!(
                    "of the last {known} goals {serving} served the owner and {repeating} only repeated what had failed"
                ),
                "something that serves the owner is completed and verified".to_owned(),
            )
        }
    }
}

/// Words of warning from an earlier stressor, beside its domain wherever a model is asked about that.
pub fn signal(life: &Life, past: &Past) -> String {
    let times = if past.times == 1 { "once".to_owned() } else { format!("{} times", past.times) };
    format!("{} was here {times}, at worst {:.2}, and cleared", title(life, past.kind, past.domain), past.peak)
}

/// One line for people: `0.42 elevated: repeated_failure (tide) 0.42`.
pub fn summary(life: &Life) -> String {
    let figures = &life.constitution().stress;
    let each = |s: &Stressor| format!("{} {:.2}", title(life, s.kind, s.domain), s.severity(figures));
    let all: Vec<String> = life.stress().active.iter().map(each).collect();
    match (figures.mode, all.is_empty()) {
        (StressMode::Off, _) => "not observed".to_owned(),
        (_, true) => format!("{:.2} {}", load(life), band(life)),
        (_, false) => format!("{:.2} {}: {}", load(life), band(life), all.join(", ")),
    }
}
