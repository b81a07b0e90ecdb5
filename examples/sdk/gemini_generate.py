import os

from google import genai

gateway = os.environ.get("SPGW_URL", "http://localhost:8787")
client = genai.Client(api_key=os.environ["SPGW_KEY"], http_options={"base_url": f"{gateway}/v1/gemini"})

answer = client.models.generate_content(model="demo", contents="hello")
print(answer.text)

for chunk in client.models.generate_content_stream(model="demo", contents="hello"):
    print(chunk.text or "", end="", flush=True)
print()
