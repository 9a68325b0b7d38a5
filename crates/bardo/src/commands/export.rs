//! A life as rows, for analyses of one's own.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;

use golem::event::Event;
use golem::prediction;
use golem::rule;
use golem::{Life, Time};
use lab::tables::Table;
use serde_json::json;
use shell::view::narrator::Narrator;
use shell::{Error, GolemHome};
use vault::Reader;

use crate::output::{self, count, line};

/// Claims as rows: the golem's forecast, the naive forecast, and the result.
pub(crate) fn claims(place: &GolemHome, folder: &Path, json: bool) -> Result<ExitCode, Error> {
    let reader = Reader::open(&place.database())?;
    let mut narrator = Narrator::before(&reader)?;
    let mut claims = Claims::default();
    reader.replay(|record| {
        narrator.tell(&record, |_| {})?;
        if let Some(life) = narrator.life() {
            record.events.iter().for_each(|event| claims.hear(event, record.at, life));
        }
        Ok::<_, Error>(ControlFlow::Continue(()))
    })?;
    let table = claims.all();
    let cannot = |source| Error::Io { what: "cannot write", path: folder.to_owned(), source };
    std::fs::create_dir_all(folder).map_err(cannot)?;
    table.write(folder, "claims").map_err(cannot)?;
    if json {
        output::json(&json!({ "claims": table.rows(), "folder": folder }));
    } else {
        let files = "claims.jsonl, claims.csv, claims.parquet";
        line(format!("{} claims in {}: {files}", count(table.rows() as u64), folder.display()));
    }
    Ok(ExitCode::SUCCESS)
}

struct ExportLine {
    domain: u8,
    made: Time,
    due: Time,
    value: f64,
    naive: f64,
}

/// Claims that wait for their answers, and rows of those that have met them.
#[derive(Default)]
struct Claims {
    domains: Vec<String>,
    open: VecDeque<ExportLine>,
    table: Table,
}

impl Claims {
    fn hear(&mut self, event: &Event, made: Time, life: &Life) {
        if self.domains.is_empty() {
            self.domains = life.birth().world.domains.iter().map(|domain| domain.name.clone()).collect();
        }
        let mut say =
            |domain: u8, due, value, naive| self.open.push_back(ExportLine { domain, made, due, value, naive });
        match event {
            // The newest of its domain; those before it met their answers in the same record at the latest.
            Event::Rule(rule::Event::Predicted { domain, .. }) => {
                if let Some(claim) = life.open()[usize::from(*domain)].back() {
                    say(*domain, claim.due, claim.value, claim.naive);
                }
            }
            Event::Prediction(prediction::Event::Claimed(claim)) => {
                say(claim.domain, claim.due, claim.value, claim.naive)
            }
            Event::Prediction(prediction::Event::Dated(claim)) => {
                say(claim.domain, claim.due, claim.value, claim.naive)
            }
            Event::Rule(rule::Event::Scored { domain, actual }) => self.first(*domain, Some(*actual)),
            Event::Rule(rule::Event::Voided { domain }) => self.first(*domain, None),
            Event::Prediction(prediction::Event::Resolved { actual, .. }) => self.next(Some(*actual)),
            Event::Prediction(prediction::Event::Lapsed { .. }) => self.next(None),
            Event::Prediction(prediction::Event::Met { domain, at, actual }) => {
                while self.open.iter().any(|said| said.domain == *domain && said.due <= *at) {
                    self.first(*domain, Some(*actual));
                }
            }
            _ => {}
        }
    }

    /// The oldest of a domain has met its answer, or never will.
    fn first(&mut self, domain: u8, actual: Option<f64>) {
        if let Some(at) = self.open.iter().position(|said| said.domain == domain) {
            let said = self.open.remove(at).expect("just found");
            self.push(&said, actual);
        }
    }

    fn next(&mut self, actual: Option<f64>) {
        if let Some(said) = self.open.pop_front() {
            self.push(&said, actual);
        }
    }

    fn push(&mut self, said: &ExportLine, actual: Option<f64>) {
        let domain = self.domains.get(usize::from(said.domain)).map_or("", String::as_str);
        self.table.push([
            ("domain", domain.into()),
            ("made_ms", said.made.as_millis().into()),
            ("due_ms", said.due.as_millis().into()),
            ("said", said.value.into()),
            ("naive", said.naive.into()),
            ("actual", actual.into()),
        ]);
    }

    /// With those that wait still.
    fn all(mut self) -> Table {
        while !self.open.is_empty() {
            self.next(None);
        }
        self.table
    }
}
