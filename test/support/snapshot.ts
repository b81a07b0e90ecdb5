import { noAccountLimits } from '../../src/core/policies/policy-limits.ts'
import type {
  ConfigurationSnapshot,
  SnapshotKey,
  SnapshotPolicy,
  SnapshotProvider,
  SnapshotRoute,
  SnapshotTarget,
} from '../../src/store/configuration/snapshot.ts'

/** Parts of a read model for tests; every part that a test does not speak of is plain and well. */
export function makeConfiguration(parts: Partial<ConfigurationSnapshot> = {}): ConfigurationSnapshot {
  return {
    version: 1,
    providers: [],
    routes: [],
    policies: [],
    projects: [],
    environments: [],
    timeZone: 'UTC',
    defaultProviders: {},
    tokenKey: new Uint8Array(32),
    bodyKey: null,
    ...parts,
  }
}

export function makeProvider(name: string, parts: Partial<SnapshotProvider> = {}): SnapshotProvider {
  return {
    id: `prv_${name}`,
    name,
    kind: 'openai',
    slot: 0,
    revision: 1,
    active: true,
    readiness: { state: 'ready', reason: null, since: null },
    baseUrl: 'http://127.0.0.1:1/v1',
    credentials: [{ id: `cre_${name}`, value: 'secret' }],
    headers: {},
    timeouts: {},
    projects: null,
    models: [],
    settings: {},
    limits: noAccountLimits,
    ...parts,
  }
}

/** `target('one:gpt-4o')`: provider `one`, upstream model `gpt-4o`. */
export function makeTarget(text: string, parts: Partial<SnapshotTarget> = {}): SnapshotTarget {
  const [provider, upstreamModel] = text.split(':')
  return {
    providerId: `prv_${provider}`,
    upstreamModel: upstreamModel ?? null,
    weight: 1,
    priority: 0,
    format: null,
    ...parts,
  }
}

let routes = 0

export function makeRoute(model: string, targets: SnapshotTarget[], parts: Partial<SnapshotRoute> = {}): SnapshotRoute {
  return {
    id: `rte_${++routes}`,
    projectId: 'prj_a',
    project: 'a',
    environmentId: null,
    environment: null,
    model,
    enabled: true,
    strategy: 'priority',
    targets,
    retries: 1,
    fallbackOn: [],
    timeouts: {},
    strict: false,
    echoModel: false,
    sticky: false,
    hedge: null,
    shadow: null,
    reasoningText: true,
    fetchMedia: false,
    cacheMs: null,
    keepResponsesMs: null,
    ...parts,
  }
}

export function makePolicy(name: string, parts: Partial<SnapshotPolicy> = {}): SnapshotPolicy {
  return {
    id: `pol_${name}`,
    name,
    attachedTo: { workspace: true, ids: [] },
    ...parts,
  }
}

export function makeKey(parts: Partial<SnapshotKey> = {}): SnapshotKey {
  return {
    hash: 'hash',
    id: 'key_1',
    name: 'one',
    lastFour: 'abcd',
    projectId: 'prj_a',
    project: 'a',
    environmentId: 'env_a1',
    environment: 'production',
    policyId: null,
    tags: {},
    expiresAt: null,
    revokedAt: null,
    ...parts,
  }
}
