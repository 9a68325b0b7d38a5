//! The keys of the table `river` in the log of a host. All books that a home keeps of the river share this table: those of the
//! mailbox, here, and those of the home itself, above it. A key is one letter, which says what lies in the row, and the ids by which
//! the row is found; so each letter is given out here, once.

/// A kind of row, by the letter that its keys begin with. A letter that is given out twice does not compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RowKind {
    /// The name of this home on the river, and the owner's public key.
    Home = b'm',
    /// A message from elsewhere: golem, number.
    Inward = b'i',
    /// The name of a golem elsewhere: golem.
    Name = b'n',
    /// A death that this home has announced: golem.
    Death = b'd',
    /// The state of the connection, for the owner to see.
    State = b's',
    /// The newest message of a golem of this home: golem.
    Head = b'h',
    /// A message that waits to be confirmed: golem, number.
    Outbox = b'o',
    /// How far a speaker elsewhere has been heard: home, golem.
    Heard = b'c',
    /// When another home was last heard of: home.
    Known = b'k',
    /// The oldest message that a speaker elsewhere can still send again: home, golem.
    Floor = b'f',
    /// How far the relay has been read.
    Place = b'p',
}

impl RowKind {
    pub const ALL: [RowKind; 11] = [
        RowKind::Home,
        RowKind::Inward,
        RowKind::Name,
        RowKind::Death,
        RowKind::State,
        RowKind::Head,
        RowKind::Outbox,
        RowKind::Heard,
        RowKind::Known,
        RowKind::Floor,
        RowKind::Place,
    ];

    /// Returns the key of the row of this kind with these ids.
    pub fn key(self, ids: &[&[u8]]) -> Vec<u8> {
        let mut key = vec![self as u8];
        ids.iter().for_each(|id| key.extend_from_slice(id));
        key
    }

    /// Returns the kind of the row with this key, and the ids in the key; none for a letter that was not given out.
    pub fn of(key: &[u8]) -> Option<(RowKind, &[u8])> {
        let (letter, ids) = key.split_first()?;
        let kind = RowKind::ALL.into_iter().find(|kind| *kind as u8 == *letter)?;
        Some((kind, ids))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_letter_stands_for_one_kind_and_none_has_changed_its_meaning() {
        let mut letters: Vec<u8> = RowKind::ALL.iter().map(|kind| *kind as u8).collect();
        // In the order of `ALL`: homes have rows under these letters.
        assert_eq!(letters, b"mindshockfp");
        letters.sort_unstable();
        letters.dedup();
        assert_eq!(letters.len(), RowKind::ALL.len());
    }

    #[test]
    fn a_key_is_a_letter_and_ids_and_is_read_as_it_was_written() {
        assert_eq!(RowKind::Place.key(&[]), b"p");
        let key = RowKind::Outbox.key(&[&[7_u8; 16], &3_u64.to_be_bytes()]);
        assert_eq!(key, [b"o".as_slice(), &[7; 16], &[0, 0, 0, 0, 0, 0, 0, 3]].concat());
        for kind in RowKind::ALL {
            assert_eq!(RowKind::of(&kind.key(&[b"ab", b"c"])), Some((kind, b"abc".as_slice())));
        }
        assert_eq!((RowKind::of(b""), RowKind::of(b"x")), (None, None));
    }
}
