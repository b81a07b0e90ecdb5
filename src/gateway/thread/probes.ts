import { unreadyParts } from '../../core/degraded.ts'
import type { ProviderStateName } from '../../core/provider-state.ts'
import { showProviderState } from '../../routing/shown-state.ts'
import type { SnapshotProvider } from '../../store/configuration/snapshot.ts'
import type { Gateway } from '../gateway.ts'
import type { Arrival } from '../request/arrival.ts'

/** Claude Code requests these without a key to open its connection before the first call; its provider answers them too. */
const helloPaths: readonly string[] = ['/v1/anthropic/api/hello', '/v1/api/hello', '/v1/gemini/api/hello']

/** Whether a request is answered without a key, and leaves no record. */
export function isProbe({ method, url }: { method?: string | undefined; url: string }): boolean {
  return (
    url === '/healthz' || url === '/readyz' || (helloPaths.includes(url) && (method === 'HEAD' || method === 'GET'))
  )
}

/**
 * `/healthz` (alive) and `/readyz` (can route; contract.md rule 18), answered without a key and not recorded. A degraded journal makes the
 * gateway not ready, since the crash promise is suspended. A degraded store does not, but the body reports it.
 */
export function answerProbe(arrival: Arrival): void {
  const { gateway, path } = arrival
  if (helloPaths.includes(path)) return send(arrival, 200, { status: 'ok' })
  if (path === '/healthz') return send(arrival, 200, { status: 'alive' })
  const { configuration } = gateway.model
  const reasons: string[] = []
  if (gateway.crashing) reasons.push('the thread that was asked is being replaced')
  else if (isDraining(gateway)) reasons.push('the gateway is draining')
  if (configuration.version === 0) reasons.push('the configuration has not arrived yet')
  // Traffic continues without the control plane, but changes to the configuration cannot arrive.
  const silent = gateway.liveness.silentSeconds
  if (silent > 0) reasons.push(`the control plane has not responded for ${silent} seconds`)
  const journal = gateway.journal.degraded ?? gateway.degraded.find(({ part }) => part === 'journal')?.reason
  if (journal !== undefined) reasons.push(`journal: ${journal}`)
  for (const { part, reason } of gateway.degraded)
    if (part !== 'journal' && unreadyParts.has(part)) reasons.push(`${part}: ${reason}`)
  const providers = Object.fromEntries(
    [...configuration.providers.values()].map(({ row }) => [row.name, stateOf(gateway, row)]),
  )
  send(arrival, reasons.length === 0 ? 200 : 503, {
    status: isDraining(gateway) && !gateway.crashing ? 'draining' : reasons.length === 0 ? 'ready' : 'not ready',
    reasons,
    degraded: gateway.degraded,
    providers,
  })
}

/** The gateway stops, or is about to. */
function isDraining({ draining, settings }: Gateway): boolean {
  return draining || settings.leaving
}

function stateOf(gateway: Gateway, row: SnapshotProvider): ProviderStateName | 'inactive' {
  if (!row.active) return 'inactive'
  return showProviderState(row.readiness, gateway.health.view(row.slot, Date.now(), row.credentials.length)).state
}

/** Without a request id, since there is no record to find. */
function send({ request, response }: Arrival, status: number, body: object): void {
  const bytes = Buffer.from(`${JSON.stringify(body)}\n`)
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length })
  response.end(request.method === 'HEAD' ? undefined : bytes)
}
