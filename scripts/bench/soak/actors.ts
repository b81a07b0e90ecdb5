import { type Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Call, callFor, largeCall, smallCall, streamCall, type Way } from '../calls.ts'
import { newAgent, open, send, verify, verifyStream } from '../client.ts'
import type { Target } from '../target.ts'

/** One kind of client: how often it comes, and what it does; throws when it is not answered as it should be. */
export interface Actor {
  name: string
  perSecond: number
  act(): Promise<void>
}

const lanes: readonly Way[] = ['openai', 'anthropic', 'gemini']
/** Requests that `gatherActors` sends by itself. */
export const checkedBefore = lanes.length
const stream = { chunks: 60, paceMs: 100 }

/** The mixed load. Its answers are held against one that was checked before. */
export async function gatherActors(agent: Agent, target: Target): Promise<Actor[]> {
  const expected = new Map(
    await Promise.all(lanes.map(async (way) => [way, await verify(target, smallCall(way))] as const)),
  )
  const image = largeCall('image')
  const chat = largeCall('chat')
  const whole = (name: string, perSecond: number, call: Call): Actor => ({
    name,
    perSecond,
    async act() {
      const { text } = await send(agent, target, call)
      if (text !== expected.get(call.way)) throw new Error(`another answer: ${text.slice(0, 200)}`)
    },
  })
  return [
    whole('whole, OpenAI', 60, smallCall('openai')),
    whole('whole, Anthropic', 20, smallCall('anthropic')),
    whole('whole, Gemini', 20, smallCall('gemini')),
    whole('1 MB image', 1, image),
    whole('1 MB chat', 1, chat),
    whole('provider that fails now and then', 10, callFor('openai', 'bench-flaky')),
    ...lanes.map((way) => streamActor(agent, target, way)),
    aborter(target, 'hangs up before the head', 'bench-hang', 2),
    aborter(target, 'hangs up before content', 'bench-head', 2),
    aborter(target, 'hangs up mid-stream', 'bench-open-50', 3),
    refused(agent, target, 'unknown key', 5, 401, { headers: { authorization: 'Bearer sp_live_unknown' } }),
    refused(agent, target, 'model not allowed', 5, 403, { body: '{"model":"gpt-forbidden","messages":[]}' }),
    refused(agent, target, 'malformed body', 5, 400, { body: '{"model":"bench-small",' }),
  ]
}

function streamActor(agent: Agent, target: Target, way: Way): Actor {
  const call = streamCall(way, stream.chunks, stream.paceMs)
  return {
    name: `stream, ${way}`,
    perSecond: 3,
    async act() {
      const { text } = await send(agent, target, call)
      verifyStream(target, call, text, stream.chunks)
    },
  }
}

function aborter(target: Target, name: string, model: string, perSecond: number): Actor {
  return {
    name,
    perSecond,
    async act() {
      const agent = newAgent()
      const sent = open(agent, target, callFor('openai', model, true))
      sent.on('error', () => {})
      sent.on('response', (response) => response.on('error', () => {}).resume())
      await sleep(50 + Math.random() * 400)
      sent.destroy()
      agent.destroy()
    },
  }
}

interface Wrong {
  body?: string
  headers?: Record<string, string>
}

function refused(agent: Agent, target: Target, name: string, perSecond: number, status: number, wrong: Wrong): Actor {
  const call = { ...smallCall(), ...(wrong.body !== undefined && { body: wrong.body }) }
  return {
    name,
    perSecond,
    async act() {
      const found = await statusOf(agent, target, call, wrong.headers ?? {})
      if (found !== status) throw new Error(`answered ${found} instead of ${status}`)
    },
  }
}

export function statusOf(agent: Agent, target: Target, call: Call, more: Record<string, string>): Promise<number> {
  const { port, path, headers } = target.reach(call)
  const all = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(call.body),
    ...headers,
    ...more,
  }
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, agent, method: 'POST', headers: all }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0))
    })
      .on('error', reject)
      .end(call.body)
  })
}
