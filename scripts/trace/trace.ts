import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { setEnvironmentData } from 'node:worker_threads'
import { type DataPlane, startDataPlane } from '../../test/support/data-plane.ts'
import { instrument, type TracedFunction } from './instrument.ts'

/** What the main thread hands to the traced one. */
export interface TraceStart {
  root: string
  sources: Record<string, string>
  memory: SharedArrayBuffer
}

/** Shared memory, as 32-bit numbers: whether calls are recorded, how many were, how many of them before the answer had ended, and the calls. */
export const callListSlots = { recording: 0, count: 1, answered: 2, first: 3 }

export interface Trace {
  /** Every function entered, in order. */
  calls: TracedFunction[]
  /** In the order in which they are first entered. */
  files: string[]
  /** How often a function is entered that is in another file than the function entered before it. */
  jumps: number
}

/** Places where tests kill the process: a release has none of them, their calls vanish from its bundle. */
const faultPoints = 'src/core/fault-point.ts'
const mostCalls = 100_000
const warmUps = 20
const rounds = 5

/**
 * Traces one non-streamed chat request through a data-plane thread that runs from the sources, against an OpenAI mock.
 *
 * Counted are entries into functions of `src/**` (functions, methods, constructors, accessors and callbacks alike), from
 * the first one after the client has sent its request until Node has handed the whole answer to the socket. The settled
 * entry is in the journal by then, because it is written before the last byte of the answer, and this is checked.
 * Not counted: going on after an `await`, returning to a caller, code of modules and class fields (the process is warm),
 * packages and Node's own code, fault points, and what follows the answer. A timer may add calls, so the shortest of some traces is taken.
 */
export async function traceRequest(): Promise<Trace> {
  const root = join(import.meta.dirname, '../..')
  const { sources, functions } = instrument(root, ['src/**/*.ts'], [faultPoints])
  const memory = new SharedArrayBuffer((callListSlots.first + mostCalls) * Int32Array.BYTES_PER_ELEMENT)
  setEnvironmentData('trace', { root, sources, memory } satisfies TraceStart)
  const provider = createProvider()
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  const { port } = provider.address() as AddressInfo
  const plane = await startDataPlane({
    providers: [{ kind: 'openai', baseUrl: `http://127.0.0.1:${port}/v1` }],
    thread: new URL('./thread.ts', import.meta.url),
  })
  try {
    for (let left = warmUps; left > 0; left--) await chat(plane)
    const traces: Trace[] = []
    for (let left = rounds; left > 0; left--) traces.push(describe(await recordCalls(plane, memory), functions))
    // Calls are seen through shared memory, and a busy machine may show none of them in time.
    const seen = traces.filter(({ calls }) => calls.length > 0)
    return seen.reduce((shortest, one) => (one.calls.length < shortest.calls.length ? one : shortest))
  } finally {
    await plane.stop()
    provider.close()
  }
}

async function recordCalls(plane: DataPlane, memory: SharedArrayBuffer): Promise<number[]> {
  const calls = new Int32Array(memory)
  const { recording, count, answered, first } = callListSlots
  // What follows the request before must not be counted.
  await setTimeout(50)
  calls[count] = 0
  calls[answered] = 0
  Atomics.store(calls, recording, 1)
  const id = await chat(plane)
  if (plane.newest()?.id !== id) throw new Error('the answer had ended before its settled entry was in the journal')
  Atomics.store(calls, recording, 0)
  return Array.from(calls.subarray(first, first + (calls[answered] ?? 0)))
}

async function chat({ baseUrl, key }: DataPlane): Promise<string | null> {
  const response = await fetch(`${baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'openai-model', messages: [{ role: 'user', content: 'hello' }] }),
  })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`the chat was answered with ${response.status}: ${text}`)
  return response.headers.get('x-sp-request-id')
}

function createProvider() {
  const answer = JSON.stringify({
    ...{ id: 'chatcmpl-trace', object: 'chat.completion', created: 1_760_000_000, model: 'trace' },
    choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 8, completion_tokens: 1, total_tokens: 9 },
  })
  return createServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
  })
}

function describe(ids: number[], functions: TracedFunction[]): Trace {
  const calls = ids.flatMap((id) => functions[id] ?? [])
  return {
    calls,
    files: [...new Set(calls.map((call) => call.file))],
    jumps: calls.filter((call, index) => index > 0 && call.file !== calls[index - 1]?.file).length,
  }
}
