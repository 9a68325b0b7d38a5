"""A mind with a little of everything, in arithmetic that is the same everywhere."""
import json, sys

names = None
for line in sys.stdin:
    said = json.loads(line)
    if "bardo" in said:
        names = said["world"]["features"]
        answer = {"bardo": "mind", "version": 1, "name": "plain"}
    elif said["ask"] == "bye":
        break
    else:
        now = dict(zip(names, said["bars"][-1]["features"]))
        tick = said["golem"]["tick"]
        claims = {"volatility": (now["vol_24"] + now["vol_168"]) / 2.0}
        if tick % 3 == 0:
            claims["direction"] = 0.625 if now["ret_6"] > 0.0 else 0.375
        answer = {"id": said["id"], "claims": claims}
        if tick % 5 == 0:
            held = said["golem"]["held"] > 0
            answer["proposal"] = {"action": "sell", "size": 1.0} if held else {"action": "buy", "size": 0.0625}
        if tick % 400 == 7:
            answer["rules"] = ["when ret_24 > %d%% expect direction 60%% over 24" % (tick // 400 + 1)]
        if tick % 1000 == 9:
            answer["note"] = "at tick %d" % tick
        if tick % 700 == 11:
            answer["assessment"] = {"new": [{"name": "storm", "condition": "vol_24 > 2%"}], "passed": []}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
