import type { Settings } from '../../config/settings.ts'
import { type Diagnostic, ok, problem, warning } from '../../core/diagnostic.ts'
import { LazyTransport } from '../calls/lazy-transport.ts'
import { revealProxies } from '../threads/gateway-settings.ts'

const check = 'traces'

/** Sends the collector an export without a span, which it must accept. */
export async function checkTelemetry(settings: Settings): Promise<Diagnostic[]> {
  const { telemetry } = settings
  if (telemetry === null) return []
  const { sendTraces } = await import('../telemetry/send-traces.ts')
  const { writeExport } = await import('../telemetry/otlp.ts')
  const transport = new LazyTransport(revealProxies(settings))
  try {
    const body = writeExport([], { version: '', instance: '' })
    const sent = await sendTraces(await transport.open(), telemetry, body)
    const { endpoint } = telemetry
    if (sent.outcome === 'accepted') return [ok(check, `the collector at ${endpoint} accepts them`)]
    const found = `the collector at ${endpoint} does not accept them: ${sent.reason}`
    if (sent.outcome === 'unavailable')
      return [warning(check, found, 'Start it, or correct telemetry.otlp_endpoint; until then traces wait.')]
    return [problem(check, found, adviseStatus(sent.reason))]
  } finally {
    await transport.close()
  }
}

function adviseStatus(reason: string): string {
  if (/\b40[13]\b/.test(reason)) return 'Correct the credential in telemetry.headers.'
  if (/\b404\b/.test(reason)) return 'Correct telemetry.otlp_endpoint: /v1/traces is added to it.'
  return 'The collector must take OTLP over HTTP as JSON; see its log.'
}
