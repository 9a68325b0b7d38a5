//! Screens as they are drawn, compared with what was read and accepted (`accepted/*.txt`), at three sizes. The golems
//! are real ones of a seeded home (`samples/*.json`, made by `.ci/samples`). `BARDO_WRITE_SCREENS=1` writes them again:
//! read every one of them before you keep it.

mod ends;

use std::fs;
use std::path::PathBuf;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::Color;
use serde::de::DeserializeOwned;

use super::app::{App, Event, HostLink, Screen};
use super::screens::view;
use super::told::{HostNews, HostRequest, OwnerOrder, StreamMessage};
use super::update::update;
use shell::view::saying::Topic;

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/tui").join(name)
}

fn sample<T: DeserializeOwned>(name: &str) -> T {
    let path = folder("samples").join(format!("{name}.json"));
    serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn new() -> App {
    App::new("127.0.0.1:7373".into(), None, true)
}

/// A host has told everything it knows of these golems.
fn up() -> App {
    let mut app = new();
    tell(&mut app, HostNews::Golems(sample("golems")));
    sample::<Vec<StreamMessage>>("heard").into_iter().for_each(|heard| tell(&mut app, HostNews::Heard(heard)));
    app
}

/// The app with one golem chosen and one screen open.
fn at(name: &str, screen: Screen) -> App {
    let mut app = up();
    app.choose(name);
    app.go(screen);
    let name = || name.to_owned();
    if name() == "ben" {
        tell(&mut app, HostNews::One(name(), sample("one")));
        sample::<Vec<StreamMessage>>("followed")
            .into_iter()
            .for_each(|heard| tell(&mut app, HostNews::Followed(heard)));
        tell(&mut app, HostNews::Nights(name(), sample("dreams")));
    }
    if name() == "ada-2" {
        tell(&mut app, HostNews::Memory(name(), sample("memory")));
    }
    if name() == "ada" {
        tell(&mut app, HostNews::Testament(name(), sample("testament")));
        tell(&mut app, HostNews::Estate(name(), Ok(sample("estate"))));
    }
    tell(&mut app, HostNews::Family(name(), sample("family")));
    app
}

fn tell(app: &mut App, told: HostNews) {
    update(app, Event::Told(told));
}

fn press(app: &mut App, keys: &str) -> Vec<HostRequest> {
    let mut asks = Vec::new();
    for key in keys.chars() {
        let code = match key {
            '\n' => KeyCode::Enter,
            '\x1b' => KeyCode::Esc,
            '\t' => KeyCode::Tab,
            '→' => KeyCode::Right,
            '↓' => KeyCode::Down,
            '⌫' => KeyCode::Backspace,
            letter => KeyCode::Char(letter),
        };
        asks = update(app, Event::Key(KeyEvent::new(code, KeyModifiers::NONE)));
    }
    asks
}

fn drawn(app: &App, (width, height): (u16, u16)) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| view(app, frame)).unwrap();
    terminal.backend().buffer().clone()
}

fn text(app: &App, size: (u16, u16)) -> String {
    let buffer = drawn(app, size);
    let row = |y: u16| (0..size.0).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned() + "\n";
    (0..size.1).map(row).collect()
}

/// Compares a screen at every size with what was accepted.
fn check(name: &str, app: &App) {
    for size in SIZES {
        let path = folder("accepted").join(format!("{name}-{}x{}.txt", size.0, size.1));
        let shown = text(app, size);
        if std::env::var_os("BARDO_WRITE_SCREENS").is_some() {
            fs::create_dir_all(folder("accepted")).unwrap();
            fs::write(&path, &shown).unwrap();
        }
        let accepted = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(accepted, shown, "{} differs; look, and if it is right, BARDO_WRITE_SCREENS=1", path.display());
    }
}

#[test]
fn without_a_host_the_screen_says_so_and_what_to_do() {
    let mut app = new();
    tell(&mut app, HostNews::Away("no host listens there".into()));
    check("away", &app);
}

#[test]
fn all_golems_are_listed() {
    check("golems", &at("ben", Screen::Golems));
}

#[test]
fn a_life_is_shown_with_its_clocks_money_and_what_presses() {
    check("life", &at("ben", Screen::Life));
}

#[test]
fn memory_is_listed_with_bloodstains_marked() {
    let mut app = at("ada-2", Screen::Memory);
    press(&mut app, "Gg");
    check("memory", &app);
}

#[test]
fn a_night_is_reported() {
    check("dreams", &at("ben", Screen::Dreams));
}

#[test]
fn turns_of_all_lives_are_listed() {
    check("events", &at("ben", Screen::Events));
}

#[test]
fn the_dead_have_a_stone_last_words_and_four_ways_on() {
    check("death", &at("ada", Screen::Life));
}

#[test]
fn the_testament_can_be_read_whole() {
    check("testament", &at("ada", Screen::Testament));
}

#[test]
fn the_graveyard_has_everyone_who_died() {
    check("graveyard", &at("ada", Screen::Graveyard));
}

#[test]
fn golems_elsewhere_are_listed() {
    let mut app = at("ada", Screen::Clade);
    tell(&mut app, HostNews::Clade(None));
    check("clade-none", &app);
    tell(&mut app, HostNews::Clade(Some(sample("clade"))));
    check("clade", &app);
}

#[test]
fn a_family_is_a_tree() {
    check("family", &at("ada", Screen::Family));
}

#[test]
fn an_heir_is_described_beside_what_it_would_be_left() {
    check("successor", &at("ada", Screen::Successor));
}

#[test]
fn keys_are_explained_over_any_screen() {
    let mut app = at("ben", Screen::Life);
    press(&mut app, "?");
    check("help", &app);
}

#[test]
fn an_order_is_asked_about_first() {
    let mut app = at("ben", Screen::Life);
    assert_eq!(press(&mut app, "f"), []);
    check("confirm", &app);
    assert_eq!(press(&mut app, "y"), [HostRequest::Order("ben".into(), OwnerOrder::Freeze)]);
}

#[test]
fn a_question_is_typed_and_sent_and_letters_are_no_orders() {
    let mut app = at("ben", Screen::Life);
    assert_eq!(press(&mut app, "wwhy so quiet, fp?"), []);
    check("question", &app);
    assert_eq!(press(&mut app, "\n"), [HostRequest::Question { name: "ben".into(), text: "why so quiet, fp?".into() }]);
    assert_eq!(press(&mut app, "wx\x1b"), [], "put away");
    assert!(app.over.is_none());
    assert_eq!(press(&mut app, "w\n\x1b"), [], "nothing is no question");
}

#[test]
fn what_a_golem_asks_is_answered_by_two_different_keys() {
    let mut app = at("ben", Screen::Life);
    assert_eq!(press(&mut app, "yy\n"), [], "it asks for nothing");
    let ask = golem::policy::Ask {
        key: 7,
        action: "buy".into(),
        units: 9_785,
        unit: "ETH".into(),
        most: golem::Usdc::dollars(25),
        quote: None,
        until: golem::Time::seconds(1_704_096_080),
    };
    for one in app.golems.iter_mut().chain(app.seen.iter_mut().map(|seen| &mut seen.status)) {
        if one.name == "ben" {
            one.asks = Some(ask.clone());
        }
    }
    assert_eq!(press(&mut app, "y"), []);
    check("answer", &app);
    assert_eq!(press(&mut app, "y"), [], "a key that is held down is no answer");
    assert_eq!(press(&mut app, "y\n"), [HostRequest::Order("ben".into(), OwnerOrder::Answer { key: 7, yes: true })]);
    assert_eq!(press(&mut app, "n\n"), [HostRequest::Order("ben".into(), OwnerOrder::Answer { key: 7, yes: false })]);
}

#[test]
fn anything_but_yes_leaves_everything_as_it_is() {
    for answer in ["n", "\n", "\x1b", "f", "q"] {
        let mut app = at("ben", Screen::Life);
        for order in ["f", "p", "r"] {
            press(&mut app, order);
            assert_eq!(press(&mut app, answer), [], "{order} {answer:?}");
            assert!(app.over.is_none() && !app.quit);
        }
    }
    let mut app = at("ada", Screen::Life);
    press(&mut app, "f");
    assert!(app.over.is_none(), "the dead cannot be ordered");
}

#[test]
fn a_host_that_goes_away_is_said_to_be_gone_and_what_was_known_stays() {
    let mut app = at("ben", Screen::Life);
    tell(&mut app, HostNews::Away("no host listens there".into()));
    let gone = text(&app, SIZES[0]);
    assert!(gone.contains("host is away, trying again") && gone.contains("ben"), "{gone}");
    tell(&mut app, HostNews::Golems(sample("golems")));
    assert_eq!(app.link, HostLink::Up);
    let asks = update(&mut app, Event::Told(HostNews::One("ben".into(), sample("one"))));
    assert!(matches!(asks[..], [HostRequest::Follow { .. }]), "it is followed again: {asks:?}");
}

#[test]
fn who_dies_while_watched_gets_its_stone() {
    let mut app = at("ben", Screen::Life);
    let mut golems: Vec<shell::view::status::Status> = sample("golems");
    let ben = golems.iter_mut().find(|one| one.name == "ben").unwrap();
    (ben.state, ben.why) = (shell::view::status::State::Dead, Some("by chance".into()));
    tell(&mut app, HostNews::Golems(golems));
    let shown = text(&app, SIZES[0]);
    assert!(shown.contains("ben is dead") && shown.contains("by chance"), "{shown}");
    assert!(update(&mut app, Event::Beat).contains(&HostRequest::Testament("ben".into())), "what it left is asked for");
}

#[test]
fn every_screen_can_be_reached_by_its_number_and_by_turning() {
    let (mut by_number, mut by_turning) = (at("ben", Screen::Golems), at("ben", Screen::Golems));
    for (number, (screen, _)) in Screen::TABS.iter().enumerate() {
        press(&mut by_number, &(number + 1).to_string());
        assert_eq!((by_number.screen, by_turning.screen), (*screen, *screen));
        press(&mut by_turning, "\t");
    }
    assert_eq!(by_turning.screen, Screen::Golems);
    press(&mut by_number, "q");
    assert!(by_number.quit);
}

#[test]
fn what_is_typed_narrows_what_is_shown() {
    let mut app = up();
    press(&mut app, "/ada\n");
    assert_eq!(app.listed().iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["ada-2", "ada"]);
    press(&mut app, "\x1b");
    assert_eq!(app.listed().len(), app.golems.len());
    app.choose("ada-2");
    press(&mut app, "3");
    assert_eq!(
        press(&mut app, "/q"),
        [HostRequest::Memory { name: "ada-2".into(), query: "q".into() }],
        "q is a letter there"
    );
    press(&mut app, "\x1b5/died\n");
    assert!(app.passing().count() > 0 && app.passing().all(|heard| heard.event == "mortality.dead"));
    press(&mut app, "\x1b→");
    assert!(app.passing().count() > 0 && app.passing().all(|heard| Topic::Mortality.has(heard.topic)));
}

/// The words for what happens are the host's: whatever it says is shown, and where it says nothing there is nothing.
#[test]
fn screens_have_no_words_of_their_own_for_what_happens() {
    let heard = |says: &str| -> StreamMessage {
        let told = serde_json::json!({
            "golem": "ada", "tick": 1, "at": 0, "says": says, "topic": "mortality", "routine": false, "gravity": "grave",
            "event": "mortality.dead", "cause": { "owner_kill": { "reason": "x" } }, "ticks_alive": 5,
        });
        serde_json::from_value(told).unwrap()
    };
    for (says, shown) in [("did what has no words yet", true), ("", false)] {
        let mut app = new();
        tell(&mut app, HostNews::Golems(sample("golems")));
        tell(&mut app, HostNews::Heard(heard(says)));
        press(&mut app, "5");
        let screen = text(&app, SIZES[1]);
        assert_eq!(screen.contains("did what has no words yet"), shown, "{screen}");
        assert!(!screen.contains("died"), "{screen}");
    }
}

/// A table of names coloured what it knew, and a new event stayed grey.
#[test]
fn an_event_is_coloured_by_its_gravity_and_not_by_its_name() {
    const SAYS: &str = "did what is new";
    for (gravity, colour, mark) in
        [("notable", Color::Reset, " "), ("serious", Color::Indexed(214), " "), ("grave", Color::Indexed(166), "†")]
    {
        let told = serde_json::json!({
            "golem": "ada", "tick": 1, "at": 0, "says": SAYS, "topic": "owner", "routine": false, "gravity": gravity,
            "event": "golem.something_new",
        });
        let mut app = new();
        tell(&mut app, HostNews::Golems(sample("golems")));
        tell(&mut app, HostNews::Heard(serde_json::from_value(told).unwrap()));
        press(&mut app, "5");
        let buffer = drawn(&app, SIZES[1]);
        let cells = buffer.content();
        let begins = |at: &usize| cells[*at..].iter().zip(SAYS.chars()).all(|(cell, c)| cell.symbol().chars().eq([c]));
        let at = (2..cells.len() - SAYS.len()).find(begins).unwrap();
        assert_eq!((cells[at].fg, cells[at - 2].symbol()), (colour, mark), "{gravity}");
    }
}

#[test]
fn an_heir_is_made_as_it_was_described_and_only_after_a_yes() {
    let mut app = at("ada", Screen::Life);
    press(&mut app, "\n");
    assert_eq!(app.screen, Screen::Successor);
    tell(&mut app, HostNews::Estate("ada".into(), Ok(sample("estate"))));
    press(&mut app, "⌫9\n⌫⌫⌫⌫7.5\n→\n");
    assert_eq!(press(&mut app, "\n"), [], "it is asked first");
    let asks = press(&mut app, "y");
    let [HostRequest::Succeed { dead, wish }] = &asks[..] else { panic!("{asks:?}") };
    assert_eq!((dead.as_str(), wish["name"].as_str()), ("ada", Some("ada-9")));
    assert_eq!((wish["credit"].as_i64(), wish["inherit"].as_bool()), (Some(7_500_000), Some(false)));
    tell(&mut app, HostNews::Born("ada-9".into()));
    assert_eq!((app.screen, app.chosen.as_deref()), (Screen::Life, Some("ada-9")));
}

#[test]
fn a_text_scrolls_to_its_end_and_back_at_once() {
    let mut app = at("ada", Screen::Testament);
    update(&mut app, Event::Resized(80, 24));
    press(&mut app, "G");
    let end = text(&app, SIZES[0]);
    assert!(end.contains("Written after record"), "{end}");
    press(&mut app, "k");
    assert_ne!(text(&app, SIZES[0]), end);
    press(&mut app, "g");
    assert!(text(&app, SIZES[0]).contains("Born 2024"));
}

#[test]
fn without_colours_no_colour_is_used() {
    for screen in Screen::TABS.map(|(screen, _)| screen) {
        let mut app = at("ben", screen);
        app.colours = false;
        let buffer = drawn(&app, SIZES[1]);
        let plain = |cell: &ratatui::buffer::Cell| {
            cell.fg == ratatui::style::Color::Reset && cell.bg == ratatui::style::Color::Reset
        };
        assert!(buffer.content().iter().all(plain), "{screen:?}");
    }
}

#[test]
fn the_figure_of_a_golem_goes_and_comes_by_one_key() {
    for (name, drawn) in [("ben", "█"), ("ada", "███▀▀███")] {
        let mut app = at(name, Screen::Life);
        let shown = text(&app, SIZES[0]);
        assert!(shown.contains(drawn), "{shown}");
        press(&mut app, "c");
        assert!(!text(&app, SIZES[0]).contains('█'), "{name}");
        press(&mut app, "c");
        assert_eq!(text(&app, SIZES[0]), shown);
    }
}

#[test]
fn any_size_can_be_drawn() {
    for screen in [Screen::Golems, Screen::Life, Screen::Memory, Screen::Dreams, Screen::Events, Screen::Testament] {
        for name in ["ben", "ada", "ada-2"] {
            let app = at(name, screen);
            for size in [(1, 1), (20, 5), (60, 16), (61, 100), (80, 24), (300, 20)] {
                text(&app, size);
            }
        }
    }
}

/// A fresh screen has a living golem chosen. In the graveyard the first grave was marked all the same, and Enter opened the
/// living one, while t and s did nothing, until the first step down or up.
#[test]
fn whoever_is_marked_in_the_graveyard_is_the_chosen_one() {
    let mut app = up();
    assert!(!app.is_dead(), "a list begins with the living");
    let asks = press(&mut app, "6");
    assert_eq!(app.chosen.as_deref(), Some("ada"));
    assert!(asks.contains(&HostRequest::Testament("ada".to_owned())), "{asks:?}");
    assert!(text(&app, (80, 24)).contains("›† ada"));
    for (key, screen) in [("t", Screen::Testament), ("s", Screen::Successor), ("\n", Screen::Life)] {
        let mut app = up();
        press(&mut app, "6");
        press(&mut app, key);
        assert_eq!((app.screen, app.chosen.as_deref()), (screen, Some("ada")), "{key:?}");
    }
    // The same if the graves become known only while somebody stands there.
    let mut app = new();
    press(&mut app, "6");
    tell(&mut app, HostNews::Golems(sample("golems")));
    assert_eq!(app.chosen.as_deref(), Some("ada"));
}

#[test]
fn all_golems_are_braked_by_one_key_that_asks_first() {
    for (key, order) in [("F", OwnerOrder::Freeze), ("P", OwnerOrder::Pause), ("R", OwnerOrder::Resume)] {
        let mut app = up();
        assert_eq!(press(&mut app, key), []);
        assert!(text(&app, (80, 24)).contains("all 4 golems?"), "{}", text(&app, (80, 24)));
        assert_eq!(press(&mut app, "n"), [], "anything but y leaves everything as it is");
        assert_eq!(press(&mut app, &format!("{key}y")), [HostRequest::OrderAll(order)]);
    }
}
