"""A world in one short file: the level of a tide, and water that can be bought and sold by the litre."""
import json
import math
import sys

BAR = 600_000
FEE = 1_000  # a thousandth of a dollar for any order


def level(at):
    return 2 + math.sin(at / 44_712_000 * 2 * math.pi)


def price(at):
    return round(level(at) * 1_000_000)


def say(message):
    print(json.dumps(message), flush=True)


hello = json.loads(sys.stdin.readline())
say({"bardo": "world", "version": 1, "start": 1_735_689_600_000, "world": {
    "world": "tides", "bar_ms": BAR, "unit": "litre", "features": ["level"],
    "domains": [{"name": "level", "weight": 1.0, "horizon": 6}],
    "instincts": [f"when level {than} expect level over 6" for than in ("> 2.7", "> 2", "< 2", "< 1.3")],
    "actions": [{"name": "buy", "effect": "adds"}, {"name": "sell", "effect": "reduces"}]}})
ledger = open(hello["folder"] + "/fates", "a+")
ledger.seek(0)
fates = {key: fate for key, fate in map(json.loads, ledger)}
now = 0
for line in sys.stdin:
    ask = json.loads(line)
    answer = {"id": ask["id"]}
    if ask["ask"] == "seek":
        now = ask["until"]
        if "key" in ask:
            fates = {key: fate for key, fate in fates.items() if key <= ask["key"]}
    elif ask["ask"] == "observe":
        closes = range((ask["since"] // BAR + 1) * BAR, ask["now"] + 1, BAR)[:ask["most"]]
        answer["bars"] = [{"closed": at, "values": [level(at)], "features": [level(at)], "unit": price(at)} for at in closes]
        now = closes[-1] if closes else ask["since"]
    elif ask["ask"] == "bye":
        break
    else:
        order = ask.get("order")
        held = sum(fate["done"]["units"] for fate in fates.values() if fate != "never")
        sign = {0: 1, 1: -1}.get(order["action"], 0) if order else 0
        possible = order and sign and 0 < order["units"] <= (10**12 if sign > 0 else held)
        cash = -sign * order["units"] * price(now) // 1_000_000 if possible else 0
        if ask["ask"] == "preview":
            answer["quote"] = {"cash": cash, "fee": FEE} if possible else None
        elif ask["key"] not in fates:
            dear = not possible or FEE - cash > order["most"] and sign > 0 or cash - FEE < order["least"] and sign < 0
            fate = "never" if dear or now > order["until"] else {"done": {"units": sign * order["units"], "cash": cash, "fee": FEE}}
            fates[ask["key"]] = fate
            print(json.dumps([ask["key"], fate]), file=ledger, flush=True)
        if ask["ask"] != "preview":
            answer["fate"] = fates[ask["key"]]
    say(answer)
