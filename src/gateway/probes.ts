import type { Exchange } from './exchange.ts'
import type { Gateway } from './gateway.ts'

/**
 * `/healthz` (alive) and `/readyz` (can route; contract.md rule 18): answered before any key, and not recorded. A degraded
 * journal makes the gateway not ready, since the crash promise is suspended; a sick store does not, but the body says so.
 */
export function answerProbe(gateway: Gateway, exchange: Exchange): boolean {
  if (exchange.path === '/healthz') return send(exchange, 200, { status: 'alive' })
  if (exchange.path !== '/readyz') return false
  const { configuration } = gateway.model
  const reasons: string[] = []
  if (gateway.dying) reasons.push('the thread that was asked is being replaced')
  else if (gateway.draining) reasons.push('the gateway is draining')
  if (configuration.version === 0) reasons.push('the configuration has not arrived yet')
  const journal = gateway.journal.degraded ?? gateway.degraded.find(({ part }) => part === 'journal')?.reason
  if (journal !== undefined) reasons.push(`journal: ${journal}`)
  const providers = Object.fromEntries(
    [...configuration.providers.values()].map(({ row }) => [row.name, stateOf(gateway, row)]),
  )
  return send(exchange, reasons.length === 0 ? 200 : 503, {
    status: gateway.draining && !gateway.dying ? 'draining' : reasons.length === 0 ? 'ready' : 'not ready',
    reasons,
    degraded: gateway.degraded,
    providers,
  })
}

function stateOf(gateway: Gateway, row: { slot: number; active: boolean; readiness: { state: string } }): string {
  if (!row.active) return 'inactive'
  const { state } = gateway.health.view(row.slot, Date.now())
  return state === 'ready' ? row.readiness.state : state
}

function send(exchange: Exchange, status: number, body: object): true {
  const bytes = Buffer.from(`${JSON.stringify(body)}\n`)
  exchange.response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': bytes.length,
    'x-sp-request-id': exchange.id,
  })
  exchange.response.end(exchange.request.method === 'HEAD' ? undefined : bytes)
  return true
}
