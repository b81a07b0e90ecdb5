import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { jwtVerify } from 'jose'
import { mockAnthropic } from './mock-anthropic.ts'
import {
  type MockAnswer,
  type MockCall,
  type MockFormat,
  type MockUsage,
  parseObject,
  wholeAnswer,
} from './mock-format.ts'
import { mockGemini } from './mock-gemini.ts'

export const project = 'mock-project-4711'
export const location = 'europe-west4'
const email = 'gateway@mock-project-4711.iam.gserviceaccount.com'
const workloadAudience =
  '//iam.googleapis.com/projects/4711/locations/global/workloadIdentityPools/pool/providers/cluster'
const impersonation = `/v1/projects/-/serviceAccounts/${email}:generateAccessToken`
const scope = 'https://www.googleapis.com/auth/cloud-platform'

/** A strict Vertex AI, and the token endpoint of its service account (on the same address). */
export class MockVertex implements MockFormat {
  readonly name = 'gemini'
  readonly basePath = ''
  readonly foreignHeaders = ['x-api-key', 'api-key', 'x-goog-api-key', 'anthropic-version']
  readonly tokens = new Set<string>()
  /** What is sold next lives so many seconds. */
  tokenLife = 3600
  readonly #privateKey: string

  constructor() {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    this.#privateKey = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  }

  /** The service account's key, as its vendor's console gives it out. */
  document(origin: string, more: Record<string, string> = {}): string {
    const account = { type: 'service_account', project_id: project, private_key_id: 'mock-key-id-000123' }
    const key = { private_key: this.#privateKey, client_email: email, token_uri: `${origin}/token` }
    return JSON.stringify({ ...account, ...key, ...more }, null, 2)
  }

  /** What the workload's surroundings say of it; the mock's STS takes no other. */
  readonly subjectToken =
    `${Buffer.from('{"alg":"RS256"}').toString('base64url')}.${Buffer.from('{"sub":"pod"}').toString('base64url')}.c2ln`

  /** A workload identity pool's configuration, as its vendor's console gives it out. */
  workload(origin: string, source: Record<string, unknown>, impersonates: boolean): string {
    return JSON.stringify({
      type: 'external_account',
      audience: workloadAudience,
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: `${origin}/sts/v1/token`,
      ...(impersonates ? { service_account_impersonation_url: `${origin}${impersonation}` } : {}),
      credential_source: source,
    })
  }

  async refuse(call: MockCall): Promise<MockAnswer | null> {
    if (call.path === '/sts/v1/token' || call.path === '/subject') return null
    if (call.path === '/token') return this.#checkAssertion(call)
    const token = /^Bearer (.+)$/.exec(call.headers.get('authorization') ?? '')?.[1]
    if (token !== undefined && this.tokens.has(token)) return null
    return google(401, 'Request had invalid authentication credentials.', 'UNAUTHENTICATED')
  }

  answer(call: MockCall, usage: MockUsage): MockAnswer {
    if (call.path === '/token') return this.#sellToken(call)
    if (call.path === '/subject') return this.#tellSubject(call)
    if (call.path === '/sts/v1/token') return this.#exchange(call)
    if (call.path === impersonation) return this.#impersonate(call)
    if (call.method === 'GET' && call.path === '/v1beta1/publishers/google/models') {
      if (call.headers.has('x-goog-user-project'))
        return google(403, 'Caller does not have the permission serviceusage.services.use', 'PERMISSION_DENIED')
      const names = ['gemini-3.8-flash', 'gemini-embedding-2'].map((name) => ({
        name: `publishers/google/models/${name}`,
      }))
      return wholeAnswer(200, jsonType, JSON.stringify({ publisherModels: names }))
    }
    const place = `/projects/${project}/locations/${location}/publishers/`
    const [, , publisher, model, verb] =
      new RegExp(`^/(v1|v1beta1)${place}(google|anthropic)/models/([^:]+):(\\w+)$`).exec(call.path) ?? []
    if (call.method !== 'POST' || publisher === undefined || model === undefined || verb === undefined)
      return google(404, `${call.method} ${call.path} was not found.`, 'NOT_FOUND')
    if (publisher === 'google') return mockGemini.answer({ ...call, path: `/v1beta/models/${model}:${verb}` }, usage)
    return serveAnthropic(call, usage, decodeURIComponent(model), verb)
  }

  error(status: number, message: string): MockAnswer {
    return google(status, message, statuses[status] ?? 'UNKNOWN')
  }

  streamError(message: string): Buffer {
    return mockGemini.streamError(message)
  }

  async #checkAssertion(call: MockCall): Promise<MockAnswer | null> {
    const form = new URLSearchParams(call.body.toString())
    const wrong = (error: string) => wholeAnswer(400, jsonType, JSON.stringify({ error, error_description: 'mock' }))
    if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer') return wrong('unsupported_grant_type')
    const audience = `http://${call.headers.get('host')}/token`
    try {
      const key = createPublicKey(this.#privateKey)
      const checks = { issuer: email, subject: email, audience, algorithms: ['RS256'], maxTokenAge: '1h' }
      const { payload, protectedHeader } = await jwtVerify(form.get('assertion') ?? '', key, checks)
      return payload.scope === scope && protectedHeader.kid === 'mock-key-id-000123' ? null : wrong('invalid_scope')
    } catch {
      return wrong('invalid_grant')
    }
  }

  #tellSubject(call: MockCall): MockAnswer {
    if (call.method !== 'GET' || call.headers.get('metadata') !== 'True') return google(400, 'no', 'INVALID_ARGUMENT')
    return wholeAnswer(200, jsonType, JSON.stringify({ access_token: this.subjectToken }))
  }

  /** RFC 8693, as Google has it. */
  #exchange(call: MockCall): MockAnswer {
    const wanted = {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      audience: workloadAudience,
      scope,
      requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      subject_token: this.subjectToken,
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    }
    const given = Object.fromEntries(new URLSearchParams(call.body.toString()))
    const isForm = call.headers.get('content-type') === 'application/x-www-form-urlencoded'
    if (call.method !== 'POST' || !isForm || JSON.stringify(given) !== JSON.stringify(wanted))
      return wholeAnswer(400, jsonType, JSON.stringify({ error: 'invalid_grant', error_description: 'mock' }))
    const token = `ya29.mock-federated-${call.number}`
    this.tokens.add(token)
    const issued_token_type = 'urn:ietf:params:oauth:token-type:access_token'
    const sold = { access_token: token, issued_token_type, token_type: 'Bearer', expires_in: this.tokenLife }
    return wholeAnswer(200, jsonType, JSON.stringify(sold))
  }

  #impersonate(call: MockCall): MockAnswer {
    if (call.method !== 'POST' || call.body.toString() !== JSON.stringify({ scope: [scope], lifetime: '3600s' }))
      return google(400, 'Invalid JSON payload received.', 'INVALID_ARGUMENT')
    const accessToken = `ya29.mock-impersonated-${call.number}`
    this.tokens.add(accessToken)
    const expireTime = new Date(Date.now() + 3600_000).toISOString()
    return wholeAnswer(200, jsonType, JSON.stringify({ accessToken, expireTime }))
  }

  #sellToken(call: MockCall): MockAnswer {
    const token = `ya29.mock-token-${call.number}`
    this.tokens.add(token)
    const sold = { access_token: token, expires_in: this.tokenLife, token_type: 'Bearer' }
    return wholeAnswer(200, jsonType, JSON.stringify(sold))
  }
}

const jsonType: [string, string][] = [['Content-Type', 'application/json; charset=UTF-8']]
const statuses: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
}

function google(status: number, message: string, name: string): MockAnswer {
  return wholeAnswer(status, jsonType, JSON.stringify({ error: { code: status, message, status: name } }))
}

function serveAnthropic(call: MockCall, usage: MockUsage, model: string, verb: string): MockAnswer {
  const body = parseObject(call.body)
  const counts = model === 'count-tokens'
  if (body === null || body.anthropic_version !== 'vertex-2023-10-16')
    return google(400, 'anthropic_version: Input should be vertex-2023-10-16', 'INVALID_ARGUMENT')
  if ('model' in body !== counts) return google(400, 'model: Extra inputs are not permitted', 'INVALID_ARGUMENT')
  if (!counts && (verb === 'streamRawPredict') !== (body.stream === true))
    return google(400, `stream does not go with ${verb}`, 'INVALID_ARGUMENT')
  const { anthropic_version: _, ...rest } = body
  const inner = Buffer.from(JSON.stringify(counts ? rest : { ...rest, model }))
  const path = counts ? '/v1/messages/count_tokens' : '/v1/messages'
  return mockAnthropic.answer({ ...call, path, body: inner }, usage)
}
