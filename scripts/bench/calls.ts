/**
 * Which provider serves a call: one for each lane, and one behind TLS that speaks as OpenAI's does. `translated`: a client of OpenAI's,
 * and Anthropic's provider.
 */
export type Way = 'openai' | 'anthropic' | 'gemini' | 'tls' | 'translated'

/** One request of the load, addressed as spgw has it. */
export interface Call {
  way: Way
  path: string
  body: string
  /** Of the gateway, which says what policies apply; absent: the plain one. */
  key?: BenchKey
}

/** `limited`: eight limits and budgets of three subjects; `screened`: four detectors of secrets; `everything`: all rules at once. */
export const benchKeys = ['limited', 'screened', 'everything'] as const
export type BenchKey = (typeof benchKeys)[number]

const question = 'Summarise in one sentence what a reverse proxy does and when it is worth having one in front.'
const system = 'You are a helpful assistant that answers briefly and in plain words.'

export function smallCall(way: Way = 'openai'): Call {
  return callFor(way, 'bench-small')
}

export function streamCall(way: Way, chunks: number, paceMs: number): Call {
  return callFor(way, `bench-stream-${chunks}-${paceMs}`, true)
}

const prefixes: Partial<Record<Way, string>> = { tls: 'tls-', translated: 'anthropic-' }

/** `model` is one of the mock's (`mock.c`); the gateway finds the provider by what is put before it. */
export function callFor(way: Way, model: string, stream = false, content: unknown = question): Call {
  const options = stream ? { stream } : {}
  if (way === 'anthropic') {
    const messages = [{ role: 'user', content }]
    const body = JSON.stringify({ model: `anthropic-${model}`, max_tokens: 200, ...options, system, messages })
    return { way, path: '/v1/anthropic/v1/messages', body }
  }
  if (way === 'gemini') {
    const method = stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
    const contents = [{ role: 'user', parts: [{ text: content }] }]
    const body = JSON.stringify({ systemInstruction: { parts: [{ text: system }] }, contents })
    return { way, path: `/v1/gemini/v1beta/models/gemini-${model}:${method}`, body }
  }
  const usage = stream ? { stream_options: { include_usage: true } } : {}
  const messages = [
    { role: 'system', content: system },
    { role: 'user', content },
  ]
  const body = JSON.stringify({
    model: `${prefixes[way] ?? ''}${model}`,
    ...options,
    ...usage,
    temperature: 0.2,
    messages,
  })
  return { way, path: '/v1/chat/completions', body }
}

/** A chat of a million bytes: one picture, or very many short messages. */
export function largeCall(form: 'image' | 'chat', way: 'openai' | 'translated' = 'openai'): Call {
  if (form === 'image') {
    const url = `data:image/png;base64,${'iVBORw0KGgoAAAANSUhEUgAA'.repeat(41_667)}`
    const parts = [
      { type: 'text', text: question },
      { type: 'image_url', image_url: { url } },
    ]
    return callFor(way, 'bench-small', false, parts)
  }
  const messages = Array.from({ length: 8000 }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: `${index}: "quoted" words\nand a second line, then some more to come to the length of a short message.`,
  }))
  const model = `${prefixes[way] ?? ''}bench-small`
  return { way, path: '/v1/chat/completions', body: JSON.stringify({ model, messages }) }
}
