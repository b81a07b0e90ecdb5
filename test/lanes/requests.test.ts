import { describe, expect, it } from 'vitest'
import { mintGatewayKey } from '../../src/core/secrets/gateway-key.ts'
import { upstreamPath } from '../../src/gateway/upstream/leg.ts'
import type { BodyPatch, Inspection, Lane, Match } from '../../src/lanes/contract.ts'
import { findLane } from '../../src/lanes/index.ts'
import { forwardedQuery } from '../../src/lanes/query.ts'
import { isFault } from '../../src/lanes/request-body.ts'

function find(call: string): { lane: Lane; match: Match | null; query: string } {
  const [method = '', target = ''] = call.split(' ')
  const [path = '', query = ''] = target.split('?')
  const lane = findLane(path)
  if (lane === null) throw new Error(`no lane for ${path}`)
  return { lane, match: lane.match(method, path.slice(lane.prefix.length)), query }
}

function inspect(call: string, body = '') {
  const { lane, match, query } = find(call)
  if (match === null) throw new Error(`no endpoint for ${call}`)
  const result = match.endpoint.inspect(match, query, Buffer.from(body))
  return { lane, match, result }
}

function accepted(call: string, body = ''): { lane: Lane; match: Match; inspection: Inspection } {
  const { lane, match, result } = inspect(call, body)
  if (isFault(result)) throw new Error(result.message)
  return { lane, match, inspection: result }
}

function spliced(call: string, body: string, change: Partial<BodyPatch>): string {
  const { lane, inspection } = accepted(call, body)
  return lane.patchBody(Buffer.from(body), inspection, { renameTo: null, askForUsage: false, ...change }).toString()
}

const chat = 'POST /v1/chat/completions'

const gatewayKey = mintGatewayKey()

describe('endpoints', () => {
  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY', 'SOCKET'])(
    'that nobody serves say so to %s as to any other method',
    (method) => {
      for (const path of [
        '/v1/organization/users',
        '/v1/projects',
        '/v1/anthropic/v1/organizations',
        '/v1/gemini/v1/agents/a',
      ])
        expect(find(`${method} ${path}`).match?.endpoint).toMatchObject({ served: 'nobody', why: expect.any(String) })
      expect(find(`${method} /v1/organizations`).match).toBeNull()
    },
  )

  it.each([
    ['POST /v1/chat/completions', 'openai', 'chat', null],
    ['POST /v1/completions', 'openai', 'completions', null],
    ['POST /v1/responses', 'openai', 'responses', null],
    ['POST /v1/embeddings', 'openai', 'embeddings', null],
    ['POST /v1/moderations', 'openai', 'moderations', null],
    ['GET /v1/models', 'openai', 'models.list', null],
    ['GET /v1/models/meta%2Fllama:3%20b', 'openai', 'models.get', 'meta/llama:3 b'],
    ['GET /v1/models/meta/llama', 'openai', 'models.get', 'meta/llama'],
    ['POST /v1/anthropic/v1/messages', 'anthropic', 'messages', null],
    ['POST /v1/anthropic/v1/v1/messages', 'anthropic', 'messages', null],
    ['POST /v1/anthropic/messages', 'anthropic', 'messages', null],
    ['POST /v1/anthropic/messages/count_tokens', 'anthropic', 'count_tokens', null],
    ['POST /v1/anthropic/v1/complete', 'anthropic', 'complete', null],
    ['GET /v1/anthropic/v1/models', 'anthropic', 'models.list', null],
    ['GET /v1/anthropic/v1/models/claude', 'anthropic', 'models.get', 'claude'],
    ['POST /v1/gemini/v1/models/g:generateContent', 'gemini', 'generate', 'g'],
    ['POST /v1/gemini/v1beta/models/g%3AstreamGenerateContent', 'gemini', 'generate', 'g'],
    ['POST /v1/gemini/v1alpha/tunedModels/g:countTokens', 'gemini', 'count_tokens', 'tunedModels/g'],
    ['POST /v1/gemini/v1beta/models/a%2Fb:3.5:embedContent', 'gemini', 'embed', 'a/b:3.5'],
    ['POST /v1/gemini/v1beta/models/g:batchEmbedContents', 'gemini', 'embed', 'g'],
    ['POST /v1/gemini/v1beta/models/g:predict', 'gemini', 'predict', 'g'],
    ['GET /v1/gemini/v1beta/files/x', 'gemini', 'files.get', null],
    ['GET /v1/gemini/v1beta/operations/a.b-c_1', 'gemini', 'operations.get', null],
    ['GET /v1/gemini/v1beta/interactions/v1_Ch==', 'gemini', 'interactions.get', null],
    ['GET /v1/gemini/v1beta/files/x%3Adownload', 'gemini', 'files.content', null],
    ['POST /v1/gemini/v1beta/openai/chat/completions', 'gemini', 'openai', null],
    ['GET /v1/gemini/v1beta/models', 'gemini', 'models.list', null],
    ['GET /v1/gemini/v1beta/models/g', 'gemini', 'models.get', 'g'],
  ])('%s is %s %s', (call, lane, operation, model) => {
    const found = find(call)
    expect([found.lane.name, found.match?.endpoint.operation, found.match?.pathModel]).toEqual([lane, operation, model])
  })

  it.each([
    'PATCH /v1/chat/completions',
    'POST /v1/chat/completions/',
    'PATCH /v1/files',
    'GET /v1/vector_stores/vs_1/files/..',
    'GET /v1/vector_stores/vs_1/files/%2E%2E%2F..%2Fvs_2',
    'GET /v1/vector_stores/vs_1/files/a%2Fb',
    'POST /v1/models',
    'GET /v1/models/%zz',
    'GET /v1',
    'POST /v1/anthropic/v1/messages/batches/a%2F..%2Fb/cancel',
    'GET /v1/anthropic/v1/files/..',
    'POST /v1/gemini/v2/models/g:generateContent',
    'POST /v1/gemini/v1beta/models/g:predictShort',
    'GET /v1/gemini/v1beta/files/..',
    'GET /v1/gemini/v1beta/files/..:download',
    'GET /v1/gemini/v1beta/files/..%3Adownload',
    'GET /v1/gemini/v1beta/files/a%2F..%2Fb',
    'GET /v1/gemini/v1beta/models/../operations/x',
  ])('%s is none', (call) => {
    expect(find(call).match).toBeNull()
  })

  it('belongs to a lane only below its whole prefix', () => {
    expect(findLane('/v1/anthropics')?.name).toBe('openai')
    expect(findLane('/v10/models')).toBeNull()
    expect(findLane('/healthz')).toBeNull()
  })
})

describe('inspect', () => {
  it('reads model and stream', () => {
    expect(accepted(chat, '{"model":"m"}').inspection).toMatchObject({ model: 'm', streamed: false, framing: null })
    expect(accepted(chat, '{"stream":true,"mod\\u0065l":"m"}').inspection).toMatchObject({
      model: 'm',
      streamed: true,
      framing: 'sse',
    })
    expect(accepted(chat, '{"model":"m","stream":null}').inspection.streamed).toBe(false)
    expect(accepted(chat, '{"model":"m","model":"m","stream":true,"stream":true}').inspection.modelSpans).toHaveLength(
      2,
    )
    expect(accepted('POST /v1/moderations', '{"input":"x"}').inspection.model).toBeNull()
    expect(accepted('POST /v1/embeddings', '{"model":"m","stream":"whatever"}').inspection.streamed).toBe(false)
  })

  it.each([
    ['', null, /empty/],
    ['hello', null, /see byte 0/],
    ['{"model":"m"', null, /ends too early/],
    ['{"model":"m",}', null, /see byte 13/],
    ['\ufeff{"model":"m"}', null, /byte order mark/],
    ['{"model":"m","x":"a\\q"}', null, /see byte 19/],
    ['[]', null, /not a valid JSON object/],
    ['{}', 'model', /missing/],
    ['{"model":7}', 'model', /must be a string/],
    ['{"model":null}', 'model', /must be a string/],
    ['{"model":" "}', 'model', /is empty/],
    ['{"model":"a","model":"b"}', 'model', /twice/],
    ['{"model":"a","stream":"yes"}', 'stream', /true or false/],
    ['{"model":"a","stream":true,"stream":false}', 'stream', /twice/],
  ])('refuses %j', (body, param, message) => {
    for (const call of [chat, 'POST /v1/anthropic/v1/messages']) {
      const { result } = inspect(call, body)
      expect(result).toMatchObject({ code: 'invalid_request', message: expect.stringMatching(message) })
      expect(isFault(result) ? (result.param ?? null) : null).toBe(param)
    }
  })

  it.each([
    [chat, '"max_tokens":100', 100],
    // Servers disagree which one they go by.
    [chat, '"max_tokens":1,"max_completion_tokens":40', 40],
    [chat, '"max_tokens":40,"max_completion_tokens":null', 40],
    [chat, '"max_tokens":1,"max_completion_tokens":"9000"', null],
    [chat, '"max_tokens":1,"n":"9000"', null],
    // Not a member of this call.
    [chat, '"max_output_tokens":50', null],
    ['POST /v1/responses', '"max_tokens":1,"max_output_tokens":7', 7],
    [chat, '"n":3,"max_completion_tokens":40', 120],
    [chat, '"max_tokens":9e15', 10_000_000],
    [chat, '"max_tokens":null', null],
    [chat, '"max_tokens":"100","n":2', null],
    [chat, '"max_tokens":-1', null],
    ['POST /v1/responses', '"max_output_tokens":7', 7],
    ['POST /v1/anthropic/v1/messages', '"max_tokens":1024', 1024],
    ['POST /v1/gemini/v1beta/models/g:generateContent', '"generationConfig":{"maxOutputTokens":9}', 9],
    [
      'POST /v1/gemini/v1beta/models/g:generateContent',
      '"generation_config":{"max_output_tokens":9,"candidate_count":2}',
      18,
    ],
    [
      'POST /v1/gemini/v1beta/models/g:generateContent',
      '"generationConfig":{"maxOutputTokens":1},"generation_config":{"max_output_tokens":9}',
      9,
    ],
    [
      'POST /v1/gemini/v1beta/models/g:generateContent',
      '"generationConfig":{"maxOutputTokens":1},"generation_config":{}',
      null,
    ],
    ['POST /v1/gemini/v1beta/models/g:generateContent', '"generationConfig":[]', null],
    ['POST /v1/embeddings', '"input":"x"', null],
  ])('%s with %s may answer with so many tokens: %s', (call, members, limit) => {
    expect(accepted(call, `{"model":"g",${members}}`).inspection.outputLimit).toBe(limit)
  })

  it('never shows what stands in the body', () => {
    const { result } = inspect(chat, '{"model":"m","messages":top-secret}')
    expect(JSON.stringify(result)).not.toContain('secret')
  })

  it('refuses a Gemini body that is no object, and reads the framing from alt', () => {
    const stream = 'POST /v1/gemini/v1beta/models/g:streamGenerateContent'
    expect(inspect(stream, '[').result).toMatchObject({ code: 'invalid_request' })
    expect(accepted(stream, '{}').inspection).toMatchObject({ streamed: true, framing: 'json-array' })
    expect(accepted(`${stream}?alt=sse`, '{}').inspection).toMatchObject({ framing: 'sse', query: '?alt=sse' })
    expect(accepted(`${stream}?%24alt=sse`, '{}').inspection.framing).toBe('sse')
    expect(accepted('POST /v1/gemini/v1/models/g:generateContent', '{}').inspection.framing).toBeNull()
  })

  it.each([
    ['', ''],
    ['beta=true', '?beta=true'],
    ['key=sp_live_x', ''],
    ['?alt=sse&key=sp_live_x&%6bey=y&access_token=z&q=%20+', '?alt=sse&q=%20+'],
    ['monkey=1&keys=2', '?monkey=1&keys=2'],
    [`token=${gatewayKey}&a=1`, '?a=1'],
    [`${gatewayKey}=1&a=1&${gatewayKey}`, '?a=1'],
    [`a=1&x=%73p_live_${gatewayKey.slice(8)}&y=Bearer+${gatewayKey}&y=b`, '?a=1&y=b'],
    [`a=1&x=%2573%70_live_${gatewayKey.slice(8)}`, '?a=1'],
    ['q=sp_live_&r=sp_live_short', '?q=sp_live_&r=sp_live_short'],
  ])('sends the query %j on as %j', (query, expected) => {
    const { match } = accepted(chat, '{"model":"m"}')
    expect(match.endpoint.inspect(match, query, Buffer.from('{"model":"m"}'))).toMatchObject({ query: expected })
  })
})

describe('the query that goes up', () => {
  it.each([
    'key=k',
    '$httpMethod=DELETE',
    '%24httpMethod=GET',
    '%24HTTP%4dethod=GET',
    '$httpHeaders=x-goog-api-key:k',
    '$httpMethod%=GET',
    '_method=DELETE',
    '%5FMethod=DELETE',
    'X-HTTP-Method-Override=GET',
    'x_http_method_override=GET',
  ])('keeps %s back', (part) => {
    expect(forwardedQuery(`?a=%41&${part}&b`)).toBe('?a=%41&b')
    expect(forwardedQuery(part)).toBe('')
  })

  it('passes all else byte for byte', () => {
    const query = '?$alt=json&method=x&http=1&%zz=2&a=$httpMethod'
    expect(forwardedQuery(query)).toBe(query)
  })
})

describe('splice', () => {
  it('is the same buffer when nothing changes', () => {
    const { lane, inspection } = accepted(chat, '{"model":"m","stream":true}')
    const body = Buffer.from('{"model":"m","stream":true}')
    expect(lane.patchBody(body, inspection, { renameTo: null, askForUsage: false })).toBe(body)
  })

  it('renames every top-level model, and nothing else', () => {
    const body = '{ "model" : "m" , "n":12345678901234567890, "x":{"model":"m"}, "model":"\\u006d" }'
    expect(spliced(chat, body, { renameTo: 'up "1"' })).toBe(
      '{ "model" : "up \\"1\\"" , "n":12345678901234567890, "x":{"model":"m"}, "model":"up \\"1\\"" }',
    )
  })

  it.each([
    ['{"model":"m","stream":true}', '{"stream_options":{"include_usage":true},"model":"m","stream":true}'],
    [
      '{"model":"m","stream":true,"stream_options":null}',
      '{"model":"m","stream":true,"stream_options":{"include_usage":true}}',
    ],
    [
      '{"model":"m","stream":true,"stream_options":{}}',
      '{"model":"m","stream":true,"stream_options":{"include_usage":true}}',
    ],
    [
      '{"model":"m","stream":true,"stream_options":{ "include_obfuscation":false}}',
      '{"model":"m","stream":true,"stream_options":{"include_usage":true, "include_obfuscation":false}}',
    ],
    [
      '{"stream_options":{"include_usage": false},"model":"m","stream":true}',
      '{"stream_options":{"include_usage": true},"model":"m","stream":true}',
    ],
  ])('asks for usage in %s', (body, expected) => {
    for (const call of [chat, 'POST /v1/completions']) expect(spliced(call, body, { askForUsage: true })).toBe(expected)
    expect(spliced('POST /v1/responses', body, { askForUsage: true })).toBe(body)
  })

  it.each([
    '{"model":"m"}',
    '{"model":"m","stream":false}',
    '{"model":"m","stream":true,"stream_options":{"include_usage":true}}',
    '{"model":"m","stream":true,"stream_options":{"include_usage":"yes"}}',
    '{"model":"m","stream":true,"stream_options":7}',
  ])('does not ask for usage in %s', (body) => {
    expect(spliced(chat, body, { askForUsage: true })).toBe(body)
  })

  it('renames and asks in one body', () => {
    expect(
      spliced(chat, '{"stream_options":null,"stream":true,"model":"m"}', { renameTo: 'u', askForUsage: true }),
    ).toBe('{"stream_options":{"include_usage":true},"stream":true,"model":"u"}')
  })

  it('renames a Gemini model where the body repeats it', () => {
    const batch = 'POST /v1/gemini/v1beta/models/g:batchEmbedContents'
    const body = '{"requests":[{"model":"models/g","content":{"model":"models/g"}},{"model":null},{}]}'
    expect(spliced(batch, body, { renameTo: 'up' })).toBe(
      '{"requests":[{"model":"models/up","content":{"model":"models/g"}},{"model":null},{}]}',
    )
    const count = 'POST /v1/gemini/v1beta/models/g:countTokens'
    expect(spliced(count, '{"generate_content_request":{"model":"models/g"}}', { renameTo: 'tunedModels/t' })).toBe(
      '{"generate_content_request":{"model":"tunedModels/t"}}',
    )
    const generate = 'POST /v1/gemini/v1beta/models/g:generateContent'
    expect(spliced(generate, '{"model":"models/g","requests":[{"model":"models/g"}]}', { renameTo: 'up' })).toBe(
      '{"model":"models/up","requests":[{"model":"models/g"}]}',
    )
  })
})

describe('upstreamPath', () => {
  it.each([
    [`${chat}?key=x`, '{"model":"m"}', '/chat/completions'],
    ['POST /v1/anthropic/messages?beta=true', '{"model":"m"}', '/v1/messages?beta=true'],
    [
      'POST /v1/gemini/v1/models/g%3AstreamGenerateContent?alt=sse',
      '{}',
      '/v1/models/a/b:c%20%24%26:streamGenerateContent?alt=sse',
    ],
  ])('of %s', (call, body, expected) => {
    const { lane, match, inspection } = accepted(call, body)
    expect(upstreamPath(lane, match, inspection, 'a/b:c $&')).toBe(expected)
  })

  it('keeps a tuned model in its collection', () => {
    const { lane, match, inspection } = accepted('POST /v1/gemini/v1beta/models/g:generateContent', '{}')
    expect(upstreamPath(lane, match, inspection, 'tunedModels/t')).toBe('/v1beta/tunedModels/t:generateContent')
  })
})

describe('the end user', () => {
  const messages = 'POST /v1/anthropic/v1/messages'
  const long = 'u'.repeat(257)

  it.each([
    [chat, '{"model":"m","user":"u-1"}', 'u-1'],
    [chat, '{"model":"m","safety_identifier":"s-1","user":"u-1"}', 'u-1'],
    ['POST /v1/responses', '{"model":"m","safety_identifier":"s-1"}', 's-1'],
    ['POST /v1/embeddings', '{"model":"m","user":"\\u0075-2","input":"x"}', 'u-2'],
    [messages, '{"model":"m","metadata":{"user_id":"u-3","other":[1]}}', 'u-3'],
    // Nothing of it is refused: it is the provider's to judge.
    [chat, '{"model":"m","user":7}', null],
    [chat, '{"model":"m","user":""}', null],
    [chat, `{"model":"m","user":"${long}"}`, null],
    [chat, '{"model":"m","metadata":{"user_id":"u-3"}}', null],
    [messages, '{"model":"m","metadata":null}', null],
    [messages, '{"model":"m","metadata":"user_id"}', null],
    [messages, '{"model":"m","metadata":{"user_id":["u"]}}', null],
    [messages, '{"model":"m"}', null],
    ['POST /v1/gemini/v1/models/g:generateContent', '{"user":"u-1","contents":[]}', null],
    ['GET /v1/models', '', null],
  ])('of %s %s is %j', (call, body, endUser) => {
    expect(accepted(call, body).inspection.endUser).toBe(endUser)
  })
})
