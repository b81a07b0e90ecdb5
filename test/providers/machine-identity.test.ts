import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Secret } from '../../src/core/secrets/secret.ts'
import type { OutboundRequest, ProviderTarget, Transport } from '../../src/providers/contract.ts'
import { credentialProblem } from '../../src/providers/credential.ts'
import { createHttpTransport } from '../../src/providers/http.ts'
import { metadataService } from '../../src/providers/vertex/machine-identity.ts'
import { vertex } from '../../src/providers/vertex.ts'
import { MockProvider } from '../support/mock-provider.ts'
import { location, MockVertex, project } from '../support/mock-vertex.ts'
import { RecordingSink } from './recording-sink.ts'

const format = new MockVertex()
let mock: MockProvider
let directory: string
const network = createHttpTransport()

beforeAll(async () => {
  mock = await new MockProvider(format, 'none').listen()
  directory = mkdtempSync(join(tmpdir(), 'spgw-identity-'))
})
afterAll(async () => {
  await network.close()
  await mock.close()
  rmSync(directory, { recursive: true, force: true })
})
afterEach(() => mock.reset())

function fileOf(text: string): string {
  const path = join(directory, `token-${Math.random()}`)
  writeFileSync(path, text)
  return path
}

/** One call of the Gemini lane with the credential; `change`: what the provider says otherwise. */
async function call(credential: string, change: Partial<ProviderTarget> = {}, transport: Transport = network) {
  const provider = { name: 'vertex', baseUrl: mock.origin, settings: { project, location }, ...change }
  const sink = new RecordingSink()
  const context = {
    provider,
    lane: 'gemini',
    operation: 'generate',
    model: 'gemini-3.8-flash',
    streamed: false,
  } as const
  const path = '/v1/models/gemini-3.8-flash:generateContent'
  vertex.wrapTransport!(transport, { ...context, credential: new Secret(credential), recordChange() {} }).send(
    {
      method: 'POST',
      ...vertex.address(provider, 'gemini', path),
      headers: ['content-type', 'application/json'],
      body: Buffer.from('{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}'),
      connectMs: 1000,
    },
    sink,
  )
  await sink.seen('over')
  return { status: sink.status, text: sink.text, fault: sink.fault?.message ?? null }
}

const json = { format: { type: 'json', subject_token_field_name: 'access_token' } }

describe('a workload', () => {
  it.each([true, false])('with a token in a file is served (as a service account: %s)', async (impersonates) => {
    const file = fileOf(`${format.subjectToken}\n`)
    expect(await call(format.workload(mock.origin, { file }, impersonates))).toMatchObject({ status: 200 })
    expect(mock.last.headers.get('authorization')).toMatch(impersonates ? /mock-impersonated/ : /mock-federated/)
  })

  it('with a token in a member of a file, or at a URL with headers, is served', async () => {
    const file = fileOf(JSON.stringify({ access_token: format.subjectToken }))
    expect(await call(format.workload(mock.origin, { file, ...json }, true))).toMatchObject({ status: 200 })
    const url = { url: `${mock.origin}/subject`, headers: { Metadata: 'True' }, ...json }
    expect(await call(format.workload(mock.origin, url, true))).toMatchObject({ status: 200 })
  })

  it.each([
    ['whose file is gone', () => ({ file: '/nowhere/at/all' }), /cannot be read: ENOENT/],
    ['whose file is a directory', () => ({ file: tmpdir() }), /cannot be read: EISDIR/],
    ['whose file holds something else', () => ({ file: fileOf('root:x:0:0:root\n') }), /not a signed token/],
    ['whose file never ends', () => ({ file: '/dev/zero' }), /not a signed token/],
    ['whose file has no such member', () => ({ file: fileOf('{}'), ...json }), /not a signed token/],
    ['whom nobody tells a token', () => ({ url: `${mock.origin}/subject` }), /gave no token \(400\)/],
    ['whose URL is none that is called', () => ({ url: 'file:///var/run/token' }), /no URL of http or https/],
    ['whose URL is of the machine', () => ({ url: 'http://169.254.169.254/latest/user-data' }), /gave no token/],
    ['of another pool', () => ({ file: fileOf('a.b.c') }), /400 invalid_grant/],
  ])('%s is refused in words', async (_who, source, words) => {
    const { status, text } = await call(format.workload(mock.origin, source(), true))
    expect([status, text]).toEqual([401, expect.stringMatching(words)])
    expect(text).not.toContain('root:x')
  })

  it.each([
    [{ baseUrl: 'https://aiplatform.googleapis.com.evil.example' }, /not one of Google's/],
    [{ baseUrl: 'http://aiplatform.googleapis.com' }, /not one of Google's/],
    [{ settings: { project, location, authorities: 'PEM' } }, /own certificate authorities/],
    [{ settings: { location } }, /no project/],
    // It would read what passes, and this machine is not what it leads to.
    [{ settings: { project, location, proxy: 'http://127.0.0.1:9' } }, /proxy without TLS/],
  ])('does not say who it is to %j', async (change, words) => {
    const seen: OutboundRequest[] = []
    const transport: Transport = {
      send(request, sink) {
        seen.push(request)
        return network.send(request, sink)
      },
    }
    for (const credential of [format.workload(mock.origin, { file: fileOf(format.subjectToken) }, true), metadata])
      expect(await call(credential, change, transport)).toMatchObject({
        status: 401,
        text: expect.stringMatching(words),
      })
    expect(seen).toEqual([])
  })
})

const metadata = '{"type":"gce_metadata"}'

describe('a machine of Google', () => {
  it('is asked for its token at its one address, and no other way leads there', async () => {
    const asked: OutboundRequest[] = []
    const transport: Transport = {
      send(request, sink) {
        if (request.origin !== metadataService.origin) return network.send(request, sink)
        asked.push(request)
        format.tokens.add('ya29.of-the-machine')
        queueMicrotask(() => {
          sink.onConnected()
          sink.onHead(200, [])
          sink.onData(Buffer.from('{"access_token":"ya29.of-the-machine","expires_in":3599,"token_type":"Bearer"}'))
          sink.onEnd()
        })
        return { abort() {}, pause() {}, resume() {} }
      },
    }
    expect(await call(metadata, {}, transport)).toMatchObject({ status: 200 })
    expect(asked).toMatchObject([
      {
        method: 'GET',
        path: expect.stringMatching(/^\/computeMetadata\/v1\/instance\/service-accounts\/default\/token\?scopes=/),
        headers: ['metadata-flavor', 'Google'],
        egress: metadataService.egress,
      },
    ])
  })

  it.each([
    ['http://169.254.169.254', null],
    ['http://169.254.169.254:8080', metadataService.egress],
    ['http://169.254.170.2', metadataService.egress],
    ['http://metadata.google.internal', metadataService.egress],
  ])('%s is not called', async (origin, egress) => {
    const sink = new RecordingSink()
    network.send({ method: 'GET', origin, path: '/', headers: [], body: null, connectMs: 500, egress }, sink)
    await sink.seen('over')
    expect(sink.fault).toMatchObject({ kind: 'refused' })
  })
})

describe('a document of the type external_account', () => {
  const given = (change: object) => {
    const document = { ...JSON.parse(format.workload('https://sts.googleapis.com', { file: '/a' }, false)), ...change }
    return credentialProblem(vertex, new Secret(JSON.stringify(document)))?.problem ?? null
  }

  it.each([
    [{}, null],
    [{ credential_source: { executable: { command: 'sh' } } }, /runs nothing/],
    [{ credential_source: { environment_id: 'aws1' } }, /AWS/],
    [{ credential_source: { certificate: {} } }, /client certificate/],
    [{ credential_source: {} }, /neither a file nor a url/],
    [{ credential_source: undefined }, /no credential_source/],
    [{ subject_token_type: 'urn:ietf:params:oauth:token-type:saml2' }, /subject_token_type/],
    [{ token_url: 'https://sts.evil.example/token' }, /token_url is not one of Google's/],
    [
      { service_account_impersonation_url: 'https://iamcredentials.googleapis.com.evil.example/' },
      /impersonation_url is not one of Google's/,
    ],
    [{ audience: '' }, /not a credential of the kind vertex/],
  ])('with %j is judged when it is given', (change, problem) => {
    if (problem === null) expect(given(change)).toBeNull()
    else expect(given(change)).toMatch(problem)
  })
})

it.each(['oops', 'ftp://127.0.0.1/token', 'https://name:word@oauth2.googleapis.com/token'])(
  'a key whose token_uri is %s is refused in words',
  async (uri) => {
    const { status, text } = await call(format.document(mock.origin, { token_uri: uri }))
    expect([status, text]).toEqual([401, expect.stringMatching(/token endpoint is not an http/)])
  },
)

it('the check of a provider says why no token was sold', async () => {
  const { status, text } = await call(format.workload(mock.origin, { file: '/nowhere/at/all' }, true))
  const target = { name: 'vertex', baseUrl: mock.origin, settings: {} }
  expect(vertex.check?.read(status, Buffer.from(text), target)).toMatchObject({
    ok: false,
    reason: 'credential_rejected',
    message: expect.stringContaining('ENOENT'),
  })
})
