import { createHash } from 'node:crypto'
import type { EffectivePolicy } from '../../policy/effective.ts'
import type { SnapshotRoute } from '../../store/configuration/snapshot.ts'
import type { Call } from '../request/call.ts'
import type { LiveConfiguration } from '../thread/read-model.ts'
import { headersUp } from '../upstream/headers.ts'

/** Headers that differ between requests for the same answer: they say who asks, or trace the request, as clients and proxies write them. */
const harmlessNames = new Set(
  `user-agent cache-control pragma true-client-ip x-client-ip request-id x-request-id x-client-request-id x-correlation-id traceparent
  tracestate baggage b3 newrelic sentry-trace uber-trace-id elastic-apm-traceparent x-amzn-trace-id x-cloud-trace-context`.split(
    /\s+/,
  ),
)
const harmlessPrefix = /^x-(?:stainless|b3|datadog|envoy|azure)-/

/**
 * What makes two requests identical: who may see the answer (project and environment, which no client can set), the request byte for byte
 * with every header that may affect the answer, and the policies and route as they were when it was answered.
 */
export function cacheKey(call: Call, route: SnapshotRoute): string {
  const { key, lane, match, inspection, body, gateway, policy } = call
  const { configuration } = gateway.model
  const head = [
    ...[key.projectId, key.environmentId, lane.name, match.path + inspection.query],
    [call.header('x-sp-provider'), ...askedHeaders(call)],
    policyDigest(policy),
    routeDigest(route, configuration),
    // Anybody may hold a demo key: it must not get answers of other providers.
    ...(key.onlyDemo === true ? ['demo'] : []),
  ]
  // The head is JSON, so that no part of it can be mistaken for another; the body follows.
  return createHash('sha256').update(JSON.stringify(head)).update('\n').update(body.bytes).digest('hex')
}

/** A provider may answer differently because of an unknown header, so such headers are part of the key. */
function askedHeaders({ arrival, presented }: Call): string[] {
  const sent = headersUp(arrival.request.rawHeaders, presented, [], [])
  const asked: string[] = []
  for (let at = 0; at + 1 < sent.length; at += 2) {
    const name = sent[at] ?? ''
    if (!harmlessNames.has(name) && !harmlessPrefix.test(name)) asked.push(`${name}: ${sent[at + 1]}`)
  }
  return asked.sort()
}

const policyDigests = new WeakMap<EffectivePolicy, string>()

/** Digest of the policies that apply, with their rules: other content rules make another answer. */
function policyDigest(policy: EffectivePolicy): string {
  const known = policyDigests.get(policy)
  if (known !== undefined) return known
  const said = policy.policies.map(({ id, rules }) => [id, [...rules].map(([name, { value }]) => [name, value])])
  const digest = digestOf(said)
  policyDigests.set(policy, digest)
  return digest
}

const routeDigests = new WeakMap<SnapshotRoute, string>()

/** Digest of the route and the revisions of its targets' providers. */
function routeDigest(route: SnapshotRoute, { providers }: LiveConfiguration): string {
  const known = routeDigests.get(route)
  if (known !== undefined) return known
  const revisions = route.targets.map(({ providerId }) => providers.get(providerId)?.row.revision ?? null)
  const digest = digestOf([route, revisions])
  routeDigests.set(route, digest)
  return digest
}

function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64')
}
