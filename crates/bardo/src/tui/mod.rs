//! `tui`: a host that is up, on screen. What is shown is `App`; `update` changes it, `view` draws it, and neither
//! knows of the other. Everything comes from the host's API: this could run on another machine.

mod app;
mod keys;
mod link;
mod look;
mod screens;
#[cfg(test)]
mod tests;
mod told;
mod update;
mod wizard;

use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use ratatui::DefaultTerminal;
use ratatui::crossterm::event as terminal;
use shell::{Error, Home};

use crate::args::TuiArgs;
use crate::exit;
use app::{App, Event};
use link::Link;
use update::update;

/// How often the host is asked for what it does not tell by itself.
const BEAT: Duration = Duration::from_secs(1);
/// At most so often is the screen drawn, however much happens.
const FRAME: Duration = Duration::from_millis(50);

pub(crate) fn tui(home: &Home, args: &TuiArgs, json: bool) -> Result<ExitCode, Error> {
    if json || !std::io::stdout().is_terminal() {
        crate::output::complain(
            "screens need a terminal; `bardo golem list` and `show` print the same, also as --json",
        );
        return Ok(ExitCode::from(exit::USAGE));
    }
    let settings = home.settings()?;
    let address = args.listen.clone().or_else(|| settings.text("api.listen").map(str::to_owned)).unwrap_or_default();
    if address.is_empty() {
        return Err(Error::Usage("api.listen is empty; say where the host listens with --listen ADDRESS".into()));
    }
    // https://no-color.org: set to anything but nothing.
    let colours = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let app = App::new(address.clone(), args.name.clone(), colours);
    let (events, coming) = channel();
    let link = Link::open(address, home.token(), events.clone())
        .map_err(|e| Error::Host(format!("cannot speak HTTP: {e}")))?;
    let cannot = |e: std::io::Error| Error::Host(format!("cannot use this terminal: {e}"));
    let mut screen = ratatui::try_init().map_err(cannot)?;
    thread::spawn(move || listen_to_keys(&events));
    let done = run(app, &link, &coming, &mut screen);
    ratatui::restore();
    done.map_err(cannot)?;
    Ok(ExitCode::SUCCESS)
}

fn listen_to_keys(events: &Sender<Event>) {
    while let Ok(happened) = terminal::read() {
        let event = match happened {
            terminal::Event::Key(key) => Event::Key(key),
            terminal::Event::Resize(width, height) => Event::Resized(width, height),
            _ => continue,
        };
        if events.send(event).is_err() {
            return;
        }
    }
}

fn run(mut app: App, link: &Link, coming: &Receiver<Event>, screen: &mut DefaultTerminal) -> std::io::Result<()> {
    let (mut beat, size) = (Instant::now(), screen.size()?);
    update(&mut app, Event::Resized(size.width, size.height));
    update(&mut app, Event::Beat).into_iter().for_each(|ask| link.ask(ask));
    while !app.quit {
        screen.draw(|frame| screens::view(&app, frame))?;
        let drawn = Instant::now();
        // Whatever comes until the next frame is taken in together.
        let mut wait = BEAT.saturating_sub(beat.elapsed());
        loop {
            match coming.recv_timeout(wait) {
                Ok(event) => update(&mut app, event).into_iter().for_each(|ask| link.ask(ask)),
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            wait = FRAME.saturating_sub(drawn.elapsed());
            if wait.is_zero() {
                break;
            }
        }
        if beat.elapsed() >= BEAT {
            beat = Instant::now();
            update(&mut app, Event::Beat).into_iter().for_each(|ask| link.ask(ask));
        }
    }
    Ok(())
}
