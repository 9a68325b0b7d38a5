"""PydanticAI on a budget: bardo wrap --credit 2 -- python pydantic_agent.py

Nothing here knows of Bardo but the last lines, which end well when the money is gone."""

import os

from pydantic_ai import Agent
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.models.openai import OpenAIChatModel

agent = Agent(OpenAIChatModel(os.environ.get("MODEL", "gpt-5-mini")), instructions="Use the tool.")


@agent.tool_plain
def length(text: str) -> int:
    """How many letters a text has."""
    return len(text)


try:
    print(agent.run_sync("How long is the word budget?").output)
except ModelHTTPError as refused:
    if refused.status_code != 402:
        raise
    print(f"out of money: {refused.body}")
