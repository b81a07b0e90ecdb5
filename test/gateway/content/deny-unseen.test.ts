import http from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ContentSide } from '../../../src/core/policies/content-rules.ts'
import { ContentPlane, contentRule, keyPolicy, postJson as post } from '../../support/content-plane.ts'

function policy(name: string, on: ContentSide[], denyUnseen: boolean) {
  const rule = contentRule('keys', on, { detector: 'secrets', action: 'flag' })
  return keyPolicy(name, { contentRules: [rule], denyUnseen })
}

const file = 'iVBORw0KGgo'.repeat(40)
let stage: ContentPlane
let answer = { type: 'application/json', text: '{"choices":[]}' }
let calls = 0

beforeAll(async () => {
  stage = await ContentPlane.start(
    async (request, response) => {
      calls++
      await request.toArray()
      response.writeHead(200, { 'content-type': answer.type })
      response.end(answer.text)
    },
    {
      policies: [
        policy('prompts', ['prompt'], true),
        policy('answers', ['answer'], true),
        policy('notes', ['prompt', 'answer'], false),
      ],
      webrtc: true,
    },
  )
  stage.plane.ownAll()
})
afterAll(async () => await stage.stop())

async function send(name: string, path: string, init: RequestInit) {
  calls = 0
  const { status, text, signals } = await stage.send(name, path, init)
  return { status, text, called: calls > 0, signals: signals.filter(({ rule }) => rule === 'content.unseen') }
}

const chat = (content: unknown, more: object = {}) =>
  post({ model: 'openai-model', messages: [{ role: 'user', content }], ...more })
const messages = (content: unknown) =>
  post({ model: 'anthropic-model', max_tokens: 10, messages: [{ role: 'assistant', content }] })
const form = (): RequestInit => {
  const body = new FormData()
  body.set('model', 'openai-model')
  body.set('file', new File(['words'], 'words.wav'))
  return { method: 'POST', body }
}

const unseen: [what: string, path: string, init: () => RequestInit][] = [
  [
    'a picture',
    '/chat/completions',
    () => chat([{ type: 'image_url', image_url: { url: `data:image/png;base64,${file}` } }]),
  ],
  ['a file by its id', '/chat/completions', () => chat([{ type: 'file', file: { file_id: 'file-1' } }])],
  ['a prompt in numbers', '/embeddings', () => post({ model: 'openai-model', input: [[1, 2], [3]] })],
  ['a form', '/audio/transcriptions', form],
  ['a file to train with', '/fine_tuning/jobs', () => post({ model: 'openai-model', training_file: 'file-1' })],
  [
    'a document',
    '/anthropic/v1/messages',
    () => messages([{ type: 'document', source: { type: 'base64', data: file } }]),
  ],
  [
    'a document by its address',
    '/anthropic/v1/messages',
    () => messages([{ type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } }]),
  ],
  ...['video_url', 'audio_url', 'document_url'].map((type): [string, string, () => RequestInit] => [
    `a part of the type ${type}`,
    '/chat/completions',
    () => chat([{ type, [type]: { url: 'https://example.com/a' } }]),
  ]),
]

describe('a policy that denies what its rules cannot look at', () => {
  it.each(unseen)('denies %s, before a provider gets it', async (_, path, init) => {
    const denied = await send('prompts', path, init())
    expect([denied.status, denied.called]).toEqual([403, false])
    expect(denied.text).toContain('The policy prompts denies what its content rules cannot check in the prompt')
    expect(denied.signals).toMatchObject([{ verdict: 'deny', data: { on: 'prompt', policy: 'prompts' } }])
  })

  it.each(unseen)('lets %s pass where rules look at answers alone', async (_, path, init) => {
    const passed = await send('answers', path, init())
    expect([passed.status, passed.called, passed.signals]).toEqual([200, true, []])
  })

  it.each(unseen)('is not every policy: %s passes another with a note', async (_, path, init) => {
    const passed = await send('notes', path, init())
    expect([passed.status, passed.called]).toEqual([200, true])
    expect(passed.signals).toMatchObject([{ verdict: 'note', data: { on: 'prompt' } }])
  })

  it.each([
    ['texts', '/chat/completions', () => chat('hello')],
    [
      'tools with parameters that are called like files',
      '/chat/completions',
      () =>
        chat('hello', {
          tools: [
            { type: 'function', function: { name: 'f', parameters: { properties: { file_id: { type: 'string' } } } } },
          ],
        }),
    ],
    [
      'arguments that are called like files',
      '/anthropic/v1/messages',
      () => messages([{ type: 'tool_use', id: 't', name: 'f', input: { image_url: 'https://example.com/a.png' } }]),
    ],
    [
      'results of a tool that are called like the file of a batch',
      '/gemini/v1beta/models/gemini-model:generateContent',
      () => {
        const functionResponse = { name: 'list', response: { files: [{ file_name: 'a.txt', fileName: 'b.txt' }] } }
        return post({ contents: [{ parts: [{ functionResponse }] }] })
      },
    ],
    ['notes that are called so', '/chat/completions', () => chat('hello', { metadata: { file_name: 'a.txt' } })],
    [
      'an MCP server by its address',
      '/anthropic/v1/messages',
      () =>
        post({
          ...{ model: 'anthropic-model', max_tokens: 10, messages: [{ role: 'user', content: 'hello' }] },
          mcp_servers: [{ type: 'url', url: 'https://example.com/mcp', name: 'mcp' }],
        }),
    ],
    [
      'reasoning that its provider alone can read',
      '/anthropic/v1/messages',
      () => messages([{ type: 'redacted_thinking', data: file }]),
    ],
  ])('lets %s pass', async (_, path, init) => {
    const passed = await send('prompts', path, init())
    expect([passed.status, passed.called, passed.signals]).toEqual([200, true, []])
  })
})

describe("a batch of Gemini's", () => {
  const batch = '/gemini/v1beta/models/gemini-model:batchGenerateContent'
  const request = (responseModalities: string[]) => ({ contents: [], generationConfig: { responseModalities } })
  const inline = (responseModalities: string[]) => ({
    requests: { requests: [{ request: request(['TEXT']) }, { request: request(responseModalities) }] },
  })
  it.each<[what: string, name: string, config: object, denied: boolean]>([
    ['with its requests in a file', 'prompts', { fileName: 'files/1' }, true],
    ['whose answers come in a file', 'answers', { file_name: 'files/1' }, true],
    ['that asks for pictures', 'answers', inline(['IMAGE']), true],
    ['that asks for text', 'answers', inline(['TEXT']), false],
    ['that asks for pictures', 'prompts', inline(['IMAGE']), false],
  ])('%s under a policy with rules on %s', async (_what, name, inputConfig, isDenied) => {
    stage.plane.ownAll('gemini', { lines: 1, models: [], objects: [], unread: null })
    const { status, called } = await send(name, batch, post({ batch: { inputConfig } }))
    expect([status, called]).toEqual(isDenied ? [403, false] : [200, true])
    stage.plane.ownAll()
  })
})

describe('a WebSocket', () => {
  const handshake = async (name: string) => {
    await stage.plane.changeKey({ policyId: `pol_${name}` })
    const request = http.request(`${stage.plane.baseUrl}/v1/realtime?model=openai-model`, {
      headers: {
        ...{ authorization: `Bearer ${stage.plane.key}`, connection: 'Upgrade', upgrade: 'websocket' },
        ...{ 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' },
      },
    })
    const answered = new Promise<string>((resolve, reject) => {
      request.on('response', (response) => {
        response.toArray().then((chunks) => resolve(Buffer.concat(chunks).toString()), reject)
      })
      request.on('error', reject)
    })
    request.end()
    return await answered
  }

  it.each(['prompts', 'answers'])('is denied by a policy with rules on %s', async (name) => {
    expect(await handshake(name)).toContain(`The policy ${name} denies what its content rules cannot check`)
  })

  it('is tried where a policy only notes it', async () => {
    expect(await handshake('notes')).toContain('The provider answered the handshake with 200')
  })
})

describe('a call by WebRTC', () => {
  const begin = () => post({ session: { model: 'openai-model' }, transport: { type: 'webrtc', sdp: 'v=0' } })

  it.each(['prompts', 'answers'])('is denied by a policy with rules on %s', async (name) => {
    const denied = await send(name, '/live/sessions', begin())
    expect([denied.status, denied.called]).toEqual([403, false])
    expect(denied.text).toContain(`The policy ${name} denies what its content rules cannot check`)
  })

  it('is begun where a policy only notes it', async () => {
    const begun = await send('notes', '/live/sessions', begin())
    expect([begun.called, begun.signals.map(({ data }) => data?.on)]).toEqual([true, ['prompt', 'answer']])
  })
})

describe('a telephone call', () => {
  const paths = ['/realtime/calls/rtc_1/accept', '/live/sessions/sess_1/accept']
  const accept = () => post({ type: 'realtime', model: 'openai-model', session: { model: 'openai-model' } })

  it.each(paths.flatMap((path) => [['prompts', path] as const, ['answers', path] as const]))(
    'is not accepted under a policy with rules on %s: %s',
    async (name, path) => {
      const denied = await send(name, path, accept())
      expect([denied.status, denied.called]).toEqual([403, false])
      expect(denied.text).toContain('a telephone call carries sound past the gateway')
    },
  )

  it.each(paths)('is accepted where a policy only notes it: %s', async (path) => {
    const begun = await send('notes', path, accept())
    expect([begun.called, begun.signals.map(({ data }) => data?.on)]).toEqual([true, ['prompt', 'answer']])
  })
})

describe('an answer that rules cannot look at', () => {
  it('is denied: sound in a chat', async () => {
    answer = { type: 'application/json', text: `{"choices":[{"message":{"audio":{"data":"${file}"}}}]}` }
    const denied = await send('answers', '/chat/completions', chat('a cat'))
    expect([denied.status, denied.called]).toEqual([403, true])
    expect(denied.text).toContain('The policy answers denies what its content rules cannot check in the answer')
    expect(denied.text).not.toContain(file)
  })

  const generates = (responseModalities: string[]) =>
    post({ contents: [{ parts: [{ text: 'a cat' }] }], generationConfig: { responseModalities } })
  const gemini = '/gemini/v1beta/models/gemini-model'

  it.each([
    ['pictures', '/images/generations', post({ model: 'openai-model', prompt: 'a cat' })],
    ['changed pictures', '/images/edits', form()],
    ['a video', '/videos', post({ model: 'openai-model', prompt: 'a cat' })],
    ['a video of Gemini', `${gemini}:predictLongRunning`, post({ instances: [{ prompt: 'a cat' }] })],
    ['a picture in the form of Imagen', `${gemini}:predict`, post({ instances: [{ prompt: 'a cat' }] })],
    ['a picture in a chat', '/chat/completions', chat('a cat', { modalities: ['image'] })],
    [
      'a picture of a response',
      '/responses',
      post({ model: 'openai-model', input: 'a cat', tool_choice: { type: 'image_generation' } }),
    ],
    [
      'a picture of an interaction',
      '/gemini/v1beta/interactions',
      post({ model: 'gemini-model', input: 'a cat', response_modalities: ['image'] }),
    ],
    [
      'results in a file',
      '/anthropic/v1/messages/batches',
      post({ requests: [{ custom_id: '1', params: { model: 'anthropic-model', max_tokens: 1, messages: [] } }] }),
    ],
    [
      'sound in a chat',
      '/chat/completions',
      chat('a cat', { modalities: ['text', 'audio'], audio: { voice: 'alloy' } }),
    ],
    ['sound of Gemini', `${gemini}:generateContent`, generates(['AUDIO'])],
    ['a picture of Gemini', `${gemini}:streamGenerateContent`, generates(['IMAGE'])],
  ])('is denied before the provider is paid where it asks for %s', async (_, path, init) => {
    answer = { type: 'application/json', text: '{}' }
    const denied = await send('answers', path, init)
    expect([denied.status, denied.called]).toEqual([403, false])
    expect(denied.text).toContain('The policy answers denies what its content rules cannot check in the answer')
    expect(denied.signals).toMatchObject([{ verdict: 'deny', data: { on: 'answer', policy: 'answers' } }])
    const passed = await send('notes', path, init)
    expect(passed.called).toBe(true)
  })

  it('is paid for where it may be text alone', async () => {
    answer = { type: 'application/json', text: '{}' }
    for (const init of [generates(['TEXT', 'IMAGE']), generates([])])
      expect(await send('answers', `${gemini}:generateContent`, init)).toMatchObject({ called: true, status: 200 })
    expect(await send('answers', '/chat/completions', chat('a cat', { modalities: ['text'] }))).toMatchObject({
      ...{ called: true, status: 200, signals: [] },
    })
  })

  it('is denied where it is a picture in the form of Imagen', async () => {
    answer = { type: 'application/json', text: `{"response":{"predictions":[{"bytesBase64Encoded":"${file}"}]}}` }
    stage.plane.ownAll('gemini')
    const denied = await send('answers', '/gemini/v1beta/operations/op_1', {})
    stage.plane.ownAll()
    expect([denied.status, denied.text]).toEqual([403, expect.not.stringContaining(file)])
  })

  it('is denied in a stream with the error event of the lane', async () => {
    const event = (data: Record<string, unknown>) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
    const text = [
      event({ type: 'response.output_text.delta', item_id: 'i', output_index: 0, content_index: 0, delta: 'Hello' }),
      event({ type: 'response.image_generation_call.partial_image', partial_image_b64: file }),
      event({ type: 'response.completed', response: { output: [] } }),
    ].join('')
    answer = { type: 'text/event-stream', text }
    const denied = await send('answers', '/responses', post({ model: 'openai-model', input: 'a cat', stream: true }))
    expect(denied.text).toContain('The policy answers denies what its content rules cannot check in the answer')
    expect(denied.text).not.toContain(file)
    expect(denied.signals).toMatchObject([{ verdict: 'deny', data: { on: 'answer', policy: 'answers' } }])
  })

  it('is denied before the provider is paid where all of it would be sound or a file', async () => {
    const denied = await send(
      'answers',
      '/audio/speech',
      post({ model: 'openai-model', input: 'hello', voice: 'alloy' }),
    )
    expect([denied.status, denied.called]).toEqual([403, false])
    const list = await send('answers', '/chat/completions', { method: 'GET' })
    expect([list.status, list.called]).toEqual([403, false])
  })

  it('passes where it only cites files', async () => {
    const cited =
      '{"choices":[{"message":{"content":"x","annotations":[{"type":"file_citation","file_id":"file-1"}]}}]}'
    answer = { type: 'application/json', text: cited }
    const passed = await send('answers', '/chat/completions', chat('hello'))
    expect([passed.status, passed.text, passed.signals]).toEqual([200, cited, []])
  })
})
