//! The key to a server, from the environment variable its owner named. It goes into one header of a request and nowhere
//! else: not into messages, not into debug output, not into a server's complaint that is passed on.

use std::env;
use std::fmt;

use reqwest::header::HeaderValue;

use crate::Error;

pub(crate) struct ApiKey {
    variable: String,
    secret: String,
    bearer: HeaderValue,
    plain: HeaderValue,
}

impl ApiKey {
    pub(crate) fn from_env(variable: &str) -> Result<ApiKey, Error> {
        let wrong = |why| Error::Key { variable: variable.to_owned(), why };
        let value = env::var(variable).map_err(|why| match why {
            env::VarError::NotPresent => wrong("it is not set where Bardo runs: export it and start again; a server that needs no key is named without one"),
            env::VarError::NotUnicode(_) => wrong("it is not text"),
        })?;
        ApiKey::new(variable, &value)
    }

    fn new(variable: &str, value: &str) -> Result<ApiKey, Error> {
        let wrong = |why| Error::Key { variable: variable.to_owned(), why };
        // Keys read from files often end in a line break.
        let secret = value.trim();
        if secret.is_empty() {
            return Err(wrong("it is empty: set it and start again; a server that needs no key is named without one"));
        }
        let header = |text: &str| {
            let mut header =
                HeaderValue::from_str(text).map_err(|_| wrong("it has characters that no key can have"))?;
            header.set_sensitive(true);
            Ok::<_, Error>(header)
        };
        let (bearer, plain) = (header(&format!("Bearer {secret}"))?, header(secret)?);
        Ok(ApiKey { variable: variable.to_owned(), secret: secret.to_owned(), bearer, plain })
    }

    pub(crate) fn variable(&self) -> &str {
        &self.variable
    }

    pub(crate) fn bearer(&self) -> HeaderValue {
        self.bearer.clone()
    }

    pub(crate) fn plain(&self) -> HeaderValue {
        self.plain.clone()
    }

    /// Whether the key stands in these bytes.
    pub(crate) fn is_in(&self, bytes: &[u8]) -> bool {
        bytes.windows(self.secret.len()).any(|some| some == self.secret.as_bytes())
    }

    /// Removes the key from a text: some servers repeat the key they refuse.
    pub(crate) fn scrub(&self, text: &str) -> String {
        text.replace(&self.secret, "…")
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").field("variable", &self.variable).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_shows_itself_to_nobody() {
        let key = ApiKey::new("SOME_KEY", "sk-hush\n").unwrap();
        assert_eq!(key.bearer().to_str().unwrap(), "Bearer sk-hush");
        let shown = format!("{key:?} {:?} {:?} {}", key.bearer(), key.plain(), key.scrub("wrong key: sk-hush"));
        assert!(!shown.contains("hush"), "{shown}");
    }

    #[test]
    fn a_key_that_is_none_names_its_variable_only() {
        assert!(ApiKey::from_env("BARDO_NO_SUCH_VARIABLE").unwrap_err().to_string().contains("BARDO_NO_SUCH_VARIABLE"));
        for value in ["", " \n", "two\nlines", "nul\0"] {
            let refused = ApiKey::new("SOME_KEY", value).unwrap_err().to_string();
            assert!(refused.contains("SOME_KEY") && !refused.contains("lines"), "{refused}");
        }
    }
}
