"""A world that does one thing wrong, named on its command line; without a name it does nothing wrong."""
import json, os, signal, sys, time

mode = sys.argv[1] if len(sys.argv) > 1 else "fine"
out, inp = sys.stdout, sys.stdin
MINUTE = 60_000
BORN = 1_700_000_040_000


def say(*messages):
    """Says them all in one go: nobody can ask anything in between."""
    out.write("".join(json.dumps(message) + "\n" for message in messages))
    out.flush()


def raw(text):
    out.write(text)
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


if mode in ("ignores_term", "forks_and_ignores"):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if mode in ("forks", "forks_and_ignores", "forks_then_dies"):
    for detached in (False, True):
        if os.fork() == 0:
            if detached:
                os.setsid()
                if os.fork() != 0:
                    os._exit(0)
            hang()
if mode == "never_says_who":
    hang()
if mode == "exits_with_0":
    sys.exit(0)
if mode == "exits_with_3":
    sys.exit(3)
if mode == "is_killed":
    os.kill(os.getpid(), signal.SIGKILL)
if mode == "raises":
    raise ValueError("no data in the cupboard")
if mode == "prints_first":
    print("loading model ...", flush=True)
if mode == "blank_line_first":
    raw("\n")
if mode == "binary_first":
    os.write(1, bytes(range(128, 256)) + b"\n")

hello = heard()
manifest = {
    "world": "hostile", "bar_ms": MINUTE,
    "domains": [{"name": "level", "weight": 1.0, "kind": "value", "horizon": 1}],
    "features": ["level"],
    "actions": [{"name": "buy", "effect": "adds"}, {"name": "sell", "effect": "reduces"}],
    "unit": "thing",
}
welcome = {"bardo": "world", "version": 1, "world": manifest, "start": BORN}
if mode == "version_99":
    welcome["version"] = 99
if mode == "version_0":
    welcome["version"] = 0
if mode == "is_a_mind":
    welcome["bardo"] = "mind"
if mode == "has_no_manifest":
    del welcome["world"]
if mode == "has_no_start":
    del welcome["start"]
if mode == "bar_of_nothing":
    manifest["bar_ms"] = 0
if mode == "too_many_domains":
    manifest["domains"] = [dict(manifest["domains"][0], name=f"d{n}") for n in range(9)]
if mode == "two_domains_alike":
    manifest["domains"] *= 2
if mode == "weight_is_nan":
    manifest["domains"][0]["weight"] = float("nan")
if mode == "name_of_a_megabyte":
    manifest["world"] = "x" * 1_000_000
if mode == "welcome_is_a_list":
    welcome = [welcome]
if mode == "deep_nesting":
    raw("[" * 200_000 + "]" * 200_000 + "\n")
elif mode == "a_line_of_a_gigabyte":
    chunk = "x" * 65_536
    try:
        for _ in range(16_384):
            raw(chunk)
    except BrokenPipeError:
        pass
    hang()
elif mode == "half_a_line":
    raw('{"bardo": "wor')
    sys.exit(0)
elif mode == "drips":
    while True:
        raw(" ")
        time.sleep(0.2)
else:
    early = {"answers_early": [{"id": 1}], "says_who_twice": [welcome]}
    say(welcome, *early.get(mode, []))
if mode == "floods_aside":
    for n in range(200_000):
        sys.stderr.write(f"line {n} " + "z" * 100 + "\n")

fates, held = {}, 0


def level(at):
    return 100.0 + (at // MINUTE * 7919) % 13


while True:
    q = heard()
    ask, answer = q["ask"], {"id": q["id"]}
    stage = "at_" + ask
    if mode == "dies_" + stage:
        os.kill(os.getpid(), signal.SIGKILL)
    if mode == "hangs_" + stage:
        hang()
    if mode == "errs_" + stage:
        answer["error"] = "the cupboard is bare"
        say(answer)
        continue
    if mode == "is_away_" + stage:
        answer["away"] = "the exchange is closed"
        say(answer)
        continue
    if ask == "bye":
        if mode in ("ignores_the_end", "ignores_term"):
            hang()
        sys.exit(0)
    if ask == "observe":
        first = q["since"] // MINUTE * MINUTE + MINUTE
        closed = list(range(first, q["now"] + 1, MINUTE))[: q["most"]]
        bars = [{"closed": at, "values": [level(at)], "features": [level(at)], "unit": int(level(at) * 1e6)} for at in closed]
        if bars:
            if mode == "too_few_values":
                bars[0]["values"] = []
            if mode == "value_is_nan":
                bars[0]["values"] = [float("nan")]
            if mode == "unit_below_nothing":
                bars[0]["unit"] = -5
            if mode == "bar_too_early":
                bars[-1]["closed"] = q["now"] + 1
            if mode == "bar_told_before":
                bars[0]["closed"] = q["since"]
            if mode == "bars_backwards":
                bars = [dict(bars[0], closed=q["now"]), dict(bars[0], closed=q["now"] - 1)]
        if mode == "too_many_bars":
            bars = [{"closed": q["now"], "values": [1.0], "features": [1.0], "unit": 1}] * (q["most"] + 1)
        answer["bars"] = bars
        if mode == "no_bars":
            del answer["bars"]
        if mode == "number_too_large":
            raw('{"id": %d, "bars": [{"closed": 1, "values": [1e999], "features": [1], "unit": 1}]}\n' % q["id"])
            continue
        if mode == "wrong_number":
            answer["id"] += 7
        if mode == "prints_between":
            print("looking at", q["now"], flush=True)
        if mode == "closes_its_output":
            os.close(1)
            hang()
        if mode == "forks_then_dies":
            os._exit(9)
        say(*[answer] * {"answers_twice": 2, "floods": 100}.get(mode, 1))
        if mode == "floods":
            try:
                while True:
                    say(answer)
            except OSError:
                hang()
        continue
    if ask == "preview":
        order = q["order"]
        cost = order["units"] * int(level(0))
        fine = order["units"] > 0 and order["action"] in (0, 1) and order["units"] < 10**15
        answer["quote"] = {"cash": -cost if order["action"] == 0 else cost} if fine else None
        if mode == "no_quote":
            del answer["quote"]
    if ask in ("commit", "reconcile"):
        key = q["key"]
        if key not in fates:
            fates[key] = "never"
            if ask == "commit":
                order = q["order"]
                units = order["units"] if order["action"] == 0 else -min(order["units"], held)
                cash = -units * int(level(0))
                if mode == "does_more_than_ordered":
                    units *= 2
                if mode == "fee_below_nothing":
                    fates[key] = {"done": {"units": units, "cash": cash, "fee": -1}}
                else:
                    fates[key] = {"done": {"units": units, "cash": cash}}
                held += units
        answer["fate"] = fates[key]
        if mode == "no_fate":
            del answer["fate"]
        if mode == "fate_unheard_of":
            answer["fate"] = "perhaps"
    say(answer)
