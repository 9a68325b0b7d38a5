# Common tasks. `just` alone lists them.

export CARGO_TARGET_DIR := env("CARGO_TARGET_DIR", env("XDG_CACHE_HOME", env("HOME") / ".cache") / "bardo/target")
tools := env("XDG_CACHE_HOME", env("HOME") / ".cache") / "bardo/tools"
newest := env("XDG_CACHE_HOME", env("HOME") / ".cache") / "bardo/newest"
full_log := CARGO_TARGET_DIR / "full.log"
set shell := ["bash", "-euo", "pipefail", "-c"]

[private]
default:
    @just --list --unsorted

# Everything that must hold before a change lands; .ci/run runs exactly this.
ci: fmt lint compile test doctests docs deny

# What a person runs while working: format, clippy and the tests of the crates that changed since REVISION.
gate revision="":
    .ci/gate {{revision}}

# What the last run took: steps, slowest tests, links, the target folder.
timings:
    @.ci/timings

# Takes the processor seconds of STEP, as the last run has them, into the ledger, with a reason.
record step +reason:
    @.ci/timings --record {{step}} {{reason}}

# Formatting, unchanged.
fmt:
    .ci/step fmt cargo fmt --all --check

# Clippy with warnings denied.
lint:
    .ci/step lint cargo clippy --workspace --all-targets --locked -- -D warnings

# The programs of all tests.
compile:
    .ci/step compile cargo nextest run --workspace --locked --no-run

# All tests, with the share of the big counts that fits into CI.
test:
    .ci/step test cargo nextest run --workspace --locked --no-fail-fast

# The examples in the documentation of the code.
doctests:
    .ci/step doctests cargo test --workspace --doc --locked --quiet > /dev/null

# No look-ahead, no death by accident: real candles; it fails where they are absent.
realdata:
    BARDO_REALDATA=1 cargo nextest run -p bardo-lab --test it --locked --success-output final realdata::

# Spans to a collector, which only a build with the feature can send; it compiles much of the rest again.
otlp:
    cargo clippy -p bardo --features otlp --all-targets --locked -- -D warnings
    cargo nextest run -p bardo --features otlp --locked --test cli --success-output final otlp::

# Arrows between crates, purity of the core, file lengths, stray words.
tidy:
    cargo nextest run -p bardo --test cli tidy::

# The book and the API documentation.
docs:
    .ci/step book {{tools}}/bin/mdbook build docs
    RUSTDOCFLAGS="-D warnings" .ci/step rustdoc cargo doc --workspace --no-deps --locked --quiet

# Bans, licences and sources of every dependency.
deny:
    .ci/step deny {{tools}}/bin/cargo-deny --log-level error check bans licenses sources

# The big counts, all of them; takes hours.
full: local otlp beside
    BARDO_FULL=1 cargo nextest run --release --workspace --no-fail-fast --profile full --success-output final 2>&1 | tee {{full_log}}
    just counts

# What others have, to be measured beside; it takes most of a gigabyte.
[private]
beside:
    cache="${XDG_CACHE_HOME:-$HOME/.cache}/bardo"; [ -x "$cache/litellm/bin/litellm" ] || { python3 -m venv "$cache/litellm" && "$cache/litellm/bin/pip" install --quiet "litellm[proxy]==1.106.2"; }

# Both errors of a cap over twelve sessions, here and beside litellm: what was billed above a purse, and what was refused although there was money.
refusals: beside
    BARDO_FULL=1 cargo nextest run -p bardo --release --locked --test agents --profile full --success-output final refusals::

# The newest Claude Code, Codex, Gemini CLI and opencode, unmodified, and the examples for frameworks, under `wrap`, at a provider that bills.
agents: frameworks
    npm install --silent --no-audit --no-fund --prefix {{newest}} @anthropic-ai/claude-code@latest @openai/codex@latest @google/gemini-cli@latest opencode-ai@latest
    BARDO_AGENTS={{newest}} BARDO_FRAMEWORKS={{newest}}/frameworks cargo nextest run -p bardo --locked --test agents --success-output final real:: examples::

# The frameworks of the examples; it takes a gigabyte. CrewAI is apart, because its versions exclude those of the others.
[private]
frameworks:
    for name in python crewai; do [ -x "{{newest}}/frameworks/$name/bin/python" ] || python3 -m venv "{{newest}}/frameworks/$name"; done
    {{newest}}/frameworks/python/bin/pip install --quiet --upgrade langgraph langchain-openai openai-agents claude-agent-sdk "pydantic-ai-slim[openai]"
    {{newest}}/frameworks/crewai/bin/pip install --quiet --upgrade crewai
    npm install --silent --no-audit --no-fund --prefix {{newest}}/frameworks ai@latest @ai-sdk/openai@latest zod@latest

# One line of docs/results.md at its full size: honest, field, phages, thoughts, information, deaths, estates, mind, realdata, acting, edge, rates, flip, arms, dreams, lineages or clades.
result name:
    BARDO_FULL=1 cargo nextest run --release -p bardo-lab --test it --locked --profile full --success-output final {{name}}::

# What the last `just full` counted: the figures of docs/measurements.md are copied from here.
counts:
    @grep -ohE 'counted: .*' {{full_log}}

# The sentence model inside the process, and what recall finds with it; its parts take minutes to compile.
local:
    cargo clippy -p bardo-mind -p bardo-shell --features local --all-targets --locked -- -D warnings
    BARDO_REALPARTS=1 cargo nextest run -p bardo-mind --features local --locked
    BARDO_REALPARTS=1 cargo nextest run -p bardo-shell --features local --locked --lib --success-output final tests::recall::

# The price book anew, from the newest tables on PyPI; what they do not agree on is printed and left out.
prices:
    packaging/prices

# A release: the version in one commit, everything it has into FOLDER, each file installed on a bare system, and a tag; needs root and a Debian mirror.
release version folder="dist" address="" older="":
    packaging/version {{version}}
    packaging/release {{version}} {{folder}} {{address}}
    packaging/check {{folder}} {{older}}
    packaging/version {{version}} --tag

# Speed, as ratios in one run.
bench:
    cargo run --release -p bardo --example bench

# How large the programs are, as built and stripped.
size:
    cargo build --release --locked -p bardo -p bardo-chain --bins
    @for program in bardo bardo-chain; do strip -o {{CARGO_TARGET_DIR}}/$program-stripped {{CARGO_TARGET_DIR}}/release/$program; done
    @cd {{CARGO_TARGET_DIR}} && du -b release/bardo bardo-stripped release/bardo-chain bardo-chain-stripped

# How many golems one process carries; makes them first, ten thousand take half an hour and 28 GB.
many golems="100,1000" seconds="60":
    cargo build --release -p bardo --bin bardo --example many
    {{CARGO_TARGET_DIR}}/release/examples/many --golems {{golems}} --seconds {{seconds}}

# What CI needs and a fresh machine lacks.
setup:
    .ci/setup
