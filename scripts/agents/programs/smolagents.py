import os
import sys
from pathlib import Path

from smolagents import OpenAIServerModel, ToolCallingAgent, tool

gateway, key, model = (os.environ[name] for name in ("GATEWAY", "KEY", "MODEL"))


@tool
def write_file(path: str, content: str) -> str:
    """Writes a file.

    Args:
        path: where
        content: what it will say
    """
    Path(path).write_text(content)
    return f"Wrote {path}."


agent = ToolCallingAgent([write_file], OpenAIServerModel(model, api_base=gateway + "/v1", api_key=key), max_steps=6)
print(agent.run(sys.argv[1]))
