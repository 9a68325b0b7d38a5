"""An agent as they are: it asks until its tests pass, and takes a refusal for something that goes away.

`python3 examples/provider.py bardo wrap --credit 0.10 -- python3 examples/my_agent.py` caps it without a key."""
import json
import logging
import os
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

logging.basicConfig(format="my_agent: %(message)s", level="INFO")
TO = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
HEADERS = {"content-type": "application/json", "authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
talk = [{"role": "user", "content": "Make the tests pass."}]
attempt = 1
while True:
    body = json.dumps({"model": "gpt-5", "messages": talk, "max_completion_tokens": 4096}).encode()
    try:
        with urlopen(Request(TO, body, HEADERS)) as answer:
            said = json.load(answer)["choices"][0]["message"]
    except HTTPError:
        time.sleep(60)
        continue
    logging.info("attempt %d: the tests still fail", attempt)
    talk += [said, {"role": "user", "content": f"They still fail after attempt {attempt}. Think again."}]
    attempt += 1
