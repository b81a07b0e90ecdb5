import http from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { RequestRecord } from '../../src/core/record.ts'
import type { SnapshotRoute } from '../../src/store/configuration/snapshot.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { closeServer, listen } from '../support/listen.ts'
import { makeRoute, makeTarget } from '../support/snapshot.ts'

interface Asked {
  /** Which provider, and as whom. */
  account: string
  provider: string
  path: string
  body: { stream?: boolean; [name: string]: unknown }
  text: string
}
type Answer = { status?: number; headers?: Record<string, string>; body: unknown } | string

/** Providers of one kind, `a`, `b` and so on, which answer as the test says. */
async function startProviders(
  kind: string,
  names: readonly string[],
  answer: (asked: Asked) => Answer,
  { credentials, ...parts }: Partial<SnapshotRoute> & { credentials?: string[] } = {},
): Promise<DataPlane> {
  const providers = await Promise.all(names.map((name) => startProvider(name, answer)))
  const route = makeRoute(
    'smart',
    names.map((name) => makeTarget(`${name}:m`)),
    {
      strategy: 'weighted',
      retries: 0,
      ...parts,
    },
  )
  const plane = await startDataPlane({
    providers: providers.map((origin, place) => ({
      kind,
      name: names[place] ?? '',
      baseUrl: kind === 'openai' ? `${origin}/v1` : origin,
      ...(credentials === undefined ? {} : { credentials }),
    })),
    routes: [route],
  })
  onTestFinished(() => plane.stop())
  return plane
}

async function startProvider(provider: string, answer: (asked: Asked) => Answer): Promise<string> {
  const server = http.createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const { authorization, 'x-api-key': key, 'x-goog-api-key': google } = request.headers
    const account = `${provider} ${authorization ?? key ?? google}`
    const made = answer({ account, provider, path: request.url ?? '', body: JSON.parse(text), text })
    if (typeof made === 'string') {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      return response.end(made)
    }
    response.writeHead(made.status ?? 200, { 'content-type': 'application/json', ...made.headers })
    response.end(JSON.stringify(made.body))
  })
  onTestFinished(() => closeServer(server))
  return await listen(server)
}

async function ask(plane: DataPlane, path: string, body: object): Promise<{ record: RequestRecord; text: string }> {
  const answer = await fetch(`${plane.baseUrl}/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${plane.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await answer.text()
  return { text, record: await plane.record(answer.headers.get('x-sp-request-id')) }
}

const says = ({ routing_signals }: RequestRecord) =>
  routing_signals.find(({ rule }) => rule === 'affinity')?.text ?? null

const long = 'word '.repeat(1200)
const opening = (number: number) => [
  { role: 'system', content: `You help with matter ${number}. ${long}` },
  { role: 'user', content: `Question ${number}` },
]
const turn = [
  { role: 'assistant', content: 'Hm.' },
  { role: 'user', content: 'Go on.' },
]
const chat = (cached = 0, prompt = 1500) => ({
  body: {
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hm.' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: prompt, completion_tokens: 1, prompt_tokens_details: { cached_tokens: cached } },
  },
})

/** Each account caches the beginning of what it has seen. */
function cachingProviders() {
  const seen = new Set<string>()
  return ({ account, body }: Asked): Answer => {
    const key = `${account} ${JSON.stringify((body.messages as object[]).slice(0, 2))}`
    const hit = seen.has(key)
    seen.add(key)
    return chat(hit ? 1500 : 0)
  }
}

/** The share of prompt tokens that came out of a cache, over conversations of so many turns. */
async function cachedRatio(sticky: boolean): Promise<number> {
  const credentials = ['one', 'two', 'three', 'four']
  const plane = await startProviders('openai', ['a', 'b', 'c', 'd'], cachingProviders(), { sticky, credentials })
  let [cached, all] = [0, 0]
  for (let number = 0; number < 12; number++) {
    const messages: object[] = [...opening(number)]
    for (let count = 0; count < 15; count++) {
      const { record } = await ask(plane, '/chat/completions', { model: 'smart', messages })
      cached += record.tokens?.cache_read ?? 0
      all += record.tokens?.input ?? 0
      messages.push(...turn)
    }
  }
  return cached / all
}

describe('a sticky route', () => {
  it('finds nine of ten prompt tokens in the cache, where four accounts at each of four targets find a third (litellm 6784)', async () => {
    expect(await cachedRatio(true)).toBeGreaterThanOrEqual(0.9)
    expect(await cachedRatio(false)).toBeLessThanOrEqual(0.4)
  })

  it('leaves a target that fails, and the conversation moves (litellm 40364)', async () => {
    let failing = ''
    const plane = await startProviders(
      'openai',
      ['a', 'b'],
      ({ provider }) => (provider === failing ? { status: 500, body: { error: { message: 'no' } } } : chat()),
      { sticky: true },
    )
    const body = { model: 'smart', messages: opening(1) }
    const first = (await ask(plane, '/chat/completions', body)).record.provider ?? ''
    const second = await ask(plane, '/chat/completions', body)
    expect(second.record.provider).toBe(first)
    expect(says(second.record)).toBe(`The conversation stays with ${first} (m): its prompt is in the cache there.`)
    failing = first
    const other = first === 'a' ? 'b' : 'a'
    expect((await ask(plane, '/chat/completions', body)).record.attempts.map(({ provider }) => provider)).toEqual([
      first,
      other,
    ])
    failing = ''
    for (let count = 0; count < 5; count++)
      expect((await ask(plane, '/chat/completions', body)).record.attempts.map(({ provider }) => provider)).toEqual([
        other,
      ])
  })

  it('never beats health: an account at its limit is passed by until it may be asked again', async () => {
    const limited = new Set<string>()
    const plane = await startProviders(
      'openai',
      ['a', 'b'],
      ({ account }) =>
        limited.has(account)
          ? { status: 429, headers: { 'retry-after': '60' }, body: { error: { message: 'slow down' } } }
          : chat(),
      { sticky: true },
    )
    const body = { model: 'smart', messages: opening(1) }
    const first = (await ask(plane, '/chat/completions', body)).record.provider ?? ''
    limited.add(`${first} Bearer provider-credential`)
    await ask(plane, '/chat/completions', body)
    const { record } = await ask(plane, '/chat/completions', body)
    expect(record.attempts).toHaveLength(1)
    expect(record.provider).not.toBe(first)
  })

  it('remembers nothing of short prompts', async () => {
    const plane = await startProviders('openai', ['a', 'b'], () => chat(), { sticky: true })
    const body = { model: 'smart', messages: [{ role: 'user', content: 'hi' }] }
    for (let count = 0; count < 4; count++)
      expect(says((await ask(plane, '/chat/completions', body)).record)).toBeNull()
  })
})

const event = (value: { type: string }) => `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`
const signatureOf = (provider: string, number: number) => `${`${provider}-`.repeat(12)}${number}`

/** Rejects what another has signed, as vendors do. */
function signingMessages() {
  let number = 0
  return ({ provider, body, text }: Asked): Answer => {
    const foreign = [...text.matchAll(/"signature":"([ab])-/g)].some(([, who]) => who !== provider)
    if (foreign)
      return { status: 400, body: { type: 'error', error: { type: 'invalid_request_error', message: 'signature' } } }
    const signature = signatureOf(provider, number++)
    const content = [
      { type: 'thinking', thinking: 'Hm.', signature },
      { type: 'text', text: 'Yes.' },
    ]
    const usage = { input_tokens: 1, output_tokens: 1 }
    if (body.stream !== true)
      return { body: { type: 'message', role: 'assistant', content, stop_reason: 'end_turn', usage } }
    return [
      event({ type: 'message_start', message: { role: 'assistant', content: [], usage } } as { type: string }),
      event({
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'thinking', thinking: '', signature: '' },
      } as { type: string }),
      event({ type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature } } as {
        type: string
      }),
      event({ type: 'content_block_stop', index: 0 } as { type: string }),
      event({ type: 'message_stop' }),
    ].join('')
  }
}

describe('signed reasoning', () => {
  const signedIn = (text: string) => /"signature":"([ab]-[^"]+)"/.exec(text)?.[1] ?? ''

  it.each([false, true])(
    'keeps a conversation where it was signed, without the flag (streamed: %s)',
    async (stream) => {
      const plane = await startProviders('anthropic', ['a', 'b'], signingMessages())
      for (let conversation = 0; conversation < 8; conversation++) {
        const messages: object[] = [{ role: 'user', content: 'Think.' }]
        for (let count = 0; count < 4; count++) {
          const body = {
            model: 'smart',
            max_tokens: 99,
            stream,
            thinking: { type: 'enabled', budget_tokens: 1024 },
            messages,
          }
          const { record, text } = await ask(plane, '/anthropic/v1/messages', body)
          expect(record.status).toBe(200)
          if (count > 0) expect(says(record)).toContain('its reasoning was signed there')
          const thought = { type: 'thinking', thinking: 'Hm.', signature: signedIn(text) }
          messages.push({ role: 'assistant', content: [thought] }, { role: 'user', content: 'Go on.' })
        }
      }
    },
  )

  it('of Gemini’s answers and of encrypted responses is kept too', async () => {
    const mark = (provider: string) => `${provider}`.repeat(40)
    const gemini = await startProviders('gemini', ['a', 'b'], ({ provider }) => ({
      body: {
        candidates: [
          {
            content: { role: 'model', parts: [{ text: 'x', thoughtSignature: mark(provider) }] },
            finishReason: 'STOP',
          },
        ],
      },
    }))
    const contents = (signature?: string) => [
      { role: 'user', parts: [{ text: 'Think.' }] },
      ...(signature === undefined ? [] : [{ role: 'model', parts: [{ text: 'x', thoughtSignature: signature }] }]),
    ]
    const path = '/gemini/v1beta/models/smart:generateContent'
    const generated = (await ask(gemini, path, { contents: contents() })).record.provider ?? ''
    for (let count = 0; count < 5; count++)
      expect((await ask(gemini, path, { contents: contents(mark(generated)) })).record.provider).toBe(generated)

    const responses = await startProviders('openai', ['a', 'b'], ({ provider }) => ({
      body: {
        object: 'response',
        status: 'completed',
        output: [{ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: mark(provider) }],
      },
    }))
    const include = { model: 'smart', store: false, include: ['reasoning.encrypted_content'] }
    const answered = (await ask(responses, '/responses', { ...include, input: 'hi' })).record.provider ?? ''
    const input = [{ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: mark(answered) }]
    for (let count = 0; count < 5; count++)
      expect((await ask(responses, '/responses', { ...include, input })).record.provider).toBe(answered)
  })

  it('is not looked for in a plain call', async () => {
    const plane = await startProviders('anthropic', ['a', 'b'], signingMessages())
    const messages = [{ role: 'user', content: 'hi' }]
    await ask(plane, '/anthropic/v1/messages', { model: 'smart', max_tokens: 9, messages })
    for (let count = 0; count < 6; count++) {
      const { record } = await ask(plane, '/anthropic/v1/messages', { model: 'smart', max_tokens: 9, messages })
      expect(says(record)).toBeNull()
    }
  })
})
