import { createHash } from 'node:crypto'
import type { EffectivePolicy } from '../../policy/effective.ts'
import type { SnapshotRoute } from '../../store/configuration/snapshot.ts'
import type { Call } from '../request/call.ts'
import type { LiveConfiguration } from '../thread/read-model.ts'
import { headersUp } from '../upstream/headers.ts'

/**
 * Headers that go up and differ between requests for the same answer: who asks, and by which id it is traced, as clients write it and
 * whatever stands between them and the gateway.
 */
const harmlessNames = new Set(
  `user-agent cache-control pragma true-client-ip x-client-ip request-id x-request-id x-client-request-id x-correlation-id traceparent
  tracestate baggage b3 newrelic sentry-trace uber-trace-id elastic-apm-traceparent x-amzn-trace-id x-cloud-trace-context`.split(
    /\s+/,
  ),
)
const harmlessPrefix = /^x-(?:stainless|b3|datadog|envoy|azure)-/

/**
 * What makes two requests the same: who may see the answer (project and environment, which no client can write), what was
 * asked byte for byte, with every header that a provider may go by, and under which policies and route it was answered,
 * as they were then.
 */
export function cacheKey(call: Call, route: SnapshotRoute): string {
  const { key, lane, match, inspection, body, gateway, policy } = call
  const { configuration } = gateway.model
  const head = [
    ...[key.projectId, key.environmentId, lane.name, match.path + inspection.query],
    [call.header('x-sp-provider'), ...askedHeaders(call)],
    policyDigest(policy),
    routeDigest(route, configuration),
    // Its key may be anybody's: it gets nothing of what other providers answered.
    ...(key.onlyDemo === true ? ['demo'] : []),
  ]
  // The head is JSON, so that no part of it can pass for another; the body has the rest.
  return createHash('sha256').update(JSON.stringify(head)).update('\n').update(body.bytes).digest('hex')
}

/** A provider may answer otherwise for a header that nobody here knows: others must not get that answer. */
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

/** Of the policies that apply, with what they say: an answer that other content rules have seen is another answer. */
function policyDigest(policy: EffectivePolicy): string {
  const known = policyDigests.get(policy)
  if (known !== undefined) return known
  const said = policy.policies.map(({ id, rules }) => [id, [...rules].map(([name, { value }]) => [name, value])])
  const digest = digestOf(said)
  policyDigests.set(policy, digest)
  return digest
}

const routeDigests = new WeakMap<SnapshotRoute, string>()

/** Of the route, and of the revisions of its targets' providers. */
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
