import { createHmac } from 'node:crypto'
import type { AlertMessage } from '../../core/alert.ts'
import type { EgressOptions, OutboundRequest, Transport } from '../../providers/contract.ts'
import { fetchWhole } from '../../providers/whole-answer.ts'
import type { Alert, AlertDelivery } from '../../store/api.ts'

/** After each try, how long until the next: 8 tries within 24 hours. */
const pausesMs = [5, 60, 300, 1800, 7200, 6 * 3600, 15 * 3600].map((seconds) => seconds * 1000)
const connectMs = 5000
const tryMs = 15_000
/** Nobody reads what a receiver says; it may say little. */
const answerBytes = 64 * 1024

/** Link-local and metadata addresses are refused all the same. */
const egress: EgressOptions = { key: 'alerts', proxy: null, authorities: null, identity: null, allowPrivate: true }

export interface Receiver {
  url: string
  /** `whsec_…`; null: messages are not signed. */
  secret: string | null
}

export interface DeliveryTry {
  status: number | null
  /** null: it was delivered. */
  reason: string | null
}

/** Standard Webhooks: what is signed is `id.timestamp.body`, with the bytes behind `whsec_`. */
function signMessage(secret: string, id: string, seconds: number, body: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`
}

export function writeRequest(
  { id, message }: Pick<AlertDelivery, 'id' | 'message'>,
  format: Alert['format'],
  { url, secret }: Receiver,
  now: number,
): OutboundRequest {
  const { origin, pathname, search } = new URL(url)
  const body = JSON.stringify(format === 'slack' ? { text: writeText(message) } : message)
  const seconds = Math.floor(now / 1000)
  const headers = ['content-type', 'application/json', 'user-agent', 'spgw', 'webhook-id', id]
  headers.push('webhook-timestamp', String(seconds))
  if (secret !== null) headers.push('webhook-signature', signMessage(secret, id, seconds, body))
  return { method: 'POST', origin, path: `${pathname}${search}`, headers, body: Buffer.from(body), connectMs, egress }
}

/** As Slack reads it: these three characters have a meaning there. */
function writeText({ data }: AlertMessage): string {
  const text = data.text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return typeof data.url === 'string' ? `${text} <${data.url}|Open the console>` : text
}

/** One try. Redirects are not followed. Resolves always. */
export async function send(transport: Transport, request: OutboundRequest): Promise<DeliveryTry> {
  const answer = await fetchWhole(transport, request, { bytes: answerBytes, milliseconds: tryMs })
  if (answer.outcome === 'too-slow') return { status: null, reason: 'no answer within 15 seconds' }
  if (answer.outcome === 'too-large') return { status: null, reason: 'the answer is too large' }
  // The transport's texts speak of providers, and of nothing that comes from outside.
  if (answer.outcome === 'failed')
    return { status: null, reason: answer.fault.message.replaceAll('provider', 'receiver') }
  const { status } = answer
  if (status >= 200 && status < 300) return { status, reason: null }
  const redirect = status >= 300 && status < 400 ? ': redirects are not followed, so use the final URL' : ''
  return { status, reason: `it answered ${status}${redirect}` }
}

/** What a try makes of a delivery. One that is sent again after its last try has as many once more. */
export function afterTry(tries: number, { status, reason }: DeliveryTry, now: number) {
  const pause = pausesMs[tries % (pausesMs.length + 1)]
  const state = reason === null ? 'delivered' : pause === undefined ? 'failed' : 'pending'
  const isOver = state !== 'pending'
  return {
    state,
    tries: tries + 1,
    nextAt: isOver || pause === undefined ? null : new Date(now + pause).toISOString(),
    endedAt: isOver ? new Date(now).toISOString() : null,
    status,
    reason,
  } as const
}
