//! Agents whose golem is given another name: the address they were given leads on, and what they were promised holds.

use std::time::Duration;

use serde_json::Value;
use testing::upstream::{Act, Upstream};
use testing::wait::within;

use super::{Agency, UNWATCHED, Up, hello, send};

#[test]
fn an_agent_goes_on_at_the_address_it_knows_and_is_told_the_new_one() {
    let upstream = Upstream::start(|_| Act::Honest);
    let agency = Agency::new(&upstream, "1", &UNWATCHED);
    let up = agency.up();
    let call = |up: &Up, name: &str, key: &str| {
        let headers = format!("idempotency-key: {key}\r\n");
        up.post(&format!("/g/{name}/v1/chat/completions"), &agency.token, &headers, &hello().to_string())
    };
    assert_eq!(call(&up, "ada", "one").status, 200);
    let said = agency.tent.ok(["golem", "rename", "ada", "bea"]);
    assert!(said.starts_with("ada is bea now; ada leads to it until "), "{said}");
    let list = || agency.tent.ok(["golem", "list"]);
    within(Duration::from_secs(20), list, || agency.tent.golem("bea").lodges().unwrap());
    let old = call(&up, "ada", "two");
    assert_eq!((old.status, old.header("x-bardo-renamed")), (200, Some("bea")), "{}", old.body);
    let new = call(&up, "bea", "three");
    assert_eq!((new.status, new.header("x-bardo-renamed")), (200, None), "{}", new.body);
    // A call is known by its golem's id: under no name is it paid twice.
    for name in ["ada", "bea"] {
        for key in ["one", "two", "three"] {
            assert_eq!(call(&up, name, key).status, 422, "{key} was made before; by {name}");
        }
    }
    assert_eq!(upstream.calls(), 3);
    let stranger = up.post("/g/ada/v1/chat/completions", "not-its-token", "", &hello().to_string());
    assert_eq!((stranger.status, stranger.header("x-bardo-renamed")), (401, None), "a stranger learns nothing");
    // The list of models is at both addresses.
    assert_eq!(send("GET", &up.address, "/g/ada/v1/models", &agency.token, "", "").status, 200);
    assert_eq!(agency.settled_of("bea").calls().made, 3);
    up.kill();
    let up = agency.up();
    assert_eq!((call(&up, "ada", "one").status, upstream.calls()), (422, 3), "nor after a kill");
    let shown: Value = serde_json::from_str(&agency.tent.ok(["golem", "connect", "ada", "--json"])).unwrap();
    assert_eq!(shown["token"].as_str(), Some(agency.token.as_str()), "and its token is the one it had");
    // A frozen golem's agent is refused at either address.
    agency.tent.ok(["golem", "freeze", "ada"]);
    for name in ["ada", "bea"] {
        assert_eq!(call(&up, name, "four").header("x-bardo-refused"), Some("frozen"), "{name}");
    }
    up.stop();
}
