import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Secret } from '../../src/core/secrets/secret.ts'
import { checkProvider } from '../../src/providers/check.ts'
import type { CheckResult } from '../../src/providers/contract.ts'
import { createHttpTransport } from '../../src/providers/http.ts'
import { findKind } from '../../src/providers/index.ts'
import { azureKey, MockAzure, principal } from '../support/mock-azure.ts'
import { accessKey, bedrockKey, mockBedrock, region } from '../support/mock-bedrock.ts'
import { MockProvider } from '../support/mock-provider.ts'
import { location, MockVertex } from '../support/mock-vertex.ts'

const transport = createHttpTransport()
const vertexFormat = new MockVertex()
let azure: MockProvider
let bedrock: MockProvider
let vertex: MockProvider

beforeAll(async () => {
  azure = await new MockProvider(new MockAzure('d'), azureKey).listen()
  bedrock = await new MockProvider(mockBedrock, bedrockKey).listen()
  vertex = await new MockProvider(vertexFormat, 'none').listen()
})
afterAll(async () => {
  await transport.close()
  for (const mock of [azure, bedrock, vertex]) await mock.close()
})

function check(kind: string, mock: MockProvider, credential: string, settings = {}): Promise<CheckResult> {
  const found = findKind(kind)
  if (found === null) throw new Error(kind)
  return checkProvider(found, { name: 'one', baseUrl: mock.origin, settings }, new Secret(credential), transport)
}

describe('the check of azure-openai', () => {
  it.each([{}, { api_version: '2024-10-21' }, { api_version: 'preview' }])('with %j', async (settings) => {
    const result = await check('azure-openai', azure, azureKey, settings)
    expect(result).toMatchObject({ ok: true, models: [], message: expect.stringContaining('name them in routes') })
    expect((await check('azure-openai', azure, 'wrong', settings)).reason).toBe('credential_rejected')
  })

  it('with a service principal', async () => {
    const document = { ...principal, authority: azure.origin }
    expect((await check('azure-openai', azure, JSON.stringify(document))).ok).toBe(true)
    const wrong = await check('azure-openai', azure, JSON.stringify({ ...document, client_secret: 'wrong' }))
    expect(wrong.reason).toBe('credential_rejected')
  })
})

describe('the check of bedrock', () => {
  it.each([
    ['an access key', JSON.stringify(accessKey)],
    ['a Bearer key', bedrockKey],
  ])('with %s lists models', async (_name, credential) => {
    const result = await check('bedrock', bedrock, credential, { region })
    expect(result).toMatchObject({ ok: true, reason: null })
    expect(result.models.map(({ name }) => name)).toContain('anthropic.claude-opus-5-5-v1:0')
  })

  it.each([
    ['secret', { ...accessKey, secret_access_key: 'wrong' }, { region }],
    ['key', { ...accessKey, access_key_id: 'AKIAUNKNOWN000000000' }, { region }],
    ['region', accessKey, { region: 'us-east-1' }],
  ])('with a wrong %s says what to look at', async (_name, document, settings) => {
    const result = await check('bedrock', bedrock, JSON.stringify(document), settings)
    expect(result).toMatchObject({ ok: false, reason: 'credential_rejected' })
    expect(result.message).toContain('check key, secret and region')
  })

  it('that may call and not list is passed', async () => {
    const message = 'User: arn:aws:iam::1:user/x is not authorized to perform: bedrock:ListFoundationModels'
    bedrock.next({ path: '/foundation-models', status: 403, body: JSON.stringify({ message }) })
    expect(await check('bedrock', bedrock, bedrockKey, { region })).toMatchObject({ ok: true, models: [] })
  })
})

describe('the check of vertex', () => {
  it('lists the models of the place', async () => {
    const result = await check('vertex', vertex, vertexFormat.document(vertex.origin), { location })
    expect(result.models.map(({ name }) => name)).toEqual(['gemini-3.8-flash', 'gemini-embedding-2'])
  })

  it.each([
    ["Permission 'aiplatform.publisherModels.list' denied", [], true, /may not list models/],
    ['Vertex AI API has not been used', [{ reason: 'SERVICE_DISABLED' }], false, /is off in the project/],
    ['The caller does not have permission', [], false, /check its permissions/],
  ])('that is told "%s" says what that means', async (message, details, ok, words) => {
    vertex.next({
      path: '/publishers/google/models',
      status: 403,
      body: JSON.stringify({ error: { message, details } }),
    })
    const result = await check('vertex', vertex, vertexFormat.document(vertex.origin), { location })
    expect([result.ok, result.message]).toEqual([ok, expect.stringMatching(words)])
  })

  it.each([
    ['another key id', { private_key_id: 'other' }, 'credential_rejected'],
    ['another account', { client_email: 'other@x.iam.gserviceaccount.com' }, 'credential_rejected'],
    ['a key that is none', { private_key: '-----BEGIN PRIVATE KEY-----\nnonsense\n' }, 'credential_rejected'],
    ['a token endpoint that is not there', { token_uri: 'http://127.0.0.1:1/token' }, 'unreachable'],
    ['a token endpoint of the machine itself', { token_uri: 'http://169.254.169.254/token' }, 'unreachable'],
  ])('with %s fails in words', async (_name, more, reason) => {
    const result = await check('vertex', vertex, vertexFormat.document(vertex.origin, more), { location })
    expect(result).toMatchObject({ ok: false, reason })
    expect(result.message).not.toMatch(/nonsense|BEGIN/)
  })
})
