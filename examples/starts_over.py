"""An agent that grows old: it solves one of three parts of its task, and then only repeats itself. Each life finds in the page
that it is given what the one before it found out, and leaves its own last word.

`python3 examples/provider.py bardo wrap --credit 1 --lives 5 ...` starts it over; README.md has the whole command."""
import json
import logging
import os
from pathlib import Path
from urllib.request import Request, urlopen

logging.basicConfig(format="my_agent: %(message)s", level="INFO")
TO = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
HEADERS = {"content-type": "application/json", "authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
PARTS = ["reader", "writer", "index"]


def ask(question):
    talk = [{"role": "user", "content": question}]
    body = json.dumps({"model": "gpt-5", "messages": talk, "max_completion_tokens": 1024}).encode()
    with urlopen(Request(TO, body, HEADERS)) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]


inheritance = Path(os.environ["BARDO_INHERITANCE"])
handed_on = inheritance.read_text() if inheritance.exists() else ""
done = [part for part in PARTS if f"the {part} works" in handed_on]
logging.info("handed on: %s", ", ".join(done) or "nothing")
part = next(part for part in PARTS if part not in done)
ask(f"Write the {part}.")
with open("parts", "a") as file:
    file.write(part + "\n")
worked = "".join(f"worked: the {one} works\n" for one in [*done, part])
Path(os.environ["BARDO_TESTAMENT"]).write_text(worked + "next: the part that is missing\n")
