//! `golem new` without a name: asks for everything, says in a line what each answer means, what the golem will cost and how
//! long that lasts, and which command would have done the same.

use std::io::{BufRead, IsTerminal};

use golem::Usdc;
use shell::life::questionnaire::{Care, Choice, Choices, Form};
use shell::{Error, Home, Living, Runtime};

use crate::named;
use crate::output::{self, line, plain};

/// The next command for a newborn; none where a host is up that runs it.
pub(crate) fn next(home: &Home, newborn: &Living) -> String {
    let name = &newborn.life().birth().name;
    if home.is_up() {
        format!("the host that is up runs it; see bardo golem show {name}")
    } else if newborn.watches().is_some() {
        // The present comes as fast as it comes.
        format!("next: bardo golem run {name}")
    } else {
        format!("next: bardo golem run {name} --speed max")
    }
}

/// The newborn, or nothing if its owner thought better of it.
pub(crate) fn ask(home: &Home, json: bool) -> Result<Option<Living>, Error> {
    if json || !std::io::stdin().is_terminal() {
        return Err(Error::Usage(
            "a golem needs a name: bardo golem new NAME (on a terminal, without one, you are asked)".into(),
        ));
    }
    interview(home.require()?, &mut std::io::stdin().lock())
}

fn interview(home: &Home, from: &mut dyn BufRead) -> Result<Option<Living>, Error> {
    let Choices { mut form, worlds, care, left, treasury } = Choices::of(home)?;
    line(format!(
        "A new golem. All money is paper; there is {treasury} in the treasury. Enter takes what stands in brackets."
    ));
    line("");
    let mut ask = |question: &str, default: &str| -> Result<String, Error> { answer(from, question, default) };
    form.name = ask("What is it called?", &form.name)?;
    line("");
    line("Its world is what it watches, makes claims about and acts in.");
    form.world = one_of(&mut ask, "Which world?", &worlds, &form.world)?;
    line("");
    line(
        "Without a model it acts by rules that learn, which cost nothing. With one, such as ollama/qwen3, it may ask that too.",
    );
    form.model = ask("Which model?", "none")?;
    if form.model == "none" {
        form.model.clear();
    }
    line("");
    line("Thinking and acting are paid from what it lives on; when that is gone, so is the golem.");
    form.credit = money(&mut ask, "How much to live on?", form.credit)?;
    form.pays = yes(&mut ask, "Does it pay for its machine from that, too?", form.pays)?;
    form.capital = money(&mut ask, "How much to act with?", form.capital)?;
    line("");
    let named = one_of(&mut ask, "How careful is it with that?", &care, form.care.name())?;
    form.care = Care::ALL.into_iter().find(|care| care.name() == named).unwrap_or_default();
    if !left.is_empty() {
        line("");
        line("It can begin with what a dead golem left, which it tries before it believes it.");
        let none = Choice { value: "none".into(), says: "it begins with what every golem is born with".into() };
        let all: Vec<Choice> = std::iter::once(none).chain(left).collect();
        form.from = one_of(&mut ask, "Whose?", &all, "none")?;
        if form.from == "none" {
            form.from.clear();
        }
    }
    line("");
    confirm(home, &form, &mut ask)
}

fn confirm(
    home: &Home,
    form: &Form,
    ask: &mut dyn FnMut(&str, &str) -> Result<String, Error>,
) -> Result<Option<Living>, Error> {
    let quote = form.quote(home)?;
    quote.says.iter().for_each(|text| line(format!("  {text}")));
    line("");
    line("The same without being asked:");
    line(format!("  {}", quote.command));
    line("");
    if !yes(ask, "Bring it into the world?", true)? {
        line("no golem was made");
        return Ok(None);
    }
    if !form.from.is_empty() {
        named::golem(home, &form.from)?;
    }
    form.bear(&Runtime::of(home)).map(Some)
}

/// A typed line, or the default. The end of input cancels.
fn answer(from: &mut dyn BufRead, question: &str, default: &str) -> Result<String, Error> {
    output::ask(format!("{question} [{default}] "));
    let mut text = String::new();
    let read =
        from.read_line(&mut text).map_err(|why| Error::Host(format!("cannot read from this terminal: {why}")))?;
    if read == 0 {
        return Err(Error::Usage("there was no answer, so no golem was made".into()));
    }
    let text = text.trim();
    Ok(if text.is_empty() { default.to_owned() } else { text.to_owned() })
}

type Asking<'a> = &'a mut dyn FnMut(&str, &str) -> Result<String, Error>;

/// One of these, by its name or its number.
fn one_of(ask: Asking<'_>, question: &str, choices: &[Choice], default: &str) -> Result<String, Error> {
    for (at, choice) in choices.iter().enumerate() {
        line(format!("  {} {:<12} {}", at + 1, choice.value, choice.says));
    }
    loop {
        let said = ask(question, default)?;
        let by_number = said.parse::<usize>().ok().and_then(|at| choices.get(at.checked_sub(1)?));
        match choices.iter().find(|choice| choice.value == said).or(by_number) {
            Some(choice) => return Ok(choice.value.clone()),
            None => line(format!("  {said:?} is not one of these")),
        }
    }
}

fn money(ask: Asking<'_>, question: &str, default: Usdc) -> Result<Usdc, Error> {
    loop {
        let said = ask(question, &plain(default))?;
        match said.trim_start_matches('$').parse() {
            Ok(amount) => return Ok(amount),
            Err(why) => line(format!("  {why}")),
        }
    }
}

fn yes(ask: Asking<'_>, question: &str, default: bool) -> Result<bool, Error> {
    loop {
        match ask(question, if default { "yes" } else { "no" })?.to_lowercase().as_str() {
            "y" | "yes" => return Ok(true),
            "n" | "no" => return Ok(false),
            other => line(format!("  {other:?} is neither yes nor no")),
        }
    }
}
