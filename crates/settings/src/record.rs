//! From a birth back to the settings that make it: the inverse of `build`. Heirs are made this way, and a golem.toml
//! that contradicts the record is found by it. Every struct is taken apart whole, so that no
//! figure can be added to a life and forgotten here.

use golem::Birth;
use golem::Endowment;
use golem::Usdc;
use golem::constitution::{
    AffectFigures, Appraisal, Caps, CladeFigures, Clocks, Constitution, DreamFigures, DreamMethod, DreamSchedule,
    DreamTier, EconomicFigures, EpistemicFigures, Intensity, MandateFigures, Measure, Mind, MindKind, Mode, OnDeath,
    PolicyFigures, Reflex, ReplayOrder, StochasticFigures, StrategyFigures, StressFigures, StressMode,
    SuccessionFigures, ThoughtFigures, VitalityFigures, Window,
};
use golem::stress;
use golem::time::{Span, Time};
use golem::world::Manifest;
use world::{Says, Spec};

use super::build::{SPLIT, WHOLE};
use super::keys::MOST_ACTIONS;
use super::kind::Value;
use super::layers::LayerEntry;
use super::{ConfigError, Origin, Settings};

/// Keys and what they are, as flags say it.
struct Flags(Vec<String>);

impl Flags {
    fn add(&mut self, key: &str, value: &Value) {
        self.word(key, &value.plain());
    }

    fn word(&mut self, key: &str, value: &str) {
        self.0.push(format!("{key}={value}"));
    }

    fn flag(&mut self, key: &str, yes: bool) {
        self.add(key, &Value::Bool(yes));
    }

    fn count(&mut self, key: &str, n: u32) {
        self.add(key, &Value::Integer(n.into()));
    }

    fn counted(&mut self, key: &str, n: Option<u64>) {
        let n = n.and_then(|n| i64::try_from(n).ok());
        self.add(key, &n.map_or(Value::Nothing, Value::Integer));
    }

    fn number(&mut self, key: &str, n: f64) {
        self.add(key, &Value::Number(n));
    }

    fn share(&mut self, key: &str, bps: u32) {
        self.add(key, &Value::Share(bps));
    }

    fn money(&mut self, key: &str, amount: impl Into<Option<Usdc>>) {
        self.add(key, &amount.into().map_or(Value::Nothing, Value::Money));
    }

    fn span(&mut self, key: &str, span: impl Into<Option<golem::Span>>) {
        self.add(key, &span.into().map_or(Value::Nothing, Value::Span));
    }
}

impl Settings {
    /// The flags that would make this policy.
    pub fn of_policy(policy: &PolicyFigures) -> Vec<String> {
        let mut flags = Flags(Vec::new());
        flags.policy(policy);
        flags.0
    }

    /// The flags that would make a golem of this constitution, with this money, in this world.
    pub fn of_record(constitution: &Constitution, endowment: Endowment, world: &Manifest) -> Vec<String> {
        let mut flags = Flags(Vec::new());
        flags.world(world);
        flags.money("funds.credit", endowment.credit);
        flags.money("funds.capital", endowment.capital);
        flags.constitution(constitution);
        flags.0
    }

    /// The first key whose value in this file differs from the birth, with both values. A key that the file
    /// leaves out contradicts nothing: defaults of another version are not the owner's word.
    pub fn contradicts(&self, birth: &Birth) -> Result<Option<(&'static str, String, String)>, ConfigError> {
        let record = Settings::of_record(&birth.constitution, birth.endowment, &birth.world);
        // Births of earlier versions do not say what was given, and a world is described in the birth's own words.
        let unsaid = birth.endowment == Endowment::default();
        let silent = |path: &str| path.starts_with("world.") || (unsaid && path.starts_with("funds.c"));
        let said = |entry: &&LayerEntry| matches!(entry.origin, Origin::File { .. }) && !silent(entry.key.path);
        let file = self.entries().iter().filter(said);
        let flags = file.clone().map(|entry| format!("{}={}", entry.key.path, entry.value.plain()));
        let whole: Vec<String> = record.iter().cloned().chain(flags).collect();
        let (born, whole) = (Settings::read(self.file(), None, [], &record)?, self.with(&whole)?);
        let gives = |path: &str| unsaid || born.value(path) == whole.value(path);
        let same = whole.constitution().is_ok_and(|other| alike(&other, &birth.constitution));
        if same && gives("funds.credit") && gives("funds.capital") {
            return Ok(None);
        }
        let differs = |entry: &&LayerEntry| entry.value != *born.value(entry.key.path);
        let found = file.clone().find(differs).or_else(|| file.clone().next());
        Ok(found.map(|entry| (entry.key.path, entry.value.plain(), born.value(entry.key.path).plain())))
    }

    fn with(&self, flags: &[String]) -> Result<Settings, ConfigError> {
        Settings::read(self.file(), None, [], flags)
    }
}

/// Whether two constitutions agree in all but the clocks of a place, which a newer map of time zones may know better.
fn alike(a: &Constitution, b: &Constitution) -> bool {
    let timeless = |constitution: &Constitution| {
        let mut constitution = constitution.clone();
        constitution.dream.windows.iter_mut().for_each(|window| window.ahead.clear());
        constitution
    };
    timeless(a) == timeless(b)
}

impl Flags {
    fn world(&mut self, world: &Manifest) {
        self.span("world.bar", world.bar);
        let Ok(spec) = serde_json::from_str::<Spec>(&world.spec) else { return };
        self.spec(spec);
    }

    fn spec(&mut self, spec: Spec) {
        match spec {
            Spec::Slow { world, latency_ms, settle_bars } => {
                self.span("world.latency", Span::millis(latency_ms));
                self.count("world.settle_bars", settle_bars);
                self.spec(*world);
            }
            Spec::Ordered { world } => {
                self.flag("world.orders", true);
                self.spec(*world);
            }
            Spec::Sim { seed: _, bar_ms: _, relations_change_days, edge_bps, flip_days } => {
                self.word("world.kind", "sim");
                self.number("world.relations_change_days", relations_change_days);
                self.add("world.edge_bps", &edge_bps.map_or(Value::Nothing, |n| Value::Integer(n.into())));
                self.add("world.flip_days", &flip_days.map_or(Value::Nothing, Value::Number));
            }
            Spec::Edge { seed: _, bar_ms: _, edge_bps, move_days } => {
                self.word("world.kind", if edge_bps > 0 { "edge" } else { "fair" });
                self.add("world.edge_bps", &Value::Integer(edge_bps.into()));
                self.number("world.edge_move_days", move_days);
            }
            Spec::Replay { path, start, sha256: _ } => {
                self.word("world.kind", "replay");
                self.word("world.data", &path.file_stem().map(|name| name.to_string_lossy()).unwrap_or_default());
                self.add("world.start", &Value::Moment(start.map(Time::seconds)));
            }
            Spec::Live { path, bar_ms: _, start, before: _ } => {
                self.word("world.kind", "live");
                self.word("world.data", &path.file_stem().map(|name| name.to_string_lossy()).unwrap_or_default());
                self.add("world.start", &Value::Moment(Some(Time::seconds(start))));
            }
            Spec::Checks { checks, bar_ms: _ } => {
                let named = |says: Says| {
                    let names = checks.iter().filter(|check| check.says == says).map(|check| check.name.as_str());
                    names.collect::<Vec<_>>().join(",")
                };
                self.word("world.kind", "checks");
                self.word("world.checks", &named(Says::Pass));
                self.word("world.numbers", &named(Says::Number));
            }
            Spec::Outside { seed: _ } => self.word("world.kind", "outside"),
            Spec::Queue { seed: _, bar_ms: _ } => self.word("world.kind", "queue"),
            // Worlds of the laboratory: no golem is born into one from settings.
            Spec::Shifting { .. } | Spec::Gauge { .. } => {}
        }
    }

    fn constitution(&mut self, constitution: &Constitution) {
        let Constitution {
            mode,
            clocks: Clocks { economic: starves, epistemic: loses_touch, stochastic: rolls },
            interval,
            vitality,
            economic,
            epistemic,
            stochastic,
            policy,
            reflex: Reflex { noise, pull, act_every },
            mind,
            stress,
            affect: AffectFigures { appraisal, mood_keep },
            dream,
            thought,
            mandate: MandateFigures { novel, invalidated, questions },
            succession: SuccessionFigures { auto, budget, inherit, min_divergence, evidence },
            clade: CladeFigures { share },
            strategy: StrategyFigures { domains, hold, size_bps, avoid },
        } = constitution;
        let mode = match mode {
            Mode::Hosted => "hosted",
            Mode::SelfHosted => "self_hosted",
            Mode::Immortal => "immortal",
        };
        self.word("mortality.mode", mode);
        self.flag("mortality.economic.enabled", *starves);
        self.flag("mortality.epistemic.enabled", *loses_touch);
        self.flag("mortality.stochastic.enabled", *rolls);
        self.span("heartbeat.interval", *interval);
        self.vitality(vitality);
        self.economic(economic);
        self.epistemic(epistemic);
        self.stochastic(stochastic);
        self.policy(policy);
        self.number("reflex.noise", *noise);
        self.number("reflex.pull", *pull);
        self.count("reflex.act_every", *act_every);
        self.mind(mind);
        self.stress(stress);
        self.flag("mortality.affect.enabled", *appraisal == Appraisal::RuleBased);
        self.number("mortality.affect.mood_decay_rate", *mood_keep);
        self.dream(dream);
        self.thought(thought);
        self.count("succession.min_novel_entries", *novel);
        self.count("succession.min_invalidated_entries", *invalidated);
        self.number("succession.min_question_ratio", *questions);
        self.flag("succession.auto", *auto);
        self.money("succession.budget_usdc", *budget);
        self.flag("succession.inherit_grimoire", *inherit);
        self.number("succession.min_divergence", *min_divergence);
        self.number("succession.evidence", *evidence);
        self.flag("clade.enabled", *share);
        self.word("strategy.domains", &domains.join(","));
        self.span("strategy.hold", *hold);
        self.share("strategy.size", size_bps.unwrap_or(WHOLE));
        self.word("strategy.avoid", avoid.as_deref().unwrap_or_default());
    }

    fn vitality(&mut self, figures: &VitalityFigures) {
        let VitalityFigures {
            economic_center,
            economic_steepness,
            epistemic_center,
            epistemic_steepness,
            age_drag,
            hysteresis,
            lifespan,
        } = figures;
        self.number("mortality.vitality.economic_center", *economic_center);
        self.number("mortality.vitality.economic_steepness", *economic_steepness);
        self.number("mortality.vitality.epistemic_center", *epistemic_center);
        self.number("mortality.vitality.epistemic_steepness", *epistemic_steepness);
        self.number("mortality.vitality.age_drag", *age_drag);
        self.number("mortality.vitality.hysteresis", *hysteresis);
        self.span("mortality.lifespan", *lifespan);
    }

    fn economic(&mut self, figures: &EconomicFigures) {
        let EconomicFigures {
            reserve_floor,
            reserve_bps,
            critical,
            machine_per_day,
            per_action,
            harvest_bps,
            monthly_allowance,
        } = figures;
        self.money("mortality.economic.death_reserve_floor_usdc", *reserve_floor);
        self.share("mortality.economic.reserve_share", *reserve_bps);
        self.number("mortality.economic.conservation_threshold", *critical);
        self.money("mortality.economic.machine_per_day", *machine_per_day);
        self.money("mortality.economic.per_action", *per_action);
        self.share("funds.harvest", *harvest_bps);
        self.money("mortality.economic.monthly_allowance", *monthly_allowance);
    }

    fn epistemic(&mut self, figures: &EpistemicFigures) {
        let EpistemicFigures { measure, window, warning, senescence, recovery, grace, senescent } = figures;
        let measure = match measure {
            Measure::Skill => "skill",
            Measure::R2 => "r2",
        };
        self.word("mortality.epistemic.measure", measure);
        self.count("mortality.epistemic.fitness_window", *window);
        self.number("mortality.epistemic.warning", *warning);
        self.number("mortality.epistemic.senescence_threshold", *senescence);
        self.number("mortality.epistemic.recovery_threshold", *recovery);
        self.count("mortality.epistemic.recovery_grace_period", *grace);
        self.count("mortality.epistemic.senescent_period", *senescent);
    }

    fn stochastic(&mut self, figures: &StochasticFigures) {
        let StochasticFigures { base_hazard, aging_hazard, aging_rate, max_hazard, frailty } = figures;
        self.number("mortality.stochastic.base_hazard_rate", *base_hazard);
        self.number("mortality.stochastic.aging_hazard", *aging_hazard);
        self.number("mortality.stochastic.aging_rate", *aging_rate);
        self.number("mortality.stochastic.max_hazard_rate", *max_hazard);
        self.number("mortality.stochastic.frailty", *frailty);
    }

    fn policy(&mut self, policy: &PolicyFigures) {
        let PolicyFigures {
            per_action_bps,
            max_drawdown_bps,
            on_death,
            per_action_most,
            per_day_most,
            actions_per_day,
            stop_bps,
            allow,
            approve_above,
            approve_within,
            slippage_bps,
            call_most,
            calls_hour,
            calls_day,
            calls_month,
            caps,
            imputed,
            calls_at_once,
            calls_alike,
            calls_fan,
            calls_leap,
        } = policy;
        let on_death = match on_death {
            OnDeath::Close => "close",
            OnDeath::Hold => "hold",
            OnDeath::HandOver => "hand_over",
        };
        self.share("policy.per_action", *per_action_bps);
        self.share("policy.max_drawdown", *max_drawdown_bps);
        self.word("policy.on_death", on_death);
        self.count("policy.rebalances_per_day", (*actions_per_day).min(MOST_ACTIONS));
        self.money("policy.per_transaction", *per_action_most);
        self.money("policy.per_day", *per_day_most);
        self.share("policy.stop", *stop_bps);
        self.money("policy.approve_above", *approve_above);
        self.span("policy.approve_within", *approve_within);
        self.share("policy.slippage", *slippage_bps);
        self.money("policy.call_max", *call_most);
        self.money("policy.calls_per_hour", *calls_hour);
        self.money("policy.calls_per_day", *calls_day);
        self.money("policy.calls_per_month", *calls_month);
        self.caps(caps);
        self.flag("policy.imputed", *imputed);
        self.count("policy.calls_at_once", *calls_at_once);
        self.count("policy.calls_alike", *calls_alike);
        self.count("policy.calls_fan", *calls_fan);
        self.count("policy.calls_leap", *calls_leap);
        self.word("policy.allow", &allow.as_deref().unwrap_or_default().join(","));
    }

    fn caps(&mut self, caps: &Caps) {
        let Caps { tokens, tokens_day, calls, calls_day, time, time_day } = caps;
        self.counted("policy.cap.tokens", *tokens);
        self.counted("policy.cap.tokens_per_day", *tokens_day);
        self.counted("policy.cap.calls", *calls);
        self.counted("policy.cap.calls_per_day", *calls_day);
        self.span("policy.cap.time", *time);
        self.span("policy.cap.time_per_day", *time_day);
    }

    fn mind(&mut self, mind: &Mind) {
        let Mind { kind, learning, learn_until, explore_every, sureness, samples, phages } = mind;
        let kind = match kind {
            MindKind::Reflex => "reflex",
            MindKind::Rules => "rules",
            MindKind::Outside => "outside",
        };
        self.word("mind.kind", kind);
        self.flag("mind.learning", *learning);
        self.span("mind.learn_until", *learn_until);
        self.count("mind.explore_every", *explore_every);
        self.number("mind.sureness", *sureness);
        self.count("mind.samples", *samples);
        self.flag("mind.phages", *phages);
    }

    fn stress(&mut self, figures: &StressFigures) {
        let StressFigures { mode, rates, named_rate, most, objectives } = figures;
        let mode = match mode {
            StressMode::Off => "off",
            StressMode::Visible => "visible",
            StressMode::Enforced => "enforced",
        };
        self.word("stress.mode", mode);
        // A kind that came after this birth is not in its record; its heir has it, as today's settings say.
        for (kind, rate) in stress::Kind::ALL.into_iter().filter_map(|kind| Some((kind, rates.of(kind)?))) {
            self.number(&format!("stress.escalation_rates.{}", kind.name()), rate);
        }
        self.number("stress.escalation_rates.named", *named_rate);
        self.count("stress.max_stressors", *most);
        self.word("stress.objectives", &objectives.join(","));
    }

    fn thought(&mut self, figures: &ThoughtFigures) {
        let ThoughtFigures { models, per_call, a_day, a_month, most_asking, bits_per_dollar, patience } = figures;
        for (at, tier) in ["cheap", "middle", "strong"].into_iter().enumerate() {
            self.word(&format!("mind.{tier}"), models[at].as_deref().unwrap_or_default());
            self.money(&format!("thought.{tier}_max"), per_call[at]);
        }
        self.money("thought.daily_max", *a_day);
        self.money("thought.monthly_max", *a_month);
        self.number("thought.most_asking", *most_asking);
        self.number("thought.bits_per_dollar", *bits_per_dollar);
        self.span("thought.patience", *patience);
    }

    fn dream(&mut self, figures: &DreamFigures) {
        let DreamFigures {
            enabled,
            tier,
            schedule,
            threshold,
            per_cycle_most,
            monthly_most,
            wake_move_bps,
            method,
            windows,
            per_session_most,
            wakes,
            split,
            replay_order,
            disturbed,
            most: Intensity { batch, depth, sessions, threats, temperature },
            hypothesis,
            insight,
            staged_most,
            model,
        } = figures;
        let tier = match tier {
            DreamTier::Core => "core",
            DreamTier::Hardened => "hardened",
        };
        let schedule = match schedule {
            DreamSchedule::Owner => "owner",
            DreamSchedule::Autonomous => "autonomous",
            DreamSchedule::Hybrid => "hybrid",
        };
        let method = match method {
            DreamMethod::Careful => "careful",
            DreamMethod::Random => "random",
        };
        let hours = |Window { start, end, zone, ahead: _ }: &Window| {
            format!("{:02}:{:02}-{:02}:{:02} {zone}", start / 60, start % 60, end / 60, end % 60)
        };
        self.flag("dream.enabled", *enabled);
        self.word("dream.tier", tier);
        self.word("dream.schedule.mode", schedule);
        self.number("dream.schedule.autonomous_threshold", *threshold);
        self.money("dream.budget.per_cycle_max", *per_cycle_most);
        self.money("dream.budget.monthly_max", *monthly_most);
        self.share("dream.wake_interrupts.world_move", *wake_move_bps);
        self.word("dream.method", method);
        self.money("dream.budget.per_session_max", *per_session_most);
        self.flag("dream.wake_interrupts.enabled", *wakes);
        for (key, share) in SPLIT.iter().zip(split) {
            self.add(key, &share.map_or(Value::Nothing, Value::Number));
        }
        let order = match replay_order {
            ReplayOrder::Utility => "utility",
            ReplayOrder::Recency => "recency",
            ReplayOrder::Surprise => "surprise",
            ReplayOrder::Uniform => "uniform",
        };
        self.word("dream.replay.prioritization", order);
        self.number("dream.replay.perturbation_rate", *disturbed);
        self.count("dream.replay.batch_size", *batch);
        self.count("dream.imagination.counterfactual_depth", *depth);
        self.count("dream.imagination.creative_sessions", *sessions);
        self.count("dream.imagination.threat_scenarios", *threats);
        self.number("dream.imagination.exploration_temperature", *temperature);
        self.number("dream.consolidation.hypothesis_confidence", *hypothesis);
        self.number("dream.consolidation.insight_confidence", *insight);
        self.count("dream.consolidation.max_staged_revisions", *staged_most);
        self.word("dream.inference_provider", model.as_deref().unwrap_or_default());
        self.word("dream.windows.windows", &windows.iter().map(hours).collect::<Vec<_>>().join(", "));
    }
}
