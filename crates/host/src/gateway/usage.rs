//! What a call used, as whoever answered counted it; and what that costs.

use mind::Price;
use serde_json::Value;

use super::shape::Protocol;

/// Tokens, by what each kind costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) input: u64,
    pub(super) output: u64,
    /// Read from a cache, at a tenth of the price; only where that is so for every model of a protocol.
    pub(super) read: u64,
    /// Written to one for five minutes, at five quarters, and for an hour, at twice the price.
    pub(super) wrote: u64,
    pub(super) wrote_long: u64,
}

impl Usage {
    /// In an answer that has come whole; nothing, if it does not say.
    pub(super) fn of(answer: &Value, protocol: Protocol) -> Option<Usage> {
        let usage = answer.get("usage").filter(|usage| usage.is_object())?;
        let count = |name: &str| usage.get(name).and_then(Value::as_u64);
        match protocol {
            Protocol::Chat => {
                Some(Usage { input: count("prompt_tokens")?, output: count("completion_tokens")?, ..Usage::default() })
            }
            Protocol::Embeddings => Some(Usage { input: count("prompt_tokens")?, ..Usage::default() }),
            Protocol::Responses => {
                Some(Usage { input: count("input_tokens")?, output: count("output_tokens")?, ..Usage::default() })
            }
            Protocol::Messages => {
                let mut known = Usage { output: count("output_tokens")?, ..Usage::default() };
                known.heed(usage);
                Some(known)
            }
        }
    }

    /// What goes in, as messages count it.
    fn heed(&mut self, usage: &Value) {
        let count = |name: &str| usage.get(name).and_then(Value::as_u64);
        if let Some(input) = count("input_tokens") {
            self.input = input;
        }
        if let Some(read) = count("cache_read_input_tokens") {
            self.read = read;
        }
        if let Some(wrote) = count("cache_creation_input_tokens") {
            let long = usage.pointer("/cache_creation/ephemeral_1h_input_tokens").and_then(Value::as_u64).unwrap_or(0);
            (self.wrote, self.wrote_long) = (wrote.saturating_sub(long), long.min(wrote));
        }
    }

    /// From one event of a stream, on top of what earlier ones said.
    pub(super) fn hear(known: Option<Usage>, event: &Value, protocol: Protocol) -> Option<Usage> {
        let told = match protocol {
            Protocol::Chat | Protocol::Embeddings => Usage::of(event, protocol),
            Protocol::Responses => event.get("response").and_then(|answer| Usage::of(answer, protocol)),
            Protocol::Messages => event.pointer("/message/usage").or_else(|| event.get("usage")).map(|usage| {
                let mut sum = known.unwrap_or_default();
                sum.heed(usage);
                // Counted up to here, each time.
                sum.output = usage.get("output_tokens").and_then(Value::as_u64).unwrap_or(sum.output);
                sum
            }),
        };
        told.or(known)
    }

    pub(super) fn all_input(&self) -> u64 {
        self.input.saturating_add(self.read).saturating_add(self.wrote).saturating_add(self.wrote_long)
    }

    /// Micro-dollars, whole and never too few.
    pub(super) fn costs(&self, price: Price) -> u64 {
        // In hundredths of a token.
        let each = |tokens: u64, hundredths: u128| u128::from(tokens) * hundredths;
        let input = each(self.input, 100) + each(self.read, 10) + each(self.wrote, 125) + each(self.wrote_long, 200);
        let sum = u128::from(price.input).saturating_mul(input)
            + u128::from(price.output).saturating_mul(each(self.output, 100));
        u64::try_from(sum.div_ceil(100_000_000)).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_used_is_found_where_each_protocol_says_it() {
        let chat = json!({ "usage": { "prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10 } });
        assert_eq!(Usage::of(&chat, Protocol::Chat), Some(Usage { input: 7, output: 3, ..Usage::default() }));
        assert_eq!(Usage::of(&json!({ "usage": null }), Protocol::Chat), None);
        assert_eq!(
            Usage::of(&json!({ "usage": { "prompt_tokens": -1, "completion_tokens": 3 } }), Protocol::Chat),
            None
        );
        let start = json!({ "type": "message_start", "message": { "usage": {
            "input_tokens": 5, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 30,
            "cache_creation": { "ephemeral_1h_input_tokens": 10 }, "output_tokens": 1 } } });
        let delta = json!({ "type": "message_delta", "usage": { "output_tokens": 40 } });
        let known = Usage::hear(None, &start, Protocol::Messages);
        let known = Usage::hear(known, &json!({ "type": "ping" }), Protocol::Messages);
        let known = Usage::hear(known, &delta, Protocol::Messages).unwrap();
        assert_eq!(known, Usage { input: 5, output: 40, read: 100, wrote: 20, wrote_long: 10 });
        let done =
            json!({ "type": "response.completed", "response": { "usage": { "input_tokens": 4, "output_tokens": 2 } } });
        assert_eq!(Usage::hear(None, &done, Protocol::Responses).unwrap().output, 2);
    }

    #[test]
    fn a_cache_costs_what_it_costs() {
        let price = Price::parse("3/15").unwrap();
        let usage = Usage { input: 1_000, output: 100, read: 10_000, wrote: 800, wrote_long: 500 };
        // 3.00 + 1.50 + 3.00 + 3.00 + 3.00 thousandths of a dollar.
        assert_eq!(usage.costs(price), 3_000 + 1_500 + 3_000 + 3_000 + 3_000);
        assert_eq!(Usage { input: 1, ..Usage::default() }.costs(price), 3);
        assert_eq!(Usage { input: u64::MAX, output: u64::MAX, ..usage }.costs(price), u64::MAX);
    }
}
