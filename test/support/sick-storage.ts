import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { expect, vi } from 'vitest'
import type { PartName } from '../../src/core/degraded.ts'
import { laneNames } from '../../src/core/lane.ts'
import { type Crowd, startCrowd } from './crowd.ts'
import type { TestGateway } from './gateway.ts'
import { type Stage, setStage } from './stage.ts'

export interface SickStage extends Stage {
  /** Mixed load, whole and streamed, on all lanes, from before the fault until after it. */
  crowd: Crowd
}

const soon = { timeout: 60_000, interval: 50 }

/** A gateway under load, a few answers in. */
export async function setSickStage(options: Parameters<typeof setStage>[0]): Promise<SickStage> {
  const stage = await setStage(options)
  const crowd = startCrowd(stage, { clients: 6, lanes: laneNames, easy: true })
  await crowd.answered(40)
  return { ...stage, crowd }
}

/** What every surface says of a degraded part; throws unless they agree. */
async function readSurfaces(gateway: TestGateway, part: PartName) {
  const [status, ready, metrics, pushed] = await Promise.all([
    gateway.admin.status({}),
    fetch(`${gateway.baseUrl}/readyz`),
    fetch(`${gateway.consoleUrl}/metrics`).then((answer) => answer.text()),
    readPushed(gateway),
  ])
  const body = (await ready.json()) as { status: string; degraded: { part: string; reason: string }[] }
  const found = status.degraded.find((each) => each.part === part)
  const surfaces = {
    status: found !== undefined,
    ready: body.degraded.some((each) => each.part === part),
    metrics: metrics.includes(`spgw_degraded{part="${part}"} 1`),
    pushed: pushed.some((each) => each.part === part),
  }
  return { surfaces, reason: found?.reason ?? null, readyStatus: ready.status, body, status }
}

/** What the console and the terminal interface are told without asking. */
async function readPushed({ admin }: TestGateway) {
  for await (const { status } of await admin.watch({})) return status.degraded
  return []
}

const everywhere = { status: true, ready: true, metrics: true, pushed: true }
const nowhere = { status: false, ready: false, metrics: false, pushed: false }

/** Waits until all surfaces tell that the part is degraded, for this reason. A degraded journal alone makes it unready. */
export async function expectDegraded(gateway: TestGateway, part: PartName, reason: RegExp): Promise<void> {
  await vi.waitFor(async () => {
    const found = await readSurfaces(gateway, part)
    expect(found.surfaces).toEqual(everywhere)
    expect(found.reason).toMatch(reason)
    expect(found.readyStatus).toBe(found.status.degraded.some((each) => each.part === 'journal') ? 503 : 200)
  }, soon)
  await expectTold(gateway, part, reason)
}

/** Waits until the log has told it so often: for what mends itself, and may have done so before anybody looks at a surface. */
export async function expectTold(gateway: TestGateway, part: PartName, reason: RegExp, times = 1): Promise<void> {
  const told = () =>
    logLines(gateway).filter(
      (line) => line.message === 'degraded' && line.part === part && reason.test(String(line.reason)),
    )
  await expect.poll(() => told().length).toBeGreaterThanOrEqual(times)
}

/** Waits until no surface tells of it any more. */
export async function expectWell(gateway: TestGateway): Promise<void> {
  await vi.waitFor(async () => {
    for (const part of ['journal', 'store'] as const) {
      const found = await readSurfaces(gateway, part)
      expect(found.surfaces, `${part}: ${found.reason}`).toEqual(nowhere)
      expect(found.readyStatus).toBe(200)
    }
  }, soon)
}

export function logLines(gateway: TestGateway): Record<string, unknown>[] {
  // The last may have come in part only.
  const lines = gateway.stderr().split('\n').slice(0, -1)
  return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))
}

/** Ends the load and holds each answer that a client has against the database: settled, once, and nothing else there. */
export async function expectEachRecorded({ gateway, crowd }: SickStage): Promise<number> {
  await crowd.leave()
  expect(crowd.tally.failed).toEqual([])
  expect(crowd.tally.refused).toBe(0)
  const answered = [...crowd.tally.complete].map(([id, status]) => [id, 'settled', status])
  answered.sort()
  await vi.waitFor(() => expect(readRecords(gateway.dataDirectory)).toEqual(answered), soon)
  const [total] = await gateway.admin.requests.stats({})
  expect(total).toMatchObject({ requests: answered.length, errors: 0, interrupted: 0 })
  process.stdout.write(`requests sent ${answered.length}, failed 0, records ${answered.length}\n`)
  return answered.length
}

/** Id, state and status of each, as the files have them: of a copy, since SQLite finds no file of another's mounts. */
export function readRecords(dataDirectory: string): [string, string, number | null][] {
  const copy = mkdtempSync(join(tmpdir(), 'spgw-records-'))
  try {
    for (const file of ['spgw.db', 'spgw.db-wal'])
      if (existsSync(join(dataDirectory, file))) copyFileSync(join(dataDirectory, file), join(copy, file))
    const database = new Sqlite(join(copy, 'spgw.db'))
    const select = database.prepare<[], [string, string, number | null]>(
      'select id, state, status from records order by id',
    )
    const records = select.raw().all()
    database.close()
    return records
  } finally {
    rmSync(copy, { recursive: true })
  }
}
