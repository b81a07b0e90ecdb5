import type { RouteCall } from '../../admin/handlers/context.ts'
import { mintSecret } from '../../admin/handlers/keys/mint-secret.ts'
import { newId } from '../../core/ids.ts'
import type { Transport } from '../../providers/contract.ts'
import { fetchWhole } from '../../providers/whole-answer.ts'
import type { Key } from '../../store/api.ts'
import type { SnapshotKey } from '../../store/configuration/snapshot.ts'
import type { Publisher } from '../threads/publisher.ts'

const answerLimit = 4 * 1024 * 1024
const limitMs = 60_000

/** The smallest question each lane has. */
function smallest({ lane, model }: RouteCall): { path: string; body: object } {
  const messages = [{ role: 'user', content: 'Say hello.' }]
  if (lane === 'openai') return { path: '/v1/chat/completions', body: { model, messages } }
  if (lane === 'anthropic') return { path: '/v1/anthropic/v1/messages', body: { model, max_tokens: 16, messages } }
  const contents = [{ role: 'user', parts: [{ text: 'Say hello.' }] }]
  return { path: `/v1/gemini/v1beta/models/${encodeURIComponent(model)}:generateContent`, body: { contents } }
}

/** Where the gateway reaches itself. */
export interface OwnAddress {
  origin: string
  /** PEM, where it speaks TLS. The call believes just this one: it may be made out to another name, by an authority of one's own. */
  certificate: string | null
}

/** Sends one small real request through the data plane, under a key that lives in memory for as long as it takes. */
export async function tryRoute(publisher: Publisher, { origin, certificate }: OwnAddress, call: RouteCall) {
  const { createHttpTransport } = await import('../../providers/http.ts')
  const { key, secret } = mintSecret()
  const transport = createHttpTransport({ oneself: true, ...(certificate === null ? {} : { trusted: certificate }) })
  const lease = await publisher.lease(temporaryKey(secret, call))
  try {
    return await post(transport, origin, key, smallest(call))
  } finally {
    await lease.release()
    await transport.close()
  }
}

function temporaryKey(
  secret: Key['secrets'][number],
  { projectId, project, environmentId, environment }: RouteCall,
): SnapshotKey {
  return {
    ...secret,
    id: newId('key'),
    name: 'routes-test',
    projectId,
    project,
    environmentId,
    environment,
    policyId: null,
    tags: {},
    expiresAt: Date.now() + limitMs,
    revokedAt: null,
  }
}

async function post(transport: Transport, origin: string, key: string, { path, body }: ReturnType<typeof smallest>) {
  const headers = [
    'authorization',
    `Bearer ${key}`,
    'content-type',
    'application/json',
    // What the provider says now is asked for.
    'cache-control',
    'no-store',
    'user-agent',
    'spgw routes test',
  ]
  const request = { method: 'POST', origin, path, headers, body: Buffer.from(JSON.stringify(body)), connectMs: 5000 }
  const answer = await fetchWhole(transport, request, { bytes: answerLimit, milliseconds: limitMs })
  if (answer.outcome === 'failed')
    throw new Error(`the gateway did not answer its own request: ${answer.fault.message}`)
  if (answer.outcome !== 'answered') throw new Error(`the answer was ${answer.outcome.replace('-', ' ')}`)
  return { requestId: answer.headers.get('x-sp-request-id') ?? '', status: answer.status, body: answer.body.toString() }
}
