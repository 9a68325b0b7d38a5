//! How it stands with golems elsewhere, in words: for the command and for the screen.

use host::river::{Death, Report, Sibling};

use crate::output::count;

/// What there is to say, each under what it is about.
pub(crate) fn told(report: &Report, now_ms: u64) -> Vec<(&'static str, String)> {
    let stand = &report.stand;
    let connected = match (stand.since_ms, &stand.trouble) {
        (Some(since), _) => format!("connected for {}", ago(now_ms, since)),
        (None, Some(why)) => format!("not connected: {why}"),
        (None, None) => "not connected: no host is up".to_owned(),
    };
    let kept = match (stand.archived_ms, &stand.archive_trouble) {
        (_, Some(why)) => format!("cannot be written: {why}"),
        (Some(at), None) => format!("last written {} ago", ago(now_ms, at)),
        (None, None) => "nothing in it yet".to_owned(),
    };
    let none =
        |place: &Option<String>, how: &str| place.as_ref().map_or("none".to_owned(), |place| format!("{place}, {how}"));
    let mut told = vec![
        ("clade", report.clade.clone()),
        ("home", report.home.clone().unwrap_or_else(|| "no host was up since it joined".to_owned())),
        ("relay", none(&report.relay, &connected)),
        ("archive", none(&report.archive, &kept)),
        (
            "words",
            format!(
                "{} sent, {} heard; {} that not every home has confirmed, {} that wait for some before them",
                count(stand.sent),
                count(stand.heard),
                count(report.unconfirmed as u64),
                count(report.held as u64)
            ),
        ),
    ];
    told.extend(stand.refused.iter().map(|(why, times)| ("refused", format!("{} times: {why}", count(*times)))));
    let other = |at_ms: u64| format!("was heard of {} ago", ago(now_ms, at_ms));
    told.extend(report.homes.iter().map(|one| ("home", format!("{} {}", &one.home[..8], other(one.at_ms)))));
    told.extend(report.siblings.iter().map(|one| ("sibling", sibling(one))));
    told.extend(report.deaths.iter().map(|one| ("death", death(one))));
    told
}

fn sibling(one: &Sibling) -> String {
    let who = one.name.as_deref().unwrap_or(&one.golem[..8]);
    let forked = match one.forked {
        Some(number) => format!("; there are two words {number}, so no more is heard of it"),
        None => String::new(),
    };
    format!("{who:<16} in home {}: {}{forked}", &one.home[..8], several(one.heard, "word"))
}

fn death(one: &Death) -> String {
    let places = match (one.homes, one.archived) {
        (0, false) => "known to nobody else yet".to_owned(),
        (0, true) => "in the archive, and confirmed by no other home yet".to_owned(),
        (n, true) => format!("confirmed by {} and in the archive", several(n as u64, "home")),
        (n, false) => format!(
            "confirmed by {}{}",
            several(n as u64, "home"),
            if n < 2 { ", and not yet in the archive" } else { "" }
        ),
    };
    format!("{:<16} {places}", one.name)
}

/// So many of something.
pub(crate) fn several(number: u64, what: &str) -> String {
    format!("{} {what}{}", count(number), if number == 1 { "" } else { "s" })
}

fn ago(now: u64, then: u64) -> String {
    golem::Span::seconds(now.saturating_sub(then) / 1_000).to_string()
}
