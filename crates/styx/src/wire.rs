//! The protocol of homes and relays, one frame a message. A home never names a subject or a stream; a relay never
//! judges an envelope.

use serde::{Deserialize, Serialize};

use crate::envelope::{Envelope, MOST};

/// The version of the protocol that this program speaks.
pub const VERSION: u32 = 1;
/// The most bytes of a frame: enough for the longest envelope.
pub const FRAME: usize = MOST + 1_024;
/// The most words of a frame.
pub const WORDS: usize = 256;

/// The most bytes around a word in a frame.
const AROUND: usize = 16;

/// A frame of a home.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Up {
    /// Signs in: the owner's key, and the owner's signature of the challenge.
    Sign { version: u32, owner: [u8; 32], home: [u8; 16], signature: Vec<u8> },
    /// Words to be stored and passed on. The first is answered by this id, each other by the next one.
    Put { id: u64, words: Vec<Put> },
    /// Asks for all words of its owner after this place.
    After { sequence: u64 },
}

/// A word to be stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Put {
    /// The relay had stored it, and yet a home never heard it: it is to be stored once more.
    pub again: bool,
    #[serde(with = "whole")]
    pub envelope: Vec<u8>,
}

/// A frame of a relay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Down {
    /// The challenge to be signed.
    Challenge {
        version: u32,
        nonce: [u8; 32],
    },
    /// The home is signed in, for so many seconds.
    Welcome {
        seconds: u32,
    },
    /// Words, each by its id, are stored in these places; they may have been stored before.
    Taken {
        places: Vec<(u64, u64)>,
    },
    Refused {
        id: u64,
        why: Why,
    },
    /// Words of a sibling, or one's own, in their order.
    Words {
        words: Vec<StoredWord>,
    },
    /// Everything was sent, and this is the newest place. A home that knows of a later one has outlived the relay's
    /// store, and reads again from the beginning.
    Here {
        sequence: u64,
    },
    /// The relay closes the connection.
    Bye {
        why: Why,
    },
}

/// A stored word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredWord {
    pub sequence: u64,
    #[serde(with = "whole")]
    pub envelope: Vec<u8>,
}

/// Why a relay refuses something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Why {
    #[error("it cannot be read")]
    Unreadable,
    #[error("versions differ: it speaks {0}")]
    Version(u32),
    #[error("the signature does not fit the key it was sent with")]
    Unknown,
    #[error("this relay is not for this owner; its operator can let it in with `bardo styx serve --owner`")]
    NotHere,
    #[error("that is another owner's")]
    Foreign,
    #[error("too much at once; again in {seconds} s")]
    TooFast { seconds: u32 },
    #[error("too many connections")]
    TooMany,
    #[error("the relay's store for this golem is full")]
    Full,
    #[error("the relay's store does not answer")]
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

/// How many of these words, given by their lengths, one frame can carry; at least one, if there is any.
pub fn fit(lengths: impl IntoIterator<Item = usize>) -> usize {
    let mut left = FRAME - AROUND;
    let fits = |length: &usize| {
        let room = left.checked_sub(length + AROUND);
        left = room.unwrap_or(0);
        room.is_some()
    };
    lengths.into_iter().take(WORDS).take_while(fits).count()
}

/// The text signed to sign in: for this one challenge of the relay, in this version, from this home.
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
            let words = vec![StoredWord { sequence: u64::MAX, envelope: vec![7; length] }; fit];
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
