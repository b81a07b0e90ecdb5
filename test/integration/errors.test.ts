import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ErrorCode, errorTable } from '../../src/core/errors.ts'
import { type LaneName, laneNames } from '../../src/core/lane.ts'
import { mintGatewayKey } from '../../src/core/secrets/gateway-key.ts'
import { laneCall } from '../support/lane-calls.ts'
import { expectLaneError } from '../support/lane-errors.ts'
import type { Script } from '../support/mock-script.ts'
import { send } from '../support/raw-http.ts'
import { type EditableRequest, recordingFetch } from '../support/recording-fetch.ts'
import { type SdkCaller, sdkCallers } from '../support/sdk-callers.ts'
import { mintCredential, type Stage, setStage } from '../support/stage.ts'

let stage: Stage
const keys = { revoked: '', denied: '', small: '', wrongLane: '' }

beforeAll(async () => {
  stage = await setStage()
  const { admin, createKey } = stage.gateway
  await admin.policies.add({ name: 'no-models', denyModels: ['*'] })
  await admin.policies.add({ name: 'small', maxBody: '16B' })
  keys.denied = (await createKey('denied', { policy: 'no-models' })).key
  keys.small = (await createKey('small', { policy: 'small' })).key
  const revoked = await createKey('revoked')
  await admin.keys.revoke({ key: revoked.id })
  keys.revoked = revoked.key
  await admin.providers.add({ name: 'asleep', ...target('openai'), inactive: true })
  for (const lane of laneNames) {
    const sleeper = `asleep-${lane}`
    await admin.providers.add({ name: sleeper, ...target(lane), inactive: true })
    await stage.gateway.addRoute(sleeper, [sleeper])
    const other = laneNames.find((name) => name !== lane)
    await stage.gateway.addRoute(`foreign-to-${lane}`, [String(other)])
    await stage.gateway.addRoute(`html-${lane}`, [lane], { retries: 0 })
  }
})
afterAll(() => stage.close())

function target(lane: LaneName) {
  const [credential = ''] = stage.mocks[lane].credentials
  return { kind: lane, baseUrl: stage.mocks[lane].baseUrl, credential, skipCheck: true }
}

interface Scenario {
  code: ErrorCode
  when: string
  key?: () => string
  model?: (lane: LaneName) => string
  /** A provider and route of its own, since what happens to it changes its state. */
  own?: (lane: LaneName) => { baseUrl?: string; credential?: string; timeoutFirstByte?: string; timeoutTotal?: string }
  script?: (lane: LaneName) => Script
  stream?: boolean
  edit?: (request: EditableRequest) => void
  lanes?: readonly LaneName[]
}

const quota =
  '{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}'

const scenarios: Scenario[] = [
  {
    code: 'missing_key',
    when: 'no credential',
    edit: ({ headers }) => {
      for (const name of ['authorization', 'x-api-key', 'x-goog-api-key']) headers.delete(name)
    },
  },
  { code: 'provider_key_rejected', when: 'a provider’s own key', key: () => 'sk-proj-0123456789abcdef' },
  { code: 'invalid_key', when: 'an unknown key', key: () => mintGatewayKey() },
  { code: 'invalid_key', when: 'a mistyped key', key: () => `${stage.key.slice(0, -1)}!` },
  { code: 'invalid_key', when: 'a revoked key', key: () => keys.revoked },
  {
    code: 'conflicting_credentials',
    when: 'two keys',
    edit: ({ headers }) => headers.set('api-key', mintGatewayKey()),
  },
  {
    code: 'scope_mismatch',
    when: 'another project named',
    edit: ({ headers }) => headers.set('x-sp-project', 'elsewhere'),
  },
  {
    code: 'scope_mismatch',
    when: 'another environment named',
    edit: ({ headers }) => headers.set('x-sp-environment', 'staging'),
  },
  { code: 'model_not_found', when: 'no route', model: () => 'gpt-4o-minii' },
  {
    code: 'unknown_path',
    when: 'no such endpoint',
    edit: (request) => {
      request.url = request.url.replace(/(chat\/completions|messages|models\/.*)$/, 'nothing/here')
    },
  },
  { code: 'policy_denied', when: 'the policy denies the model', key: () => keys.denied },
  { code: 'request_too_large', when: 'the policy’s largest body', key: () => keys.small },
  {
    code: 'invalid_request',
    when: 'not JSON',
    edit: (request) => {
      request.body = Buffer.from('{"model": "gpt-4o-mini", oops')
    },
  },
  {
    code: 'invalid_request',
    when: 'JSON but no object',
    edit: (request) => {
      request.body = Buffer.from('[]')
    },
  },
  {
    code: 'not_translatable',
    when: 'what a provider of another format has no place for',
    model: (lane) => `foreign-to-${lane}`,
    edit: (request) => {
      const body = JSON.parse(request.body?.toString() ?? '')
      if (body.contents !== undefined) body.generationConfig = { candidateCount: 2 }
      else if (request.url.includes('/anthropic/'))
        body.tools = [{ type: 'code_execution_20250522', name: 'code_execution' }]
      else body.n = 2
      request.body = Buffer.from(JSON.stringify(body))
    },
  },
  { code: 'provider_not_ready', when: 'no active provider', model: (lane) => `asleep-${lane}` },
  {
    code: 'provider_credential_rejected',
    when: 'the stored credential is refused',
    own: (lane) => ({ credential: mintCredential(lane) }),
  },
  {
    code: 'provider_unreachable',
    when: 'the connection is reset',
    own: () => ({}),
    script: () => ({ reset: 'before-headers' }),
  },
  {
    code: 'provider_timeout',
    when: 'no first byte in time',
    own: () => ({ timeoutFirstByte: '250ms' }),
    script: () => ({ hold: { before: 'headers' } }),
    stream: true,
  },
  {
    code: 'provider_timeout',
    when: 'no answer in time',
    own: () => ({ timeoutTotal: '250ms' }),
    script: () => ({ hold: { before: 'headers' } }),
  },
  { code: 'provider_bad_response', when: 'a page of HTML', own: () => ({}), script: () => ({ html: true }) },
  {
    code: 'provider_quota_exhausted',
    when: 'the account is empty',
    own: () => ({}),
    script: (lane) => (lane === 'openai' ? { status: 429, body: quota } : { status: 402 }),
  },
]

/** Rows that no SDK's request can bring about yet; their shapes are proved in `error-classes.test.ts`. */
const notYet: ErrorCode[] = ['rate_limited', 'budget_exceeded', 'overloaded', 'internal', 'unsupported_transfer']

describe.each(sdkCallers)('gateway errors in $name', (sdk) => {
  it.each(scenarios)('$code: $when', async (scenario) => {
    const wire = recordingFetch()
    wire.edit = scenario.edit ?? null
    const model = scenario.own ? await addOwn(sdk, scenario) : (scenario.model?.(sdk.lane) ?? stage.models[sdk.lane])
    if (scenario.script) stage.mocks[sdk.lane].next(scenario.script(sdk.lane))
    const key = scenario.key?.() ?? stage.key
    const call = { baseUrl: stage.gateway.baseUrl, key, model, stream: scenario.stream ?? false }
    const failure = await sdk.call(wire, call).then(
      () => null,
      (error: unknown) => error,
    )

    const exchange = wire.last()
    const { status } = errorTable[scenario.code]
    expectLaneError(
      sdk.lane,
      { status: exchange.status, headers: exchange.headers, body: await exchange.body },
      scenario.code,
    )
    expect(failure).toMatchObject({ status })
    expect((failure as Error).constructor.name).toBe(sdk.className(status))
    const record = await stage.gateway.record(exchange.headers.get('x-sp-request-id') ?? '')
    expect(record).toMatchObject({
      status,
      lane: sdk.lane,
      error: { code: scenario.code, origin: errorTable[scenario.code].origin },
    })
    stage.assertClean()
  })
})

async function addOwn(sdk: SdkCaller, scenario: Scenario): Promise<string> {
  const name = `own-${sdk.name}-${scenarios.indexOf(scenario)}`
  const { admin, addRoute } = stage.gateway
  await admin.providers.add({ name, ...target(sdk.lane), ...scenario.own?.(sdk.lane) })
  await addRoute(name, [name], { retries: 0 })
  return name
}

describe('the table', () => {
  it('has a scenario for every row that can occur', () => {
    const proved = new Set<ErrorCode>([
      ...scenarios.map((scenario) => scenario.code),
      'provider_unspecified',
      'object_not_found',
      // Its cases are those of test/gateway/object-index.test.ts.
      'object_index_unavailable',
      // And of test/gateway/socket-fallback.test.ts.
      'websocket_unavailable',
      ...notYet,
    ])
    expect([...proved].sort()).toEqual(Object.keys(errorTable).sort())
  })

  it('provider_unspecified: a call without a model that two providers could serve', async () => {
    await stage.gateway.admin.providers.add({ name: 'second', ...target('openai') })
    await stage.gateway.addRoute('second', ['second'])
    const headers: [string, string][] = [laneCall('openai').credential(stage.key), ['content-type', 'application/json']]
    const url = `${stage.gateway.baseUrl}/v1/moderations`
    const answer = await send(url, { headers, body: '{"input":"hello"}' })
    expectLaneError('openai', answer, 'provider_unspecified')
    expect(answer.body.toString()).toContain('second')
    const chosen = await send(url, { headers: [...headers, ['x-sp-provider', 'second']], body: '{"input":"hello"}' })
    expect(chosen.status).toBe(200)
    expect((await stage.gateway.record(chosen.requestId)).provider).toBe('second')
  })

  it.each(laneNames)('object_not_found: what nobody has made here, in the words of the %s provider', async (lane) => {
    const path = {
      openai: '/v1/files/file-1',
      anthropic: '/v1/anthropic/v1/files/file_1',
      gemini: '/v1/gemini/v1beta/cachedContents/1',
    }[lane]
    const answer = await send(stage.gateway.baseUrl + path, {
      method: 'GET',
      headers: [laneCall(lane).credential(stage.key)],
    })
    expect([answer.status, answer.headers.get('x-sp-error')]).toEqual([404, 'object_not_found'])
    expect(answer.body.toString()).not.toContain('spgw')
    expect(await stage.gateway.record(answer.requestId)).toMatchObject({ error: { code: 'object_not_found' } })
  })

  it('model_not_found names close matches that the key may see', async () => {
    const { path, body } = laneCall('openai').call('gpt-4o-mni')
    const answer = await send(stage.gateway.baseUrl + path, {
      headers: [laneCall('openai').credential(stage.key)],
      body,
    })
    expect(answer.body.toString()).toContain('gpt-4o-mini')
  })

  it.each([
    ['GET', '/nothing'],
    ['GET', '/v2/models'],
    ['DELETE', '/v1/models'],
    ['POST', '/v1/organization/projects'],
    ['POST', '/v1/anthropic/v1/complete/1'],
    ['GET', '/v1/gemini/v1beta/agents'],
  ])('every answer has an id that can be found, unknown paths too: %s %s', async (method, path) => {
    const answer = await send(stage.gateway.baseUrl + path, {
      method,
      headers: [['authorization', `Bearer ${stage.key}`]],
    })
    expect(answer.status).toBe(404)
    expect(answer.headers.get('x-sp-error')).toBe('unknown_path')
    expect(await stage.gateway.record(answer.requestId)).toMatchObject({ status: 404, error: { code: 'unknown_path' } })
  })
})
