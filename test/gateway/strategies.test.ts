import http from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { fillPrice } from '../../src/core/cost/model-price.ts'
import type { SnapshotRoute } from '../../src/store/configuration/snapshot.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { closeServer, listen } from '../support/listen.ts'
import { makeRoute, makeTarget } from '../support/snapshot.ts'

type Act = (response: http.ServerResponse) => void

let provider: http.Server
let origin: string
/** By model. */
let acts: Record<string, Act>

const whole = (response: http.ServerResponse, status = 200) => {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(status === 200 ? { choices: [] } : { error: { message: 'no' } }))
}
const streamed = (response: http.ServerResponse) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end('data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')
}
const slowly =
  (ms: number, act: Act = whole): Act =>
  (response) =>
    setTimeout(() => act(response), ms)

beforeAll(async () => {
  provider = http.createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    acts[/"model":"([^"]*)"/.exec(text)?.[1] ?? '']?.(response)
  })
  origin = `${await listen(provider)}/v1`
})
afterAll(() => closeServer(provider))
beforeEach(() => {
  acts = {}
})

async function start(strategy: SnapshotRoute['strategy'], models: string[]): Promise<DataPlane> {
  const targets = models.map((model) => makeTarget(`openai:${model}`))
  const plane = await startDataPlane({
    providers: [{ kind: 'openai', baseUrl: origin }],
    routes: [makeRoute('smart', targets, { strategy, retries: 0 })],
  })
  onTestFinished(() => plane.stop())
  return plane
}

async function ask(plane: DataPlane, more: object = {}) {
  const answer = await fetch(`${plane.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${plane.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'smart', messages: [], ...more }),
  })
  await answer.text()
  const record = await plane.record(answer.headers.get('x-sp-request-id'))
  const says = record.routing_signals.filter(({ rule }) => rule === 'strategy').map(({ text }) => text)
  return { status: answer.status, tried: record.attempts.map((each) => each.upstream_model), says: says.join(' ') }
}

/** Until it has been tried first; the others have been by then. */
async function meet(plane: DataPlane, model: string, more: object = {}): Promise<void> {
  while ((await ask(plane, more)).tried[0] !== model);
}

describe('a route by latency', () => {
  it('sends calls to the target that answers sooner', async () => {
    const plane = await start('latency', ['slow', 'quick'])
    acts = { slow: slowly(700), quick: whole }
    await meet(plane, 'slow')
    await meet(plane, 'quick')
    for (let count = 0; count < 6; count++) expect((await ask(plane)).tried).toEqual(['quick'])
    expect((await ask(plane)).says).toMatch(/^Chosen by latency: openai \d+ ms, openai \d+ ms\.$/)
  })

  it('measures streamed calls apart from whole ones', async () => {
    const plane = await start('latency', ['one', 'two'])
    acts = { one: slowly(700), two: whole }
    await meet(plane, 'one')
    await meet(plane, 'two')
    acts = { one: streamed, two: slowly(700, streamed) }
    const { says, tried } = await ask(plane, { stream: true })
    expect(says).toContain('not measured yet, openai not measured yet')
    // The slower one is not tried again once both have been measured.
    await meet(plane, tried[0] === 'one' ? 'two' : 'one', { stream: true })
    for (let count = 0; count < 4; count++) expect((await ask(plane, { stream: true })).tried).toEqual(['one'])
    acts = { one: whole, two: whole }
    expect((await ask(plane)).tried).toEqual(['two'])
  })

  it('takes a failure for the time limit', async () => {
    const plane = await start('latency', ['bad', 'good'])
    acts = { bad: (response) => whole(response, 500), good: slowly(300) }
    await meet(plane, 'bad')
    for (let count = 0; count < 4; count++) expect(await ask(plane)).toMatchObject({ status: 200, tried: ['good'] })
    expect((await ask(plane)).says).toContain('openai 30000 ms')
  })
})

describe('a route by cost', () => {
  const rate = (model: string, input: number, output: number) =>
    fillPrice({ model, vendor: 'openai', source: 'set', version: '2026-01-01', input, output })

  it('sends calls to the cheapest target for this call, and falls back to the next', async () => {
    const plane = await start('cost', ['unknown', 'talker', 'reader'])
    // Dear to read and cheap to write, and the other way round.
    const prices = [rate('talker', 10, 1), rate('reader', 1, 10)]
    const had = plane.hear('has')
    plane.tell({ type: 'prices', prices: { revision: 1, prices } })
    await had
    acts = { unknown: whole, talker: whole, reader: whole }
    const long = [{ role: 'user', content: 'word '.repeat(4000) }]
    expect((await ask(plane, { max_tokens: 10, messages: long })).tried).toEqual(['reader'])
    expect((await ask(plane, { max_tokens: 4000 })).tried).toEqual(['talker'])
    acts.talker = (response) => whole(response, 500)
    acts.reader = (response) => whole(response, 500)
    const { tried, says } = await ask(plane, { max_tokens: 4000 })
    expect(tried).toEqual(['talker', 'reader', 'unknown'])
    expect(says).toMatch(/^Chosen by estimated cost: openai without a price, openai \$0\.004\d*, openai \$0\.04\d*\.$/)
  })
})
