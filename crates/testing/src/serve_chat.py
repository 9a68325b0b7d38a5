"""Serves answers with llama.cpp on a free port of this machine, prints the address, and ends with its input.

Arguments: a model in GGUF, and the key to ask for, if any.
"""

import sys

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.api_keys = sys.argv[2:]
params.hostnames = ["127.0.0.1"]
params.port = 0
params.n_ctx = 8192
params.n_parallel = 1
params.warmup = False
params.verbosity = 1  # errors
# One thread: two of them wait for each other wherever anything else runs on this machine.
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1

server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
