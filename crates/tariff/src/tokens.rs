//! The usage of a call, as the provider counted it. Of two ways to read a count the dearer one is taken.

use serde_json::Value;

/// Tokens of a call, by the kinds that have prices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Input that is neither read from a cache nor written to one.
    pub input: u64,
    pub output: u64,
    /// Input read from a cache.
    pub cached: u64,
    /// Input written to a cache for some minutes; `write_1h` for an hour or longer.
    pub write_5m: u64,
    pub write_1h: u64,
    /// Reasoning tokens, a part of the output and priced like it.
    pub thought: u64,
}

impl Tokens {
    /// Reads usage as OpenAI and nearly all other providers count: cached tokens are part of the input, which has the
    /// first of these names, and the output the second. `None` if the counts are not whole numbers.
    pub fn in_parts(usage: &Value, [input, output_name]: [&str; 2]) -> Option<Tokens> {
        let count = |name: &str| usage.get(name).and_then(Value::as_u64);
        let (all, said) = (count(input)?, count(output_name)?);
        let detail = |name: &str| usage.pointer(&format!("/{input}_details/{name}")).and_then(Value::as_u64);
        let cached = detail("cached_tokens").or_else(|| count("prompt_cache_hit_tokens")).unwrap_or(0);
        // No more than the whole input can have come from a cache or gone into one.
        let write_5m = detail("cache_write_tokens").unwrap_or(0).min(all);
        let cached = cached.min(all - write_5m);
        // Some providers leave reasoning out of the answer's count, and have it in the total.
        let output = count("total_tokens").map_or(said, |total| said.max(total.saturating_sub(all)));
        let thought = usage.pointer(&format!("/{output_name}_details/reasoning_tokens")).and_then(Value::as_u64);
        let thought = thought.unwrap_or(0).max(output - said).min(output);
        Some(Tokens { input: all - cached - write_5m, output, cached, write_5m, write_1h: 0, thought })
    }

    /// Takes in usage as Anthropic counts it: each kind of input by itself. Counts that are absent stay as they were.
    pub fn heed(&mut self, usage: &Value) {
        let count = |name: &str| usage.get(name).and_then(Value::as_u64);
        if let Some(input) = count("input_tokens") {
            self.input = input;
        }
        if let Some(cached) = count("cache_read_input_tokens") {
            self.cached = cached;
        }
        if let Some(written) = count("cache_creation_input_tokens") {
            let long = usage.pointer("/cache_creation/ephemeral_1h_input_tokens").and_then(Value::as_u64).unwrap_or(0);
            (self.write_5m, self.write_1h) = (written.saturating_sub(long), long.min(written));
        }
    }

    /// These tokens with everything written to a cache counted as written for an hour.
    pub fn kept(self) -> Tokens {
        Tokens { write_5m: 0, write_1h: self.write_1h.saturating_add(self.write_5m), ..self }
    }

    pub fn all_input(&self) -> u64 {
        self.input.saturating_add(self.cached).saturating_add(self.write_5m).saturating_add(self.write_1h)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const CHAT: [&str; 2] = ["prompt_tokens", "completion_tokens"];

    #[test]
    fn what_was_cached_is_part_of_what_went_in() {
        let usage = json!({ "prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107,
            "prompt_tokens_details": { "cached_tokens": 60, "cache_write_tokens": 30 } });
        let tokens = Tokens::in_parts(&usage, CHAT).unwrap();
        assert_eq!(tokens, Tokens { input: 10, output: 7, cached: 60, write_5m: 30, ..Tokens::default() });
        assert_eq!((tokens.all_input(), tokens.kept().write_1h), (100, 30));
        let hit = json!({ "prompt_tokens": 100, "completion_tokens": 7, "prompt_cache_hit_tokens": 64 });
        assert_eq!(Tokens::in_parts(&hit, CHAT).unwrap().cached, 64);
    }

    #[test]
    fn a_server_cannot_make_a_call_cheaper_than_it_is() {
        let more = json!({ "prompt_tokens": 100, "completion_tokens": 7,
            "prompt_tokens_details": { "cached_tokens": 900, "cache_write_tokens": 30 } });
        let tokens = Tokens::in_parts(&more, CHAT).unwrap();
        assert_eq!((tokens.all_input(), tokens.write_5m, tokens.cached), (100, 30, 70));
        // Reasoning that stands only in the total is paid as well.
        let thought = json!({ "prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 400 });
        let thought = Tokens::in_parts(&thought, CHAT).unwrap();
        assert_eq!((thought.output, thought.thought), (300, 293));
        for none in [json!({ "prompt_tokens": 1 }), json!({ "prompt_tokens": -1, "completion_tokens": 1 }), json!(null)]
        {
            assert_eq!(Tokens::in_parts(&none, CHAT), None, "{none}");
        }
    }
}
