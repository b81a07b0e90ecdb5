import { expect, it } from 'vitest'
import type { CachePut } from '../../src/core/cached-answer.ts'
import { CacheTap } from '../../src/gateway/cache/cache-tap.ts'
import { CaptureBudget } from '../../src/gateway/capture/kept-bytes.ts'
import type { Call } from '../../src/gateway/request/call.ts'
import { mintBodyKey } from '../../src/sealing/body-seal.ts'

const tokens = { input: 1, output: 1, cache_read: 0, cache_write: 0, reasoning: 0, source: 'reported' } as const
const body = Buffer.from('{"choices":[]}')

/** How many answers are kept of a call that policies cap like that, before and after its budgets were held. */
async function keptOf(before: number | null, after: number | null): Promise<number> {
  const kept: CachePut[] = []
  const call = {
    id: 'req_1',
    outputCap: before,
    inspection: { streamed: false },
    trace: { translation: null },
    gateway: { captureBudget: new CaptureBudget(), answerCache: { keep: (entry: CachePut) => void kept.push(entry) } },
  } as unknown as Call
  const place = { key: 'a', routeId: 'rte_1', ttlMs: 1000, bodyKey: { id: 'k', key: mintBodyKey() } }
  const tap = new CacheTap(call, place, null)
  call.outputCap = after
  tap.answerHead(['content-type', 'application/json'])
  tap.answer(body)
  await tap.journal({ status: 200, error: null, tokens })
  await new Promise((resolve) => setTimeout(resolve, 50))
  return kept.length
}

it('keeps no answer for others that was cut to the room that a budget had', async () => {
  expect(await keptOf(null, null)).toBe(1)
  expect(await keptOf(500, 500)).toBe(1)
  expect(await keptOf(null, 16)).toBe(0)
  expect(await keptOf(500, 16)).toBe(0)
})
