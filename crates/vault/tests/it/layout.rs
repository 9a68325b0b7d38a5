//! A journal describes itself: with the layout it carries, and nothing else of this program, its records
//! can be read. And what was released stays as it is.

use golem::Birth;
use golem::constitution::Constitution;
use golem::world::{Bar, DomainSpec, Manifest, Observation, Timing};
use golem::{Golem, GolemId, Input, Record, Span, Time, Usdc, What, laws};
use serde_json::{Value, json};

/// Reads bytes by a layout of names and types. Knows the encoding's four rules (varints, zigzag, length
/// prefixes, variants by number) and nothing about golems.
struct Stranger<'a> {
    layout: &'a Value,
    bytes: &'a [u8],
}

impl Stranger<'_> {
    fn take(&mut self, n: usize) -> Vec<u8> {
        let (taken, rest) = self.bytes.split_at(n);
        self.bytes = rest;
        taken.to_vec()
    }

    fn varint(&mut self) -> u64 {
        let (mut value, mut shift) = (0_u64, 0);
        loop {
            let byte = self.take(1)[0];
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                return value;
            }
        }
    }

    fn read(&mut self, format: &Value) -> Value {
        if let Some(name) = format.as_str() {
            return match name {
                "BOOL" => json!(self.take(1)[0] == 1),
                "U8" => json!(self.take(1)[0]),
                "U16" | "U32" | "U64" => json!(self.varint()),
                "I64" => {
                    let z = self.varint();
                    json!(((z >> 1) as i64) ^ -((z & 1) as i64))
                }
                "F32" => json!(f32::from_le_bytes(self.take(4).try_into().unwrap())),
                "F64" => json!(f64::from_le_bytes(self.take(8).try_into().unwrap())),
                "STR" => {
                    let n = self.varint() as usize;
                    json!(String::from_utf8(self.take(n)).unwrap())
                }
                other => panic!("no rule for {other}"),
            };
        }
        let (kind, inner) = format.as_object().unwrap().iter().next().unwrap();
        match kind.as_str() {
            "TYPENAME" => self.named(inner.as_str().unwrap()),
            "OPTION" => match self.take(1)[0] {
                0 => Value::Null,
                _ => self.read(inner),
            },
            "SEQ" => (0..self.varint()).map(|_| self.read(inner)).collect(),
            "TUPLEARRAY" => {
                let n = inner["SIZE"].as_u64().unwrap();
                (0..n).map(|_| self.read(&inner["CONTENT"])).collect()
            }
            "TUPLE" => inner.as_array().unwrap().iter().map(|f| self.read(f)).collect(),
            other => panic!("no rule for {other}"),
        }
    }

    fn named(&mut self, name: &str) -> Value {
        let container = self.layout[name].clone();
        if let Some(fields) = container.get("STRUCT") {
            return self.fields(fields);
        }
        if let Some(inner) = container.get("NEWTYPESTRUCT") {
            return self.read(inner);
        }
        let variants = container["ENUM"].as_object().unwrap_or_else(|| panic!("{name}: {container}"));
        let variant = &variants[&self.varint().to_string()];
        let (name, shape) = variant.as_object().unwrap().iter().next().unwrap();
        if shape == "UNIT" {
            return json!(name);
        }
        let (kind, inner) = shape.as_object().unwrap().iter().next().unwrap();
        let value = match kind.as_str() {
            "NEWTYPE" => self.read(inner),
            "STRUCT" => self.fields(inner),
            other => panic!("no rule for {other}"),
        };
        json!({ name: value })
    }

    fn fields(&mut self, fields: &Value) -> Value {
        let fields = fields.as_array().unwrap().iter();
        let read = fields.map(|field| {
            let (name, format) = field.as_object().unwrap().iter().next().unwrap();
            (name.clone(), self.read(format))
        });
        Value::Object(read.collect())
    }
}

/// The birth and forty ticks of a small life.
fn records() -> Vec<Record> {
    let birth = Birth {
        id: GolemId([3; 16]),
        name: "ada".parse().unwrap(),
        generation: 0,
        laws: laws::NEWEST,
        secret_hash: [1; 32],
        seeded: true,
        constitution: Constitution::bare(),
        world: Manifest {
            world: "hand".into(),
            spec: String::new(),
            bar: Span::seconds(40),
            domains: [DomainSpec { name: "tide".into(), weight: 1.0, ..DomainSpec::default() }].into_iter().collect(),
            features: vec![],
            instincts: vec![],
            actions: [].into_iter().collect(),
            regime: None,
            holding: 0,
            lot: 1,
            unit: "stone".into(),
            data_per_day: Usdc::ZERO,
            timing: Timing::Told,
            paper: true,
        },
        endowment: golem::Endowment::default(),
        lineage: None,
        unfinished: Vec::new(),
    };
    let start = Time::seconds(1_700_000_000);
    let (mut golem, first) = Golem::born(birth, start);
    let mut records = vec![first];
    let mut feed = |golem: &mut Golem, now, roll, what| records.extend(golem.step(&Input { now, roll, what }).unwrap());
    feed(&mut golem, start, 0, What::Funded { transfer: 1, credit: Usdc::dollars(10), capital: Usdc::ZERO });
    for tick in 1..=40_u64 {
        let now = start + Span::seconds(40 * tick);
        let value = ((tick * 37) % 11) as f64 / 3.0;
        let bar = Bar {
            closed: now,
            values: [value].into_iter().collect(),
            features: [].into_iter().collect(),
            unit: Usdc::ZERO,
        };
        feed(&mut golem, now, u64::MAX - tick, What::Observed(Observation { bars: vec![bar] }));
    }
    records
}

#[test]
fn a_stranger_can_read_a_record_with_the_layout_alone() {
    let layout: Value = serde_json::from_str(&vault::codec::layout()).unwrap();
    for record in records() {
        let bytes = vault::codec::encode(&record, None);
        let mut stranger = Stranger { layout: &layout, bytes: &bytes };
        let read = stranger.named("Body");
        assert!(stranger.bytes.is_empty(), "every byte is accounted for");
        assert_eq!(read["version"], json!(1));
        let expected = serde_json::to_value(&record).unwrap();
        assert_eq!(read["at"], expected["at"]);
        let mut events = read["events"].clone();
        // Births are text in a form of their own.
        if let Some(Value::String(birth)) = events[0].get("Born") {
            events[0] = json!({ "Born": serde_json::from_str::<Value>(birth).unwrap() });
        }
        assert_eq!(events, expected["events"], "record {}", record.seq);
    }
}

#[test]
fn the_layout_of_released_records_is_frozen() {
    // A changed layout means that old journals would be misread. Add new events at the end, keep the old
    // ones as they are, and only then replace this hash.
    let layout = vault::codec::layout();
    assert_eq!(blake3::hash(layout.as_bytes()).to_hex()[..16], *"f502932b7360e016");
}

#[test]
fn records_survive_being_written_and_nothing_else_is_read_as_one() {
    for record in records() {
        let bytes = vault::codec::encode(&record, None);
        let (again, state) = vault::codec::decode(record.seq, &bytes).unwrap();
        assert_eq!((again, state), (record, None));
        assert!(vault::codec::decode(1, &bytes[..bytes.len() - 1]).is_err(), "cut short");
        assert!(vault::codec::decode(1, &[&bytes[..], b"x"].concat()).is_err(), "too long");
    }
    assert!(vault::codec::decode(1, &[]).is_err() && vault::codec::decode(1, &[99]).is_err());
}

#[test]
fn the_largest_life_stays_within_its_bound() {
    let mut golem = Golem::reborn(&records()[0]).unwrap();
    for record in &records()[1..] {
        golem.fold(record).unwrap();
    }
    let bytes = vault::codec::encode_life(golem.life()).len();
    // Every bounded list at its bound: pairs in every domain, claims, flights, deposits, commands; and questions, with
    // whatever words there are about them.
    use golem::limits::{CLAIMS, COMMANDS, DEPOSITS, DOMAINS, FEATURES, FLIGHTS, PAIRS, QUESTIONS, STRATEGY, THOUGHTS};
    use golem::thought::{FRAGMENTS, NOTE, PROSE, TOLD};
    let letters = 3 * STRATEGY + (TOLD + 1) * PROSE + (FRAGMENTS + QUESTIONS) * NOTE;
    let thoughts = THOUGHTS * (4 * FEATURES + 8 * DOMAINS + 100) + 4 * letters;
    let lists = DOMAINS * (PAIRS * 16 + 50) + CLAIMS * 40 + FLIGHTS * 80 + DEPOSITS * 20 + COMMANDS * 9;
    let worst = bytes + lists + thoughts + 4_096;
    assert!(worst < golem::limits::LIFE_BYTES, "{bytes} now, {worst} at worst");
}
