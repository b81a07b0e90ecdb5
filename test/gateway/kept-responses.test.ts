import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/core/json/json-value.ts'
import type { Gateway } from '../../src/gateway/gateway.ts'
import type { Call } from '../../src/gateway/request/call.ts'
import { MemoryBudget } from '../../src/gateway/request/memory-budget.ts'
import { openKeeping } from '../../src/gateway/responses/keep-response.ts'
import { KeptResponses, namedBefore } from '../../src/gateway/responses/kept-responses.ts'
import { attachCounters, createCounterMemory } from '../../src/policy/counters.ts'

const scope = { projectId: 'prj_1', environmentId: 'env_1' }
const layout = { rows: 8, threads: 1 }
const expiresAt = 1_790_000_000_000

/** A store that seals nothing. */
function openStore(heldLimit: number) {
  const stored: Record<string, string> = {}
  const counters = attachCounters(createCounterMemory(layout), layout, 0)
  const gateway = {
    settings: { bodyLimit: 100_000_000 },
    memoryBudget: new MemoryBudget(counters, () => heldLimit),
    objects: { reasoning: async () => ({ certain: true, found: stored }) },
    model: {
      configuration: {
        tokens: {
          seal: (_: string, payload: string) => payload,
          open: (_: string, payload: string) => ({ state: payload === '' ? 'broken' : 'open', payload, expiresAt }),
        },
      },
    },
    journal: {
      append: async ({ name, sealed }: { name: string; sealed: string }) => {
        stored[name] = sealed
      },
    },
  } as unknown as Gateway
  return { gateway, store: new KeptResponses(gateway) }
}

const reading = () => ({ body: { reserved: 0, bytes: Buffer.alloc(10) }, length: 0 })
const response = (id: string, text = 'x'): JsonObject => ({ id, output: [{ type: 'message', id: `msg_${id}`, text }] })

function keepConversation(store: KeptResponses, turns: number, text: string): string[] {
  const ids = Array.from({ length: turns }, (_, index) => `resp_${index}`)
  for (const [index, id] of ids.entries())
    store.keep('req_1', scope, { response: response(id, text), before: ids.slice(0, index), input: [] }, expiresAt)
  return ids
}

describe('responses that the gateway keeps', () => {
  it('take memory of the request that uses them, and are refused where there is none', async () => {
    const { store } = openStore(3_000_000)
    const ids = keepConversation(store, 10, 'x'.repeat(500_000))
    const few = reading()
    expect(await store.find(scope, ids.slice(0, 4), few)).toHaveProperty('size', 4)
    expect(few.body.reserved).toBeGreaterThan(2_000_000)
    expect(await store.find(scope, ids.slice(4), few)).toBe('full')
  })

  it('of a conversation do not each name all that is before them', () => {
    const ids = Array.from({ length: 2000 }, (_, index) => `resp_${index}`)
    const named = ids.map((_, index) => namedBefore(ids.slice(0, index)))
    expect(Math.max(...named.map(({ length }) => length))).toBe(50)
    // The first of them names what was before.
    for (const [index] of ids.entries()) {
      const found: string[] = []
      for (let before = named[index] ?? []; before.length > 0; ) {
        found.unshift(...before)
        before = named[ids.indexOf(found[0] ?? '')] ?? []
      }
      expect(found).toHaveLength(index)
    }
  })

  it('are kept anew with what was before them, when the conversation goes on', async () => {
    const { gateway, store } = openStore(100_000_000)
    const ids = keepConversation(store, 5, 'x')
    const chain = await store.find(scope, ids, reading())
    if (!(chain instanceof Map)) throw new Error('not found')
    const arrival = { receivedAt: expiresAt - 1000 }
    const kept = { previous: 'resp_4', ids, items: 0, used: [...chain.values()] }
    const call = { kept, key: scope, id: 'req_2', gateway, arrival } as unknown as Call
    const keeping = openKeeping(call, 1_000_000, { input: 'next', pieces: [] }, [])
    expect(keeping.take(response('resp_5'))).toBe(true)
    const after = await store.find(scope, [...ids, 'resp_5'], reading())
    if (!(after instanceof Map)) throw new Error('not found')
    const before = [...after.values()].map((each) => each.before)
    expect(before).toEqual([...ids, 'resp_5'].map((_, index) => ids.slice(0, index)))
  })
})
