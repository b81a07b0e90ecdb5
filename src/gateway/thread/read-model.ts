import type { ModelPrice } from '../../core/cost/model-price.ts'
import type { Limit } from '../../core/policies/policy-limits.ts'
import { mayBeSecret } from '../../core/secrets/provider-headers.ts'
import { Secret } from '../../core/secrets/secret.ts'
import { type CompiledPolicies, compilePolicies } from '../../policy/admit.ts'
import { accountLimits } from '../../policy/limits/account-limits.ts'
import { PriceBook } from '../../policy/prices/find-price.ts'
import { type DeniesName, deniesNameOf } from '../../providers/cloud-names.ts'
import type { EgressOptions, ProviderKind } from '../../providers/contract.ts'
import { openCredential } from '../../providers/credential.ts'
import { egressOf } from '../../providers/egress.ts'
import { findKind } from '../../providers/index.ts'
import { vendorOf } from '../../providers/vendor.ts'
import { type CompiledRoutes, compileRoutes } from '../../routing/plan.ts'
import { isSingleKey } from '../../routing/single-key.ts'
import type { BodyKey } from '../../sealing/body-seal.ts'
import { ClientTokens } from '../../sealing/client-token.ts'
import type {
  ConfigurationSnapshot,
  KeyDelta,
  SnapshotKey,
  SnapshotPrices,
  SnapshotProvider,
} from '../../store/configuration/snapshot.ts'
import { emptyConfiguration } from './empty-configuration.ts'

/** A provider configuration as this thread uses it: its kind found, its credentials wrapped. */
export interface LiveProvider {
  row: SnapshotProvider
  kind: ProviderKind
  /** The vendor whose prices apply; null: unknown. */
  vendor: string | null
  /** null: the client certificate alone authenticates. */
  credentials: readonly (Secret | null)[]
  /** What its own headers hold that may be a secret. */
  secrets: readonly Secret[]
  /** Undefined: its cloud opens nothing for the gateway's account. */
  deniesName: DeniesName | undefined
  /** Whether the free check would reject a wrong credential. */
  provesCredential: boolean
  /** Egress options for each credential; null: the default way, as for nearly all. */
  egress: readonly (EgressOptions | null)[] | null
  /** Limits of its account; null: none. */
  limits: readonly Limit[] | null
}

/** The configuration compiled for one thread; replaced whole, so that a request sees one version from end to end. */
export interface LiveConfiguration {
  version: number
  providers: ReadonlyMap<string, LiveProvider>
  routes: CompiledRoutes
  policies: CompiledPolicies
  /** Whether any provider's account has limits. */
  limitsAccounts: boolean
  /** The workspace's. */
  timeZone: string
  tokens: ClientTokens
  /** null: no policy captures bodies. */
  bodyKey: BodyKey | null
}

/** What this thread knows of the control plane's state: the last valid configuration, and the keys. */
export class ReadModel {
  configuration: LiveConfiguration = compileConfiguration(emptyConfiguration)
  keysVersion = 0
  prices = new PriceBook([])
  pricesRevision = -1
  #keys = new Map<string, SnapshotKey>()
  /** Whether all valid secrets belong to a single key. */
  hasSingleKey = true

  /** Compiles the snapshot and replaces the old one. Throws before replacing anything if the snapshot is invalid. */
  replaceConfiguration(snapshot: ConfigurationSnapshot): void {
    this.configuration = compileConfiguration(snapshot)
  }

  /** Null: no price. Only the built-in provider is free then. */
  priceOf({ row, vendor }: LiveProvider, model: string): ModelPrice | null {
    return this.prices.find({ provider: row.name, vendor, model })
  }

  replacePrices({ revision, prices }: SnapshotPrices): void {
    this.prices = new PriceBook(prices)
    this.pricesRevision = revision
  }

  applyKeys(delta: KeyDelta): void {
    if (delta.full) this.#keys = new Map()
    for (const key of delta.upsert) this.#keys.set(key.hash, key)
    for (const hash of delta.remove) this.#keys.delete(hash)
    this.keysVersion = delta.version
    this.hasSingleKey = isSingleKey(this.#keys.values(), Date.now())
  }

  findKey(hash: string): SnapshotKey | undefined {
    return this.#keys.get(hash)
  }

  /** Slow: for the rare call that has no secret to look the key up by. For a rotated key, the secret that is valid longest. */
  findKeyById(id: string): SnapshotKey | null {
    let found: SnapshotKey | null = null
    for (const key of this.#keys.values()) if (key.id === id && (found === null || outlasts(key, found))) found = key
    return found
  }
}

function outlasts(one: SnapshotKey, other: SnapshotKey): boolean {
  return (one.expiresAt ?? Number.POSITIVE_INFINITY) > (other.expiresAt ?? Number.POSITIVE_INFINITY)
}

/** Shorter words would be hidden in whatever a provider says. */
const shortestSecret = 12

function secretsIn(headers: Readonly<Record<string, string>>): Secret[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    value.length >= shortestSecret && mayBeSecret(name, value) ? [new Secret(value)] : [],
  )
}

function compileConfiguration(snapshot: ConfigurationSnapshot): LiveConfiguration {
  const providers = new Map<string, LiveProvider>()
  for (const row of snapshot.providers) {
    const kind = findKind(row.kind)
    if (kind === null) throw new Error(`provider ${row.name} is of the unknown kind ${row.kind}`)
    const opened = row.credentials.map(({ value }) => openCredential(new Secret(value)))
    const identities = opened.length === 0 ? [null] : opened.map(({ identity }) => identity)
    const egress = identities.map((identity) => egressOf(row.settings, identity))
    // The clear text is kept nowhere but inside the Secret.
    providers.set(row.id, {
      row: { ...row, credentials: row.credentials.map(({ id }) => ({ id, value: '' })) },
      kind,
      vendor: vendorOf(kind, row.settings),
      credentials: opened.map(({ own }) => own),
      secrets: secretsIn(row.headers),
      deniesName: deniesNameOf(row.kind),
      provesCredential: kind.check !== null && (kind.check.provesCredential?.(row.settings) ?? true),
      egress: egress.every((options) => options === null) ? null : egress,
      limits: accountLimits(row),
    })
  }
  const rows = [...providers.values()].map(({ row }) => row)
  const bare = { ...snapshot, providers: rows }
  return {
    version: snapshot.version,
    providers,
    routes: compileRoutes(bare),
    policies: compilePolicies(bare),
    limitsAccounts: [...providers.values()].some(({ limits }) => limits !== null),
    timeZone: snapshot.timeZone,
    tokens: new ClientTokens(snapshot.tokenKey),
    bodyKey: snapshot.bodyKey,
  }
}
