"""CrewAI on a budget: bardo wrap --credit 2 -- python crewai_crew.py

Nothing here knows of Bardo but the last lines, which end well when the money is gone."""

import os

# Its telemetry is no call of a model, and no business of this example.
os.environ.setdefault("CREWAI_DISABLE_TELEMETRY", "true")
os.environ.setdefault("CREWAI_TRACING_ENABLED", "false")

from crewai import LLM, Agent, Crew, Task

llm = LLM(model=f"openai/{os.environ.get('MODEL', 'gpt-5-mini')}", base_url=os.environ.get("OPENAI_BASE_URL"))
writer = Agent(role="writer", goal="say one sentence", backstory="you are brief", llm=llm, max_iter=2, max_retry_limit=0)
task = Task(description="Say what a budget is.", expected_output="one sentence", agent=writer)
try:
    print(Crew(agents=[writer], tasks=[task]).kickoff())
except Exception as refused:
    # Between the client and here the error changes its type, and keeps its words.
    if "402" not in str(refused) and getattr(refused, "status_code", None) != 402:
        raise
    print(f"out of money: {refused}")
