import { Agent, type ClientRequest, request } from 'node:http'
import type { LaneName } from '../../src/core/lane.ts'
import type { Target } from './target.ts'

/** One request of the load. */
export interface Call {
  path: string
  body: string
}

export interface Answer {
  text: string
  firstByteMs: number
  totalMs: number
}

const question = 'Summarise in one sentence what a reverse proxy does and when it is worth having one in front.'

export function chatCall(model: string, stream = false, content: unknown = question): Call {
  const options = stream ? { stream: true, stream_options: { include_usage: true } } : {}
  const messages = [
    { role: 'system', content: 'You are a helpful assistant that answers briefly and in plain words.' },
    { role: 'user', content },
  ]
  return { path: '/v1/chat/completions', body: JSON.stringify({ model, ...options, temperature: 0.2, messages }) }
}

/** The small call of each lane, as the gateway wants it. */
export function laneCall(lane: LaneName): Call {
  const messages = [{ role: 'user', content: question }]
  if (lane === 'anthropic')
    return {
      path: '/v1/anthropic/v1/messages',
      body: JSON.stringify({ model: 'bench-small-anthropic', max_tokens: 200, messages }),
    }
  if (lane === 'gemini')
    return {
      path: '/v1/gemini/v1beta/models/bench-small-gemini:generateContent',
      body: JSON.stringify({ contents: [{ role: 'user', parts: [{ text: question }] }] }),
    }
  return chatCall('bench-small')
}

/** A chat of a million bytes: one picture, or very many short messages. */
export function largeCall(form: 'image' | 'chat'): Call {
  if (form === 'image') {
    const url = `data:image/png;base64,${'iVBORw0KGgoAAAANSUhEUgAA'.repeat(41_667)}`
    const parts = [
      { type: 'text', text: question },
      { type: 'image_url', image_url: { url } },
    ]
    return chatCall('bench-small', false, parts)
  }
  const messages = Array.from({ length: 8000 }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: `${index}: "quoted" words\nand a second line, then some more to come to the length of a short message.`,
  }))
  return { path: '/v1/chat/completions', body: JSON.stringify({ model: 'bench-small', messages }) }
}

export function newAgent(): Agent {
  return new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })
}

/** The whole answer. Rejects unless its status is 200. */
export function send(agent: Agent, target: Target, call: Call): Promise<Answer> {
  const begun = performance.now()
  return new Promise((resolve, reject) => {
    const sent = open(agent, target, call)
    sent.on('error', reject)
    sent.on('response', (response) => {
      let firstByteMs = 0
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        if (text === '') firstByteMs = performance.now() - begun
        text += part
      })
      response.on('error', reject)
      response.on('end', () => {
        if (response.statusCode === 200) resolve({ text, firstByteMs, totalMs: performance.now() - begun })
        else reject(new Error(`${target.name} answered ${response.statusCode}: ${text.slice(0, 300)}`))
      })
    })
  })
}

/** A request that its caller follows by itself. */
export function open(agent: Agent, target: Target, call: Call): ClientRequest {
  const sent = request({
    host: '127.0.0.1',
    port: target.port,
    agent,
    method: 'POST',
    path: call.path,
    headers: {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(call.body),
      ...target.headers,
    },
  })
  sent.end(call.body)
  return sent
}

/** Sends the call once and holds the answer against what the provider says. */
export async function verify(target: Target, call: Call): Promise<void> {
  const agent = newAgent()
  try {
    const { text } = await send(agent, target, call)
    if (
      !/until the evening comes\. "/.test(text) ||
      !/"(completion_tokens|output_tokens|candidatesTokenCount)":\s*61\b/.test(text)
    )
      throw new Error(`${target.name} changed the answer: ${text.slice(0, 300)}`)
  } finally {
    agent.destroy()
  }
}

/** Of a stream of so many chunks: each came, and the end. */
export function verifyStream(target: Target, text: string, chunks: number): void {
  const found = text.split(' the quick brown fox').length - 1
  if (found !== chunks || !text.trimEnd().endsWith('data: [DONE]'))
    throw new Error(`${target.name} gave ${found} chunks of ${chunks}, ending in ${JSON.stringify(text.slice(-80))}`)
}
