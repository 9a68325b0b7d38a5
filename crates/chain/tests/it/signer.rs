//! What is signed, and what never is.

use std::io::Cursor;

use crate::common::{Dice, full};
use alloy_sol_types::{SolCall, SolInterface};
use chain::contracts::Purse;
use chain::signer::{Key, List, Program, Signer, serve};
use chain::tx::{Fee, Transaction};
use chain::{Address, B256, Bytes, Error, U256, keccak256};

fn list() -> List {
    let purse = Address::repeat_byte(0xaa);
    List { chain: 31_337, purse, owner: Address::repeat_byte(0xbb), gas: U256::from(10_u64.pow(17)) }
}

fn key() -> Key {
    Key::new(keccak256(b"signer").as_slice(), list()).unwrap()
}

fn buys() -> Transaction {
    let call = Purse::buyCall { id: B256::ZERO, units: U256::from(5), most: U256::from(6), deadline: U256::from(7) };
    says(call.abi_encode())
}

/// Everything that a golem may say to its purse.
fn sayings() -> Vec<Vec<u8>> {
    let (id, five, token) = (B256::repeat_byte(9), U256::from(5), Address::repeat_byte(0xdd));
    vec![
        Purse::buyCall { id, units: five, most: five, deadline: five }.abi_encode(),
        Purse::sellCall { id, units: five, least: five, deadline: five }.abi_encode(),
        Purse::provideCall { id, amount: 5, units: five, most: five, deadline: five }.abi_encode(),
        Purse::withdrawCall { id, amount: 5, least: five, deadline: five }.abi_encode(),
        Purse::bringInCall {}.abi_encode(),
        Purse::sendHomeCall { token }.abi_encode(),
        Purse::retireCall {}.abi_encode(),
    ]
}

fn says(input: Vec<u8>) -> Transaction {
    Transaction {
        chain: 31_337,
        nonce: 3,
        fee: Fee::Dynamic { most: 30_000_000_000, tip: 1_000_000_000 },
        gas: 400_000,
        to: list().purse,
        value: U256::ZERO,
        input: input.into(),
    }
}

/// Every function that the purse has, with as many words behind its name as it could want: those that a golem may call are
/// signed, and no other is.
#[test]
fn of_all_that_a_purse_does_only_a_golems_part_is_signed() {
    let mut key = key();
    let mut signed: Vec<[u8; 4]> = Vec::new();
    for selector in Purse::PurseCalls::selectors() {
        for words in 0..8 {
            let input = [&selector[..], &vec![0; words * 32]].concat();
            if key.sign(&says(input)).is_ok() {
                signed.push(selector);
            }
        }
    }
    let mut golems: Vec<[u8; 4]> = sayings().iter().map(|saying| saying[..4].try_into().unwrap()).collect();
    signed.sort_unstable();
    golems.sort_unstable();
    assert_eq!(signed, golems);
    println!("counted: {} functions of a purse, {} of them signed", Purse::PurseCalls::COUNT, signed.len());
}

#[test]
fn what_is_signed_is_what_was_asked_for() {
    let mut key = key();
    let legacy = Transaction { fee: Fee::Legacy { price: 30_000_000_000 }, ..buys() };
    let home = Transaction { to: list().owner, value: U256::from(12), input: Bytes::new(), gas: 21_000, ..buys() };
    let nothing = Transaction { to: key.address(), input: Bytes::new(), gas: 21_000, ..buys() };
    for tx in sayings().into_iter().map(says).chain([buys(), legacy, home, nothing]) {
        let raw = key.sign(&tx).unwrap();
        assert_eq!(Transaction::read(&raw).unwrap(), (tx, key.address()));
    }
}

/// Everything else about a transaction that somebody with the host in their hands could change.
#[test]
fn what_is_not_on_the_list_is_refused() {
    let mut key = key();
    let own = key.address();
    let (thief, token) = (Address::repeat_byte(0xcc), Address::repeat_byte(0xdd));
    let call = |input: Vec<u8>| Transaction { input: input.into(), ..buys() };
    let owners = [
        call(Purse::setKeyCall { key: thief, until: u64::MAX }.abi_encode()),
        call(Purse::setAllowanceCall { token, aDay: U256::MAX }.abi_encode()),
        call(Purse::freezeCall { frozen: false }.abi_encode()),
        call(Purse::sweepCall { token }.abi_encode()),
    ];
    let hidden = call([buys().input.to_vec(), vec![0]].concat());
    let short = call(buys().input[..60].to_vec());
    let others = [
        hidden,
        short,
        call(Vec::new()),
        Transaction { chain: 0, ..buys() },
        Transaction { chain: 1, ..buys() },
        Transaction { to: thief, ..buys() },
        Transaction { to: thief, input: Bytes::new(), value: U256::from(1), ..buys() },
        Transaction { to: own, input: Bytes::new(), value: U256::from(1), ..buys() },
        Transaction { to: list().owner, ..buys() },
        Transaction { value: U256::from(1), ..buys() },
        Transaction { gas: 400_000_000, ..buys() },
        Transaction { fee: Fee::Legacy { price: u128::MAX }, ..buys() },
        Transaction { fee: Fee::Dynamic { most: 1, tip: 2 }, ..buys() },
    ];
    for tx in owners.into_iter().chain(others) {
        let told = key.sign(&tx).unwrap_err();
        assert!(matches!(told, Error::Refused(_)), "{tx:?}: {told}");
    }
    // An approval of anything to anybody is not even a call that there is.
    let approve = chain::contracts::Token::approveCall { spender: thief, value: U256::MAX }.abi_encode();
    assert!(key.sign(&Transaction { to: token, ..call(approve.clone()) }).is_err());
    assert!(key.sign(&call(approve)).is_err());
}

#[test]
fn only_two_kinds_of_transactions_are_read() {
    let raw = key().sign(&buys()).unwrap();
    for kind in [0_u8, 1, 3, 4, 5, 0x7f] {
        let told = Transaction::read(&[&[kind], &raw[1..]].concat()).unwrap_err();
        assert_eq!(told, format!("transactions of type {kind} are not signed here"));
    }
    // Before chains were told apart.
    let mut everywhere = Vec::new();
    let legacy = key().sign(&Transaction { fee: Fee::Legacy { price: 1 }, ..buys() }).unwrap();
    everywhere.extend_from_slice(&legacy);
    let at =
        everywhere.windows(3).rposition(|three| three == [0x82, 0xf4, 0xf5] || three == [0x82, 0xf4, 0xf6]).unwrap();
    everywhere.splice(at..at + 3, [27]);
    everywhere[1] -= 2;
    assert!(Transaction::read(&everywhere).unwrap_err().contains("it is for every chain"));
}

/// Whatever bytes are put in front of it: a signer signs what passes its list, and what it signs is that.
#[test]
fn bytes_at_random_are_never_signed_for_anybody_else() {
    let (mut key, mut dice) = (key(), Dice(9_401));
    let (own, list, count) = (key.address(), list(), if full() { 2_000_000 } else { 20_000 });
    let (mut signed, mut refused) = (0, 0);
    let sayings = sayings();
    for _ in 0..count {
        let mut tx = says(sayings[dice.below(sayings.len() as u64) as usize].clone());
        for _ in 0..=dice.below(2) {
            match dice.below(8) {
                0 => tx.chain = dice.below(3) * 31_337 / 2,
                1 => tx.to = [list.owner, own, Address::repeat_byte(dice.roll() as u8)][dice.below(3) as usize],
                2 => tx.value = U256::from(dice.below(2)),
                3 => tx.gas = dice.roll() >> dice.below(64),
                4 => tx.input = tx.input[..(dice.below(133) as usize).min(tx.input.len())].to_vec().into(),
                5 => {
                    let mut input = tx.input.to_vec();
                    let at = dice.below(input.len().max(1) as u64) as usize;
                    input.get_mut(at).into_iter().for_each(|byte| *byte ^= 1 << (at % 8));
                    tx.input = input.into();
                }
                6 => tx.fee = Fee::Legacy { price: u128::from(dice.roll() >> dice.below(64)) },
                _ => tx.nonce = dice.roll(),
            }
        }
        match key.sign(&tx) {
            Ok(raw) => {
                signed += 1;
                assert!(tx.chain == 31_337 && U256::from(tx.gas) * U256::from(tx.fee.most()) <= list.gas, "{tx:?}");
                let home = tx.input.is_empty() && (tx.to == list.owner || (tx.to == own && tx.value.is_zero()));
                let golems = tx.to == list.purse
                    && tx.value.is_zero()
                    && sayings.iter().any(|said| said.len() == tx.input.len() && said[..4] == tx.input[..4]);
                assert!(home || golems, "{tx:?}");
                assert_eq!(Transaction::read(&raw).unwrap().0, tx);
            }
            Err(Error::Refused(_)) => refused += 1,
            Err(other) => panic!("{tx:?}: {other}"),
        }
    }
    println!("counted: {signed} signed and {refused} refused of {count} transactions changed at random");
    assert!(signed > 0 && refused > signed / 10);
}

#[test]
fn a_key_in_a_file_opens_with_its_password_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let name = Key::make(folder.path(), keccak256(b"signer").as_slice(), "open").unwrap();
    let file = folder.path().join(name);
    assert_eq!(Key::open(&file, "open", list()).unwrap().address(), key().address());
    assert!(Key::open(&file, "shut", list()).is_err());
    assert!(!format!("{:?}", key()).contains("key:"));
}

#[test]
fn a_signer_that_is_a_program_keeps_to_its_list_and_is_not_believed() {
    let mut heard = Vec::new();
    let asked = format!(
        "{{\"sign\":{{\"chain\":31337,\"nonce\":0,\"most\":1,\"tip\":1,\"gas\":21000,\"to\":\"{}\",\"value\":\"0x1\",\"input\":\"0x\"}}}}\n\"address\"\nnonsense\n",
        Address::repeat_byte(0xcc)
    );
    serve(&mut key(), Cursor::new(asked), &mut heard).unwrap();
    let heard: Vec<String> = String::from_utf8(heard).unwrap().lines().map(str::to_owned).collect();
    assert!(heard[0].starts_with("{\"refused\":\"0x") && heard[0].ends_with("is not on the list\"}"), "{heard:?}");
    assert!(heard[1].starts_with("{\"address\":") && heard[2].contains("cannot be read"), "{heard:?}");

    // It signs something, with the right key, that nobody asked for.
    let other = key().sign(&Transaction { nonce: 99, ..buys() }).unwrap();
    let script = format!(
        "read a; echo '{{\"address\":\"{}\"}}'; read b; echo '{{\"signed\":\"{}\"}}'; read c; echo '{{\"refused\":\"no\"}}'",
        key().address(),
        Bytes::from(other)
    );
    let mut program = Program::start(&["sh".to_owned(), "-c".to_owned(), script]).unwrap();
    assert_eq!(program.address(), key().address());
    assert_eq!(program.sign(&buys()).unwrap_err().to_string(), "the signer signed something else");
    assert_eq!(program.sign(&buys()).unwrap_err().to_string(), "the signer refuses: no");
    assert!(program.sign(&buys()).unwrap_err().to_string().contains("the signer does not answer"));
}
