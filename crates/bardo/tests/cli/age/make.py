#!/usr/bin/env python3
"""Makes the fixtures of the readers: what agents left behind when they ran at the provider that bills, without any word of theirs.

    make.py RUNS

RUNS has a folder for each run, called AGENT_WHICH (cc, ck, cx, gm, oc; new, old), or AGENT_WHAT_WHICH (more: with a helper or a
compaction; kill: killed while a tool ran): a home, as the agent left it, and the provider's ledger.
Every text is replaced by a canary; what stays are kinds, names, times, counts, and what the script itself had the model ask of
tools. Beside each fixture stands what the ledger says, matched call by call, and the calls that no record has.
"""

import collections
import glob
import json
import pathlib
import re
import sqlite3
import sys

HERE = pathlib.Path(__file__).parent / "fixtures"
# Strings that say what a record is, and nothing of what was said.
KEEP = {
    "type", "subtype", "timestamp", "uuid", "parentUuid", "logicalParentUuid", "sessionId", "session_id", "id", "agentId", "version",
    "requestId", "requestRef", "model", "role", "name", "tool_use_id", "stop_reason", "call_id", "cli_version", "response_id",
    "thread_id", "turn_id", "status", "projectHash", "startTime", "lastUpdated", "kind", "tool", "callID", "modelID", "providerID",
    "parentID", "finish", "trigger", "operation", "source", "userType", "isolation", "parent_thread_id", "forked_from_id",
}
# What the script had the model ask for: our own words, kept whole.
OWN = {"input", "arguments", "args"}
# Records that are large, and that no reader looks at: one of each is enough.
LARGE = {"attachment", "api-request", "api-request-blob", "api-request-shape", "world_state", "additional_tools"}
SAYS = re.compile(r"^(Process exited with code|Exit code:|exit code:|Command exited with code:|\[Request interrupted|<command-|<local-command)")


def strip(value, key=""):
    if isinstance(value, dict):
        own = lambda name: name in OWN and value.get("type") != "message"
        named = lambda name: f"/canary/project/{pathlib.Path(name).name}" if name.startswith("/") else name
        return {named(name): (tame(one) if own(name) else strip(one, name)) for name, one in value.items() if name != "encrypted_content"}
    if isinstance(value, list):
        return [strip(one, key) for one in value[:40]]
    # That there are no words says something too.
    if isinstance(value, str) and value and key not in KEEP:
        # What a tool of Codex's says is JSON in a text, in older versions.
        if key == "output" and value.startswith('{"output":'):
            return json.dumps(strip(json.loads(value)), separators=(",", ":"))
        said = [tag(line) for line in value.splitlines() if SAYS.match(line)]
        if key in ("cwd", "directory", "folder"):
            return "/canary/project"
        return "\n".join(said + ["CANARY"]) if said else "CANARY"
    return value


def tag(line):
    return line[: line.index(">") + 1] if line.startswith("<") else line


def tame(value):
    """The machine the runs were made on is nobody's business."""
    return json.loads(re.sub(r"/(?:[\w.+-]+/)+home/work", "/canary/project", json.dumps(value)))


def kind(line):
    of = line.get("type", "")
    inner = line.get("payload", {}).get("type") if isinstance(line.get("payload"), dict) else None
    return inner if inner in LARGE else of


def lines(path, to):
    seen, kept = set(), []
    for text in open(path):
        line = json.loads(text)
        of = kind(line)
        if of in LARGE and of in seen:
            continue
        seen.add(of)
        if of in LARGE:
            inner = {"payload": {"type": of}} if "payload" in line else {}
            line = {name: one for name, one in line.items() if isinstance(one, str)} | inner
        line.pop("systemPrompt", None)
        if isinstance(line.get("payload"), dict):
            line["payload"].pop("replacement_history", None)
        kept.append(json.dumps(strip(line), separators=(",", ":"), ensure_ascii=True))
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text("\n".join(kept) + "\n")


def usage(run):
    """Each call as the records have it: input, read, written, said."""
    home, which = run / "home", run.name[:2]
    calls = []
    if which in ("cc", "ck"):
        by = {}
        for path in glob.glob(f"{home}/.claude/projects/**/*.jsonl", recursive=True):
            for text in open(path):
                line = json.loads(text)
                if line.get("type") == "assistant" and line["message"].get("model") != "<synthetic>":
                    used = line["message"]["usage"]
                    key = (path, line["message"]["id"], line.get("requestRef"))
                    by[key] = (used["input_tokens"], used.get("cache_read_input_tokens", 0), used.get("cache_creation_input_tokens", 0), used["output_tokens"])
        calls = list(by.values())
    if which == "cx":
        for path in glob.glob(f"{home}/.codex/sessions/**/*.jsonl", recursive=True):
            last, named = None, False
            for text in open(path):
                line = json.loads(text)
                said = line.get("payload", {})
                used = None
                if line["type"] == "token_usage_record":
                    named, used = True, said["usage"]
                elif said.get("type") == "token_count" and said.get("info") and not named and said["info"]["total_token_usage"] != last:
                    last, used = said["info"]["total_token_usage"], said["info"]["last_token_usage"]
                if used:
                    calls.append((used["input_tokens"] - used["cached_input_tokens"], used["cached_input_tokens"], 0, used["output_tokens"]))
    if which == "gm":
        by = {}
        for path in glob.glob(f"{home}/.gemini/tmp/*/chats/*"):
            text = open(path).read()
            whole = text.startswith("{\n")
            for line in json.loads(text)["messages"] if whole else map(json.loads, text.splitlines()):
                if line.get("tokens"):
                    used = line["tokens"]
                    by[line["id"]] = (used["input"] - used["cached"], used["cached"], 0, used["output"] + used["thoughts"])
        calls = list(by.values())
    if which == "oc":
        for _, data, _ in opencode(run)["messages"]:
            line = json.loads(data)
            if line["role"] == "assistant" and line.get("tokens"):
                used = line["tokens"]
                one = (used["input"], used["cache"]["read"], used["cache"]["write"], used["output"] + used["reasoning"])
                # What one used that was killed while its tool ran was never written down.
                calls.extend([one] if any(one) else [])
    return calls


def opencode(run):
    folder = run / "home/.local/share/opencode"
    if (folder / "opencode.db").exists():
        db = sqlite3.connect(folder / "opencode.db")
        has = {row[1] for row in db.execute("pragma table_info(session)")}
        assert {"id", "parent_id", "directory", "version", "time_created"} <= has
        return {
            "sessions": [list(row) for row in db.execute("select id, parent_id, directory, version, time_created from session order by time_created, id")],
            "messages": [list(row) for row in db.execute("select id, data, session_id from message order by time_created, id")],
            "parts": [list(row) for row in db.execute("select message_id, data, id from part order by id")],
        }
    out = {"sessions": [], "messages": [], "parts": []}
    for path in sorted(glob.glob(f"{folder}/storage/session/*/*.json")):
        told = json.load(open(path))
        out["sessions"].append([told["id"], told.get("parentID"), told["directory"], told["version"], told["time"]["created"]])
    for path in sorted(glob.glob(f"{folder}/storage/message/*/*.json")):
        at = pathlib.Path(path)
        out["messages"].append([at.stem, at.read_text(), at.parent.name])
    for path in sorted(glob.glob(f"{folder}/storage/part/*/*.json")):
        at = pathlib.Path(path)
        out["parts"].append([at.parent.name, at.read_text(), at.stem])
    return out


def expected(run):
    bills = [json.loads(text) for text in open(run / "ledger")]
    kinds = lambda bill: tuple(bill["tokens"][name] for name in ("input", "read", "write_5m", "said"))
    asked, left = collections.Counter(usage(run)), []
    strange = asked - collections.Counter(map(kinds, bills))
    assert not strange, (run.name, strange)
    sums = collections.Counter()
    for bill in bills:
        if asked[kinds(bill)] > 0:
            asked[kinds(bill)] -= 1
            for name, many in zip(("input", "cached", "written", "output"), kinds(bill)):
                sums[name] += many
            sums["calls"] += 1
            # What tools at the provider cost beside tokens stands in no record.
            sums["bill"] += bill["bill_micros"] - bill["fees"]
        else:
            left.append({"model": bill["model"], "tokens": kinds(bill), "bill": bill["bill_micros"]})
    return {"recorded": sums, "ledger": len(bills), "bill": sum(bill["bill_micros"] for bill in bills), "no record": left}


def main():
    runs, said = pathlib.Path(sys.argv[1]), {}
    for run in sorted(path for path in runs.iterdir() if (path / "ledger").exists()):
        said[run.name], to = expected(run), HERE / run.name
        home = run / "home"
        for path in glob.glob(f"{home}/.claude/projects/**/*.jsonl", recursive=True):
            lines(path, to / pathlib.Path(path).relative_to(home / ".claude/projects").relative_to(*pathlib.Path(path).relative_to(home / ".claude/projects").parts[:1]))
        for path in glob.glob(f"{home}/.codex/sessions/**/*.jsonl", recursive=True):
            lines(path, to / pathlib.Path(path).name)
        for path in glob.glob(f"{home}/.gemini/tmp/*/chats/*"):
            at = to / "chats" / pathlib.Path(path).name
            if path.endswith(".json"):
                at.parent.mkdir(parents=True, exist_ok=True)
                at.write_text(json.dumps(strip(json.load(open(path))), indent=2) + "\n")
            else:
                lines(path, at)
        if run.name.startswith("oc"):
            told = opencode(run)
            clean = lambda data: json.dumps(strip(json.loads(data)), separators=(",", ":"))
            told = {
                "sessions": [[one[0], one[1], "/canary/project", one[3], one[4]] for one in told["sessions"]],
                "messages": [[one[0], clean(one[1]), one[2]] for one in told["messages"]],
                "parts": [[one[0], clean(one[1]), one[2]] for one in told["parts"]],
            }
            to.mkdir(parents=True, exist_ok=True)
            (to / "rows.json").write_text(json.dumps(told, indent=0) + "\n")
    (HERE / "ledgers.json").write_text(json.dumps(said, indent=1) + "\n")


main()
