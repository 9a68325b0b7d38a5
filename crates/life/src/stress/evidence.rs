//! Proof that a stressor is over, made from a life in which it is.

use serde::{Deserialize, Deserializer, Serialize};

use super::{Kind, find};
use crate::life::Life;

/// Proof that a stressor's condition no longer holds.
///
/// Nothing that a golem, its agent or a model says can make one. Journals hold evidence and can be read, but what is
/// read from one is a record of what was, and no input takes it:
///
/// ```
/// use life::stress::{Evidence, Kind};
/// fn read(life: &life::Life) -> Option<Evidence> {
///     Evidence::found(life, Kind::Futility, None, 0.0)
/// }
/// ```
///
/// ```compile_fail,E0451
/// use life::stress::{Evidence, Kind};
/// let forged = Evidence { kind: Kind::Futility, domain: None, severity: 0.0, figure: 1.0 };
/// ```
///
/// ```compile_fail,E0277
/// use life::stress::Evidence;
/// let forged: Evidence = serde_json::from_str("{}").unwrap();
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evidence {
    kind: Kind,
    domain: Option<u8>,
    severity: f64,
    figure: f64,
}

impl Evidence {
    /// Evidence that an active stressor is over; none while its condition holds.
    pub fn found(life: &Life, kind: Kind, domain: Option<u8>, severity: f64) -> Option<Evidence> {
        let served = life.stress.find(kind, domain)?.served;
        let found = find(life, kind, domain, served);
        found.clears.then_some(Evidence { kind, domain, severity, figure: found.figure })
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    pub fn domain(&self) -> Option<u8> {
        self.domain
    }

    /// How severe it was when it cleared.
    pub fn severity(&self) -> f64 {
        self.severity
    }

    /// The figure that cleared it, in the unit of its kind.
    pub fn figure(&self) -> f64 {
        self.figure
    }

    /// Only journals hold evidence, and only their reader may read it back.
    pub(crate) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Evidence, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename = "Evidence")]
        struct Written {
            kind: Kind,
            domain: Option<u8>,
            severity: f64,
            figure: f64,
        }
        let Written { kind, domain, severity, figure } = Written::deserialize(deserializer)?;
        Ok(Evidence { kind, domain, severity, figure })
    }
}
