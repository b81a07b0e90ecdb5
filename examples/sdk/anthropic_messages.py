import os

from anthropic import Anthropic

gateway = os.environ.get("SPGW_URL", "http://localhost:8787")
# The SDK itself appends /v1/messages.
client = Anthropic(base_url=f"{gateway}/v1/anthropic", api_key=os.environ["SPGW_KEY"])
messages = [{"role": "user", "content": "hello"}]

answer = client.messages.create(model="demo", max_tokens=100, messages=messages)
print(answer.content[0].text)

with client.messages.stream(model="demo", max_tokens=100, messages=messages) as stream:
    for text in stream.text_stream:
        print(text, end="", flush=True)
print()
