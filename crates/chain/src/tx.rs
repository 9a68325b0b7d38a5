//! Transactions: the two kinds that are ever signed, to the byte, and back.

use alloy_primitives::{Address, B256, Bytes, Signature, TxKind, U256, keccak256};
use alloy_rlp::{Decodable, Encodable, Header};

/// The price a transaction offers for gas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fee {
    Legacy {
        price: u128,
    },
    /// At most `most` for a unit of gas, of which `tip` at most is for the maker of the block.
    Dynamic {
        most: u128,
        tip: u128,
    },
}

impl Fee {
    /// The most that a unit of gas can cost.
    pub fn most(self) -> u128 {
        match self {
            Fee::Legacy { price } => price,
            Fee::Dynamic { most, .. } => most,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    pub chain: u64,
    pub nonce: u64,
    pub fee: Fee,
    pub gas: u64,
    pub to: Address,
    pub value: U256,
    pub input: Bytes,
}

const DYNAMIC: u8 = 2;

impl Transaction {
    /// The hash to be signed.
    pub fn hash_to_sign(&self) -> B256 {
        let mut out = Vec::new();
        match self.fee {
            Fee::Legacy { .. } => list(&mut out, |out| {
                self.body(out);
                // Signed for this chain and no other.
                self.chain.encode(out);
                0_u8.encode(out);
                0_u8.encode(out);
            }),
            Fee::Dynamic { .. } => {
                out.push(DYNAMIC);
                list(&mut out, |out| self.body(out));
            }
        }
        keccak256(out)
    }

    /// The signed bytes, as they are sent.
    pub fn signed(&self, signature: &Signature) -> Vec<u8> {
        let mut out = Vec::new();
        let odd = u64::from(signature.v());
        let parity = match self.fee {
            Fee::Legacy { .. } => odd + 35 + 2 * self.chain,
            Fee::Dynamic { .. } => {
                out.push(DYNAMIC);
                odd
            }
        };
        list(&mut out, |out| {
            self.body(out);
            parity.encode(out);
            signature.r().encode(out);
            signature.s().encode(out);
        });
        out
    }

    fn body(&self, out: &mut Vec<u8>) {
        match self.fee {
            Fee::Legacy { price } => {
                self.nonce.encode(out);
                price.encode(out);
            }
            Fee::Dynamic { most, tip } => {
                self.chain.encode(out);
                self.nonce.encode(out);
                tip.encode(out);
                most.encode(out);
            }
        }
        self.gas.encode(out);
        TxKind::Call(self.to).encode(out);
        self.value.encode(out);
        self.input.encode(out);
        if matches!(self.fee, Fee::Dynamic { .. }) {
            // The access list is empty.
            Header { list: true, payload_length: 0 }.encode(out);
        }
    }

    /// Reads a signed transaction and its signer. A transaction of another kind, or in another than the canonical
    /// encoding, is refused.
    pub fn read(raw: &[u8]) -> Result<(Transaction, Address), String> {
        let told = match raw.first() {
            Some(&DYNAMIC) => read_dynamic(&raw[1..]),
            Some(&kind) if kind >= 0xc0 => read_legacy(raw),
            Some(kind) => return Err(format!("transactions of type {kind} are not signed here")),
            None => return Err("no transaction: it is empty".to_owned()),
        };
        let (transaction, signature) = told.map_err(|why| format!("no transaction: {why}"))?;
        let from = signature
            .recover_address_from_prehash(&transaction.hash_to_sign())
            .map_err(|_| "no transaction: its signature is not valid".to_owned())?;
        // Two encodings of one thing would have two hashes.
        if transaction.signed(&signature) != raw {
            return Err("no transaction: its encoding is not canonical".to_owned());
        }
        Ok((transaction, from))
    }
}

fn list(out: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>)) {
    let mut inner = Vec::new();
    fill(&mut inner);
    Header { list: true, payload_length: inner.len() }.encode(out);
    out.extend(inner);
}

fn inside(raw: &[u8]) -> alloy_rlp::Result<&[u8]> {
    let mut rest = raw;
    let inner = Header::decode_bytes(&mut rest, true)?;
    if rest.is_empty() { Ok(inner) } else { Err(alloy_rlp::Error::UnexpectedLength) }
}

fn called(from: &mut &[u8]) -> alloy_rlp::Result<Address> {
    match TxKind::decode(from)? {
        TxKind::Call(to) => Ok(to),
        TxKind::Create => Err(alloy_rlp::Error::Custom("it makes a contract")),
    }
}

fn read_dynamic(raw: &[u8]) -> alloy_rlp::Result<(Transaction, Signature)> {
    let from = &mut inside(raw)?;
    let (chain, nonce) = (u64::decode(from)?, u64::decode(from)?);
    let (tip, most) = (u128::decode(from)?, u128::decode(from)?);
    let (gas, to, value, input) = (u64::decode(from)?, called(from)?, U256::decode(from)?, Bytes::decode(from)?);
    if !Header::decode_bytes(from, true)?.is_empty() {
        return Err(alloy_rlp::Error::Custom("it has an access list"));
    }
    let (odd, r, s) = (bool::decode(from)?, U256::decode(from)?, U256::decode(from)?);
    ended(from)?;
    let fee = Fee::Dynamic { most, tip };
    Ok((Transaction { chain, nonce, fee, gas, to, value, input }, Signature::new(r, s, odd)))
}

fn read_legacy(raw: &[u8]) -> alloy_rlp::Result<(Transaction, Signature)> {
    let from = &mut inside(raw)?;
    let (nonce, price, gas) = (u64::decode(from)?, u128::decode(from)?, u64::decode(from)?);
    let (to, value, input) = (called(from)?, U256::decode(from)?, Bytes::decode(from)?);
    let (v, r, s) = (u64::decode(from)?, U256::decode(from)?, U256::decode(from)?);
    ended(from)?;
    let v = v.checked_sub(35).ok_or(alloy_rlp::Error::Custom("it is for every chain"))?;
    let fee = Fee::Legacy { price };
    Ok((Transaction { chain: v / 2, nonce, fee, gas, to, value, input }, Signature::new(r, s, v % 2 == 1)))
}

fn ended(rest: &[u8]) -> alloy_rlp::Result<()> {
    if rest.is_empty() { Ok(()) } else { Err(alloy_rlp::Error::UnexpectedLength) }
}
