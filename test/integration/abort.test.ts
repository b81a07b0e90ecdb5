import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LaneName } from '../../src/core/lane.ts'
import type { RequestRecord } from '../../src/core/record.ts'
import { laneCalls } from '../support/lane-calls.ts'
import { open, type RawExchange, send } from '../support/raw-http.ts'
import { type Stage, setStage } from '../support/stage.ts'

let stage: Stage

const filler = 'x'.repeat(8_000)
const contentEvents: Record<LaneName, string> = {
  openai: `data: {"choices":[{"index":0,"delta":{"content":"${filler}"}}]}\n\n`,
  // The block's start is the first content here; a delta alone would be held back with what precedes content.
  anthropic: `event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"${filler}"}}\n\n`,
  gemini: `data: {"candidates":[{"content":{"parts":[{"text":"${filler}"}]}}]}\r\n\r\n`,
}

beforeAll(async () => {
  stage = await setStage()
})
afterAll(() => stage.close())

describe.each(laneCalls)('a client of the $lane lane hangs up', (lane) => {
  function start(stream: boolean): RawExchange {
    const { path, body } = lane.call(stage.models[lane.lane], { stream })
    const headers: [string, string][] = [lane.credential(stage.key), ['content-type', 'application/json']]
    return open(stage.gateway.baseUrl + path, { headers, body })
  }

  /** No answer reached the client, so its record is found as the newest of the lane. */
  async function newestRecord(): Promise<RequestRecord> {
    const [newest] = await stage.gateway.admin.requests.list({ lane: lane.lane, limit: 1 })
    return stage.gateway.record(newest?.id ?? '')
  }

  function expectClosed(record: RequestRecord): void {
    expect(record).toMatchObject({ state: 'settled', status: 499, error: { code: 'client_closed', origin: 'client' } })
    expect(record.attempts.at(-1)).toMatchObject({ provider: lane.lane, outcome: 'aborted' })
  }

  it.each([
    ['streamed', true],
    ['whole', false],
  ])('before the headers, %s', async (_name, stream) => {
    const mock = stage.mocks[lane.lane]
    const turn = mock.next({ hold: { before: 'headers' } })
    const exchange = start(stream)
    await turn.call
    exchange.abort()
    expect(await turn.abort).toMatchObject({ phase: 'before-headers', bytes: 0 })
    expectClosed(await newestRecord())
  })

  it('before the first byte', async () => {
    const turn = stage.mocks[lane.lane].next({ hold: { before: 'first-byte' } })
    const exchange = start(true)
    await turn.call
    exchange.abort()
    expect(await turn.abort).toMatchObject({ bytes: 0 })
    expectClosed(await newestRecord())
  })

  it('mid-stream', async () => {
    const turn = stage.mocks[lane.lane].next({ hold: { before: lane.firstContent + 1 } })
    const exchange = start(true)
    await exchange.received(lane.contentMark)
    exchange.abort()
    expect(await turn.abort).toMatchObject({ phase: 'mid-stream', events: lane.firstContent + 1 })
    const requestId = (await exchange.head).headers['x-sp-request-id']
    const record = await stage.gateway.record(String(requestId))
    expectClosed(record)
    expect(record.response_bytes).toBeGreaterThan(0)
  })

  it('mid-stream, with a reader that had stopped reading', async () => {
    // More than all buffers on the way hold, so that the gateway is held back when the client goes.
    const turn = stage.mocks[lane.lane].next({ flood: { event: contentEvents[lane.lane], times: 4000 } })
    const exchange = start(true)
    const response = await exchange.head
    response.pause()
    await turn.call
    exchange.abort()
    expect((await turn.abort).phase).toBe('mid-stream')
    expectClosed(await stage.gateway.record(String(response.headers['x-sp-request-id'])))
  })

  it('during a retry’s wait: nothing more is sent', async () => {
    const mock = stage.mocks[lane.lane]
    const calls = mock.calls.length
    const turn = mock.next({ status: 503, headers: { 'retry-after': '4' } })
    const exchange = start(true)
    await (await turn.call).finished
    // Round trips through the same listener: the gateway has read the 503 by then.
    for (let trip = 0; trip < 4; trip++) await send(`${stage.gateway.baseUrl}/healthz`, { method: 'GET' })
    exchange.abort()
    const record = await newestRecord()
    expect(record).toMatchObject({ status: 499, error: { code: 'client_closed' } })
    expect(record.attempts).toMatchObject([{ status: 503 }])
    expect(mock.calls.length).toBe(calls + 1)
  })
})
