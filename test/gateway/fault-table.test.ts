import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { makeRoute, makeTarget } from '../support/snapshot.ts'

type Act = (response: http.ServerResponse) => void

let provider: http.Server
let origin: string
let act: Act
let seen = 0

beforeAll(async () => {
  provider = http.createServer((request, response) => {
    seen++
    request.resume()
    request.on('end', () => act(response))
  })
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
})
afterAll(() => {
  provider.closeAllConnections()
  provider.close()
})
beforeEach(() => {
  seen = 0
})

const event = (value: object) => `data: ${JSON.stringify(value)}\n\n`
const content = event({ choices: [{ index: 0, delta: { content: 'a' } }] })
const finish = `${event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}data: [DONE]\n\n`
const inFuture = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()

const status =
  (code: number, headers: Record<string, string> = {}, message = 'no'): Act =>
  (response) => {
    response.writeHead(code, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify({ type: 'error', error: { type: 'some_error', message } }))
  }
const streamed = (send: Act): Act => {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    send(response)
  }
}

interface Row {
  fault: string
  act: Act
  /** What the client sees of the first call. */
  seen: number
  /** After one call, and after so many: the provider as such, and the model with its one credential. */
  first: [provider: string, target: string]
  calls: number
  last: [provider: string, target: string]
  kind?: 'anthropic'
  streamed?: true
}

const well: Row['first'] = ['ready', 'ready']
const table: Row[] = [
  { fault: '429 without a word of when', act: status(429), seen: 429, first: well, calls: 25, last: well },
  {
    fault: '429 with retry-after',
    act: status(429, { 'retry-after': '9' }),
    ...{ seen: 429, first: ['ready', 'limited'], calls: 8, last: ['ready', 'limited'] },
  },
  {
    fault: "429 with OpenAI's resets",
    act: status(429, { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '6m0s' }),
    ...{ seen: 429, first: ['ready', 'limited'], calls: 8, last: ['ready', 'limited'] },
  },
  {
    fault: "429 with Anthropic's resets",
    kind: 'anthropic',
    act: (response) =>
      status(429, {
        'anthropic-ratelimit-requests-remaining': '0',
        'anthropic-ratelimit-requests-reset': inFuture(30),
      })(response),
    ...{ seen: 429, first: ['ready', 'limited'], calls: 8, last: ['ready', 'limited'] },
  },
  { fault: '500', act: status(500), seen: 500, first: well, calls: 5, last: ['ready', 'open'] },
  {
    fault: '500, 25 times (litellm PR 34836)',
    act: status(500),
    seen: 500,
    first: well,
    calls: 25,
    last: ['ready', 'open'],
  },
  { fault: '529', act: status(529), seen: 529, first: well, calls: 5, last: ['ready', 'open'] },
  {
    fault: 'a reset',
    act: (response) => response.socket?.resetAndDestroy(),
    ...{ seen: 502, first: well, calls: 5, last: ['open', 'open'] },
  },
  {
    fault: 'silence',
    act: () => {},
    streamed: true,
    ...{ seen: 504, first: well, calls: 5, last: ['ready', 'open'] },
  },
  {
    fault: 'headers, and then silence',
    act: streamed((response) => response.flushHeaders()),
    streamed: true,
    ...{ seen: 504, first: well, calls: 5, last: ['ready', 'open'] },
  },
  {
    fault: 'a slow first byte within its limit',
    act: streamed((response) => setTimeout(() => response.end(content + finish), 100)),
    streamed: true,
    ...{ seen: 200, first: well, calls: 6, last: well },
  },
  {
    fault: 'a cut before the first content',
    act: streamed((response) => {
      response.write(event({ choices: [] }))
      setImmediate(() => response.socket?.resetAndDestroy())
    }),
    streamed: true,
    ...{ seen: 502, first: well, calls: 5, last: ['open', 'open'] },
  },
  {
    fault: 'a cut after the first content',
    act: streamed((response) => {
      response.write(content)
      setTimeout(() => response.socket?.resetAndDestroy(), 10)
    }),
    streamed: true,
    ...{ seen: 200, first: well, calls: 10, last: ['open', 'open'] },
  },
  {
    fault: 'an end of the stream without its end mark',
    act: streamed((response) => response.end(content)),
    streamed: true,
    ...{ seen: 200, first: well, calls: 10, last: ['ready', 'open'] },
  },
  {
    fault: 'an error in the midst of the stream',
    act: streamed((response) => response.end(content + event({ error: { message: 'overloaded', code: 503 } }))),
    streamed: true,
    ...{ seen: 200, first: well, calls: 10, last: ['ready', 'open'] },
  },
  {
    fault: 'a 429 as the first event of the stream',
    act: streamed((response) => response.end(event({ error: { message: 'slow down', code: 429 } }))),
    streamed: true,
    ...{ seen: 502, first: well, calls: 25, last: well },
  },
  {
    fault: 'a 429 in the midst of the stream',
    act: streamed((response) => response.end(content + event({ error: { message: 'slow down', code: 429 } }))),
    streamed: true,
    ...{ seen: 200, first: well, calls: 25, last: well },
  },
  { fault: '401', act: status(401), seen: 502, first: well, calls: 8, last: well },
  {
    fault: '400 for want of credit (litellm PR 16092)',
    kind: 'anthropic',
    act: status(400, {}, 'Your credit balance is too low to access the Anthropic API.'),
    ...{ seen: 503, first: ['cooling-down', 'cooling-down'], calls: 3, last: ['cooling-down', 'cooling-down'] },
  },
  { fault: '400', act: status(400), seen: 400, first: well, calls: 25, last: well },
]

async function start(row: Pick<Row, 'kind'>): Promise<DataPlane> {
  const kind = row.kind ?? 'openai'
  const plane = await startDataPlane({
    providers: [{ kind, baseUrl: kind === 'openai' ? `${origin}/v1` : origin }],
    timeouts: { firstByte: 400 },
  })
  onTestFinished(() => plane.stop())
  return plane
}

async function call(plane: DataPlane, row: Pick<Row, 'kind' | 'streamed'>): Promise<number> {
  const kind = row.kind ?? 'openai'
  const answer = await fetch(
    `${plane.baseUrl}/v1${kind === 'openai' ? '/chat/completions' : '/anthropic/v1/messages'}`,
    {
      method: 'POST',
      headers: { authorization: `Bearer ${plane.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: `${kind}-model`, max_tokens: 9, messages: [], stream: row.streamed === true }),
    },
  )
  await answer.text().catch(() => {})
  await plane.record(answer.headers.get('x-sp-request-id'))
  return answer.status
}

describe('what a fault does to provider and target', () => {
  it.each(table)('$fault', async (row) => {
    const plane = await start(row)
    const states = () => [plane.health(0, 1).state, plane.health(0, 1, `${row.kind ?? 'openai'}-model`).state]
    act = row.act
    expect(await call(plane, row)).toBe(row.seen)
    expect(states()).toEqual(row.first)
    for (let count = 1; count < row.calls; count++) await call(plane, row)
    expect(states()).toEqual(row.last)
    // The gateway makes no call that costs something to find out how a provider is.
    expect(seen).toBe(plane.records().reduce((sum, { attempts }) => sum + attempts.length, 0))
  })
})

describe('after a 429', () => {
  const reset = (seconds: number) =>
    status(429, { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': `${seconds}s` })

  it('its wait is never shortened by a later one (litellm 40130)', async () => {
    const plane = await start({})
    const ends = () => {
      const view = plane.health(0, 1, 'openai-model')
      return 'until' in view ? view.until : 0
    }
    act = reset(90)
    await call(plane, {})
    const before = ends()
    expect(before).toBeGreaterThan(Date.now() + 60_000)
    act = reset(2)
    await call(plane, {})
    expect(ends()).toBe(before)
  })

  it('without a word of when, a single credential is tried on (litellm 27823)', async () => {
    const plane = await start({})
    act = status(429)
    for (let count = 0; count < 3; count++) expect(await call(plane, {})).toBe(429)
    expect(plane.health(0, 1, 'openai-model')).toEqual({ state: 'ready' })
  })

  it('the next target serves until the reset, and where there is none the provider’s own 429 passes', async () => {
    const plane = await startDataPlane({
      providers: [
        { kind: 'openai', baseUrl: `${origin}/v1` },
        { kind: 'openai', name: 'spare', baseUrl: `${origin}/v1` },
      ],
      routes: [makeRoute('pair', [makeTarget('openai:first'), makeTarget('spare:second')], { retries: 0 })],
    })
    onTestFinished(() => plane.stop())
    act = reset(60)
    const ask = async () => {
      const answer = await fetch(`${plane.baseUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${plane.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'pair', messages: [] }),
      })
      await answer.text()
      const { attempts } = await plane.record(answer.headers.get('x-sp-request-id'))
      return {
        status: answer.status,
        error: answer.headers.get('x-sp-error'),
        asked: attempts.map((each) => each.provider),
      }
    }
    expect(await ask()).toEqual({ status: 429, error: 'provider_error', asked: ['openai', 'spare'] })
    // Both rest; both are tried all the same, since nothing else can serve.
    expect(await ask()).toEqual({ status: 429, error: 'provider_error', asked: ['openai', 'spare'] })
  })
})
