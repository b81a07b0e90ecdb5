import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { RequestRecord } from '../../src/core/record.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { type LaneCall, laneCall } from '../support/lane-calls.ts'
import type { MockProvider } from '../support/mock-provider.ts'
import { open } from '../support/raw-http.ts'
import { type Stage, setStage } from '../support/stage.ts'

const rounds = 15
const clients = 6
const lanes = [laneCall('openai'), laneCall('anthropic')]

let directory: string
let stage: Stage
/** The one that runs now, on the same data directory each time. */
let gateway: TestGateway
/** By id: the status of every answer whose last byte arrived. */
const complete = new Map<string, number>()
/** Ids of streams that were in the middle when the gateway was killed. */
const held = new Set<string>()
/** Ids of other answers that began and did not come to their end. */
const cut = new Set<string>()
/** Requests of which not even an id was seen. */
let unseen = 0

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'once-'))
  stage = await setStage({ dataDirectory: directory, environment: { SPGW_GATEWAY_WORKERS: '2' } })
  gateway = stage.gateway
})
afterAll(async () => {
  await gateway.stop()
  await stage.close()
  await rm(directory, { recursive: true, force: true })
})

const random = (below: number) => Math.floor(Math.random() * below)

/** One request of the mix; false when the gateway is gone. */
async function ask(lane: LaneCall): Promise<boolean> {
  const kind = random(4)
  const key = kind === 3 ? 'sp_live_mistyped' : stage.key
  const model = kind === 2 ? 'nobody' : stage.models[lane.lane]
  const { path, body } = lane.call(model, { stream: kind === 1 })
  const mock = stage.mocks[lane.lane]
  // Figures that differ from call to call, so that a sum can be right only if each was counted once.
  mock.usage = {
    input: 100 + random(900),
    output: 50 + random(500),
    cacheRead: random(50),
    cacheWrite: 0,
    reasoning: 7,
  }
  const headers: [string, string][] = [lane.credential(key), ['content-type', 'application/json']]
  const exchange = open(gateway.baseUrl + path, { headers, body })
  const head = await exchange.head.catch(() => null)
  if (head === null) {
    unseen++
    return false
  }
  const answer = await exchange.whole
  if (answer.ended === 'clean') complete.set(answer.requestId, answer.status)
  else cut.add(answer.requestId)
  return answer.ended === 'clean'
}

/** A stream that is sure to be under way when the gateway is killed. */
async function hold(): Promise<void> {
  const lane = laneCall('openai')
  stage.mocks.openai.next({ hold: { before: lane.firstContent + 1 } })
  const { path, body } = lane.call(stage.models.openai, { stream: true })
  const headers: [string, string][] = [lane.credential(stage.key), ['content-type', 'application/json']]
  const exchange = open(gateway.baseUrl + path, { headers, body })
  await exchange.received(lane.contentMark)
  held.add(String((await exchange.head).headers['x-sp-request-id']))
}

/** Load until the gateway is killed, somewhere within the next twenty answers, whatever is under way then. */
async function playRound(): Promise<void> {
  await hold()
  let left = 1 + random(20)
  const due = Promise.withResolvers<void>()
  const play = async (client: number) => {
    const lane = lanes[client % lanes.length] ?? laneCall('openai')
    while (await ask(lane)) if (--left === 0) due.resolve()
  }
  const playing = Array.from({ length: clients }, (_, client) => play(client))
  await due.promise
  for (let turn = random(8); turn > 0; turn--) await new Promise(setImmediate)
  expect(await gateway.kill('SIGKILL')).toBeNull()
  await Promise.all(playing)
}

async function allRecords(): Promise<RequestRecord[]> {
  const records = await gateway.admin.requests.list({ limit: 1000 })
  expect(records.length).toBeLessThan(1000)
  return records
}

function expectEachOnce(records: readonly RequestRecord[], round: number): void {
  const byId = new Map(records.map((record) => [record.id, record]))
  expect(byId.size, 'doubled records').toBe(records.length)
  for (const [id, status] of complete) {
    expect([id, byId.get(id)?.state, byId.get(id)?.status], `round ${round}`).toEqual([id, 'settled', status])
  }
  for (const id of cut) expect(['settled', 'interrupted'], `round ${round}, ${id}`).toContain(byId.get(id)?.state)
  for (const id of held) expect([id, byId.get(id)?.state], `round ${round}`).toEqual([id, 'interrupted'])
  const others = records.filter(({ id }) => !complete.has(id) && !cut.has(id) && !held.has(id))
  expect(others.length, 'records of nobody’s request').toBeLessThanOrEqual(unseen)
  expect(records.filter(({ state }) => state === 'admitted')).toEqual([])
}

/** What the mock says it served, by its own request id. */
function servedBy(mock: MockProvider) {
  const name = mock.format.name
  return new Map(mock.calls.map((call) => [name === 'openai' ? `req_openai_${call.number}` : `${call.number}`, call]))
}

it(`${rounds} times kill -9: each answered request has one settled record, the rest are interrupted`, async () => {
  for (let round = 1; round <= rounds; round++) {
    await playRound()
    gateway = await startGateway({ dataDirectory: directory, environment: { SPGW_GATEWAY_WORKERS: '2' } })
    expectEachOnce(await allRecords(), round)
  }
  expect(complete.size).toBeGreaterThan(rounds)

  const records = await allRecords()
  const sum = (chosen: readonly RequestRecord[], figure: 'input' | 'output') =>
    chosen.reduce((total, { tokens }) => total + (tokens?.[figure] ?? 0), 0)
  const [total] = await gateway.admin.requests.stats({})
  expect(total).toMatchObject({
    requests: records.length,
    input: sum(records, 'input'),
    output: sum(records, 'output'),
  })
  expect(total?.interrupted).toBe(records.filter(({ state }) => state === 'interrupted').length)
  const served = servedBy(stage.mocks.openai)
  const settled = records.filter(({ state, provider }) => state === 'settled' && provider === 'openai')
  expect(settled.length).toBeGreaterThan(0)
  for (const record of settled.filter(({ id }) => complete.has(id))) {
    expect(record.tokens).toEqual(served.get(record.provider_request_id ?? '')?.usage)
  }
}, 120_000)
