import http from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fillPrice } from '../../src/core/cost/model-price.ts'
import type { BookedAmount } from '../../src/core/journal-format.ts'
import type { Limit, LimitKind } from '../../src/core/policies/policy-limits.ts'
import type { Endpoint } from '../../src/lanes/contract.ts'
import { lanes } from '../../src/lanes/index.ts'
import { findPeriod } from '../../src/policy/limits/periods.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { closeServer, listen } from '../support/listen.ts'
import { oneOf } from '../support/shows/is-whole.ts'
import {
  callRow,
  type Fate,
  fates,
  replyTo,
  walkedCalls,
  walkLimits,
  walkPrices,
} from '../support/shows/limits-walk.ts'
import { playSocket, socketFates, socketRows } from '../support/shows/socket-walk.ts'
import { makePolicy } from '../support/snapshot.ts'
import { type SocketProvider, startSocketProvider } from '../support/sockets.ts'

/** Every row of docs/lanes.md answered, refused and cut by its provider, under a policy with every limit. */

const credentials = { openai: 'sk-walk', anthropic: 'sk-ant-walk', gemini: 'AIza-walk' }

let http1: http.Server
let sockets: SocketProvider
let plane: DataPlane
/** What the provider does with the next call. */
let fate: Fate = 'answered'
let row: Endpoint
/** Whether it is asked for a stream. */
let streamed = false

beforeAll(async () => {
  http1 = http.createServer((request, response) => {
    request.resume().on('end', () => replyTo(response, { fate, row, streamed }))
  })
  const baseUrl = await listen(http1)
  sockets = await startSocketProvider()
  http1.on('upgrade', sockets.take)
  plane = await startDataPlane({
    providers: lanes.map(({ name }) => {
      const path = name === 'openai' ? '/v1' : ''
      return { kind: name, baseUrl: baseUrl + path, credentials: [credentials[name]] }
    }),
    policies: [
      makePolicy('all', {
        ...walkLimits,
        maxBody: 1_000_000,
      }),
    ],
    defaults: true,
    webrtc: true,
  })
  const prices = walkPrices.map((price) => fillPrice({ source: 'set', version: 'walk', ...price }))
  plane.tell({ type: 'prices', prices: { revision: 1, prices } })
  await plane.hear('has')
})

afterAll(async () => {
  await plane.stop()
  await sockets.stop()
  closeServer(http1)
})

const limit = (kind: LimitKind, period: Limit['period']): Limit => ({
  counter: `pol_all workspace ${kind} ${period ?? 'minute'}`,
  ...{ policy: 'all', scope: 'workspace', kind, period, limit: 0, warns: false, perUser: false },
})

/** A batch goes on holding what it may come to. */
let batches: readonly BookedAmount[] = []

/** What nobody holds any more, of all that is held until a request's end. */
async function expectNothingHeld(made: readonly BookedAmount[] = batches): Promise<void> {
  await expect.poll(() => plane.inFlight()).toBe(0)
  expect(plane.limits.used(limit('concurrency', null))).toBe(0)
  for (const kind of ['usd', 'tokens'] as const)
    for (const period of ['day', 'month'] as const) {
      const now = Date.now()
      const use = plane.limits.budgetUse(limit(kind, period), { timeZone: 'UTC', now })
      // The day may have ended since a batch was made.
      const { name } = findPeriod(period, 'UTC', now)
      const own = made.filter(([counter, held]) => counter === limit(kind, period).counter && held === name)
      expect({ kind, period, held: use.held, holders: use.holders }).toEqual({
        ...{ kind, period, held: own.reduce((sum, [, , amount]) => sum + amount, 0), holders: own.length },
      })
    }
}

/**
 * A call without a route is tried again after a cut, a quarter of a second later. Those that cost something are all cut,
 * of the others every third, by chance; `npm run shows` cuts all of them (test/integration/shown-limits.test.ts).
 */
function cutCalls(calls: ReturnType<typeof walkedCalls>): ReturnType<typeof walkedCalls> {
  const free = calls.filter(({ endpoint }) => !endpoint.billed)
  return [...calls.filter(({ endpoint }) => endpoint.billed), ...oneOf(3, free)]
}

for (const lane of lanes) {
  const calls = walkedCalls(lane)
  const cut = cutCalls(calls)
  describe(`a call of the ${lane.name} lane`, () => {
    beforeAll(() => plane.ownAll(lane.name))

    it.each(calls)(
      'litellm PR 36592, litellm 38176, litellm 31087, litellm PR 40010: $name holds nothing afterwards, and costs or says that it has no price',
      async (call) => {
        const { endpoint, stream } = call
        row = endpoint
        streamed = stream
        for (const next of fates) {
          if (next === 'cut' && !cut.includes(call)) continue
          fate = next
          plane.heal(lanes.indexOf(lane))
          const { requestId, status } = await callRow(plane, lane, { row: endpoint, streamed: stream }).catch(() => ({
            requestId: null,
            status: 0,
          }))
          const record = requestId === null ? null : await plane.record(requestId)
          if (endpoint.operation === 'batches.create')
            batches = plane.entries().flatMap((entry) => (entry.kind === 'batch-held' ? entry.hold : []))
          await expectNothingHeld()
          if (fate !== 'answered') continue
          expect(status, JSON.stringify(record?.error)).toBeLessThan(300)
          if (!endpoint.billed) continue
          const unpriced = record?.policy_signals.some(({ rule }) => rule === 'unpriced')
          expect([record?.cost?.usd ?? 0, unpriced]).not.toEqual([0, false])
        }
      },
    )
  })
}

describe('a WebSocket', () => {
  it.each(socketRows)(
    'litellm PR 39851, litellm PR 38419: $name holds nothing afterwards, and costs what its turns used',
    async ({ lane, endpoint }) => {
      plane.ownAll(lane.name)
      for (const next of socketFates) {
        const requestId = await playSocket(plane, sockets, lane, { row: endpoint, fate: next })
        const record = requestId === null ? null : await plane.record(requestId)
        await expectNothingHeld()
        // One takes tokens for clients alone.
        const refused = requestId === null && endpoint.acceptsClientToken !== undefined
        // What was cut in the midst of a turn is not free.
        if (next !== 'refused' && !refused) expect(record?.cost?.usd ?? 0).toBeGreaterThan(0)
      }
      sockets.refuse(null)
    },
  )
})
