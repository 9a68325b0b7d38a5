"""A program that carries out orders, in one short file: all are filled at once, at 2,000 dollars a unit and a fee of a thousandth.

Put your broker's work in place of `do`; keep the rest. A fate is on disk before it is reported."""
import json
import os
import sys

PRICE = 2_000  # millionths of a dollar for a millionth of a unit


def say(message):
    print(json.dumps(message), flush=True)


def do(order, adds):
    cash = order["units"] * PRICE
    fee = cash // 1_000
    if adds and cash + fee > order["most"] or not adds and cash - fee < order["least"]:
        return "never"
    units, cash = (order["units"], -cash) if adds else (-order["units"], cash)
    return {"done": {"units": units, "cash": cash, "fee": fee}}


hello = json.loads(sys.stdin.readline())
adds = [action["effect"] == "adds" for action in hello["world"]["actions"]]
say({"bardo": "orders", "version": 1})
book = open(hello["folder"] + "/book", "a+")
book.seek(0)
fates = dict(map(json.loads, book))


def settle(key, fate):
    fates[key] = fate
    book.write(json.dumps([key, fate]) + "\n")
    book.flush()
    os.fsync(book.fileno())
    return fate


for line in sys.stdin:
    ask = json.loads(line)
    answer = {"id": ask["id"]}
    if ask["ask"] == "preview":
        cash = ask["order"]["units"] * PRICE
        answer["quote"] = {"cash": -cash if adds[ask["order"]["action"]] else cash, "fee": cash // 1_000}
    elif ask["ask"] == "commit":
        key, order = ask["key"], ask["order"]
        answer["fate"] = fates[key] if key in fates else settle(key, do(order, adds[order["action"]]))
    elif ask["ask"] == "reconcile":
        answer["fate"] = fates[ask["key"]] if ask["key"] in fates else settle(ask["key"], "never")
    elif ask["ask"] == "close":
        print("the golem is dead; what is left goes home", file=sys.stderr)
    elif ask["ask"] == "bye":
        break
    say(answer)
