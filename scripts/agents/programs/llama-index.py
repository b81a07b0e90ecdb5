import asyncio
import os
import sys
from pathlib import Path

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.llms.openai import OpenAI


class GatewayModel(OpenAI):
    """OpenAI's own class knows OpenAI's models only."""

    @property
    def metadata(self):
        known = OpenAI(model="gpt-4o", api_key="none").metadata
        return known.model_copy(update={"model_name": self.model})


def write_file(path: str, content: str) -> str:
    """Writes a file."""
    Path(path).write_text(content)
    return f"Wrote {path}."


async def edit() -> None:
    model = GatewayModel(model=os.environ["MODEL"], api_key=os.environ["KEY"], api_base=os.environ["GATEWAY"] + "/v1")
    print(await FunctionAgent(tools=[write_file], llm=model).run(sys.argv[1]))


asyncio.run(edit())
