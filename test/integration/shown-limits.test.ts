import http from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Lane } from '../../src/lanes/contract.ts'
import { lanes } from '../../src/lanes/index.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { listen } from '../support/listen.ts'
import { isWhole } from '../support/shows/is-whole.ts'
import {
  callRow,
  fates,
  replyTo,
  type WalkStep,
  walkedCalls,
  walkLimits,
  walkPrices,
} from '../support/shows/limits-walk.ts'
import { playSocket, socketFates, socketRows } from '../support/shows/socket-walk.ts'
import { type SocketProvider, startSocketProvider } from '../support/sockets.ts'

/** Every row of docs/lanes.md answered, refused and cut under a policy with every limit: nothing is held, and all has its cost. */

let provider: http.Server
let sockets: SocketProvider
let gateway: TestGateway
let key: string
/** What the provider does with the next call. */
let step: WalkStep

beforeAll(async () => {
  provider = http.createServer(async (request, response) => {
    await request.resume().toArray()
    if (request.method !== 'GET' || !/\/models(\?|$)/.test(request.url ?? '')) return replyTo(response, step)
    // The check of a credential.
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":[],"models":[],"has_more":false}')
  })
  const origin = await listen(provider)
  sockets = await startSocketProvider()
  provider.on('upgrade', sockets.take)
  gateway = await startGateway({ config: 'gateway:\n  webrtc: allow\n', environment: { SPGW_GATEWAY_WORKERS: '1' } })
  const { admin } = gateway
  for (const { name } of lanes) {
    const baseUrl = name === 'openai' ? `${origin}/v1` : origin
    await admin.providers.add({ name, kind: name, baseUrl, credential: `sk-${name}-walk`, skipCheck: true })
    await gateway.addRoute(`${name}-model`, [name])
  }
  const [environment] = await admin.environments.list({})
  const defaultProviders = Object.fromEntries(lanes.map(({ name }) => [name, name]))
  await admin.environments.edit({ name: environment?.name ?? '', defaultProviders })
  for (const { model, input, output, per_character, per_second, per_search, max_output } of walkPrices) {
    const units = { perCharacter: per_character, perSecond: per_second, perSearch: per_search, perImage: ['0.01'] }
    await admin.prices.set({ model, input, output, ...units, maxOutput: max_output, force: true })
  }
  await admin.policies.add({ name: 'all', ...walkLimits, maxBody: '1MB', attach: ['workspace'] })
  key = (await gateway.createKey('walker')).key
})

afterAll(async () => {
  await gateway.stop()
  await sockets.stop()
  provider.closeAllConnections()
  provider.close()
})

const walked = () => ({ baseUrl: gateway.baseUrl, key })

async function held(): Promise<number[]> {
  const [usage] = await gateway.admin.policies.usage({ name: 'all' })
  const running = usage?.limits.find(({ kind }) => kind === 'concurrency')?.used ?? Number.NaN
  return [running, ...(usage?.periods.map((period) => period.held ?? Number.NaN) ?? [])]
}

/** What batches hold that were made here: until their end is shown. */
let byBatches: number[] = []

/** Less, where the answer showed the end of one. */
async function expectNothingHeld(mayMake: boolean): Promise<void> {
  if (byBatches.length === 0) byBatches = (await held()).map(() => 0)
  await gateway.admin.requests.list({ limit: 1 })
  const isDone = async () => {
    const now = await held()
    return mayMake ? now[0] === 0 : now.every((amount, at) => amount <= (byBatches[at] ?? 0))
  }
  await expect.poll(isDone, { interval: 5 }).toBe(true)
  byBatches = await held()
}

/** What the call names belongs to its key, and its provider is well. */
async function prepare(lane: Lane, path: string, method: string): Promise<void> {
  const { admin } = gateway
  const match = lane.match(method, path)
  const type = match?.endpoint.object?.type
  if (match?.object != null && type !== undefined)
    await admin.objects.adopt({ name: match.object, type, provider: lane.name }).catch(() => {})
  // Calls without a model have a pause of their own, which no state shows.
  await admin.providers.check({ name: lane.name })
}

const pathOf = (lane: Lane, path: string) =>
  path
    .replace('{version}', 'v1beta')
    .replace('{model}', lane.name === 'gemini' ? `models/${lane.name}-model` : `${lane.name}-model`)
    .replaceAll(/\{\w+\}/g, 'obj_1')

describe.each(lanes.map((lane) => ({ name: lane.name, lane })))('a call of the $name lane', ({ lane }) => {
  const calls = walkedCalls(lane).filter((_, at) => isWhole || at % 16 === 0)
  it.each(calls)(
    '$name holds nothing afterwards, and costs or says that it has no price',
    async ({ endpoint, stream }) => {
      for (const fate of fates) {
        step = { fate, row: endpoint, streamed: stream }
        await prepare(lane, pathOf(lane, endpoint.path), endpoint.method)
        const { requestId, status, body } = await callRow(walked(), lane, step).catch(() => ({
          ...{ requestId: null, status: 0, body: Buffer.alloc(0) },
        }))
        const record = requestId === null ? null : await gateway.record(requestId)
        await expectNothingHeld(endpoint.operation === 'batches.create' && fate === 'answered')
        if (fate !== 'answered') continue
        expect(status, body.toString()).toBeLessThan(300)
        if (!endpoint.billed) continue
        const unpriced = record?.policy_signals.some(({ rule }) => rule === 'unpriced')
        expect([record?.cost?.usd ?? 0, unpriced]).not.toEqual([0, false])
      }
    },
  )
})

describe('a WebSocket', () => {
  it.each(socketRows.filter((_, at) => isWhole || at % 4 === 0))(
    '$name holds nothing afterwards, and costs what its turns used',
    async ({ lane, endpoint }) => {
      for (const fate of socketFates) {
        await prepare(lane, pathOf(lane, endpoint.path), endpoint.method)
        const requestId = await playSocket(walked(), sockets, lane, { row: endpoint, fate })
        const record = requestId === null ? null : await gateway.record(requestId)
        await expectNothingHeld(false)
        // One takes tokens for clients alone.
        const refused = requestId === null && endpoint.acceptsClientToken !== undefined
        if (fate !== 'refused' && !refused) expect(record?.cost?.usd ?? 0).toBeGreaterThan(0)
      }
      sockets.refuse(null)
    },
  )
})
