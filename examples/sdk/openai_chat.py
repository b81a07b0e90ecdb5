import os

from openai import OpenAI

gateway = os.environ.get("SPGW_URL", "http://localhost:8787")
client = OpenAI(base_url=f"{gateway}/v1", api_key=os.environ["SPGW_KEY"])
messages = [{"role": "user", "content": "hello"}]

answer = client.chat.completions.create(model="demo", messages=messages)
print(answer.choices[0].message.content)

for chunk in client.chat.completions.create(model="demo", messages=messages, stream=True):
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)
print()
