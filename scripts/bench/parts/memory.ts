import { setTimeout as sleep } from 'node:timers/promises'
import { callFor, streamCall } from '../calls.ts'
import { residentBytes } from '../children.ts'
import { newAgent, open, send } from '../client.ts'
import { median } from '../statistics.ts'
import type { Part, Target } from '../target.ts'

/** Start, idle memory and the memory of an open stream, on a process that has done nothing before. */
export const memory: Part = {
  name: 'start and memory',
  // LiteLLM's worker would take minutes to open the streams.
  only: ['spgw', 'beside', 'nginx', 'portkey', 'portkey-image'],
  fresh: {},
  async measure(target) {
    await sleep(2000)
    const idle = residentBytes(target.pid)
    const agent = newAgent()
    try {
      // What the first requests load and compile is no stream's.
      for (let count = 0; count < 100; count++) await send(agent, target, streamCall('openai', 2, 1))
      const base = await settledBytes(target)
      await openStreams(agent, target, 500)
      const at500 = await settledBytes(target)
      await openStreams(agent, target, 1500)
      const at2000 = await settledBytes(target)
      return {
        'ready-ms': target.readyMs,
        'idle-mb': idle / 1e6,
        'stream-kb-500': (at500 - base) / 500 / 1e3,
        'stream-kb-2000': (at2000 - base) / 2000 / 1e3,
      }
    } finally {
      agent.destroy()
    }
  },
}

/** Resolves when each has its first byte; they go on, a chunk a second, until the agent is destroyed. */
async function openStreams(agent: ReturnType<typeof newAgent>, target: Target, count: number): Promise<void> {
  const openOne = async (_: unknown, index: number) => {
    await sleep(index)
    await new Promise<void>((resolve, reject) => {
      const sent = open(agent, target, callFor('openai', 'bench-open-1000', true))
      sent.on('error', reject)
      sent.on('response', (response) => {
        response.on('error', () => {})
        response.on('data', () => (response.statusCode === 200 ? resolve() : reject(new Error('no stream'))))
      })
    })
  }
  await Promise.all(Array.from({ length: count }, openOne))
}

async function settledBytes(target: Target): Promise<number> {
  const samples: number[] = []
  for (let count = 0; count < 5; count++) {
    await sleep(500)
    samples.push(residentBytes(target.pid))
  }
  return median(samples)
}
