"""A mind that does one thing wrong, named on its command line; without a name it does nothing wrong."""
import json, os, signal, sys, time

mode = sys.argv[1] if len(sys.argv) > 1 else "fine"
out, inp = sys.stdout, sys.stdin


def say(*messages):
    """Says them all in one go: nobody can ask anything in between."""
    out.write("".join(json.dumps(message) + "\n" for message in messages))
    out.flush()


def hang():
    while True:
        time.sleep(60)


def heard():
    line = inp.readline()
    if not line:
        if mode in ("ignores_the_end", "ignores_term"):
            hang()
        sys.exit(0)
    return json.loads(line)


if mode == "ignores_term":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if mode in ("forks", "forks_then_dies"):
    for detached in (False, True):
        if os.fork() == 0:
            if detached:
                os.setsid()
            hang()
if mode == "never_says_who":
    hang()
if mode == "exits_with_3":
    sys.exit(3)
if mode == "raises":
    raise ValueError("no weights in the cupboard")
if mode == "prints_first":
    print("loading model ...", flush=True)

hello = heard()
domain = hello["world"]["domains"][0]["name"] if hello.get("world") else "none"
value = next((one["name"] for one in (hello.get("world") or {}).get("domains", ()) if one["kind"] == "value"), domain)
welcome = {"bardo": "mind", "version": 1, "name": "hostile"}
if mode == "version_99":
    welcome["version"] = 99
if mode == "is_a_world":
    welcome["bardo"] = "world"
say(welcome, {"id": 1, "claims": {}}) if mode == "answers_early" else say(welcome)

while True:
    look = heard()
    if look["ask"] == "bye":
        if mode in ("ignores_the_end", "ignores_term"):
            hang()
        break
    word = {"id": look["id"], "claims": {value: look["bars"][-1]["values"][1] if len(look["bars"][-1]["values"]) > 1 else 1.0}}
    if mode == "hangs":
        hang()
    if mode == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    if mode == "forks_then_dies":
        os._exit(9)
    if mode == "errs":
        word = {"id": look["id"], "error": "the cupboard is bare"}
    if mode == "wrong_number":
        word["id"] += 7
    if mode == "no_number":
        del word["id"]
    if mode == "prints_between":
        print("thinking ...", flush=True)
    if mode == "speaks_of_nothing":
        word["claims"] = {"the weather": 1.0}
    if mode == "a_chance_of_two":
        word["claims"] = {domain: 2.0}
    if mode == "claims_too_much":
        word["claims"] = {value: 1e300}
    if mode == "not_a_number":
        out.write('{"id": %d, "claims": {"%s": NaN}}\n' % (look["id"], value)); out.flush(); continue
    if mode == "number_too_large":
        out.write('{"id": %d, "claims": {"%s": 1e999}}\n' % (look["id"], value)); out.flush(); continue
    if mode == "claims_are_a_list":
        word["claims"] = [1, 2]
    if mode == "no_such_action":
        word["proposal"] = {"action": "rob a bank", "size": 0.5}
    if mode == "all_and_more":
        word["proposal"] = {"action": "buy", "size": 40.0}
    if mode == "a_rule_of_nothing":
        word["rules"] = ["when the moon is full buy"]
    if mode == "rules_without_end":
        word["rules"] = [f"when ret_1 > {n} expect direction 60% over 24" for n in range(1000)]
    if mode == "assesses_too_much":
        word["assessment"] = {"new": [{"name": "x" * 10_000}]}
    if mode == "deep_nesting":
        out.write("[" * 100_000 + "\n"); out.flush(); continue
    if mode == "a_line_of_a_gigabyte":
        try:
            while True:
                out.write("x" * (1 << 20)); out.flush()
        except BrokenPipeError:
            os._exit(0)
    if mode == "floods_aside":
        for _ in range(2_000):
            sys.stderr.write("thinking " * 20 + "\n")
    say(*[word] * {"answers_twice": 2, "floods": 10_000}.get(mode, 1))
    if mode == "closes_its_output":
        os.close(1)
        hang()
