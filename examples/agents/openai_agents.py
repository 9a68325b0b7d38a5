"""The OpenAI Agents SDK on a budget: bardo wrap --credit 2 -- python openai_agents.py

Nothing here knows of Bardo but the last lines, which end well when the money is gone."""

import os

from agents import Agent, Runner, function_tool, set_tracing_disabled
from openai import APIStatusError

# Traces go to OpenAI, past any budget, with a key that this program does not have.
set_tracing_disabled(True)


@function_tool
def length(text: str) -> int:
    """How many letters a text has."""
    return len(text)


agent = Agent(name="counter", instructions="Use the tool.", model=os.environ.get("MODEL", "gpt-5-mini"), tools=[length])
try:
    print(Runner.run_sync(agent, "How long is the word budget?", max_turns=5).final_output)
except APIStatusError as refused:
    if refused.status_code != 402:
        raise
    print(f"out of money: {refused.message}")
