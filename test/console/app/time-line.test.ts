import { describe, expect, it } from 'vitest'
import { drawTimeLine, ticksOf } from '../../../src/console/app/areas/requests/time-line-spans.ts'
import type { AttemptRecord, RequestRecord } from '../../../src/core/record.ts'
import { sampleRecord } from '../../support/sample-record.ts'

const attempt = (more: Partial<AttemptRecord>): AttemptRecord => ({
  provider: 'openai',
  upstream_model: 'm',
  status: 200,
  outcome: 'answered',
  started_ms: 10,
  connected_ms: 20,
  first_byte_ms: 300,
  ended_ms: 900,
  message: null,
  cost: null,
  ...more,
})
const draw = (more: Partial<RequestRecord>) => drawTimeLine({ ...sampleRecord(), ...more })

describe('the time line of a record', () => {
  it('divides an attempt into connecting, waiting and content', () => {
    const { lanes, totalMs } = draw({ attempts: [attempt({})], duration_ms: 1000, first_byte_ms: 310, timeline: [] })
    expect(totalMs).toBe(1000)
    expect(lanes.find(({ key }) => key === 'attempt-0')?.spans).toEqual([
      { part: 'connect', fromMs: 10, toMs: 20 },
      { part: 'wait', fromMs: 20, toMs: 300 },
      { part: 'content', fromMs: 300, toMs: 900 },
    ])
  })

  it.each<[string, Partial<AttemptRecord>, string]>([
    ['is under way', { outcome: 'started', first_byte_ms: null, ended_ms: null }, 'connect 10-20, wait 20-1000'],
    ['is being answered', { outcome: 'started', ended_ms: null }, 'connect 10-20, wait 20-300, content 300-1000'],
    ['used an open connection', { connected_ms: null }, 'wait 10-300, content 300-900'],
    ['never began to answer', { first_byte_ms: null }, 'connect 10-20, wait 20-900'],
    ['failed while it connected', { outcome: 'retry', connected_ms: null, ended_ms: 50 }, 'failed 10-50'],
    ['failed later', { outcome: 'provider_timeout', ended_ms: 50 }, 'connect 10-20, failed 20-50'],
    ['failed without an end', { outcome: 'cancelled', ended_ms: null }, 'connect 10-20, failed 20-1000'],
    ['failed at once', { outcome: 'fallback', connected_ms: null, ended_ms: 10 }, 'failed 10-10'],
    ['failed as soon as it had connected', { outcome: 'fallback', ended_ms: 20 }, 'connect 10-20'],
    ['ended before it had connected, by a clock put back', { outcome: 'retry', ended_ms: 5 }, 'connect 10-20'],
    ['answered at once', { connected_ms: 10, first_byte_ms: 10, ended_ms: 10 }, 'content 10-10'],
  ])('shows what took the time of an attempt that %s', (_what, change, spans) => {
    const { lanes } = draw({ attempts: [attempt(change)], duration_ms: 1000, first_byte_ms: null, timeline: [] })
    const drawn = lanes.find(({ key }) => key === 'attempt-0')?.spans ?? []
    expect(drawn.map(({ part, fromMs, toMs }) => `${part} ${fromMs}-${toMs}`).join(', ')).toBe(spans)
  })

  it.each<[string, RequestRecord['timeline'], number, string]>([
    ['the last byte', [{ event: 'last_byte', at_ms: 700 }], 310, '310-700'],
    [
      'the end, where that is later',
      [
        { event: 'last_byte', at_ms: 7 },
        { event: 'done', at_ms: 800 },
      ],
      310,
      '310-800',
    ],
    ['now, while it is under way', [{ event: 'admitted', at_ms: 1 }], 310, '310-1000'],
    ['its first byte, where nothing came after it', [{ event: 'done', at_ms: 300 }], 310, '310-310'],
  ])('answers the client until %s', (_what, timeline, first, shown) => {
    const { lanes } = draw({ attempts: [], duration_ms: 1000, first_byte_ms: first, timeline })
    expect(lanes.at(-1)?.spans.map(({ part, fromMs, toMs }) => `${part} ${fromMs}-${toMs}`)).toEqual([
      `answer ${shown}`,
    ])
  })

  it.each<[string, Partial<AttemptRecord>, string]>([
    ['answered', {}, 'openai:m | Attempt 1: 200'],
    ['was aborted', { outcome: 'aborted' }, 'openai:m | Attempt 1: 200, cancelled'],
    ['names no model', { upstream_model: '' }, 'openai | Attempt 1: 200'],
    ['broke off', { outcome: 'provider_cut' }, 'openai:m | Attempt 1: 200, broke off after 890 ms'],
    ['broke off at a time unknown', { outcome: 'provider_cut', ended_ms: null }, '200, broke off after 990 ms'],
  ])('says how an attempt ended that %s', (_what, change, said) => {
    const { lanes } = draw({ attempts: [attempt(change)], duration_ms: 1000, first_byte_ms: null, timeline: [] })
    expect(lanes.map(({ name, note }) => `${name} | ${note}`).at(-1)).toContain(said)
  })

  it('of what is under way is as long as what is known of it', () => {
    const timeline: RequestRecord['timeline'] = [{ event: 'admitted', at_ms: 4 }]
    const { lanes, totalMs } = draw({ attempts: [], duration_ms: null, first_byte_ms: null, timeline })
    expect(totalMs).toBe(4)
    expect(lanes.map(({ name, note }) => `${name} | ${note}`)).toEqual(['Gateway | Received, admitted, planned'])
  })

  it('begins with what the gateway did itself: until it admitted, else until its first attempt', () => {
    const gateway = (timeline: RequestRecord['timeline']) =>
      draw({ attempts: [attempt({})], timeline }).lanes.find(({ key }) => key === 'gateway')?.spans
    expect(gateway([{ event: 'admitted', at_ms: 4 }])).toEqual([{ part: 'admit', fromMs: 0, toMs: 4 }])
    expect(gateway([])).toEqual([{ part: 'admit', fromMs: 0, toMs: 10 }])
  })

  it('keeps a failed attempt apart, and is as long as the last of all ends', () => {
    const failed = attempt({ outcome: 'fallback', status: 429, first_byte_ms: 210, ended_ms: 210 })
    const second = attempt({
      provider: 'azure',
      started_ms: 211,
      connected_ms: null,
      first_byte_ms: 400,
      ended_ms: 1400,
    })
    const { lanes, totalMs } = draw({
      attempts: [failed, second],
      duration_ms: 1300,
      first_byte_ms: null,
      timeline: [],
    })
    expect(totalMs).toBe(1400)
    expect(lanes.map(({ name }) => name)).toEqual(['Gateway', 'openai:m', 'azure:m'])
    expect(lanes[1]?.spans.map(({ part }) => part)).toEqual(['connect', 'failed'])
    expect(lanes[2]?.spans.map(({ part }) => part)).toEqual(['wait', 'content'])
  })

  it('draws the wait before the next attempt, every attempt, and what was skipped', () => {
    const first = attempt({ outcome: 'retry', status: 429, started_ms: 10, ended_ms: 50 })
    const again = attempt({ outcome: 'fallback', status: 429, started_ms: 700, connected_ms: 701, ended_ms: 710 })
    const last = attempt({ provider: 'azure', started_ms: 711, connected_ms: 712, first_byte_ms: 720, ended_ms: 740 })
    const skipped = {
      rule: 'target',
      verdict: 'skipped' as const,
      text: 'groq (llama): paused for 6 s after repeated failures.',
    }
    const error = { code: 'provider_bad_response', origin: 'provider', message: 'cut' } as const
    const { lanes } = draw({ attempts: [first, again, last], routing_signals: [skipped], duration_ms: 740, error })
    expect(lanes.map(({ name, note }) => `${name} | ${note}`).slice(0, 5)).toEqual([
      'Gateway | Received, admitted, planned',
      'groq (llama) | Skipped: paused for 6 s after repeated failures',
      'openai:m | Attempt 1: 429, tried again',
      'openai:m | Attempt 2: 429, fell back',
      'azure:m | Attempt 3: 200, broke off after 29 ms',
    ])
    expect(lanes[3]?.spans[0]).toEqual({ part: 'pause', fromMs: 50, toMs: 700 })
    expect(lanes[4]?.spans.at(-1)?.part).toBe('failed')
  })

  it('shows a refusal that took no time as one lane', () => {
    const { lanes } = draw({ attempts: [], duration_ms: 1, first_byte_ms: null, timeline: [] })
    expect(lanes).toEqual([
      { key: 'gateway', name: 'Gateway', note: 'Ended here', spans: [{ part: 'admit', fromMs: 0, toMs: 1 }] },
    ])
  })

  it.each([
    [9, [0, 2, 4, 6, 8]],
    [1900, [0, 500, 1000, 1500]],
    [1400, [0, 200, 400, 600, 800, 1000, 1200, 1400]],
    [0.8, [0, 0.2, 0.4, 0.6, 0.8]],
    [2000, [0, 500, 1000, 1500, 2000]],
  ])('has round figures below it: %d ms', (totalMs, moments) => {
    expect(ticksOf(totalMs).map((ms) => Number(ms.toPrecision(6)))).toEqual(moments)
  })
})
