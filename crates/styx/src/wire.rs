//! What a home and a relay say to each other, one frame a message. A home never names a subject or a stream; a relay never
//! says what an envelope is worth.

use serde::{Deserialize, Serialize};

use crate::envelope::{Envelope, MOST};

/// The version that this program speaks.
pub const VERSION: u32 = 1;
/// Bytes of a frame: what one envelope of the longest needs.
pub const FRAME: usize = MOST + 1_024;
/// Words of a frame.
pub const WORDS: usize = 256;

/// What stands around a word in a frame, at most.
const AROUND: usize = 16;

/// What a home says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Up {
    /// Who it is: the owner's key, and the owner's signature of what it was asked to sign.
    Sign { version: u32, owner: [u8; 32], home: [u8; 16], signature: Vec<u8> },
    /// Words to be kept and passed on. The first is answered by this id, each other by the next one.
    Put { id: u64, words: Vec<Put> },
    /// It wants to be told everything of its owner's after this place.
    After { sequence: u64 },
}

/// A word to be kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Put {
    /// The relay has said that it keeps it, and yet somebody never heard it: it is to be kept once more.
    pub again: bool,
    #[serde(with = "whole")]
    pub envelope: Vec<u8>,
}

/// What a relay says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Down {
    /// To be signed.
    Challenge {
        version: u32,
        nonce: [u8; 32],
    },
    /// It knows who it is talking to, for so long.
    Welcome {
        seconds: u32,
    },
    /// It keeps those, each by its id, in these places; it may have kept them before.
    Taken {
        places: Vec<(u64, u64)>,
    },
    Refused {
        id: u64,
        why: Why,
    },
    /// Words of a sibling's, or one's own, in their order.
    Words {
        words: Vec<Kept>,
    },
    /// Everything was told, and this is the newest place there is. Whoever has heard of a later one has outlived what the
    /// relay kept, and reads again from the beginning.
    Here {
        sequence: u64,
    },
    /// It hangs up.
    Bye {
        why: Why,
    },
}

/// A word as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    pub sequence: u64,
    #[serde(with = "whole")]
    pub envelope: Vec<u8>,
}

/// Why something is not done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Why {
    #[error("it cannot be read")]
    Unreadable,
    #[error("versions differ: it speaks {0}")]
    Version(u32),
    #[error("whoever signs in must be who it says")]
    Unknown,
    #[error("this relay is not for this owner; its operator can let it in with `bardo styx serve --owner`")]
    NotHere,
    #[error("that is another owner's")]
    Foreign,
    #[error("too much at once; again in {seconds} s")]
    TooFast { seconds: u32 },
    #[error("too many connections")]
    TooMany,
    #[error("it keeps as much of this golem as it ever keeps at once")]
    Full,
    #[error("what it keeps things in does not answer")]
    Away,
    #[error("the session is over; sign in again")]
    Over,
    #[error("it is not signed by its owner")]
    Forged,
}

impl Put {
    pub fn new(word: &Envelope, again: bool) -> Put {
        Put { again, envelope: word.bytes().to_vec() }
    }
}

pub fn encode<T: Serialize>(frame: &T) -> Vec<u8> {
    postcard::to_stdvec(frame).expect("a frame is plain data")
}

/// Reads a frame, and nothing after it.
pub fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Option<T> {
    if bytes.len() > FRAME {
        return None;
    }
    let (frame, rest) = postcard::take_from_bytes(bytes).ok()?;
    rest.is_empty().then_some(frame)
}

/// How many of these words, given by their lengths, one frame carries; at least one, if there is any.
pub fn fit(lengths: impl IntoIterator<Item = usize>) -> usize {
    let mut left = FRAME - AROUND;
    let fits = |length: &usize| {
        let room = left.checked_sub(length + AROUND);
        left = room.unwrap_or(0);
        room.is_some()
    };
    lengths.into_iter().take(WORDS).take_while(fits).count()
}

/// What is signed to sign in: for this one relay's challenge, in this version, from this home.
pub fn signed(nonce: &[u8; 32], home: &[u8; 16]) -> Vec<u8> {
    [b"bardo styx 1 sign in".as_slice(), nonce, home].concat()
}

/// Bytes that are written and read as one piece, not one by one.
mod whole {
    use serde::de::{Error, Visitor};
    use serde::{Deserializer, Serializer};

    struct Whole;

    impl Visitor<'_> for Whole {
        type Value = Vec<u8>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("bytes")
        }

        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
            Ok(bytes.to_vec())
        }
    }

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(bytes)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        from.deserialize_bytes(Whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_word_fits_into_a_frame_and_so_do_as_many_as_are_said_to() {
        for length in [1, 512, 2_600, 5_000, MOST / 2, MOST] {
            let fit = fit(std::iter::repeat_n(length, 1_000));
            assert!((1..=WORDS).contains(&fit), "{fit} of {length}");
            let words = vec![Kept { sequence: u64::MAX, envelope: vec![7; length] }; fit];
            let frame = Down::Words { words };
            assert_eq!(decode(&encode(&frame)), Some(frame), "{fit} of {length}");
        }
        assert_eq!(fit([MOST, 1]), 2);
        assert_eq!(fit([MOST, MOST]), 1);
        assert_eq!(fit([]), 0);
    }

    #[test]
    fn a_frame_is_read_whole_or_not_at_all() {
        let frame = encode(&Up::Put { id: 7, words: vec![Put { again: true, envelope: b"word".to_vec() }; 3] });
        assert!(decode::<Up>(&frame).is_some());
        assert!((0..frame.len()).all(|length| decode::<Up>(&frame[..length]).is_none()));
        assert_eq!(decode::<Up>(&[frame.as_slice(), &[0]].concat()), None);
        assert_eq!(decode::<Up>(&[0xff; 64]), None);
    }
}
