//! From settings to a constitution, and what a table of single keys cannot see: figures that are each
//! fine and contradict one another. Every such message says what to change.

use golem::Usdc;
use std::collections::BTreeMap;

use golem::constitution::{
    AffectFigures, Appraisal, Caps, CladeFigures, Clocks, Constitution, DreamFigures, DreamMethod, DreamSchedule,
    DreamTier, EconomicFigures, EpistemicFigures, Intensity, MandateFigures, Measure, Mind, MindKind, Mode, OnDeath,
    PolicyFigures, Reflex, ReplayOrder, StochasticFigures, StrategyFigures, StressFigures, StressMode,
    SuccessionFigures, ThoughtFigures, VitalityFigures,
};
use golem::stress;
use tariff::{Named, Price};

use super::kind::write_span;
use super::{ConfigError, File, Origin, Problem, Settings};

/// How a night is split between its three inner phases.
pub(super) const SPLIT: [&str; 3] =
    ["dream.phases.nrem_allocation", "dream.phases.rem_allocation", "dream.phases.integration_allocation"];

/// The whole of a size, in basis points.
pub(super) const WHOLE: u32 = 10_000;

impl Settings {
    /// The constitution of a golem born of these settings.
    pub fn constitution(&self) -> Result<Constitution, ConfigError> {
        assert_eq!(self.file(), File::Golem, "only {} makes a golem", File::Golem);
        let constitution = Constitution {
            mode: self.mode(),
            clocks: Clocks {
                economic: self.flag("mortality.economic.enabled"),
                epistemic: self.flag("mortality.epistemic.enabled"),
                stochastic: self.flag("mortality.stochastic.enabled"),
            },
            interval: self.span("heartbeat.interval"),
            vitality: self.vitality(),
            economic: self.economic(),
            epistemic: self.epistemic(),
            stochastic: self.stochastic(),
            policy: self.policy(),
            mind: Mind {
                kind: match self.text("mind.kind") {
                    Some("reflex") => MindKind::Reflex,
                    Some("outside") => MindKind::Outside,
                    _ => MindKind::Rules,
                },
                learning: self.flag("mind.learning"),
                learn_until: self.perhaps_span("mind.learn_until"),
                explore_every: self.count("mind.explore_every"),
                sureness: self.number("mind.sureness"),
                samples: self.count("mind.samples"),
                phages: self.flag("mind.phages"),
            },
            stress: self.stress(),
            dream: self.dream(),
            thought: self.thought(),
            mandate: MandateFigures {
                novel: self.count("succession.min_novel_entries"),
                invalidated: self.count("succession.min_invalidated_entries"),
                questions: self.number("succession.min_question_ratio"),
            },
            succession: SuccessionFigures {
                auto: self.flag("succession.auto"),
                budget: self.perhaps_money("succession.budget_usdc"),
                inherit: self.flag("succession.inherit_grimoire"),
                min_divergence: self.number("succession.min_divergence"),
                evidence: self.number("succession.evidence"),
            },
            clade: CladeFigures { share: self.flag("clade.enabled") },
            strategy: StrategyFigures {
                domains: self.names("strategy.domains").unwrap_or_default(),
                hold: self.perhaps_span("strategy.hold"),
                size_bps: Some(self.share("strategy.size")).filter(|size| *size < WHOLE),
                avoid: self.text("strategy.avoid").map(str::to_owned),
            },
            affect: AffectFigures {
                appraisal: match self.text("mortality.affect.appraisal_model") {
                    Some("rule_based") if self.flag("mortality.affect.enabled") => Appraisal::RuleBased,
                    _ => Appraisal::Disabled,
                },
                mood_keep: self.number("mortality.affect.mood_decay_rate"),
            },
            reflex: Reflex {
                noise: self.number("reflex.noise"),
                pull: self.number("reflex.pull"),
                act_every: self.count("reflex.act_every"),
            },
        };
        let mut problems = self.contradictions();
        problems.extend(self.born_dead(&constitution));
        ConfigError::unless_empty(problems)?;
        Ok(constitution)
    }

    fn mode(&self) -> Mode {
        match self.text("mortality.mode") {
            _ if self.flag("mortality.immortal") => Mode::Immortal,
            Some("hosted") => Mode::Hosted,
            Some("self_hosted") => Mode::SelfHosted,
            Some("immortal") => Mode::Immortal,
            other => unreachable!("the table offers no mode {other:?}"),
        }
    }

    fn vitality(&self) -> VitalityFigures {
        let figure = |name: &str| self.number(&format!("mortality.vitality.{name}"));
        VitalityFigures {
            economic_center: figure("economic_center"),
            economic_steepness: figure("economic_steepness"),
            epistemic_center: figure("epistemic_center"),
            epistemic_steepness: figure("epistemic_steepness"),
            age_drag: figure("age_drag"),
            hysteresis: figure("hysteresis"),
            lifespan: self.span("mortality.lifespan"),
        }
    }

    fn economic(&self) -> EconomicFigures {
        EconomicFigures {
            reserve_floor: self.money("mortality.economic.death_reserve_floor_usdc"),
            reserve_bps: self.share("mortality.economic.reserve_share"),
            critical: self.number("mortality.economic.conservation_threshold"),
            per_action: self.money("mortality.economic.per_action"),
            harvest_bps: self.share("funds.harvest"),
            machine_per_day: self.money("mortality.economic.machine_per_day"),
            monthly_allowance: self.money("mortality.economic.monthly_allowance"),
        }
    }

    fn epistemic(&self) -> EpistemicFigures {
        EpistemicFigures {
            measure: match self.text("mortality.epistemic.measure") {
                Some("skill") => Measure::Skill,
                Some("r2") => Measure::R2,
                other => unreachable!("the table offers no measure {other:?}"),
            },
            window: self.count("mortality.epistemic.fitness_window"),
            warning: self.number("mortality.epistemic.warning"),
            senescence: self.number("mortality.epistemic.senescence_threshold"),
            recovery: self.number("mortality.epistemic.recovery_threshold"),
            grace: self.count("mortality.epistemic.recovery_grace_period"),
            senescent: self.count("mortality.epistemic.senescent_period"),
        }
    }

    fn stochastic(&self) -> StochasticFigures {
        let figure = |name: &str| self.number(&format!("mortality.stochastic.{name}"));
        StochasticFigures {
            base_hazard: figure("base_hazard_rate"),
            aging_hazard: figure("aging_hazard"),
            aging_rate: figure("aging_rate"),
            max_hazard: figure("max_hazard_rate"),
            frailty: figure("frailty"),
        }
    }

    fn thought(&self) -> ThoughtFigures {
        let model = |tier: &str| self.text(&format!("mind.{tier}")).map(str::to_owned);
        let most = |tier: &str| self.money(&format!("thought.{tier}_max"));
        let tiers = ["cheap", "middle", "strong"];
        ThoughtFigures {
            models: tiers.map(model),
            per_call: tiers.map(most),
            a_day: self.money("thought.daily_max"),
            a_month: self.money("thought.monthly_max"),
            most_asking: self.number("thought.most_asking"),
            bits_per_dollar: self.number("thought.bits_per_dollar"),
            patience: self.span("thought.patience"),
        }
    }

    /// The owner's prices, by model, for models that the book does not know or has wrong.
    pub fn prices(&self) -> Result<BTreeMap<String, Price>, tariff::Error> {
        let mut prices = BTreeMap::new();
        for price in self.names("models.prices").unwrap_or_default() {
            let (model, price) = price.rsplit_once('=').unwrap_or((&price, ""));
            prices.insert(Named::parse(model)?.name, Price::parse(price)?);
        }
        Ok(prices)
    }

    fn dream(&self) -> DreamFigures {
        DreamFigures {
            enabled: self.perhaps_flag("dream.enabled").unwrap_or(self.text("dream.tier") != Some("hardened")),
            tier: match self.text("dream.tier") {
                Some("hardened") => DreamTier::Hardened,
                _ => DreamTier::Core,
            },
            schedule: match self.text("dream.schedule.mode") {
                Some("owner") => DreamSchedule::Owner,
                Some("autonomous") => DreamSchedule::Autonomous,
                _ => DreamSchedule::Hybrid,
            },
            threshold: self.number("dream.schedule.autonomous_threshold"),
            per_cycle_most: self.money("dream.budget.per_cycle_max"),
            monthly_most: self.money("dream.budget.monthly_max"),
            wake_move_bps: self.share("dream.wake_interrupts.world_move"),
            windows: super::windows::read(self.text("dream.windows.windows").unwrap_or_default()).expect("read before"),
            method: match self.text("dream.method") {
                Some("random") => DreamMethod::Random,
                _ => DreamMethod::Careful,
            },
            per_session_most: self.money("dream.budget.per_session_max"),
            wakes: self.flag("dream.wake_interrupts.enabled"),
            split: SPLIT.map(|path| self.perhaps_number(path)),
            replay_order: match self.text("dream.replay.prioritization") {
                Some("recency") => ReplayOrder::Recency,
                Some("surprise") => ReplayOrder::Surprise,
                Some("uniform") => ReplayOrder::Uniform,
                _ => ReplayOrder::Utility,
            },
            disturbed: self.number("dream.replay.perturbation_rate"),
            most: Intensity {
                batch: self.count("dream.replay.batch_size"),
                depth: self.count("dream.imagination.counterfactual_depth"),
                sessions: self.count("dream.imagination.creative_sessions"),
                threats: self.count("dream.imagination.threat_scenarios"),
                temperature: self.number("dream.imagination.exploration_temperature"),
            },
            hypothesis: self.number("dream.consolidation.hypothesis_confidence"),
            insight: self.number("dream.consolidation.insight_confidence"),
            staged_most: self.count("dream.consolidation.max_staged_revisions"),
            model: self.text("dream.inference_provider").map(str::to_owned),
        }
    }

    fn stress(&self) -> StressFigures {
        let rate = |name: &str| self.number(&format!("stress.escalation_rates.{name}"));
        StressFigures {
            mode: match self.text("stress.mode") {
                Some("enforced") => StressMode::Enforced,
                Some("visible") => StressMode::Visible,
                Some("off") => StressMode::Off,
                other => unreachable!("the table offers no mode {other:?}"),
            },
            rates: stress::Rates::each(|kind| rate(kind.name())),
            named_rate: rate("named"),
            most: self.count("stress.max_stressors"),
            objectives: self.names("stress.objectives").unwrap_or_default(),
        }
    }

    pub fn policy(&self) -> PolicyFigures {
        PolicyFigures {
            per_action_bps: self.share("policy.per_action"),
            max_drawdown_bps: self.share("policy.max_drawdown"),
            on_death: match self.text("policy.on_death") {
                Some("close") => OnDeath::Close,
                Some("hold") => OnDeath::Hold,
                Some("hand_over") => OnDeath::HandOver,
                other => unreachable!("the table offers no {other:?} on death"),
            },
            per_action_most: self.money("policy.per_transaction"),
            per_day_most: self.money("policy.per_day"),
            actions_per_day: self.count("policy.rebalances_per_day"),
            stop_bps: self.share("policy.stop"),
            allow: self.names("policy.allow"),
            approve_above: self.perhaps_money("policy.approve_above"),
            approve_within: self.span("policy.approve_within"),
            slippage_bps: self.share("policy.slippage"),
            call_most: self.perhaps_money("policy.call_max"),
            calls_hour: self.perhaps_money("policy.calls_per_hour"),
            calls_day: self.perhaps_money("policy.calls_per_day"),
            calls_month: self.perhaps_money("policy.calls_per_month"),
            caps: self.caps(),
            imputed: self.flag("policy.imputed"),
            calls_at_once: self.count("policy.calls_at_once"),
            calls_alike: self.count("policy.calls_alike"),
            calls_fan: self.count("policy.calls_fan"),
            calls_leap: self.count("policy.calls_leap"),
        }
    }

    fn caps(&self) -> Caps {
        let counted = |path: &str| self.perhaps_integer(path).and_then(|n| u64::try_from(n).ok());
        Caps {
            tokens: counted("policy.cap.tokens"),
            tokens_day: counted("policy.cap.tokens_per_day"),
            calls: counted("policy.cap.calls"),
            calls_day: counted("policy.cap.calls_per_day"),
            time: self.perhaps_span("policy.cap.time"),
            time_day: self.perhaps_span("policy.cap.time_per_day"),
        }
    }

    fn names(&self, path: &str) -> Option<Vec<String>> {
        self.text(path).map(|names| names.split(',').map(|name| name.trim().to_owned()).collect())
    }

    pub fn count(&self, path: &str) -> u32 {
        u32::try_from(self.integer(path)).expect("the table keeps counts small")
    }

    fn contradictions(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        if self.flag("mortality.immortal") && self.text("mortality.mode") == Some("hosted") {
            let message = "'mortality.immortal' is for self-hosted golems only; \
                set mortality.mode = \"self_hosted\", or leave mortality.immortal out";
            problems.push(self.problem(&["mortality.immortal"], message.to_owned()));
        }

        let (interval, bar) = (self.span("heartbeat.interval"), self.span("world.bar"));
        if !interval.as_millis().is_multiple_of(bar.as_millis()) {
            let (interval, bar) = (write_span(interval), write_span(bar));
            let message = format!(
                "'heartbeat.interval' is {interval}, which is no whole number of bars of {bar} (world.bar); \
                 leave heartbeat.interval out to look once a bar, or make it a multiple of {bar}"
            );
            problems.push(self.problem(&["heartbeat.interval", "world.bar"], message));
        }

        for tier in ["mind.cheap", "mind.middle", "mind.strong", "dream.inference_provider"] {
            if let Some(Err(why)) = self.text(tier).map(Named::parse) {
                problems.push(self.problem(&[tier], format!("'{tier}': {why}")));
            }
        }

        if self.text("world.kind") == Some("replay") && self.text("world.data").is_none() {
            let message = "a replay needs 'world.data', the name of imported data; `bardo data list` shows them";
            problems.push(self.problem(&["world.kind"], message.to_owned()));
        }

        let flips = self.text("world.kind") == Some("sim") && self.perhaps_number("world.flip_days").is_some();
        if flips && self.number("world.relations_change_days") > 0.0 {
            let message = "'world.flip_days' is for a market in which nothing else changes; \
                leave it or world.relations_change_days out";
            problems.push(self.problem(&["world.flip_days"], message.to_owned()));
        }

        if self.text("world.kind") == Some("fair") && self.perhaps_integer("world.edge_bps").is_some_and(|bps| bps > 0)
        {
            let message = "a fair market has no edge; leave 'world.edge_bps' out, or set world.kind = \"edge\"";
            problems.push(self.problem(&["world.edge_bps", "world.kind"], message.to_owned()));
        }

        for (upper, lower, strictly) in [
            ("mortality.epistemic.recovery_threshold", "mortality.epistemic.senescence_threshold", true),
            ("mortality.epistemic.warning", "mortality.epistemic.senescence_threshold", false),
            ("mortality.stochastic.max_hazard_rate", "mortality.stochastic.base_hazard_rate", false),
        ] {
            let (high, low) = (self.number(upper), self.number(lower));
            if high < low || (strictly && high == low) {
                let must = if strictly { "must be above" } else { "must not be below" };
                let message =
                    format!("'{upper}' is {high:?} and {must} '{lower}', {low:?}; raise one or lower the other");
                problems.push(self.problem(&[upper, lower], message));
            }
        }
        problems
    }

    /// A golem whose purse holds no more than its reserve would die on its first tick.
    fn born_dead(&self, constitution: &Constitution) -> Option<Problem> {
        let credit = self.money("funds.credit");
        let figures = &constitution.economic;
        let reserve = figures.reserve_floor.max(credit.share(i64::from(figures.reserve_bps), 10_000));
        if !constitution.clocks().economic || credit > reserve {
            return None;
        }
        let funds = if credit == Usdc::ZERO { "nothing".to_owned() } else { credit.to_string() };
        let message = format!(
            "'funds.credit' is {funds}, no more than the {reserve} kept back for dying; \
             give it more than that to live on, or lower mortality.economic.death_reserve_floor_usdc"
        );
        Some(self.problem(&["funds.credit", "mortality.economic.death_reserve_floor_usdc"], message))
    }

    /// A problem placed at the first of these keys that was set by hand.
    fn problem(&self, paths: &[&str], message: String) -> Problem {
        let set = paths.iter().map(|path| self.origin(path)).find(|origin| !matches!(origin, Origin::Default));
        Problem::new(set.unwrap_or(&Origin::Default).to_string(), message)
    }
}
