import { copyFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { FaultPoint } from '../../src/core/fault-point.ts'
import { type GatewayOptions, startGateway, type TestGateway } from '../support/gateway.ts'
import { laneCall } from '../support/lane-calls.ts'
import { type MockProvider, startMockProvider } from '../support/mock-provider.ts'
import { send } from '../support/raw-http.ts'
import { oneOf } from '../support/shows/is-whole.ts'
import { mintCredential } from '../support/stage.ts'

const points: FaultPoint[] = [
  'machine-key.opened',
  'seal-rotate.key-written',
  'seal-rotate.before-commit',
  'seal-rotate.after-commit',
  'seal-rotate.durable',
  'seal-rotate.key-installed',
  'seal-rotate.before-publish',
]
/** At which the new key is the right one already. */
const committed = points.slice(points.indexOf('seal-rotate.after-commit'))

/** Of a gateway that has stopped: each test begins with a copy. */
let furnished: string
let directory: string
let mock: MockProvider
let key: string
const lane = laneCall('openai')

beforeAll(async () => {
  furnished = mkdtempSync(join(tmpdir(), 'rotate-'))
  directory = furnished
  const credential = mintCredential('openai')
  mock = await startMockProvider('openai', credential)
  await withGateway({}, async (gateway) => {
    await gateway.admin.providers.add({ name: 'openai', kind: 'openai', baseUrl: mock.baseUrl, credential })
    await gateway.addRoute('gpt-4o-mini', ['openai'])
    key = (await gateway.createKey('test')).key
    await gateway.admin.seal['recovery-key']({})
  })
})
afterAll(async () => {
  await mock.close()
  rmSync(furnished, { recursive: true, force: true })
})
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rotate-'))
  cpSync(furnished, directory, { recursive: true })
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

async function withGateway(
  options: Pick<GatewayOptions, 'environment'>,
  use: (gateway: TestGateway) => Promise<void>,
): Promise<void> {
  const gateway = await startGateway({ dataDirectory: directory, ...options })
  try {
    await use(gateway)
  } finally {
    await gateway.stop()
  }
}

async function expectServed(gateway: TestGateway): Promise<void> {
  const { path, body } = lane.call('gpt-4o-mini', { stream: false })
  const headers: [string, string][] = [lane.credential(key), ['content-type', 'application/json']]
  expect((await send(gateway.baseUrl + path, { headers, body })).status).toBe(200)
}

const inDirectory = (name: string) => join(directory, name)
const keyIdIn = (path: string) => readFileSync(path, 'utf8').split(' ')[1]

describe('a rotation of the machine key that is killed', () => {
  it.each(oneOf(3, points))('at %s is whole or has not been, and the next one works', async (point) => {
    const before = keyIdIn(inDirectory('machine.key'))
    await withGateway({ environment: { SPGW_FAULT_POINT: point } }, async (gateway) => {
      const { code, stderr } = await gateway.spgw(['seal', 'rotate', '--yes'])
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(/^spgw: The gateway stopped.*\n.*spgw audit list --operation seal\n$/),
      ])
    })
    await withGateway({}, async (gateway) => {
      await expectServed(gateway)
      const status = await gateway.admin.seal.status({})
      expect(status).toMatchObject({ sealed: 1, broken: [], to_replace: null, source: inDirectory('machine.key') })
      expect(status.recovery_key_id).toMatch(/^[0-9a-f]{12}$/)
      expect(status.key_id === before).toBe(!committed.includes(point))
      // What the command advised to ask says the same.
      const lines = await gateway.admin.audit.list({ operation: 'seal' })
      expect(lines.some(({ operation }) => operation === 'seal.rotate')).toBe(committed.includes(point))
      expect(keyIdIn(inDirectory('machine.key'))).toBe(status.key_id)
      expect(existsSync(inDirectory('machine.key.next'))).toBe(false)

      const again = await gateway.admin.seal.rotate({})
      expect(again).toMatchObject({ previous_key_id: status.key_id, broken: [] })
      await expectServed(gateway)
    })
    await withGateway({}, expectServed)
  })
})

describe('a machine key that the gateway may not replace', () => {
  it('is left alone: both are accepted until the operator has put the new one there', async () => {
    const outside = `${directory}.key`
    copyFileSync(inDirectory('machine.key'), outside)
    rmSync(inDirectory('machine.key'))
    const environment = { SPGW_MACHINE_KEY_FILE: outside }
    const next = inDirectory('machine.key.next')
    await withGateway({ environment }, async (gateway) => {
      const rotated = await gateway.admin.seal.rotate({})
      expect(rotated).toMatchObject({ source: next, to_replace: outside, broken: [] })
      expect(rotated.to_do).toContain(`Put ${next} in place of ${outside}`)
      await expectServed(gateway)
      await expect(gateway.admin.seal.rotate({})).rejects.toThrow('is not finished')
    })
    // Restarted before it was put there, which is what a crash would do.
    await withGateway({ environment }, async (gateway) => {
      await expectServed(gateway)
      expect(await gateway.admin.seal.status({})).toMatchObject({ source: next, to_replace: outside, broken: [] })
    })
    copyFileSync(next, outside)
    await withGateway({ environment }, async (gateway) => {
      await expectServed(gateway)
      expect(await gateway.admin.seal.status({})).toMatchObject({ source: outside, to_replace: null, broken: [] })
      expect(existsSync(next)).toBe(false)
    })
    rmSync(outside)
  })
})
