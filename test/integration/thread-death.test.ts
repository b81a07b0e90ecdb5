import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, describe, expect, it } from 'vitest'
import type { LaneCall } from '../support/lane-calls.ts'
import { laneCall } from '../support/lane-calls.ts'
import { open, type RawAnswer, type RawExchange, send } from '../support/raw-http.ts'
import { isWhole } from '../support/shows/is-whole.ts'
import { type Stage, setStage } from '../support/stage.ts'

const clients = 6
const heldStreams = 6
/** Filling a heap takes seconds of work: once, and twice by `npm run shows`. */
const deathsOfHeap = isWhole ? 2 : 1
const lanes = [laneCall('openai'), laneCall('anthropic')]

let stage: Stage
afterEach(() => stage.close())

const stageWith = (point: string, workers = '2') =>
  setStage({ environment: { SPGW_GATEWAY_WORKERS: workers, SPGW_FAULT_POINT: point } })

function linesWith(text: string): string[] {
  // The last may have come in part only.
  const lines = stage.gateway.stderr().split('\n').slice(0, -1)
  return lines.filter((line) => line.includes(text))
}

/** Numbers of the threads whose death the log tells, in its order. */
function deadThreads(): number[] {
  return linesWith('data-plane thread crashed').map((line) => JSON.parse(line).thread)
}

const storeDeaths = () => linesWith('store thread crashed').length

interface Outcome {
  sent: number
  /** Statuses of the answers that came whole and without an error of the gateway's, by id. */
  well: Map<string, number>
  /** Ids of the streams that the client itself hung up on. */
  left: Set<string>
  /** Ended in the lane's error `internal`. */
  told: Set<string>
  /** The connection closed on an answer that had begun. */
  cut: Set<string>
  /** It closed before anything of an answer. */
  unseen: number
}

function start(lane: LaneCall, stream: boolean): RawExchange {
  const { path, body } = lane.call(stage.models[lane.lane], { stream })
  const headers: [string, string][] = [lane.credential(stage.key), ['content-type', 'application/json']]
  return open(stage.gateway.baseUrl + path, { headers, body })
}

function judge(lane: LaneCall, answer: RawAnswer, outcome: Outcome): void {
  if (answer.ended === 'cut') outcome.cut.add(answer.requestId)
  else if (answer.headers.get('x-sp-error') === 'internal') outcome.told.add(answer.requestId)
  else if (answer.body.includes(lane.errorMark)) outcome.told.add(answer.requestId)
  else outcome.well.set(answer.requestId, answer.status)
}

async function ask(lane: LaneCall, kind: number, outcome: Outcome): Promise<void> {
  outcome.sent++
  const exchange = start(lane, kind !== 0)
  const head = await exchange.head.catch(() => null)
  if (head === null) {
    outcome.unseen++
    return
  }
  if (kind === 2) {
    outcome.left.add(String(head.headers['x-sp-request-id']))
    return exchange.abort()
  }
  judge(lane, await exchange.whole, outcome)
}

/** Whole answers, streams and aborted streams until so many threads have died, while other streams stand open. */
async function playUntil(isOver: () => boolean): Promise<Outcome> {
  const outcome: Outcome = { sent: 0, well: new Map(), left: new Set(), told: new Set(), cut: new Set(), unseen: 0 }
  const release = Promise.withResolvers<void>()
  const held: Promise<void>[] = []
  for (let count = 0; count < heldStreams; count++) {
    const lane = lanes[count % lanes.length]!
    stage.mocks[lane.lane].next({ hold: { before: lane.firstContent + 1, until: release.promise } })
    outcome.sent++
    const exchange = start(lane, true)
    held.push(
      exchange.whole.then(
        (answer) => judge(lane, answer, outcome),
        () => void outcome.unseen++,
      ),
    )
    await Promise.race([exchange.received(lane.contentMark), exchange.whole]).catch(() => {})
  }
  const play = async (client: number) => {
    for (let turn = client; !isOver(); turn++) await ask(lanes[turn % lanes.length]!, turn % 3, outcome)
  }
  await Promise.all(Array.from({ length: clients }, (_, client) => play(client)))
  // What begins now meets threads that have all been replaced, or are being so.
  await Promise.all(lanes.map((lane) => ask(lane, 0, outcome)))
  release.resolve()
  await Promise.all(held)
  return outcome
}

/** Nothing is under way any more, and every thread stands. */
async function settle(workers = 2): Promise<void> {
  await expect.poll(() => stage.gateway.admin.status({})).toMatchObject({ in_flight: 0, workers })
  await expect.poll(() => stage.gateway.admin.requests.list({ state: 'admitted', limit: 10 })).toEqual([])
}

interface Row {
  id: string
  /** Number of the thread that wrote it. */
  thread: number
  state: string
  status: number | null
  error_code: string | null
}

function readRows(): Map<string, Row> {
  const database = new Sqlite(join(stage.gateway.dataDirectory, 'spgw.db'), { readonly: true })
  const rows = database.prepare<[], Row & { boot: string }>('select * from records').all()
  database.close()
  expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length)
  return new Map(rows.map((row) => [row.id, { ...row, thread: Number(row.boot.split('-')[1]) }]))
}

function expectAccount(outcome: Outcome, dead: ReadonlySet<number>): Map<string, Row> {
  const rows = readRows()
  const seen = [...outcome.well.keys(), ...outcome.told, ...outcome.cut, ...outcome.left]
  expect(new Set(seen).size + outcome.unseen, 'each request once').toBe(outcome.sent)
  for (const [id, status] of outcome.well)
    expect([id, rows.get(id)?.state, rows.get(id)?.status]).toEqual([id, 'settled', status])
  for (const id of outcome.left) expect(rows.has(id)).toBe(true)
  for (const id of [...outcome.told, ...outcome.cut])
    expect(dead, `${id} failed on a thread that lives`).toContain(rows.get(id)?.thread)
  for (const row of rows.values()) if (row.state !== 'settled') expect(dead).toContain(row.thread)
  expect(rows.size - new Set(seen).size, 'records of nobody’s request').toBeLessThanOrEqual(outcome.unseen)
  return rows
}

describe('a data-plane thread that dies under load', () => {
  it('of an error that nobody caught, ends what it has in the lane’s error, and no other fails', async () => {
    const deaths = 4
    stage = await stageWith(`journal.after-admitted:40:throw:${deaths}`)
    const outcome = await playUntil(() => deadThreads().length >= deaths)
    await settle()
    const dead = new Set(deadThreads())
    expect(dead.size).toBe(deaths)
    const rows = expectAccount(outcome, dead)
    expect(outcome.cut).toEqual(new Set())
    // A connection that the system accepts in the very moment in which the listener closes.
    expect(outcome.unseen).toBeLessThanOrEqual(1)
    expect(outcome.told.size).toBeGreaterThan(0)
    for (const id of outcome.told) expect(rows.get(id)).toMatchObject({ state: 'settled', error_code: 'internal' })
    expect([...rows.values()].filter(({ state }) => state !== 'settled')).toEqual([])
  })

  it('of its heap, has its connections closed and its requests interrupted at once, and no other fails', async () => {
    const deaths = deathsOfHeap
    stage = await stageWith(`journal.after-admitted:60:heap:${deaths}`)
    const outcome = await playUntil(() => deadThreads().length >= deaths)
    await settle()
    const dead = new Set(deadThreads())
    expect(dead.size).toBe(deaths)
    const rows = expectAccount(outcome, dead)
    const interrupted = [...rows.values()].filter(({ state }) => state === 'interrupted')
    expect(interrupted.length).toBeGreaterThan(0)
    expect(outcome.told.size).toBe(0)
    // Settled: the entry stood already, and its last byte had not left yet.
    for (const id of outcome.cut) expect(['interrupted', 'settled']).toContain(rows.get(id)?.state)
    expect(outcome.unseen).toBeLessThanOrEqual(deaths * (clients + heldStreams))
  })

  it('and is the only one, keeps its listener until the next one listens', async () => {
    const deaths = 3
    stage = await stageWith(`journal.after-admitted:25:throw:${deaths}`, '1')
    const outcome = await playUntil(() => deadThreads().length >= deaths)
    await settle(1)
    expectAccount(outcome, new Set(deadThreads()))
    expect(outcome.unseen).toBeLessThanOrEqual(1)
    expect(outcome.cut).toEqual(new Set())
  })
})

describe('data-plane threads that die one after another', () => {
  it('are replaced all the same; publishing waits for none of them, and every surface tells', async () => {
    // Each thread passes there for every snapshot that it is told: setting the stage is what kills the first of them.
    stage = await stageWith('publish.first-swapped:6:throw:6')
    let keys = 0
    while (deadThreads().length < 3) await stage.gateway.createKey(`key-${keys++}`)
    await expect
      .poll(async () => (await stage.gateway.admin.status({})).degraded)
      .toMatchObject([{ part: 'thread', reason: expect.stringContaining('a fault point threw') }])
    // Whatever the point has left, these use up.
    for (let left = 20; left > 0; left--) await stage.gateway.createKey(`key-${keys++}`)
    await settle()
    const { key } = await stage.gateway.createKey('last')
    const lane = laneCall('openai')
    const { path, body } = lane.call(stage.models.openai)
    const headers: [string, string][] = [lane.credential(key), ['content-type', 'application/json']]
    for (let count = 0; count < 8; count++)
      expect((await send(stage.gateway.baseUrl + path, { headers, body })).status).toBe(200)
  })
})

describe('the store thread', () => {
  it.each([
    ['an error that nobody caught', 'throw', 3],
    ['its heap', 'heap', deathsOfHeap],
  ])('dies of %s while it stores: no request fails, and each is stored once', async (_name, action, deaths) => {
    stage = await stageWith(`ingest.before-commit:4:${action}:${deaths}`)
    const outcome = await playUntil(() => storeDeaths() >= deaths)
    await settle()
    expectAccount(outcome, new Set())
    expect({ unseen: outcome.unseen, told: outcome.told, cut: outcome.cut }).toEqual({
      unseen: 0,
      told: new Set(),
      cut: new Set(),
    })
    expect(outcome.well.size).toBeGreaterThan(0)
    await expect.poll(async () => (await stage.gateway.admin.status({})).degraded).toEqual([])
  })

  it('dies in the middle of a change: the call fails, what follows does not', async () => {
    stage = await stageWith('key-change.before-commit:1:throw')
    const { id, key } = await stage.gateway.createKey('victim')
    await expect(stage.gateway.admin.keys.revoke({ key: id })).rejects.toThrow(
      'The store thread crashed: Error: a fault point threw, before it answered',
    )
    expect((await stage.gateway.admin.keys.list({})).map(({ name }) => name)).toContain('victim')
    await stage.gateway.admin.keys.revoke({ key: id })
    const lane = laneCall('openai')
    const { path, body } = lane.call(stage.models.openai)
    expect((await send(stage.gateway.baseUrl + path, { headers: [lane.credential(key)], body })).status).toBe(401)
  })
})

it('a fault of the main thread: what is open goes on to its end, and the process ends with status 1', async () => {
  stage = await stageWith('key-change.after-commit:1:throw')
  const lane = laneCall('openai')
  const release = Promise.withResolvers<void>()
  stage.mocks.openai.next({ hold: { before: lane.firstContent + 1, until: release.promise } })
  const exchange = start(lane, true)
  await exchange.received(lane.contentMark)
  const { id } = await stage.gateway.createKey('any')
  stage.gateway.admin.keys.revoke({ key: id }).catch(() => {})
  await stage.gateway.said('the main thread had an internal error')
  release.resolve()
  expect((await exchange.whole).body.toString()).toContain(lane.endMark)
  expect(await stage.gateway.ended).toBe(1)
})
