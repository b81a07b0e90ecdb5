import type { ModelPrice } from '../../core/cost/model-price.ts'
import type { FormatName } from '../../core/format.ts'
import type { LaneName, TimeLimits } from '../../core/lane.ts'
import type { AccountLimits, LimitRules } from '../../core/policies/policy-limits.ts'
import type { PolicyRules } from '../../core/policies/policy-rules.ts'
import type { RouteHedge, RouteShadow } from '../../core/routes/route-options.ts'

/**
 * The read model of the data plane. Plain data only: it crosses threads by structured clone, and each thread
 * wraps the secrets and compiles the patterns for itself. The configuration is replaced whole; keys travel as deltas.
 */
export interface ConfigurationSnapshot {
  /** Grows with every change; a thread that has it acknowledges this number. */
  version: number
  providers: SnapshotProvider[]
  routes: SnapshotRoute[]
  policies: SnapshotPolicy[]
  /** What policies can be attached to, by its name. */
  projects: { id: string; name: string }[]
  environments: { id: string; name: string; projectId: string }[]
  /** Of the workspace: hours of policies, days and months of budgets are those of it. */
  timeZone: string
  /** Environment id → lane → provider id, for calls that name no model (contract.md, rule 2). */
  defaultProviders: Record<string, Partial<Record<LaneName, string>>>
  /** Opens and seals the tokens that clients hold; exists only in memory, and only inside this process. */
  tokenKey: Uint8Array
  /** Seals captured bodies and cached answers; null: neither policies nor routes want any. */
  bodyKey: { id: string; key: Uint8Array } | null
}

export interface SnapshotProvider {
  id: string
  name: string
  kind: string
  /** Row of the shared health table, stable for the life of the process. */
  slot: number
  revision: number
  active: boolean
  readiness: Readiness
  baseUrl: string
  /** Clear text: exists only in memory, and only inside this process. */
  credentials: { id: string; value: string }[]
  headers: Record<string, string>
  timeouts: Partial<TimeLimits>
  /** Ids of the projects that may use it; null is all. */
  projects: string[] | null
  /** Names in the provider's own model list, with what is known of their limits. */
  models: ProviderModel[]
  settings: Record<string, string | number | boolean>
  /** What its account may be used for. */
  limits: AccountLimits
}

export interface Readiness {
  state: 'ready' | 'failing' | 'unchecked'
  reason: string | null
  /** The reason in a word, as `CheckResult.reason` has it, or `quota_exhausted`; not there where nobody noted one. */
  code?: string | null
  /** RFC 3339 time of the last change of state. */
  since: string | null
}

export interface ProviderModel {
  name: string
  contextTokens: number | null
  outputTokens: number | null
}

export interface SnapshotRoute {
  id: string
  projectId: string
  project: string
  /** null: all environments of the project. */
  environmentId: string | null
  environment: string | null
  /** An exact model name, or a pattern with one `*`. */
  model: string
  enabled: boolean
  strategy: 'priority' | 'weighted' | 'latency' | 'cost'
  targets: SnapshotTarget[]
  /** Further attempts on one target after its first. */
  retries: number
  /** Statuses (as text) and error codes that move on to the next target; empty is the default list of contract.md rule 3. */
  fallbackOn: string[]
  timeouts: Partial<TimeLimits>
  strict: boolean
  /** Answers show the name that the client asked for. */
  echoModel: boolean
  /** Prompts that a target has in its cache go there again. */
  sticky: boolean
  hedge: RouteHedge | null
  shadow: RouteShadow | null
  /** Translated chat answers show what the model thought, beside the text. */
  reasoningText: boolean
  /** Images by address are fetched for providers that do not. */
  fetchMedia: boolean
  /** How long its answers are given again to the same requests; null: not at all. */
  cacheMs: number | null
  /** How long translated Responses are kept for the client to refer to; null: not at all. */
  keepResponsesMs: number | null
}

export interface SnapshotTarget {
  providerId: string
  /** null: the same name that the client asked for. */
  upstreamModel: string | null
  weight: number
  /** Lower goes first. */
  priority: number
  /** The format to ask in, whatever the provider prefers; null: the call's own where the provider has it. */
  format: FormatName | null
}

/** A rule that is not there is not set, like one that is an empty list or null. */
export interface SnapshotPolicy extends Partial<PolicyRules>, LimitRules {
  id: string
  name: string
  /** Where it is attached: the workspace, or ids of projects, environments and keys. */
  attachedTo: { workspace: boolean; ids: string[] }
}

export interface SnapshotKey {
  /** SHA-256 of the whole key, base64. The map key of the look-up. */
  hash: string
  id: string
  name: string
  lastFour: string
  projectId: string
  project: string
  environmentId: string
  environment: string
  policyId: string | null
  tags: Record<string, string>
  /** Milliseconds since the epoch; null is never. A rotated secret carries the end of its grace here. */
  expiresAt: number | null
  revokedAt: number | null
  /** Of a second secret alone, which is made for one request: the provider that it goes to, whatever its route says. */
  onlyProviderId?: string
  /** Of the key that `serve --demo` prints: it reaches no other provider than the built-in one (contract.md rule 19). */
  onlyDemo?: true
}

/** All prices, replaced whole. Apart from the configuration, since they are large and seldom change. */
export interface SnapshotPrices {
  /** Grows with every change; -1: none have been published yet. */
  revision: number
  prices: readonly ModelPrice[]
}

export interface KeyDelta {
  /** True: `upsert` is the whole set and replaces what a thread had. */
  full: boolean
  version: number
  upsert: SnapshotKey[]
  /** Hashes. */
  remove: string[]
}
