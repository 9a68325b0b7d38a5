//! Hashes of files, and hashes as the numbers a ledger wants.

use std::fs;
use std::path::Path;

use crate::Error;

/// The number that stands for a hash where a ledger wants one.
pub(crate) fn number(hash: &[u8; 32]) -> u64 {
    u64::from_le_bytes(hash[..8].try_into().expect("eight of thirty-two")) >> 1
}

/// The hash of a file, if it is there.
pub(crate) fn of_file(file: &Path) -> Result<Option<String>, Error> {
    match fs::File::open(file) {
        Ok(mut open) => {
            let mut hasher = blake3::Hasher::new();
            std::io::copy(&mut open, &mut hasher).map_err(Error::io("cannot read", file))?;
            Ok(Some(hasher.finalize().to_hex().to_string()))
        }
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(Error::io("cannot read", file)(e)),
    }
}
