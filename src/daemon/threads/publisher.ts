import { isDeepStrictEqual } from 'node:util'
import type { ModelPrice } from '../../core/cost/model-price.ts'
import { reachFaultPoint } from '../../core/fault-point.ts'
import { demoActor } from '../../core/secrets/gateway-key.ts'
import { emptyConfiguration } from '../../gateway/thread/empty-configuration.ts'
import { listPrices } from '../../policy/prices/list-prices.ts'
import type { Keyring } from '../../sealing/keyring.ts'
import type { Key, Provider, StoreClient, StoredSnapshot } from '../../store/api.ts'
import type {
  ConfigurationSnapshot,
  KeyDelta,
  Readiness,
  SnapshotKey,
  SnapshotPrices,
  SnapshotProvider,
} from '../../store/configuration/snapshot.ts'
import { bodyKeyFor } from '../body-key.ts'
import { slotLimit } from '../health/memory.ts'
import { openCredentials, openHeaders, whyShut } from '../open-credentials.ts'

/** Every data-plane thread, present and future. A method resolves when all running threads have what it sends. */
export interface SnapshotAudience {
  configuration(snapshot: ConfigurationSnapshot): Promise<void>
  keys(delta: KeyDelta): Promise<void>
  prices(prices: SnapshotPrices): Promise<void>
  /** A provider's address or credentials changed: forgets its health. */
  forgetHealth(slot: number): void
}

/** Everything that a new thread needs. */
export interface WholeSnapshot {
  snapshot: ConfigurationSnapshot
  delta: KeyDelta
  prices: SnapshotPrices
}

/** Builds the read model of the data plane from the store and publishes what has changed. One run at a time. */
export class Publisher {
  configuration = emptyConfiguration
  #prices: SnapshotPrices = { revision: -1, prices: [] }
  readonly #keys = new Map<string, SnapshotKey>()
  #keyList: readonly SnapshotKey[] | null = null
  #keysVersion = 0
  readonly #slots = new Map<string, number>()
  /** Slots of providers that are gone from every thread, the one that went first in front. */
  readonly #freeSlots: number[] = []
  #usedSlots = 0
  readonly #leased = new Map<string, SnapshotKey>()
  readonly #returned = new Set<string>()
  #storedKeysVersion: number | null = null
  #names: ScopeNames | null = null
  #storedPrices: number | null = null
  /** Names of the providers that have prices of their own: these prices are found by the name, which may change. */
  #pricedProviders = ''
  readonly #store: StoreClient
  readonly #keyring: Keyring
  readonly #audience: SnapshotAudience
  #running: Promise<void> = Promise.resolve()

  constructor(store: StoreClient, keyring: Keyring, audience: SnapshotAudience) {
    this.#store = store
    this.#keyring = keyring
    this.#audience = audience
  }

  /** The same list until a key changes. */
  get keys(): readonly SnapshotKey[] {
    this.#keyList ??= [...this.#keys.values()]
    return this.#keyList
  }

  get prices(): readonly ModelPrice[] {
    return this.#prices.prices
  }

  whole(): WholeSnapshot {
    const delta = { full: true, version: this.#keysVersion, upsert: [...this.#keys.values()], remove: [] }
    return { snapshot: this.configuration, delta, prices: this.#prices }
  }

  /** Publishes what the store holds now; a call during a run waits for a run of its own, since its change may be newer. */
  publish(): Promise<void> {
    const run = this.#running.catch(() => {}).then(() => this.#run())
    this.#running = run
    return run
  }

  /** A key that lives only in memory (for `routes test`); `release` ends it. */
  async lease(key: SnapshotKey): Promise<{ release: () => Promise<void> }> {
    this.#leased.set(key.hash, key)
    try {
      await this.publish()
    } catch (error) {
      // The caller gets nothing to release it with.
      this.#leased.delete(key.hash)
      this.#returned.add(key.hash)
      throw error
    }
    const release = () => {
      this.#leased.delete(key.hash)
      this.#returned.add(key.hash)
      return this.publish()
    }
    return { release }
  }

  async #run(): Promise<void> {
    const stored = await this.#store.snapshot(this.#storedKeysVersion ?? undefined)
    await this.#publishConfiguration(stored)
    await this.#publishPrices(stored)
    const names = scopeNames(stored)
    const renamed = this.#names !== null && !isDeepStrictEqual(names, this.#names)
    // A key carries the names of its scope; a renamed scope is rare enough to read all keys again.
    await this.#publishKeys(renamed ? await this.#store.snapshot() : stored, names)
    this.#names = names
  }

  async #publishConfiguration(stored: StoredSnapshot): Promise<void> {
    const caches = stored.routes.some(({ cacheMs }) => cacheMs !== null)
    const { bodyKey: current } = this.configuration
    const bodyKey = await bodyKeyFor(this.#store, this.#keyring, stored.policies, current, caches)
    const built = buildConfiguration(stored, this.#keyring, (id) => this.#slotOf(id), this.configuration.version)
    const next = { ...built, bodyKey }
    if (next.version > emptyConfiguration.version && isDeepStrictEqual(next, this.configuration)) return
    for (const provider of next.providers) {
      const before = this.configuration.providers.find(({ id }) => id === provider.id)
      if (before !== undefined && before.revision !== provider.revision) this.#audience.forgetHealth(provider.slot)
    }
    this.configuration = { ...next, version: next.version + 1 }
    reachFaultPoint('publish.before-swap')
    await this.#audience.configuration(this.configuration)
    reachFaultPoint('publish.after-swap')
    this.#releaseSlots()
  }

  async #publishPrices({ pricesRevision, providers }: StoredSnapshot): Promise<void> {
    const names = JSON.stringify(providers.map(placeOf))
    if (pricesRevision === this.#storedPrices && names === this.#pricedProviders) return
    const prices = await listPrices(this.#store.prices, providers)
    this.#storedPrices = pricesRevision
    this.#pricedProviders = names
    this.#prices = { revision: this.#prices.revision + 1, prices }
    await this.#audience.prices(this.#prices)
  }

  /** Sends only the keys that have changed, however many there are. */
  async #publishKeys(stored: StoredSnapshot, names: ScopeNames): Promise<void> {
    const changed = new Map(stored.keys.flatMap((key) => secretsOf(key, names)).map((key) => [key.hash, key]))
    for (const [hash, key] of this.#leased) changed.set(hash, key)
    const upsert = [...changed.values()].filter((key) => !isDeepStrictEqual(key, this.#keys.get(key.hash)))
    const remove = [...stored.removedHashes, ...this.#returned].filter(
      (hash) => this.#keys.has(hash) && !changed.has(hash),
    )
    for (const key of upsert) this.#keys.set(key.hash, key)
    for (const hash of remove) this.#keys.delete(hash)
    this.#returned.clear()
    this.#storedKeysVersion = stored.keysVersion
    if (upsert.length === 0 && remove.length === 0) return
    this.#keyList = null
    this.#keysVersion++
    reachFaultPoint('publish.before-swap')
    await this.#audience.keys({ full: false, version: this.#keysVersion, upsert, remove })
    reachFaultPoint('publish.after-swap')
  }

  #slotOf(providerId: string): number {
    const known = this.#slots.get(providerId)
    if (known !== undefined) return known
    const slot = this.#usedSlots < slotLimit ? this.#usedSlots++ : this.#reuseSlot()
    this.#slots.set(providerId, slot)
    return slot
  }

  /** Only if no slot is unused, and then the one that was freed first: requests to a removed provider may go on for long. */
  #reuseSlot(): number {
    const slot = this.#freeSlots.shift()
    if (slot === undefined) throw new Error(`more than ${slotLimit} providers`)
    this.#audience.forgetHealth(slot)
    return slot
  }

  #releaseSlots(): void {
    const present = new Set(this.configuration.providers.map(({ id }) => id))
    for (const [id, slot] of this.#slots) {
      if (present.has(id)) continue
      this.#slots.delete(id)
      this.#freeSlots.push(slot)
    }
  }
}

function buildConfiguration(
  stored: StoredSnapshot,
  keyring: Keyring,
  slotOf: (id: string) => number,
  version: number,
): Omit<ConfigurationSnapshot, 'bodyKey'> {
  return {
    version,
    providers: stored.providers.map((provider) => buildProvider(provider, keyring, slotOf(provider.id))),
    routes: stored.routes,
    policies: stored.policies,
    projects: stored.projects.map(({ id, name }) => ({ id, name })),
    environments: stored.environments.map(({ id, name, projectId }) => ({ id, name, projectId })),
    timeZone: stored.timeZone,
    defaultProviders: Object.fromEntries(stored.environments.map(({ id, defaultProviders }) => [id, defaultProviders])),
    tokenKey: keyring.tokenKey(),
  }
}

function buildProvider(provider: Provider, keyring: Keyring, slot: number): SnapshotProvider {
  const { id, name, kind, active, projects, models, revision } = provider
  const credentials = openCredentials(provider, keyring).map((opened) => ({
    id: opened.id,
    value: opened.credential.reveal(),
  }))
  const headers = openHeaders(provider, keyring)
  return {
    id,
    name,
    kind,
    slot,
    revision: revision.number,
    active,
    readiness: readinessOf(provider, whyShut(provider, keyring, credentials, headers)),
    baseUrl: revision.baseUrl,
    credentials,
    headers,
    timeouts: revision.timeouts,
    projects,
    models,
    settings: revision.settings,
    limits: provider.limits,
  }
}

function readinessOf({ readiness }: Provider, shut: string | null): Readiness {
  if (shut !== null) return { ...readiness, state: 'failing', reason: shut, code: 'credential_sealed' }
  // What did not open was entered again.
  return readiness.code === 'credential_sealed'
    ? { ...readiness, state: 'unchecked', reason: null, code: null }
    : readiness
}

/** Names by id. */
interface ScopeNames {
  projects: Map<string, string>
  environments: Map<string, string>
}

function scopeNames(stored: StoredSnapshot): ScopeNames {
  const projects = new Map(stored.projects.map(({ id, name }) => [id, name]))
  const environments = new Map(stored.environments.map(({ id, name }) => [id, name]))
  return { projects, environments }
}

function secretsOf(key: Key, { projects, environments }: ScopeNames): SnapshotKey[] {
  const { id, name, projectId, environmentId, policyId, tags } = key
  return key.secrets.map(({ hash, lastFour, expiresAt }) => ({
    hash,
    id,
    name,
    lastFour,
    projectId,
    project: projects.get(projectId) ?? '',
    environmentId,
    environment: environments.get(environmentId) ?? '',
    policyId,
    tags,
    expiresAt: earlier(key.expiresAt, expiresAt),
    revokedAt: key.revokedAt === null ? null : Date.parse(key.revokedAt),
    ...(key.createdBy === demoActor ? { onlyDemo: true } : {}),
  }))
}

/** A rotated secret ends with its grace, or with the key if that is earlier. */
function earlier(one: string | null, other: string | null): number | null {
  const times = [one, other].filter((time) => time !== null).map((time) => Date.parse(time))
  return times.length === 0 ? null : Math.min(...times)
}

/** What decides which prices it has. */
const placeOf = ({ id, name, kind, revision: { baseUrl, settings } }: StoredSnapshot['providers'][number]) => [
  ...[id, name, kind],
  ...[baseUrl, settings.location],
]
