import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import type { FormatName } from '../../src/core/format.ts'

/** What a client understood of an answer, whatever its format. */
export interface Understood {
  text: string
  calls: { name: string; input: unknown }[]
  /** In the format's own word. */
  finish: string | null
  /** The whole prompt and the whole answer, by the format's own convention. */
  usage: { input: number; output: number } | null
}

export interface FormatClient {
  ask(model: string, withTool?: boolean): Promise<Understood>
  stream(model: string, withTool?: boolean): Promise<Understood>
}

interface Place {
  baseUrl: string
  key: string
  fetch?: typeof fetch
}

/** The official SDK of each format, with the helper that it has for streams. */
export function formatClients(place: Place): Record<FormatName, FormatClient> {
  return { chat: chat(place), responses: responses(place), messages: messages(place), generate: generate(place) }
}

const parameters = { type: 'object', properties: { at: { type: 'string' } }, required: ['at'] }

function openai({ baseUrl, key, fetch: own }: Place): OpenAI {
  return new OpenAI({ apiKey: key, baseURL: `${baseUrl}/v1`, maxRetries: 0, ...(own ? { fetch: own } : {}) })
}

function chat(place: Place): FormatClient {
  const client = openai(place)
  const body = (model: string, withTool: boolean) => ({
    model,
    messages: [{ role: 'user' as const, content: 'hello' }],
    ...(withTool ? { tools: [{ type: 'function' as const, function: { name: 'look', parameters } }] } : {}),
  })
  const read = ({ choices, usage }: OpenAI.ChatCompletion): Understood => ({
    text: choices[0]?.message.content ?? '',
    calls: (choices[0]?.message.tool_calls ?? []).flatMap((call) =>
      call.type === 'function' ? [{ name: call.function.name, input: JSON.parse(call.function.arguments) }] : [],
    ),
    finish: choices[0]?.finish_reason ?? null,
    usage: usage ? { input: usage.prompt_tokens, output: usage.completion_tokens } : null,
  })
  return {
    ask: async (model, withTool = false) => read(await client.chat.completions.create(body(model, withTool))),
    stream: async (model, withTool = false) =>
      read(
        await client.chat.completions
          .stream({ ...body(model, withTool), stream_options: { include_usage: true } })
          .finalChatCompletion(),
      ),
  }
}

function responses(place: Place): FormatClient {
  const client = openai(place)
  const body = (model: string, withTool: boolean) => ({
    model,
    input: 'hello',
    ...(withTool ? { tools: [{ type: 'function' as const, name: 'look', parameters, strict: false }] } : {}),
  })
  const read = ({ output, output_text, status, usage }: OpenAI.Responses.Response): Understood => ({
    text: output_text,
    calls: output.flatMap((item) =>
      item.type === 'function_call' ? [{ name: item.name, input: JSON.parse(item.arguments) }] : [],
    ),
    finish: status ?? null,
    usage: usage ? { input: usage.input_tokens, output: usage.output_tokens } : null,
  })
  return {
    ask: async (model, withTool = false) => read(await client.responses.create(body(model, withTool))),
    stream: async (model, withTool = false) =>
      read(await client.responses.stream(body(model, withTool)).finalResponse()),
  }
}

function messages({ baseUrl, key, fetch: own }: Place): FormatClient {
  const place = { apiKey: key, baseURL: `${baseUrl}/v1/anthropic`, maxRetries: 0 }
  const client = new Anthropic({ ...place, ...(own ? { fetch: own } : {}) })
  const body = (model: string, withTool: boolean) => ({
    model,
    max_tokens: 64,
    messages: [{ role: 'user' as const, content: 'hello' }],
    ...(withTool ? { tools: [{ name: 'look', input_schema: { ...parameters, type: 'object' as const } }] } : {}),
  })
  const read = ({ content, stop_reason, usage }: Anthropic.Message): Understood => ({
    text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    calls: content.flatMap((block) => (block.type === 'tool_use' ? [{ name: block.name, input: block.input }] : [])),
    finish: stop_reason,
    usage: {
      input: usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0),
      output: usage.output_tokens,
    },
  })
  return {
    ask: async (model, withTool = false) => read(await client.messages.create(body(model, withTool))),
    stream: async (model, withTool = false) => read(await client.messages.stream(body(model, withTool)).finalMessage()),
  }
}

function generate({ baseUrl, key }: Place): FormatClient {
  const client = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: `${baseUrl}/v1/gemini` } })
  const body = (model: string, withTool: boolean) => ({
    model,
    contents: 'hello',
    ...(withTool
      ? { config: { tools: [{ functionDeclarations: [{ name: 'look', parametersJsonSchema: parameters }] }] } }
      : {}),
  })
  type Answer = Awaited<ReturnType<typeof client.models.generateContent>>
  const read = (answers: Answer[]): Understood => {
    const last = answers.at(-1)
    const used = last?.usageMetadata
    const parts = answers.flatMap((answer) => answer.candidates?.[0]?.content?.parts ?? [])
    return {
      text: parts.map((part) => (part.thought ? '' : (part.text ?? ''))).join(''),
      calls: parts.flatMap(({ functionCall }) =>
        functionCall ? [{ name: functionCall.name ?? '', input: functionCall.args }] : [],
      ),
      finish: last?.candidates?.[0]?.finishReason ?? null,
      usage: used
        ? {
            input: used.promptTokenCount ?? 0,
            output: (used.candidatesTokenCount ?? 0) + (used.thoughtsTokenCount ?? 0),
          }
        : null,
    }
  }
  return {
    ask: async (model, withTool = false) => read([await client.models.generateContent(body(model, withTool))]),
    stream: async (model, withTool = false) => {
      const answers: Answer[] = []
      for await (const answer of await client.models.generateContentStream(body(model, withTool))) answers.push(answer)
      return read(answers)
    },
  }
}
