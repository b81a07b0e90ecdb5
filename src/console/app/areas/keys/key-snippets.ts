import type { ModelsByLane } from '../lane-models.ts'
import { shellQuote as shell } from '../shell-quote.ts'

/** Code to paste, by what runs it. */
export interface KeySnippet {
  title: string
  code: string
}

export interface SnippetInput {
  /** Without a slash at its end. */
  gatewayUrl: string
  /** The key; null: no longer known, a placeholder is used. */
  key: string | null
  models: ModelsByLane
}

/** The placeholder if no route serves the lane yet. */
const noModel = 'MODEL'

interface SnippetValues {
  url: string
  key: string
  openai: string
  anthropic: string
  gemini: string
}

/** Ready to run, with base URL, key and a model that the key may use. */
export function writeSnippets({ gatewayUrl, key, models }: SnippetInput): KeySnippet[] {
  const words: SnippetValues = {
    url: gatewayUrl.replace(/\/+$/, ''),
    key: key ?? 'sp_live_…',
    openai: models.openai[0] ?? noModel,
    anthropic: models.anthropic[0] ?? noModel,
    gemini: models.gemini[0] ?? noModel,
  }
  return writers.map(([title, write]) => ({ title, code: write(words) }))
}

const writers: readonly (readonly [title: string, write: (words: SnippetValues) => string])[] = [
  ['curl', curl],
  ['OpenAI JavaScript', openaiJavaScript],
  ['OpenAI Python', openaiPython],
  ['Anthropic JavaScript', anthropicJavaScript],
  ['Anthropic Python', anthropicPython],
  ['Gemini JavaScript', geminiJavaScript],
  ['Gemini Python', geminiPython],
  ['Claude Code', claudeCode],
  ['Codex', codex],
  ['Gemini CLI', geminiCli],
]

/** For JavaScript, Python and JSON alike. */
const quoted = (text: string): string => JSON.stringify(text)

function curl({ url, key, openai, anthropic, gemini }: SnippetValues): string {
  const json = "-H 'Content-Type: application/json'"
  const authorization = `-H ${shell(`Authorization: Bearer ${key}`)}`
  if (openai !== noModel || (anthropic === noModel && gemini === noModel))
    return `curl ${shell(`${url}/v1/chat/completions`)} \\
  ${authorization} ${json} \\
  -d ${shell(JSON.stringify({ model: openai, messages: [{ role: 'user', content: 'hello' }] }))}`
  if (anthropic !== noModel)
    return `curl ${shell(`${url}/v1/anthropic/v1/messages`)} \\
  ${authorization} ${json} \\
  -d ${shell(JSON.stringify({ model: anthropic, max_tokens: 256, messages: [{ role: 'user', content: 'hello' }] }))}`
  return `curl ${shell(`${url}/v1/gemini/v1beta/models/${encodeURIComponent(gemini)}:generateContent`)} \\
  ${authorization} ${json} \\
  -d ${shell(JSON.stringify({ contents: [{ parts: [{ text: 'hello' }] }] }))}`
}

function openaiJavaScript({ url, key, openai }: SnippetValues): string {
  return `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: ${quoted(`${url}/v1`)}, apiKey: ${quoted(key)} })
const answer = await client.chat.completions.create({
  model: ${quoted(openai)},
  messages: [{ role: 'user', content: 'hello' }],
})
console.log(answer.choices[0].message.content)`
}

function openaiPython({ url, key, openai }: SnippetValues): string {
  return `from openai import OpenAI

client = OpenAI(base_url=${quoted(`${url}/v1`)}, api_key=${quoted(key)})
answer = client.chat.completions.create(
    model=${quoted(openai)},
    messages=[{"role": "user", "content": "hello"}],
)
print(answer.choices[0].message.content)`
}

function anthropicJavaScript({ url, key, anthropic }: SnippetValues): string {
  return `import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({ baseURL: ${quoted(`${url}/v1/anthropic`)}, apiKey: ${quoted(key)} })
const answer = await client.messages.create({
  model: ${quoted(anthropic)},
  max_tokens: 256,
  messages: [{ role: 'user', content: 'hello' }],
})
console.log(answer.content[0].text)`
}

function anthropicPython({ url, key, anthropic }: SnippetValues): string {
  return `from anthropic import Anthropic

client = Anthropic(base_url=${quoted(`${url}/v1/anthropic`)}, api_key=${quoted(key)})
answer = client.messages.create(
    model=${quoted(anthropic)},
    max_tokens=256,
    messages=[{"role": "user", "content": "hello"}],
)
print(answer.content[0].text)`
}

function geminiJavaScript({ url, key, gemini }: SnippetValues): string {
  return `import { GoogleGenAI } from '@google/genai'

const client = new GoogleGenAI({ apiKey: ${quoted(key)}, httpOptions: { baseUrl: ${quoted(`${url}/v1/gemini`)} } })
const answer = await client.models.generateContent({ model: ${quoted(gemini)}, contents: 'hello' })
console.log(answer.text)`
}

function geminiPython({ url, key, gemini }: SnippetValues): string {
  return `from google import genai

client = genai.Client(api_key=${quoted(key)}, http_options={"base_url": ${quoted(`${url}/v1/gemini`)}})
answer = client.models.generate_content(model=${quoted(gemini)}, contents="hello")
print(answer.text)`
}

function claudeCode({ url, key, anthropic }: SnippetValues): string {
  return `export ANTHROPIC_BASE_URL=${shell(`${url}/v1/anthropic`)}
export ANTHROPIC_API_KEY=${shell(key)}
claude --model ${shell(anthropic)}`
}

function codex({ url, key, openai }: SnippetValues): string {
  return `# ~/.codex/config.toml
model = ${quoted(openai)}
model_provider = "spgw"

[model_providers.spgw]
name = "spgw"
base_url = ${quoted(`${url}/v1`)}
env_key = "SPGW_KEY"
wire_api = "responses"

# in the shell
export SPGW_KEY=${shell(key)}
codex`
}

function geminiCli({ url, key, gemini }: SnippetValues): string {
  return `export GOOGLE_GEMINI_BASE_URL=${shell(`${url}/v1/gemini`)}
export GEMINI_API_KEY=${shell(key)}
gemini --model ${shell(gemini)}`
}
