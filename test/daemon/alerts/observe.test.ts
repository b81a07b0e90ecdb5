import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { noAccountLimits } from '../../../src/core/policies/policy-limits.ts'
import { observe } from '../../../src/daemon/alerts/observe.ts'
import type { SnapshotKey } from '../../../src/store/configuration/snapshot.ts'
import { makeConfiguration, makeProvider } from '../../support/snapshot.ts'

const now = Date.parse('2026-03-10T12:00:00Z')
const day = 24 * 3600_000
const traffic = { requests: 0, failures: 0 }
type Runtime = Parameters<typeof observe>[0]

const key = (id: string, change: Partial<SnapshotKey> = {}): SnapshotKey => ({
  ...{ hash: `${id} ${Math.random()}`, id, name: id, lastFour: '', policyId: null, tags: {}, revokedAt: null },
  ...{ projectId: 'prj_1', project: 'default', environmentId: 'env_1', environment: 'production', expiresAt: null },
  ...change,
})

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'observe-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

function look(keys: SnapshotKey[], more: { providers?: Parameters<typeof makeConfiguration>[0]; disk?: string } = {}) {
  const runtime: Partial<Runtime> = {
    snapshot: () => ({ configuration: makeConfiguration(more.providers ?? {}), keys }),
    health: () => ({ state: 'ready' }),
    dataDirectory: more.disk ?? directory,
  }
  return observe(runtime as Runtime, { gateway: { tls: null }, console: { tls: null } }, traffic, now)
}

describe('the end of a key', () => {
  const ends = async (...keys: SnapshotKey[]) => (await look(keys)).expiries

  it('is looked at until a day after it, and not of a key that was revoked or never ends', async () => {
    const found = await ends(
      key('soon', { expiresAt: now + day }),
      key('just-now', { expiresAt: now - day + 1 }),
      key('long-ago', { expiresAt: now - day }),
      key('revoked', { expiresAt: now + day, revokedAt: now - 1 }),
      key('for-ever'),
    )
    expect(found).toEqual([
      { resource: 'key:default/production/soon', at: now + day },
      { resource: 'key:default/production/just-now', at: now - day + 1 },
    ])
  })

  // A rotation leaves the former secret for an hour: the key goes on.
  it('is that of its last secret, whichever comes first', async () => {
    const [former, current] = [key('ci', { expiresAt: now + 3600_000 }), key('ci', { expiresAt: now + 30 * day })]
    const end = [{ resource: 'key:default/production/ci', at: now + 30 * day }]
    expect(await ends(former, current)).toEqual(end)
    expect(await ends(current, former)).toEqual(end)
    expect(await ends(former, key('ci'))).toEqual([])
    expect(await ends(key('ci'), former)).toEqual([])
  })
})

it('looks at providers that are active, under the state that every surface shows', async () => {
  const providers = [
    makeProvider('on', { readiness: { state: 'failing', reason: 'no route', since: '' } }),
    makeProvider('off', { active: false }),
  ]
  const observed = await look([], { providers: { providers } })
  expect(observed.providers).toMatchObject([{ name: 'on', state: { state: 'failing', reason: 'no route' } }])
})

// As its counter does, so that what is told of a month is told once wherever the month ends.
it('names the period of a budget by the time zone of the workspace', async () => {
  const spending = makeProvider('on', { limits: { ...noAccountLimits, budgetUsdMonth: 5 } })
  const periodIn = async (timeZone: string, at: number) => {
    const runtime: Partial<Runtime> = {
      snapshot: () => ({ configuration: makeConfiguration({ providers: [spending], timeZone }), keys: [] }),
      limitUsage: () => ({ used: 1e9, held: 0, holders: 0, resetsAt: at }),
      health: () => ({ state: 'ready' }),
      dataDirectory: directory,
    }
    const { budgets } = await observe(
      runtime as Runtime,
      { gateway: { tls: null }, console: { tls: null } },
      traffic,
      at,
    )
    return budgets.map(({ periodName }) => periodName)
  }
  const lastHour = Date.parse('2026-03-31T23:00:00Z')
  expect(await periodIn('UTC', lastHour)).toEqual(['2026-03'])
  expect(await periodIn('Asia/Tokyo', lastHour)).toEqual(['2026-04'])
})

it('says nothing of a disk that cannot be asked', async () => {
  expect((await look([], { disk: join(directory, 'nowhere') })).disk).toBeNull()
  const { disk } = await look([])
  expect(disk?.totalBytes).toBeGreaterThan(0)
  expect(disk?.freeBytes).toBeLessThanOrEqual(disk?.totalBytes ?? 0)
})

it('says nothing of a certificate that cannot be read: a reload has refused it', async () => {
  const [certificate, keyFile] = [join(directory, 'cert.pem'), join(directory, 'key.pem')]
  for (const file of [certificate, keyFile]) writeFileSync(file, 'nothing')
  const runtime: Partial<Runtime> = {
    snapshot: () => ({ configuration: makeConfiguration({}), keys: [] }),
    dataDirectory: directory,
  }
  const tls = { cert: certificate, key: keyFile }
  const settings = { gateway: { tls }, console: { tls: { cert: join(directory, 'gone'), key: keyFile } } }
  const { expiries } = await observe(runtime as Runtime, settings, traffic, now)
  expect(expiries).toEqual([])
})
