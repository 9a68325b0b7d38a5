//! Signers, which hold a key. A signer has a list of its own and signs nothing that is not on it; where it is a
//! program, the key is never in the memory of the golem's host.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use alloy_primitives::{Address, Bytes, Signature, U256};
use alloy_sol_types::{SolCall, SolInterface};
use k256::ecdsa::SigningKey;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::contracts::Purse;
use crate::tx::{Fee, Transaction};

/// The list of transactions that a signer signs; it signs nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    pub chain: u64,
    pub purse: Address,
    /// The owner, who gets the rest of the gas at the end; nothing is ever sent to any other account.
    pub owner: Address,
    /// The most that the gas of one transaction may cost, in wei.
    pub gas: U256,
}

/// The part of the purse that a key may call.
const CALLS: [[u8; 4]; 7] = [
    Purse::buyCall::SELECTOR,
    Purse::sellCall::SELECTOR,
    Purse::provideCall::SELECTOR,
    Purse::withdrawCall::SELECTOR,
    Purse::bringInCall::SELECTOR,
    Purse::sendHomeCall::SELECTOR,
    Purse::retireCall::SELECTOR,
];

impl List {
    /// Checks a transaction of the key of `own`; an error says why it is not signed.
    pub fn check(&self, tx: &Transaction, own: Address) -> Result<(), String> {
        if tx.chain == 0 || tx.chain != self.chain {
            return Err(format!("it is for chain {}, and only chain {} is on the list", tx.chain, self.chain));
        }
        let gas = U256::from(tx.gas).saturating_mul(U256::from(tx.fee.most()));
        if gas > self.gas {
            return Err(format!("its gas may cost {gas} wei, and {} at most is on the list", self.gas));
        }
        if let Fee::Dynamic { most, tip } = tx.fee
            && tip > most
        {
            return Err("its tip is more than all it pays".to_owned());
        }
        if tx.to == self.purse {
            return self.check_call(tx);
        }
        // The rest of the gas goes to the owner; an empty transaction to oneself replaces one that is stuck.
        let empty = tx.input.is_empty();
        if empty && (tx.to == self.owner || (tx.to == own && tx.value.is_zero())) {
            return Ok(());
        }
        Err(format!("{} is not on the list", tx.to))
    }

    fn check_call(&self, tx: &Transaction) -> Result<(), String> {
        if !tx.value.is_zero() {
            return Err("the purse is never sent any ether".to_owned());
        }
        let known = tx.input.first_chunk::<4>().is_some_and(|selector| CALLS.contains(selector));
        let call = Purse::PurseCalls::abi_decode_validate(&tx.input).ok().filter(|_| known);
        // No bytes may hide behind a call that is understood.
        match call {
            Some(call) if call.abi_encode() == tx.input.as_ref() => Ok(()),
            _ => Err("a golem's key may not make this call to the purse".to_owned()),
        }
    }
}

pub trait Signer: Send {
    fn address(&self) -> Address;

    /// Signs a transaction for sending, or says why not.
    fn sign(&mut self, tx: &Transaction) -> Result<Vec<u8>, Error>;
}

/// A key in this process, with its list.
pub struct Key {
    key: SigningKey,
    address: Address,
    list: List,
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Never the key.
        f.debug_struct("Key").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Key {
    pub fn new(secret: &[u8], list: List) -> Result<Key, Error> {
        let key =
            SigningKey::from_slice(secret).map_err(|_| Error::Wrong("this is not a key of a chain".to_owned()))?;
        let address = Address::from_private_key(&key);
        Ok(Key { key, address, list })
    }

    /// Opens the key in this file, which is not encrypted; makes a new one if there is none.
    pub fn kept(file: &Path, list: List) -> Result<Key, Error> {
        use std::os::unix::fs::OpenOptionsExt;
        let failed = |what| move |source| Error::Io { what, path: file.to_owned(), source };
        match std::fs::read(file) {
            Ok(secret) => return Key::new(&secret, list),
            Err(missing) if missing.kind() == std::io::ErrorKind::NotFound => {}
            Err(other) => return Err(failed("cannot read")(other)),
        }
        let key = SigningKey::random(&mut k256::elliptic_curve::rand_core::OsRng);
        // Whole or not at all: half a key would be lost money.
        let aside = file.with_extension("new");
        let _ = std::fs::remove_file(&aside);
        let mut options = std::fs::OpenOptions::new();
        let mut written =
            options.write(true).create_new(true).mode(0o600).open(&aside).map_err(failed("cannot make"))?;
        let kept = written.write_all(&key.to_bytes()).and_then(|()| written.sync_all());
        kept.and_then(|()| std::fs::rename(&aside, file)).map_err(failed("cannot write"))?;
        // A key that is gone after a power cut would take with it everything that was sent to it.
        let folder = file.parent().unwrap_or(Path::new("."));
        std::fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed("cannot sync"))?;
        Key::new(&key.to_bytes(), list)
    }

    /// Opens a key in an encrypted file, as wallets write them.
    pub fn open(file: &Path, password: &str, list: List) -> Result<Key, Error> {
        let secret = eth_keystore::decrypt_key(file, password)
            .map_err(|why| Error::Wrong(format!("the key in {} cannot be opened: {why}", file.display())))?;
        Key::new(&secret, list)
    }

    /// Writes a key into a new encrypted file in this folder; returns the file's name.
    pub fn make(folder: &Path, secret: &[u8], password: &str) -> Result<String, Error> {
        let name =
            eth_keystore::encrypt_key(folder, &mut k256::elliptic_curve::rand_core::OsRng, secret, password, None);
        name.map_err(|why| Error::Wrong(format!("no key can be kept in {}: {why}", folder.display())))
    }
}

impl Signer for Key {
    fn address(&self) -> Address {
        self.address
    }

    fn sign(&mut self, tx: &Transaction) -> Result<Vec<u8>, Error> {
        self.list.check(tx, self.address).map_err(Error::Refused)?;
        let (signature, id) = self
            .key
            .sign_prehash_recoverable(tx.hash_to_sign().as_slice())
            .map_err(|why| Error::Wrong(format!("nothing can be signed: {why}")))?;
        Ok(tx.signed(&Signature::from((signature, id))))
    }
}

/// A request to a signer that is a program, one a line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SignerRequest {
    Address,
    Sign(Wanted),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SignerAnswer {
    Address(Address),
    Signed(Bytes),
    Refused(String),
}

/// A transaction in a request.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    chain: u64,
    nonce: u64,
    /// The most a unit of gas may cost, in wei.
    most: u128,
    /// The part of that for the maker of the block; without a tip it is a legacy transaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tip: Option<u128>,
    gas: u64,
    to: Address,
    value: U256,
    input: Bytes,
}

impl From<&Transaction> for Wanted {
    fn from(tx: &Transaction) -> Wanted {
        let tip = if let Fee::Dynamic { tip, .. } = tx.fee { Some(tip) } else { None };
        let Transaction { chain, nonce, gas, to, value, .. } = *tx;
        Wanted { chain, nonce, most: tx.fee.most(), tip, gas, to, value, input: tx.input.clone() }
    }
}

impl From<Wanted> for Transaction {
    fn from(wanted: Wanted) -> Transaction {
        let Wanted { chain, nonce, most, tip, gas, to, value, input } = wanted;
        let fee = tip.map_or(Fee::Legacy { price: most }, |tip| Fee::Dynamic { most, tip });
        Transaction { chain, nonce, fee, gas, to, value, input }
    }
}

/// A signer that is another program, which has the key.
#[derive(Debug)]
pub struct Program {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    address: Address,
}

impl Program {
    pub fn start(command: &[String]) -> Result<Program, Error> {
        let (program, told) = command.split_first().ok_or_else(|| Error::Wrong("no signer is named".to_owned()))?;
        let mut child = Command::new(program)
            .args(told)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|source| Error::Io { what: "cannot run the signer", path: program.into(), source })?;
        let (to, from) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        let mut signer = Program { child, to, from: BufReader::new(from), address: Address::ZERO };
        match signer.ask(&SignerRequest::Address)? {
            SignerAnswer::Address(address) => signer.address = address,
            other => return Err(Error::Wrong(format!("the signer does not give the address of its key: {other:?}"))),
        }
        Ok(signer)
    }

    fn ask(&mut self, asked: &SignerRequest) -> Result<SignerAnswer, Error> {
        let gone = |why: String| Error::Wrong(format!("the signer does not answer: {why}"));
        let mut line = serde_json::to_string(asked).expect("plain data");
        line.push('\n');
        self.to.write_all(line.as_bytes()).and_then(|()| self.to.flush()).map_err(|e| gone(e.to_string()))?;
        let mut said = String::new();
        if self.from.read_line(&mut said).map_err(|e| gone(e.to_string()))? == 0 {
            return Err(gone("it has ended".to_owned()));
        }
        serde_json::from_str(&said).map_err(|e| gone(format!("{e} in {said:?}")))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Signer for Program {
    fn address(&self) -> Address {
        self.address
    }

    fn sign(&mut self, tx: &Transaction) -> Result<Vec<u8>, Error> {
        match self.ask(&SignerRequest::Sign(Wanted::from(tx)))? {
            SignerAnswer::Signed(raw) => {
                // The signed transaction must be the one asked for.
                let same = Transaction::read(&raw).is_ok_and(|(signed, from)| signed == *tx && from == self.address);
                if same { Ok(raw.to_vec()) } else { Err(Error::Wrong("the signer signed something else".to_owned())) }
            }
            SignerAnswer::Refused(why) => Err(Error::Refused(why)),
            SignerAnswer::Address(_) => Err(Error::Wrong("the signer did not answer the question".to_owned())),
        }
    }
}

/// Serves requests line by line, until the client is gone.
pub fn serve(signer: &mut dyn Signer, from: impl BufRead, mut to: impl Write) -> std::io::Result<()> {
    for line in from.lines() {
        let answer = match serde_json::from_str(&line?) {
            Ok(SignerRequest::Address) => SignerAnswer::Address(signer.address()),
            Ok(SignerRequest::Sign(wanted)) => match signer.sign(&wanted.into()) {
                Ok(raw) => SignerAnswer::Signed(raw.into()),
                Err(Error::Refused(why)) => SignerAnswer::Refused(why),
                Err(other) => SignerAnswer::Refused(other.to_string()),
            },
            Err(why) => SignerAnswer::Refused(format!("the request cannot be read: {why}")),
        };
        writeln!(to, "{}", serde_json::to_string(&answer).expect("plain data"))?;
        to.flush()?;
    }
    Ok(())
}
