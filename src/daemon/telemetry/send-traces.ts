import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { TelemetrySettings } from '../../config/settings.ts'
import type { EgressOptions, OutboundRequest, Transport } from '../../providers/contract.ts'
import { fetchWhole } from '../../providers/whole-answer.ts'
import { readRetryAfter } from '../../providers/wire/retry-after.ts'

const compress = promisify(gzip)
const connectMs = 5000
const tryMs = 15_000
const answerBytes = 4 * 1024 * 1024
const tracesPath = '/v1/traces'
/** As OTLP names them; all other statuses are final. */
const retryable = [429, 502, 503, 504]
const longestRetryAfterMs = 5 * 60_000

/** A collector is often in the same network; link-local and metadata addresses are refused all the same. */
const egress: EgressOptions = { key: 'telemetry', proxy: null, authorities: null, identity: null, allowPrivate: true }

export type ExportOutcome =
  | { outcome: 'accepted'; rejectedSpans: number; message: string | null }
  /** Worth another try. */
  | { outcome: 'unavailable'; reason: string; retryAfterMs: number | null }
  | { outcome: 'rejected'; reason: string }

/** Sends one export. Redirects are not followed. Resolves always. */
export async function sendTraces(
  transport: Transport,
  { endpoint, headers }: TelemetrySettings,
  body: string,
): Promise<ExportOutcome> {
  const request = writeRequest(endpoint, await compress(body))
  for (const [name, value] of Object.entries(headers)) request.headers.push(name, value.reveal())
  const answer = await fetchWhole(transport, request, { bytes: answerBytes, milliseconds: tryMs })
  switch (answer.outcome) {
    case 'too-slow':
      return { outcome: 'unavailable', reason: 'no answer within 15 seconds', retryAfterMs: null }
    case 'too-large':
      return { outcome: 'rejected', reason: 'the answer is larger than 4 MiB' }
    case 'failed': {
      // The transport's texts speak of providers, and of nothing that comes from outside.
      const reason = answer.fault.message.replaceAll('provider', 'collector')
      return { outcome: 'unavailable', reason, retryAfterMs: null }
    }
    case 'answered':
      return readAnswer(answer.status, answer.headers, answer.body)
  }
}

function writeRequest(endpoint: string, body: Buffer): OutboundRequest & { headers: string[] } {
  const { origin, pathname } = new URL(endpoint)
  const base = pathname.replace(/\/+$/, '')
  const path = base.endsWith(tracesPath) ? base : `${base}${tracesPath}`
  const headers = ['content-type', 'application/json', 'content-encoding', 'gzip', 'user-agent', 'spgw']
  return { method: 'POST', origin, path, headers, body, connectMs, egress }
}

function readAnswer(status: number, headers: ReadonlyMap<string, string>, body: Buffer): ExportOutcome {
  if (status >= 200 && status < 300) return { outcome: 'accepted', ...readPartialSuccess(body) }
  const reason = `it answered ${status}`
  if (!retryable.includes(status)) return { outcome: 'rejected', reason }
  return { outcome: 'unavailable', reason, retryAfterMs: capped(readRetryAfter(headers)) }
}

/** Of an answer that accepts: how many spans it did not. One that cannot be read accepts all. */
function readPartialSuccess(body: Buffer): { rejectedSpans: number; message: string | null } {
  try {
    const { partialSuccess } = JSON.parse(body.toString()) as {
      partialSuccess?: { rejectedSpans?: string | number; errorMessage?: string }
    }
    const rejected = Number(partialSuccess?.rejectedSpans ?? 0)
    const message = partialSuccess?.errorMessage
    return {
      rejectedSpans: Number.isSafeInteger(rejected) && rejected > 0 ? rejected : 0,
      message: typeof message === 'string' && message !== '' ? message.slice(0, 200) : null,
    }
  } catch {
    return { rejectedSpans: 0, message: null }
  }
}

function capped(ms: number | null): number | null {
  return ms === null ? null : Math.min(longestRetryAfterMs, ms)
}
