//! The provider that bills, as a program: real clients are pointed at it by hand or by a script, and what they cost stands
//! in its ledger.

use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;

use serde_json::Value;
use testing::billing::{Double, Habit, HangUp, Part, Plays, Prices, Setting, Tokeniser, Turn, always, turns};

const USAGE: &str = "usage: provider [--port N] [--ledger FILE] [--prices NAME=IN/OUT[/READ[/WRITE5M[/WRITE1H]]]
                [@TOKENS:IN/OUT…][+writes],…] [--tokeniser o200k|quarter|byte] [--script FILE] [--longest TOKENS]
                [--pace TOKENS_A_SECOND] [--goes-on]

Prices are in dollars for a million tokens; without any, every model costs 3/15. A script is a JSON list of turns, a turn a
list of {\"text\": …}, {\"words\": N}, {\"think\": N, \"shown\": \"whole|summary|not\"}, {\"tool\": NAME, \"input\": …} and
{\"search\": N}; the nth is said where the model has spoken n times before. --goes-on bills the longest answer to whoever
hangs up.";

fn main() -> ExitCode {
    match setting(std::env::args().skip(1)).and_then(|setting| Double::start(setting).map_err(|why| why.to_string())) {
        Ok(double) => {
            println!("{}", double.url);
            loop {
                thread::park();
            }
        }
        Err(why) => {
            eprintln!("{why}\n\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn setting(mut args: impl Iterator<Item = String>) -> Result<Setting, String> {
    let mut setting = Setting::new(Prices::parse("*=3/15")?, always(Turn::default(), Habit::HONEST));
    let (mut script, mut habit) = (None, Habit::HONEST);
    while let Some(name) = args.next() {
        if name == "--goes-on" {
            habit.hang_up = HangUp::GoesOn;
            continue;
        }
        let value = args.next().ok_or_else(|| format!("{name} wants a value"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("{name} wants a number"));
        match name.as_str() {
            "--port" => setting.address = format!("127.0.0.1:{}", number()?),
            "--ledger" => setting.ledger = Some(PathBuf::from(&value)),
            "--prices" => setting.prices = Prices::parse(&value)?,
            "--tokeniser" => setting.tokeniser = Tokeniser::named(&value).ok_or("o200k, quarter or byte")?,
            "--script" => script = Some(read(&value)?),
            "--longest" => setting.longest = number()?,
            "--pace" => habit.pace = Some(number()?.max(1)),
            _ => return Err(format!("there is no {name}")),
        }
    }
    setting.plays = plays(script, habit);
    Ok(setting)
}

fn plays(script: Option<Vec<Turn>>, habit: Habit) -> Box<Plays> {
    match script {
        Some(script) => turns(script, habit),
        None => always(Turn::text("All is well.").then(Part::Search(0)), habit),
    }
}

fn read(file: &str) -> Result<Vec<Turn>, String> {
    let text = std::fs::read_to_string(file).map_err(|why| format!("{file}: {why}"))?;
    let script: Value = serde_json::from_str(&text).map_err(|why| format!("{file}: {why}"))?;
    script.as_array().ok_or("a script is a list of turns")?.iter().map(Turn::parse).collect()
}
