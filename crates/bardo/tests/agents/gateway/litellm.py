"""Another gateway with the same budget: litellm's proxy, without its database.

litellm.py PORT UPSTREAM BUDGET INPUT_PRICE OUTPUT_PRICE MODEL HOW LONGEST

HOW is `provider`, the budget its documentation describes for a proxy without a database, or `reserve`, the strictest that can be
put together from its parts: what a call can cost at most is reserved in memory before it is made, refused where it does not
fit, and settled by the class that litellm registers by itself only where there is a database.
"""

import json
import os
import secrets
import sys
import tempfile

port, upstream, budget, input_price, output_price, model, how, longest = sys.argv[1:]
budget = float(budget)
folder = tempfile.mkdtemp(prefix="litellm-")
params = {
    "model": "openai/" + model,
    "api_base": upstream,
    "api_key": "none",
    "max_retries": 0,
    "input_cost_per_token": float(input_price),
    "output_cost_per_token": float(output_price),
    "cache_read_input_token_cost": float(input_price) / 10,
}
general = {"master_key": "sk-" + secrets.token_hex(32), "custom_auth": "one_budget.auth"}
settings = {"num_retries": 0, "telemetry": False}
router = {"num_retries": 0, "disable_cooldowns": True}
if how == "provider":
    router["provider_budget_config"] = {"openai": {"budget_limit": budget, "time_period": "365d"}}
else:
    general.update(custom_auth_run_common_checks=True, fail_closed_budget_enforcement=True)
    settings["callbacks"] = ["one_budget.settle"]
with open(folder + "/one_budget.py", "w") as file:
    file.write(
        "from litellm.proxy._types import UserAPIKeyAuth\n"
        "from litellm.proxy.hooks.proxy_track_cost_callback import ProxyDBLogger\n"
        "async def auth(request, api_key):\n"
        f"    return UserAPIKeyAuth(api_key='sk-one-budget', user_id='one', max_budget={budget!r}, spend=0.0)\n"
        "settle = ProxyDBLogger()\n"
    )
models = [{"model_name": model, "litellm_params": params, "model_info": {"max_output_tokens": int(longest)}}]
config = {
    "model_list": models,
    "litellm_settings": settings,
    "router_settings": router,
    "general_settings": general,
}
with open(folder + "/config.yaml", "w") as file:
    json.dump(config, file)
kept = {name: value for name, value in os.environ.items() if not name.startswith(("REDIS_", "DATABASE_", "OPENAI_"))}
kept.update(
    LITELLM_LOCAL_MODEL_COST_MAP="True",
    LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS="True",
    LITELLM_TELEMETRY="False",
    LITELLM_MODE="PRODUCTION",
    LITELLM_LOG="ERROR",
    NO_PROXY="*",
)
os.chdir(folder)
program = os.path.join(os.path.dirname(sys.executable), "litellm")
arguments = ["--config", folder + "/config.yaml", "--host", "127.0.0.1", "--port", port, "--telemetry", "False"]
os.execve(program, [program, *arguments], kept)
