import { Agent, type ClientRequest, request } from 'node:http'
import type { Call, Way } from './calls.ts'
import type { Target } from './target.ts'

export interface Answer {
  text: string
  firstByteMs: number
  totalMs: number
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
  const { port, path, headers } = target.reach(call)
  const sent = request({
    host: '127.0.0.1',
    port,
    agent,
    method: 'POST',
    path,
    headers: { ...bodyHeaders(call), ...headers },
  })
  sent.end(call.body)
  return sent
}

export function bodyHeaders({ body }: Call): Record<string, string> {
  return { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }
}

/** Sends the call once, holds the answer against what the provider says, and returns it. */
export async function verify(target: Target, call: Call): Promise<string> {
  const agent = newAgent()
  try {
    const { text } = await send(agent, target, call)
    if (
      !/until the evening comes\. "/.test(text) ||
      !/"(completion_tokens|output_tokens|candidatesTokenCount)":\s*61\b/.test(text)
    )
      throw new Error(`${target.name} changed the answer: ${text.slice(0, 300)}`)
    return text
  } finally {
    agent.destroy()
  }
}

const ends: Record<Way, RegExp> = {
  openai: /data: \[DONE\]\s*$/,
  tls: /data: \[DONE\]\s*$/,
  translated: /data: \[DONE\]\s*$/,
  anthropic: /data: \{"type":"message_stop"\}\s*$/,
  gemini: /"finishReason":"STOP".*\s*$/,
}

/** Of a stream of so many chunks: each came, and the end. */
export function verifyStream(target: Target, { way }: Call, text: string, chunks: number): void {
  const found = text.split(' the quick brown fox').length - 1
  if (found !== chunks || !ends[way].test(text))
    throw new Error(`${target.name} gave ${found} chunks of ${chunks}, ending in ${JSON.stringify(text.slice(-80))}`)
}
