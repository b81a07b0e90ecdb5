import { createSecretKey, randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { fillPrice } from '../../../src/core/cost/model-price.ts'
import { demoActor } from '../../../src/core/secrets/gateway-key.ts'
import { Publisher, type SnapshotAudience } from '../../../src/daemon/threads/publisher.ts'
import { type Keyring, makeKeyring } from '../../../src/sealing/keyring.ts'
import type { Key, Provider, StoreClient, StoredSnapshot } from '../../../src/store/api.ts'
import type { ConfigurationSnapshot, KeyDelta, SnapshotKey } from '../../../src/store/configuration/snapshot.ts'

let keyring: Keyring
let stored: StoredSnapshot
let configurations: ConfigurationSnapshot[]
let deltas: KeyDelta[]
let forgotten: number[]
/** What the next readings of the store do instead of answering. */
let failures: Error[]
let priceLists: string[][]
let readings: number
let publisher: Publisher

const machineKey = (letter: string) => ({
  keyId: letter.repeat(12),
  key: createSecretKey(randomBytes(32)),
  source: 'test',
})
const key = (name: string, change: Partial<Key> = {}): Key => ({
  id: `key_${name}`,
  name,
  projectId: 'prj_1',
  environmentId: 'env_1',
  policyId: null,
  tags: {},
  createdAt: '2026-11-21T12:00:00Z',
  createdBy: 'ops',
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
  secrets: [{ hash: `hash-of-${name}`, lastFour: 'a1b2', expiresAt: null }],
  ...change,
})

function provider(name: string, change: Partial<Provider> = {}): Provider {
  const id = `prv_${name}`
  const sealed = keyring.seal(`secret of ${name}`, `credential:${id}:crd_1`)
  return {
    id,
    name,
    kind: 'openai',
    active: true,
    projects: null,
    tags: {},
    activeRevision: 1,
    readiness: { state: 'ready', reason: null, since: null },
    models: [],
    limits: { rpm: null, tpm: null, budgetUsdMonth: null },
    createdAt: '2026-11-21T12:00:00Z',
    revision: {
      number: 1,
      baseUrl: 'https://api.openai.com/v1',
      headers: {},
      timeouts: {},
      settings: {},
      credentials: [{ id: 'crd_1', sealed, lastFour: 'f3a0', addedAt: '2026-11-21T12:00:00Z' }],
      createdAt: '2026-11-21T12:00:00Z',
      createdBy: 'ops',
    },
    ...change,
  }
}

beforeEach(() => {
  keyring = makeKeyring(machineKey('a'))
  stored = {
    providers: [],
    routes: [],
    policies: [],
    environments: [{ id: 'env_1', projectId: 'prj_1', name: 'production', defaultProviders: {}, createdAt: '' }],
    projects: [{ id: 'prj_1', name: 'default', createdAt: '' }],
    keys: [],
    keysVersion: 0,
    pricesRevision: 0,
    timeZone: 'UTC',
    removedHashes: [],
  }
  configurations = []
  deltas = []
  forgotten = []
  failures = []
  readings = 0
  priceLists = []
  const own = { model: 'own', source: 'set', version: 'now' } as const
  const prices = {
    table: async () => [fillPrice({ ...own, model: 'listed', vendor: 'openai', input: 1, geo: { regional: 1.1 } })],
    list: async () => [
      { providerId: null, price: fillPrice(own) },
      { providerId: 'prv_openai', price: fillPrice(own) },
      { providerId: 'prv_removed', price: fillPrice(own) },
    ],
  }
  const store = {
    prices,
    async snapshot() {
      readings++
      const failure = failures.shift()
      if (failure !== undefined) throw failure
      return structuredClone(stored)
    },
  }
  const audience: SnapshotAudience = {
    configuration: async (snapshot) => void configurations.push(snapshot),
    keys: async (delta) => void deltas.push(delta),
    prices: async ({ prices }) => void priceLists.push(prices.map(({ model, provider }) => `${model} ${provider}`)),
    forgetHealth: (slot) => void forgotten.push(slot),
  }
  publisher = new Publisher(store as unknown as StoreClient, keyring, audience)
})

it('has all prices, again only when one or the name of a provider changed, and none of a provider that is gone', async () => {
  stored.providers = [provider('openai')]
  await publisher.publish()
  await publisher.publish()
  expect(priceLists).toEqual([['listed null', 'own null', `own ${stored.providers[0]?.name}`]])
  stored.pricesRevision = 1
  await publisher.publish()
  stored.providers = [provider('openai', { name: 'eu' })]
  await publisher.publish()
  expect(priceLists.map((list) => list.at(-1))).toEqual(['own openai', 'own openai', 'own eu'])
  expect(publisher.whole().prices.revision).toBe(2)
})

it('has prices of a region once a provider moves there', async () => {
  const [plain, there] = [provider('openai'), provider('openai')]
  there.revision.baseUrl = 'https://eu.api.openai.com/v1'
  for (const moved of [plain, there, plain]) {
    stored.providers = [moved]
    await publisher.publish()
  }
  const usual = ['listed null', 'own null', 'own openai']
  expect(priceLists).toEqual([usual, ['listed null', 'listed openai', 'own null', 'own openai'], usual])
})

const names = (keys: readonly SnapshotKey[]) => keys.map(({ name }) => name).sort()

describe('what is published', () => {
  it('is everything at first, and nothing where nothing changed', async () => {
    stored.providers = [provider('openai')]
    stored.keys = [key('web')]
    await publisher.publish()
    expect(configurations.at(-1)?.providers).toMatchObject([
      { name: 'openai', credentials: [{ value: 'secret of openai' }] },
    ])
    expect(deltas.flatMap(({ upsert }) => names(upsert))).toEqual(['web'])
    const sent = configurations.length
    await publisher.publish()
    expect([configurations.length, deltas.length]).toEqual([sent, 1])
  })

  it('of keys is only what changed, however many there are', async () => {
    stored.keys = [key('web'), key('ci')]
    await publisher.publish()
    stored.keys = [key('ci', { revokedAt: '2026-11-21T12:00:00Z' })]
    stored.removedHashes = ['hash-of-web']
    await publisher.publish()
    expect(deltas.at(-1)).toMatchObject({
      full: false,
      upsert: [{ name: 'ci', revokedAt: Date.parse('2026-11-21T12:00:00Z') }],
      remove: ['hash-of-web'],
    })
    expect(names(publisher.keys)).toEqual(['ci'])
  })

  it('grows its version with every change, so that a thread can say what it has', async () => {
    stored.keys = [key('web')]
    await publisher.publish()
    stored.keys = [key('ci')]
    await publisher.publish()
    stored.providers = [provider('openai')]
    await publisher.publish()
    expect(deltas.map(({ version }) => version)).toEqual([1, 2])
    const versions = configurations.map(({ version }) => version)
    expect(versions).toEqual([...versions].sort((one, other) => one - other))
    expect(new Set(versions).size).toBe(versions.length)
  })

  it('carries a new name of a project to all of its keys', async () => {
    stored.keys = [key('web'), key('ci')]
    await publisher.publish()
    stored.projects = stored.projects.map((project) => ({ ...project, name: 'renamed' }))
    await publisher.publish()
    expect(deltas.at(-1)?.upsert.map(({ name, project }) => [name, project])).toEqual([
      ['web', 'renamed'],
      ['ci', 'renamed'],
    ])
  })

  it('takes a removed key from the threads also where a project was renamed at the same time', async () => {
    stored.keys = [key('web'), key('ci')]
    await publisher.publish()
    stored.projects = stored.projects.map((project) => ({ ...project, name: 'renamed' }))
    stored.keys = [key('ci')]
    stored.removedHashes = ['hash-of-web']
    await publisher.publish()
    expect(deltas.at(-1)?.remove).toEqual(['hash-of-web'])
    expect(names(publisher.keys)).toEqual(['ci'])
  })

  it('gives a thread that has just started all of it', async () => {
    stored.keys = [key('web'), key('ci')]
    stored.providers = [provider('openai')]
    await publisher.publish()
    const { snapshot, delta } = publisher.whole()
    expect(snapshot).toEqual(configurations.at(-1))
    expect(delta).toMatchObject({ full: true, version: deltas.at(-1)?.version, remove: [] })
    expect(names(delta.upsert)).toEqual(['ci', 'web'])
  })
})

describe('a secret', () => {
  it('of a rotated key ends with its grace, or with the key, whichever is first', async () => {
    const soon = '2026-11-22T12:00:00Z'
    const later = '2026-12-22T12:00:00Z'
    const secrets = [
      { hash: 'new', lastFour: 'aaaa', expiresAt: null },
      { hash: 'old', lastFour: 'bbbb', expiresAt: later },
    ]
    stored.keys = [key('web', { expiresAt: soon, secrets })]
    await publisher.publish()
    const ends = Object.fromEntries(publisher.keys.map(({ hash, expiresAt }) => [hash, expiresAt]))
    expect(ends).toEqual({ new: Date.parse(soon), old: Date.parse(soon) })
  })

  it('that is leased is known to the threads until it is released, and a key of the store stays', async () => {
    stored.keys = [key('web')]
    await publisher.publish()
    const lent = { ...(publisher.keys[0] as SnapshotKey), hash: 'lent' }
    const lease = await publisher.lease(lent)
    expect(deltas.at(-1)?.upsert.map(({ hash }) => hash)).toEqual(['lent'])
    expect(
      publisher
        .whole()
        .delta.upsert.map(({ hash }) => hash)
        .sort(),
    ).toEqual(['hash-of-web', 'lent'])
    await lease.release()
    expect(deltas.at(-1)?.remove).toEqual(['lent'])
    expect(names(publisher.keys)).toEqual(['web'])
  })

  it('whose lease could not be published is not published later', async () => {
    stored.keys = [key('web')]
    await publisher.publish()
    const lent = { ...(publisher.keys[0] as SnapshotKey), hash: 'lent' }
    failures = [new Error('The store does not answer.')]
    await expect(publisher.lease(lent)).rejects.toThrow('The store does not answer.')
    await publisher.publish()
    expect(deltas.flatMap(({ upsert }) => upsert.map(({ hash }) => hash))).not.toContain('lent')
    expect(publisher.keys.map(({ hash }) => hash)).not.toContain('lent')
  })
})

describe('a provider', () => {
  it('keeps its row of the health table while it lives, and shares it with nobody', async () => {
    stored.providers = [provider('a'), provider('b')]
    await publisher.publish()
    const first = configurations.at(-1)?.providers.map(({ name, slot }) => [name, slot])
    stored.providers = [provider('c'), provider('b', { name: 'b-renamed' })]
    await publisher.publish()
    const second = configurations.at(-1)?.providers ?? []
    expect(second.find(({ id }) => id === 'prv_b')?.slot).toBe(first?.[1]?.[1])
    const slots = [...(first ?? []).map(([, slot]) => slot), second.find(({ id }) => id === 'prv_c')?.slot]
    expect(new Set(slots).size).toBe(3)
  })

  it('is no longer what was found of it once its address or credentials change, and only then', async () => {
    stored.providers = [provider('a'), provider('b')]
    await publisher.publish()
    stored.providers = [provider('a', { name: 'renamed' }), provider('b')]
    await publisher.publish()
    expect(forgotten).toEqual([])
    const [a, b] = stored.providers
    if (a === undefined || b === undefined) throw new Error('There are two.')
    stored.providers = [a, { ...b, activeRevision: 2, revision: { ...b.revision, number: 2 } }]
    await publisher.publish()
    expect(forgotten).toEqual([configurations.at(-1)?.providers[1]?.slot])
  })

  it('one of whose headers does not open is not called without it', async () => {
    const broken = provider('broken')
    const headers = { 'x-title': 'Our app', 'x-token': '…left-behind' }
    broken.revision = { ...broken.revision, headers }
    const mended = provider('mended')
    mended.readiness = { state: 'failing', reason: 'it did not open', code: 'credential_sealed', since: '' }
    stored.providers = [broken, mended]
    await publisher.publish()
    const reason = 'its stored header x-token cannot be decrypted; enter it again'
    expect(configurations.at(-1)?.providers).toMatchObject([
      { headers: { 'x-title': 'Our app' }, readiness: { state: 'failing', reason, code: 'credential_sealed' } },
      { name: 'mended', readiness: { state: 'unchecked' } },
    ])
  })

  it('whose credential does not open fails alone: all other changes are published', async () => {
    const broken = provider('broken')
    const [credential] = broken.revision.credentials
    if (credential === undefined) throw new Error('There is one.')
    const foreign = makeKeyring(machineKey('b'))
    const sealed = foreign.seal('x', 'credential:prv_broken:crd_1')
    broken.revision = { ...broken.revision, credentials: [{ ...credential, sealed }] }
    stored.providers = [broken, provider('fine')]
    await publisher.publish()
    expect(configurations.at(-1)?.providers).toMatchObject([
      { name: 'broken', credentials: [], readiness: { state: 'failing', code: 'credential_sealed' } },
      { name: 'fine', readiness: { state: 'ready' } },
    ])
  })
})

it('marks the key of `serve --demo`, however it was renamed', async () => {
  stored.keys = [key('web'), key('renamed', { createdBy: demoActor })]
  await publisher.publish()
  expect(publisher.keys.map(({ name, onlyDemo }) => [name, onlyDemo])).toEqual([
    ['web', undefined],
    ['renamed', true],
  ])
})

describe('runs', () => {
  it('follow one another, and a call during one gets a run of its own', async () => {
    const first = publisher.publish()
    const second = publisher.publish()
    stored.keys = [key('web')]
    await Promise.all([first, second])
    expect(readings).toBeGreaterThanOrEqual(2)
    expect(names(publisher.keys)).toEqual(['web'])
  })

  it('go on after one that failed', async () => {
    failures = [new Error('The store does not answer.')]
    stored.keys = [key('web')]
    const failed = publisher.publish()
    const next = publisher.publish()
    await expect(failed).rejects.toThrow('The store does not answer.')
    await next
    expect(names(publisher.keys)).toEqual(['web'])
  })
})

it('gives the slot of a provider that was removed to another one, once no other is left', async () => {
  const slotOf = (name: string) => configurations.at(-1)?.providers.find((one) => one.name === name)?.slot
  const kept = provider('kept')
  const passing = provider('passing')
  for (let number = 0; number < 4100; number++) {
    stored.providers = [kept, { ...passing, id: `prv_${number}`, name: `p${number}` }]
    await publisher.publish()
    expect(slotOf(`p${number}`)).toBe(number < 4095 ? number + 1 : number - 4094)
    expect(slotOf('kept')).toBe(0)
  }
  expect(forgotten).toEqual([1, 2, 3, 4, 5])
})
