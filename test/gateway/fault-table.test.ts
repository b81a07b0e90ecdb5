import http from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { closeServer, listen } from '../support/listen.ts'
import { type Act, type FaultRow, faultTable, status } from '../support/shows/faults.ts'
import { makeRoute, makeTarget } from '../support/snapshot.ts'

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
  origin = await listen(provider)
})
afterAll(() => closeServer(provider))
beforeEach(() => {
  seen = 0
})

async function start(row: Pick<FaultRow, 'kind'>): Promise<DataPlane> {
  const kind = row.kind ?? 'openai'
  const plane = await startDataPlane({
    providers: [{ kind, baseUrl: kind === 'openai' ? `${origin}/v1` : origin }],
    timeouts: { firstByte: 400 },
  })
  onTestFinished(() => plane.stop())
  return plane
}

async function call(plane: DataPlane, row: Pick<FaultRow, 'kind' | 'streamed'>): Promise<number> {
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
  it.each(faultTable)('$fault', async (row) => {
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

describe('among calls that were cut, of several models', () => {
  const cut: Act = (response) => response.socket?.resetAndDestroy()
  const silence: Act = () => {}
  const malformed: Act = (response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"choices":')
  }

  it.each([
    // A connection that stood and brought nothing says nothing for the provider, and nothing against it.
    ['silence neither opens nor closes the provider', silence, 504, 'open'],
    ['an answer that cannot be read shows that the provider is there', malformed, 502, 'ready'],
    ['a 500 shows that the provider is there', status(500), 500, 'ready'],
  ] as const)('%s', async (_what, other, seenStatus, state) => {
    const names = ['a', 'b', 'c']
    const plane = await startDataPlane({
      providers: [{ kind: 'openai', baseUrl: `${origin}/v1` }],
      routes: names.map((name) => makeRoute(name, [makeTarget(`openai:${name}`)], { retries: 0 })),
      timeouts: { firstByte: 400 },
    })
    onTestFinished(() => plane.stop())
    const ask = async (model: string, acts: Act) => {
      act = acts
      const answer = await fetch(`${plane.baseUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${plane.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, messages: [] }),
      })
      await answer.text()
      await plane.record(answer.headers.get('x-sp-request-id'))
      return answer.status
    }
    expect([await ask('a', cut), await ask('a', cut), await ask('b', cut)]).toEqual([502, 502, 502])
    expect(await ask('b', other)).toBe(seenStatus)
    expect([await ask('c', cut), await ask('c', cut)]).toEqual([502, 502])
    expect(plane.health(0, 1).state).toBe(state)
    for (const name of names) expect(plane.health(0, 1, name).state).toBe(state)
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
