import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, describe, expect, it } from 'vitest'
import type { LaneCall } from '../support/lane-calls.ts'
import { laneCall } from '../support/lane-calls.ts'
import { open, type RawAnswer, type RawExchange } from '../support/raw-http.ts'
import { type Stage, setStage } from '../support/stage.ts'

const clients = 6
const heldStreams = 6
const lanes = [laneCall('openai'), laneCall('anthropic')]

let stage: Stage
afterEach(() => stage.close())

const stageWith = (point: string, workers = '2') =>
  setStage({ environment: { SPGW_GATEWAY_WORKERS: workers, SPGW_FAULT_POINT: point } })

/** Numbers of the threads whose death the log tells, in its order. */
function deadThreads(): number[] {
  const lines = stage.gateway.stderr().split('\n')
  return lines.filter((line) => line.includes('data-plane thread died')).map((line) => JSON.parse(line).thread)
}

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
async function playUntil(deaths: number): Promise<Outcome> {
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
    for (let turn = client; deadThreads().length < deaths; turn++)
      await ask(lanes[turn % lanes.length]!, turn % 3, outcome)
  }
  await Promise.all(Array.from({ length: clients }, (_, client) => play(client)))
  // What begins now meets threads that have all been replaced, or are being so.
  await Promise.all(lanes.map((lane) => ask(lane, 0, outcome)))
  release.resolve()
  await Promise.all(held)
  return outcome
}

/** Nothing is under way any more, and every thread stands. */
async function settle(): Promise<void> {
  await expect
    .poll(() => stage.gateway.admin.status({}), { timeout: 10_000 })
    .toMatchObject({ in_flight: 0, workers: 2 })
  await expect
    .poll(() => stage.gateway.admin.requests.list({ state: 'admitted', limit: 10 }), { timeout: 10_000 })
    .toEqual([])
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

describe('a data-plane thread that dies under load', { timeout: 120_000 }, () => {
  it('of an error that nobody caught, ends what it has in the lane’s error, and no other fails', async () => {
    const deaths = 4
    stage = await stageWith(`journal.after-admitted:40:throw:${deaths}`)
    const outcome = await playUntil(deaths)
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
    const deaths = 2
    stage = await stageWith(`journal.after-admitted:60:heap:${deaths}`)
    const outcome = await playUntil(deaths)
    await settle()
    const dead = new Set(deadThreads())
    expect(dead.size).toBe(deaths)
    const rows = expectAccount(outcome, dead)
    const interrupted = [...rows.values()].filter(({ state }) => state === 'interrupted')
    expect(interrupted.length).toBeGreaterThan(0)
    expect(outcome.told.size).toBe(0)
    for (const id of outcome.cut) expect(rows.get(id)?.state).toBe('interrupted')
    expect(outcome.unseen).toBeLessThanOrEqual(deaths * (clients + heldStreams))
  })
})
