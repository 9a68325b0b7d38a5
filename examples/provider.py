"""A stand-in for a provider of models, so that a cap can be tried without a key and without a bill.

    python3 examples/provider.py bardo wrap --credit 0.10 -- python3 examples/my_agent.py

It runs a command, and for as long as that runs it is a server on this machine with the chat completions of OpenAI's protocol,
whose address the command finds in OPENAI_BASE_URL. Every answer is as long as it may be, up to 3,900 tokens, and says how many
tokens it took: four bytes of the question are one."""
import json
import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

LONGEST = 3_900


class Provider(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        asked = self.rfile.read(int(self.headers["content-length"]))
        call = json.loads(asked)
        most = call.get("max_completion_tokens") or call.get("max_tokens") or LONGEST
        taken, made = len(asked) // 4, min(most, LONGEST)
        message = {"role": "assistant", "content": "word " * made}
        self.reply({
            "id": "stand-in",
            "object": "chat.completion",
            "created": 0,
            "model": call["model"],
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": {"prompt_tokens": taken, "completion_tokens": made, "total_tokens": taken + made},
        })

    def reply(self, answer):
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Says nothing: the terminal belongs to the command."""


with ThreadingHTTPServer(("127.0.0.1", 0), Provider) as server:
    Thread(target=server.serve_forever, daemon=True).start()
    # The stand-in wants no key, so it never sees yours.
    own = {name: value for name, value in os.environ.items() if name != "OPENAI_API_KEY"}
    done = subprocess.call(sys.argv[1:], env={**own, "OPENAI_BASE_URL": f"http://127.0.0.1:{server.server_port}/v1"})
sys.exit(done)
