//! The envelope: one message of one golem, with its speaker, its number, the hash of the message before, and the sealed
//! text.
//!
//! A relay reads the header, of which nothing is secret, and can change nothing: the whole is signed, and the text is
//! sealed under its header.

use golem::GolemId;

use crate::key::{Clade, Owner};

/// The version of envelopes that this program writes and reads.
pub const VERSION: u8 = 1;
/// The most bytes of a whole envelope.
pub const MOST: usize = 640 << 10;

const HEADER: usize = 122;
const SIGNATURE: usize = 64;

pub type Hash = [u8; 32];

/// The kind of a message; the relay has lanes and limits by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Something a golem has found out.
    Delta,
    /// A warning.
    Alert,
    Regime,
    Crisis,
    Death,
    Pheromone,
    /// The place of something in the archive.
    Archive,
    /// How far others have been heard.
    Receipt,
}

impl Class {
    pub const ALL: [Class; 8] = [
        Class::Delta,
        Class::Alert,
        Class::Regime,
        Class::Crisis,
        Class::Death,
        Class::Pheromone,
        Class::Archive,
        Class::Receipt,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Class::Delta => "delta",
            Class::Alert => "alert",
            Class::Regime => "regime",
            Class::Crisis => "crisis",
            Class::Death => "death",
            Class::Pheromone => "pheromone",
            Class::Archive => "archive",
            Class::Receipt => "receipt",
        }
    }
}

/// The speaker of words: a golem in one home. In another home, or in one restored to an earlier day, it is a new
/// speaker that begins again at one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Speaker {
    pub home: [u8; 16],
    pub golem: GolemId,
}

/// The part of an envelope that is not secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    pub class: Class,
    pub owner: Owner,
    pub speaker: Speaker,
    /// The number of the word among its speaker's, from one.
    pub number: u64,
    /// The hash of the word before; zeros for the first.
    pub before: Hash,
    /// Milliseconds since 1970.
    pub made: u64,
    pub expires: u64,
}

/// A message as it travels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    pub header: Header,
    bytes: Vec<u8>,
}

/// Why bytes are not an envelope, or not one of this clade.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    #[error("it is not an envelope")]
    Unreadable,
    #[error("it is of version {0}, and this program reads version {VERSION}")]
    Version(u8),
    #[error("it is longer than {MOST} bytes")]
    TooLong,
    #[error("it is another owner's")]
    Foreign,
    #[error("it is not signed by its owner")]
    Forged,
    #[error("it cannot be opened")]
    Sealed,
}

impl Envelope {
    /// Seals and signs a text.
    pub fn seal(clade: &Clade, header: Header, text: &[u8]) -> Envelope {
        let header = Header { owner: clade.owner(), ..header };
        let mut bytes = header.bytes().to_vec();
        bytes.append(&mut clade.seal(&header.bytes(), text));
        let signature = clade.sign(&bytes);
        bytes.extend_from_slice(&signature);
        Envelope { header, bytes }
    }

    /// Reads an envelope from bytes. Only its form is checked.
    pub fn read(bytes: &[u8]) -> Result<Envelope, Flaw> {
        Ok(Envelope { header: Header::read(bytes)?, bytes: bytes.to_vec() })
    }

    /// Reads an envelope from bytes, which it keeps without a copy.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Envelope, Flaw> {
        Ok(Envelope { header: Header::read(&bytes)?, bytes })
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The hash by which the next word names this one: over every byte, so checking the next one checks this too.
    pub fn hash(&self) -> Hash {
        *blake3::hash(&self.bytes).as_bytes()
    }

    /// Checks that the owner named in the header has signed all of it. Needs no secret.
    pub fn check(&self) -> Result<(), Flaw> {
        let signature = &self.bytes[self.bytes.len() - SIGNATURE..];
        if self.header.owner.signed(self.signed(), signature) { Ok(()) } else { Err(Flaw::Forged) }
    }

    /// Opens the text, if the envelope is this clade's.
    pub fn open(&self, clade: &Clade) -> Result<Vec<u8>, Flaw> {
        if self.header.owner != clade.owner() {
            return Err(Flaw::Foreign);
        }
        self.check()?;
        let sealed = &self.bytes[HEADER..self.bytes.len() - SIGNATURE];
        clade.open(&self.bytes[..HEADER], sealed).ok_or(Flaw::Sealed)
    }

    fn signed(&self) -> &[u8] {
        &self.bytes[..self.bytes.len() - SIGNATURE]
    }
}

impl Header {
    fn bytes(&self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        (bytes[0], bytes[1]) = (VERSION, self.class as u8);
        bytes[2..34].copy_from_slice(&self.owner.0);
        bytes[34..50].copy_from_slice(&self.speaker.home);
        bytes[50..66].copy_from_slice(&self.speaker.golem.0);
        bytes[66..74].copy_from_slice(&self.number.to_le_bytes());
        bytes[74..106].copy_from_slice(&self.before);
        bytes[106..114].copy_from_slice(&self.made.to_le_bytes());
        bytes[114..122].copy_from_slice(&self.expires.to_le_bytes());
        bytes
    }

    /// Reads the header of a whole envelope.
    pub(crate) fn read(bytes: &[u8]) -> Result<Header, Flaw> {
        if bytes.len() > MOST {
            return Err(Flaw::TooLong);
        }
        if bytes.len() < HEADER + SIGNATURE {
            return Err(Flaw::Unreadable);
        }
        if bytes[0] != VERSION {
            return Err(Flaw::Version(bytes[0]));
        }
        fn part<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
            bytes[at..at + N].try_into().expect("it is long enough")
        }
        Ok(Header {
            class: *Class::ALL.get(usize::from(bytes[1])).ok_or(Flaw::Unreadable)?,
            owner: Owner(part(bytes, 2)),
            speaker: Speaker { home: part(bytes, 34), golem: GolemId(part(bytes, 50)) },
            number: u64::from_le_bytes(part(bytes, 66)),
            before: part(bytes, 74),
            made: u64::from_le_bytes(part(bytes, 106)),
            expires: u64::from_le_bytes(part(bytes, 114)),
        })
    }
}
