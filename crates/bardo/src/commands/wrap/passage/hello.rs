//! Which host a TLS client says it wants. Many hosts share an address at the networks that deliver for them, some providers of
//! models and some registries among them, so who asked for a registry could name a provider there.

/// Findings from the first bytes of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Hello {
    /// The message is not complete yet.
    More,
    Wants(String),
    /// Not TLS, or TLS that names no host or hides it.
    Unnamed,
}

/// A handshake's record, and in it the message that begins it.
const HANDSHAKE: u8 = 22;
const CLIENT_HELLO: u8 = 1;
/// The extensions with the name of a host, and with another that is encrypted.
const SERVER_NAME: u16 = 0;
const ENCRYPTED: u16 = 0xfe0d;
/// No client says more before it has heard anything.
const LONGEST: usize = 1 << 16;

pub(super) fn read(bytes: &[u8]) -> Hello {
    match message(bytes) {
        Some(Ok(message)) => name(&message).map_or(Hello::Unnamed, Hello::Wants),
        Some(Err(())) => Hello::Unnamed,
        None if bytes.len() > LONGEST => Hello::Unnamed,
        None => Hello::More,
    }
}

/// The first message, put together from its records; none, while it is not all there.
fn message(bytes: &[u8]) -> Option<Result<Vec<u8>, ()>> {
    let (mut message, mut rest) = (Vec::new(), PieceReader(bytes));
    loop {
        if rest.0.first().is_some_and(|kind| *kind != HANDSHAKE) {
            return Some(Err(()));
        }
        rest.take(3)?;
        let length = rest.number(2)?;
        message.extend_from_slice(rest.take(length)?);
        let mut head = PieceReader(&message);
        let (Some(kind), Some(length)) = (head.number(1), head.number(3)) else { continue };
        if kind != usize::from(CLIENT_HELLO) || length > LONGEST {
            return Some(Err(()));
        }
        if let Some(body) = head.take(length) {
            return Some(Ok(body.to_vec()));
        }
    }
}

/// The host it names, in small letters.
fn name(message: &[u8]) -> Option<String> {
    let mut rest = PieceReader(message);
    // The version, what was drawn, and what is offered.
    rest.take(2 + 32)?;
    rest.sized(1)?;
    rest.sized(2)?;
    rest.sized(1)?;
    let mut extensions = PieceReader(rest.sized(2)?);
    let mut found = None;
    while !extensions.0.is_empty() {
        let (kind, content) = (extensions.number(2)?, extensions.sized(2)?);
        match u16::try_from(kind).ok()? {
            ENCRYPTED => return None,
            // Who names two is not to be asked which.
            SERVER_NAME if found.is_some() => return None,
            SERVER_NAME => {
                let mut names = PieceReader(content);
                let mut names = PieceReader(names.sized(2)?);
                let (kind, name) = (names.number(1)?, names.sized(2)?);
                if kind != 0 || !names.0.is_empty() {
                    return None;
                }
                found = Some(String::from_utf8(name.to_vec()).ok()?.to_ascii_lowercase());
            }
            _ => {}
        }
    }
    found
}

/// Takes one piece after the other from the front.
struct PieceReader<'a>(&'a [u8]);

impl<'a> PieceReader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    /// Of so many bytes, the highest first.
    fn number(&mut self, bytes: usize) -> Option<usize> {
        Some(self.take(bytes)?.iter().fold(0, |number, byte| (number << 8) | usize::from(*byte)))
    }

    /// A piece whose length stands before it, in so many bytes.
    fn sized(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let length = self.number(bytes)?;
        self.take(length)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The first message of a client that wants this host.
    pub(in super::super) fn hello_to(host: &str) -> Vec<u8> {
        hello(&[named(host)], 16_384)
    }

    fn sized(bytes: usize, content: &[u8]) -> Vec<u8> {
        let length = content.len().to_be_bytes();
        [&length[length.len() - bytes..], content].concat()
    }

    fn extension(kind: u16, content: &[u8]) -> Vec<u8> {
        [&kind.to_be_bytes()[..], &sized(2, content)].concat()
    }

    fn named(name: &str) -> Vec<u8> {
        extension(SERVER_NAME, &sized(2, &[&[0][..], &sized(2, name.as_bytes())].concat()))
    }

    /// As clients say it, in records of this size.
    fn hello(extensions: &[Vec<u8>], record: usize) -> Vec<u8> {
        let offers = [sized(1, &[7; 32]), sized(2, &[0x13, 1]), sized(1, &[0])].concat();
        let body = [&[3, 3][..], &[9; 32], &offers, &sized(2, &extensions.concat())].concat();
        let message = [&[CLIENT_HELLO][..], &sized(3, &body)].concat();
        let records = message.chunks(record).map(|piece| [&[HANDSHAKE, 3, 1][..], &sized(2, piece)].concat());
        records.collect::<Vec<_>>().concat()
    }

    #[test]
    fn the_host_is_read_however_it_is_cut() {
        let other = extension(43, &[2, 3, 4]);
        for record in [1, 7, 16_384] {
            let all = hello(&[other.clone(), named("Registry.npmjs.org"), other.clone()], record);
            assert_eq!(read(&all), Hello::Wants("registry.npmjs.org".to_owned()), "{record}");
            for end in 0..all.len() {
                assert_eq!(read(&all[..end]), Hello::More, "{record}, {end}");
            }
            assert_eq!(read(&[&all[..], &[23, 3, 3, 0, 1, 0]].concat()), read(&all));
        }
    }

    #[test]
    fn who_names_nobody_two_or_somebody_in_secret_is_nobody() {
        let hidden = extension(ENCRYPTED, &[0; 40]);
        for extensions in
            [&[][..], &[named("a.org"), named("b.org")], &[named("a.org"), hidden], &[vec![0, 0, 0, 9, 1]]]
        {
            assert_eq!(read(&hello(extensions, 16_384)), Hello::Unnamed, "{extensions:?}");
        }
        for bytes in [&b"GET / HTTP/1.1\r\n"[..], b"SSH-2.0-x\r\n", &[HANDSHAKE, 3, 1, 0, 4, 2, 0, 0, 0]] {
            assert_eq!(read(bytes), Hello::Unnamed, "{bytes:?}");
        }
        // A message without an end is given up at some point.
        let endless = [[HANDSHAKE, 3, 1, 0, 0]; LONGEST / 5 + 2].concat();
        assert_eq!(read(&endless), Hello::Unnamed);
    }
}
