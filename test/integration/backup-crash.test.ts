import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { FaultPoint } from '../../src/core/fault-point.ts'
import { type CommandResult, runCommand, startGateway, type TestGateway } from '../support/gateway.ts'
import { laneCall } from '../support/lane-calls.ts'
import { type MockProvider, startMockProvider } from '../support/mock-provider.ts'
import { send } from '../support/raw-http.ts'
import { oneOf } from '../support/shows/is-whole.ts'
import { mintCredential } from '../support/stage.ts'

const lane = laneCall('openai')
let directory: string
let mock: MockProvider
let recoveryKey: string
let key: string
/** Of the gateway that stands where the backup is restored to. */
let otherKey: string

const place = (name: string) => join(directory, name)

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'restore-'))
  const credential = mintCredential('openai')
  mock = await startMockProvider('openai', credential)
  const init = await runCommand(['init', '--data-dir', place('first')])
  recoveryKey = init.stdout
  await withGateway('first', {}, async (gateway) => {
    key = await setUp(gateway, credential)
    expect((await gateway.spgw(['backup', place('good.backup')])).code).toBe(0)
  })
})
afterAll(async () => {
  await mock.close()
  rmSync(directory, { recursive: true, force: true })
})

async function setUp(gateway: TestGateway, credential: string): Promise<string> {
  await gateway.admin.providers.add({ name: 'openai', kind: 'openai', baseUrl: mock.baseUrl, credential })
  await gateway.addRoute('gpt-4o-mini', ['openai'])
  return (await gateway.createKey('test')).key
}

async function withGateway<Output>(
  name: string,
  environment: Record<string, string>,
  use: (gateway: TestGateway) => Promise<Output>,
): Promise<Output> {
  const gateway = await startGateway({ dataDirectory: place(name), environment })
  try {
    return await use(gateway)
  } finally {
    await gateway.stop()
  }
}

async function statusFor(gateway: TestGateway, secret: string): Promise<number> {
  const { path, body } = lane.call('gpt-4o-mini', { stream: false })
  const headers: [string, string][] = [lane.credential(secret), ['content-type', 'application/json']]
  return (await send(gateway.baseUrl + path, { headers, body })).status
}

function restore(target: string, flags: string[], point?: FaultPoint): Promise<CommandResult> {
  const environment: Record<string, string> = point === undefined ? {} : { SPGW_FAULT_POINT: point }
  const words = ['restore', place('good.backup'), '--data-dir', place(target), '--recovery-key-stdin', ...flags]
  return runCommand(words, { input: recoveryKey, environment })
}

describe('a backup whose gateway is killed', () => {
  const points: FaultPoint[] = ['backup.snapshot-taken', 'backup.resealed', 'backup.half-sent']

  it.each(oneOf(3, points))('at %s leaves nothing that looks like one', async (point) => {
    const file = place(`${point}.backup`)
    await withGateway('first', { SPGW_FAULT_POINT: point }, async (gateway) => {
      expect((await gateway.spgw(['backup', file])).code).not.toBe(0)
    })
    expect(readdirSync(directory).filter((name) => name.startsWith(point))).toEqual([])
    await withGateway('first', {}, async (gateway) => {
      expect(existsSync(join(place('first'), 'backup'))).toBe(false)
      expect(await statusFor(gateway, key)).toBe(200)
      expect((await gateway.spgw(['backup', file])).code).toBe(0)
    })
  })
})

describe('a restore that is killed', () => {
  const before: FaultPoint[] = ['restore.copied', 'restore.resealed']
  const after: FaultPoint[] = [
    'restore.committed',
    'restore.set-aside',
    'restore.key-placed',
    'restore.database-placed',
  ]

  beforeEach(async () => {
    for (const name of ['empty', 'taken']) rmSync(place(name), { recursive: true, force: true })
    otherKey = await withGateway('taken', {}, (gateway) => setUp(gateway, [...mock.credentials][0] ?? ''))
  })

  it.each(oneOf(2, before))('at %s has changed nothing, and can be done again', async (point) => {
    for (const target of ['empty', 'taken']) {
      expect((await restore(target, ['--force'], point)).code, target).not.toBe(0)
      expect(readdirSync(place(target)).filter((name) => name.startsWith('before-restore'))).toEqual([])
    }
    expect(existsSync(join(place('empty'), 'spgw.db'))).toBe(false)
    await withGateway('taken', {}, async (gateway) => {
      expect([await statusFor(gateway, otherKey), await statusFor(gateway, key)]).toEqual([200, 401])
    })
    for (const target of ['empty', 'taken']) expect((await restore(target, ['--force'])).code, target).toBe(0)
    await expectRestored('empty')
    await expectRestored('taken')
  })

  it.each(oneOf(4, after))('at %s is brought to its end by the next start', async (point) => {
    for (const target of point === 'restore.set-aside' ? ['taken'] : ['empty', 'taken']) {
      expect((await restore(target, ['--force'], point)).code, target).not.toBe(0)
      await expectRestored(target)
    }
    const aside = readdirSync(place('taken')).find((name) => name.startsWith('before-restore')) ?? 'none'
    // What was set aside is a whole gateway still.
    await withGateway(join('taken', aside), {}, async (gateway) => {
      expect([await statusFor(gateway, otherKey), await statusFor(gateway, key)]).toEqual([200, 401])
    })
  })
})

async function expectRestored(target: string): Promise<void> {
  await withGateway(target, {}, async (gateway) => {
    expect([await statusFor(gateway, key), await statusFor(gateway, otherKey)]).toEqual([200, 401])
    expect(await gateway.admin.seal.status({})).toMatchObject({ sealed: 1, broken: [] })
    expect(readdirSync(place(target)).filter((name) => name.startsWith('restore.'))).toEqual([])
  })
}
