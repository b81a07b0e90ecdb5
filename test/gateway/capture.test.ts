import { zstdDecompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { CapturedBody, CaptureMode } from '../../src/core/capture.ts'
import type { BodyEntry, JournalEntry } from '../../src/core/journal-format.ts'
import { beginCapture } from '../../src/gateway/capture/capture.ts'
import { bodyBytes, CaptureBudget } from '../../src/gateway/capture/kept-bytes.ts'
import type { Gateway } from '../../src/gateway/gateway.ts'
import type { Arrival } from '../../src/gateway/request/arrival.ts'
import type { RequestCaller } from '../../src/gateway/request/call.ts'
import type { EffectivePolicy } from '../../src/policy/effective.ts'
import { mintBodyKey, openBody } from '../../src/sealing/body-seal.ts'

const end = { status: 200, error: null, tokens: null }

const signal = { rule: 'capture', verdict: 'note', text: 'p keeps them.', data: { policy: 'p' } } as const

/** As much of gateway, arrival and caller as keeping bodies takes. */
function setUp({
  mode = 'full' as CaptureMode,
  degraded = null as string | null,
  key = true,
  body = '{}',
  presented = null as string | null,
  retention = null as NonNullable<EffectivePolicy['capture']>['retention'],
  query = '',
} = {}) {
  const journaled: BodyEntry[] = []
  const append = async (entry: JournalEntry) => void (entry.kind === 'body' && journaled.push(entry))
  const bodyKey = key ? { id: 'k', key: mintBodyKey() } : null
  const captures = new CaptureBudget()
  const gateway = {
    captureBudget: captures,
    journal: { degraded, append },
    model: { configuration: { bodyKey, providers: new Map() } },
  } as unknown as Gateway
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  const arrival = {
    gateway,
    id: 'req_1',
    receivedAt: 1000,
    trace: { attempts: [], policySignals: [] },
    capture: null,
    path: '/v1/x',
    request: { method: 'POST' },
    body: { bytes: Buffer.from(body), upload: null, lease: null },
    header: (name: string) => headers[name] ?? null,
  } as unknown as Arrival
  beginCapture(arrival, { query, presented } as RequestCaller, { mode, signal, retention })
  const open = (part: string) => {
    const entry = journaled.find((one) => one.part === part)
    const frame = entry && bodyKey && openBody(bodyKey, 'req_1', entry.part, Buffer.from(entry.sealed, 'base64'))
    if (!frame) throw new Error('it does not open')
    return JSON.parse(zstdDecompressSync(frame).toString()) as CapturedBody
  }
  const contentOf = (part: string) => open(part).content ?? ''
  const said = () => arrival.trace.policySignals.map(({ text }) => text)
  return { arrival, journaled, captures, said, open, contentOf }
}

const json = ['content-type', 'application/json']

describe('what keeps bodies', () => {
  it('journals the request and the answer, and gives its memory back', async () => {
    const { arrival, journaled, captures, said } = setUp()
    arrival.capture?.answerHead(json)
    for (const piece of ['{"a":', '1}']) arrival.capture?.answer(Buffer.from(piece))
    expect(captures.taken).toBeGreaterThan(0)
    await arrival.capture?.journal(end)
    expect(journaled.map(({ part, bytes, type }) => [part, bytes, type])).toEqual([
      ['request', 2, 'application/json'],
      ['answer', 7, 'application/json'],
    ])
    expect([said(), captures.taken]).toEqual([['p keeps them.'], 0])
  })

  it('keeps the query without parameters that have the name of a secret', async () => {
    for (const [query, kept] of [
      ['?a=1&b=%20', '/v1/x?a=1&b=%20'],
      ['?key=x', '/v1/x'],
      ['?API_KEY=x&a=1&access-token=x&upload_id=x&X-Amz-Signature=x', '/v1/x?a=1'],
    ] as const) {
      const { arrival, open } = setUp({ query })
      await arrival.capture?.journal(end)
      expect(open('request').head?.path).toBe(kept)
    }
  })

  it('notes until when policies keep them, in each and on the record', async () => {
    const note = { rule: 'bodies_retention', verdict: 'note', text: 'p keeps them for 1s.' } as const
    const { arrival, journaled, said } = setUp({ retention: { ms: 1000, signal: note } })
    arrival.capture?.ownAnswer(json, Buffer.from('{}'))
    await arrival.capture?.journal(end)
    expect(journaled.map(({ until }) => until)).toEqual([2000, 2000])
    expect(said()).toEqual(['p keeps them.', 'p keeps them for 1s.'])
    const none = setUp({ mode: 'none', retention: { ms: 1000, signal: note } })
    expect(none.said()).toEqual(['p keeps them.'])
  })

  it('keeps nothing, and says so, where there is no key, and nothing at all where a policy says none', () => {
    const shut = setUp({ key: false })
    expect([shut.arrival.capture, shut.said()[1]]).toEqual([
      null,
      'The bodies were not kept: there is no key to seal them with.',
    ])
    const none = setUp({ mode: 'none' })
    expect([none.arrival.capture, none.said()]).toEqual([null, ['p keeps them.']])
  })

  it('leaves the memory of a sick journal to records, and says so', async () => {
    const { arrival, journaled, captures, said } = setUp({ degraded: 'the disk is full' })
    arrival.capture?.ownAnswer(json, Buffer.from('{}'))
    await arrival.capture?.journal(end)
    expect([journaled, captures.taken]).toEqual([[], 0])
    expect(said()[1]).toBe('The bodies were not kept: the journal cannot be written.')
  })

  it.each([
    ['compressed', ['content-type', 'application/json', 'content-encoding', 'br'], 'br of application/json'],
    ['an image', ['content-type', 'image/png'], 'image/png'],
  ])('notes type and size of what is %s', async (_, headers, type) => {
    const { arrival, journaled } = setUp()
    arrival.capture?.ownAnswer(headers, Buffer.alloc(2 * bodyBytes, 1))
    await arrival.capture?.journal(end)
    expect(journaled[1]).toMatchObject({ type, bytes: 2 * bodyBytes, truncated: false, masked: false })
    expect(journaled[1]?.sealed.length).toBeLessThan(200)
  })

  it('cuts off what is too large, however it is spread, and stays well below a segment', async () => {
    const noise = Buffer.from(
      Array.from({ length: 3 * bodyBytes }, (_, at) => 32 + ((at * 7919 + (at >> 5) * 104_729) % 94)),
    )
    const { arrival, journaled } = setUp({ body: noise.toString('latin1') })
    arrival.capture?.answerHead(['content-type', 'text/plain'])
    for (let at = 0; at < noise.length; at += 9973) arrival.capture?.answer(noise.subarray(at, at + 9973))
    await arrival.capture?.journal(end)
    expect(journaled).toHaveLength(2)
    for (const { bytes, truncated, sealed } of journaled) {
      expect([bytes, truncated]).toEqual([3 * bodyBytes, true])
      expect(sealed.length).toBeLessThan(1.5 * bodyBytes)
    }
  })

  it.each([0, 1, 30, 63, 64, 65, 500, 1023, 1024, 1025, 1087, 1088])(
    'leaves no part of a secret where a body is cut off, %i bytes before its end',
    async (before) => {
      const presented = `the-${'secret'.repeat(9)}-credential`
      const blob = 'A'.repeat(5000)
      const start = bodyBytes + 1024 - before
      const text = `${blob} ${' '.repeat(start - blob.length - 1)}${presented} and more ${' '.repeat(5000)}`
      for (const mode of ['full', 'redacted'] as const) {
        const { arrival, contentOf } = setUp({ mode, body: text, presented })
        arrival.capture?.answerHead(['content-type', 'text/plain'])
        for (let at = 0; at < text.length; at += 9973) arrival.capture?.answer(Buffer.from(text.slice(at, at + 9973)))
        await arrival.capture?.journal(end)
        for (const part of ['request', 'answer'])
          expect([part, contentOf(part).includes('secret')]).toEqual([part, false])
      }
    },
  )

  it('says that it is cut off where there was no room for more of it', async () => {
    const { arrival, journaled, captures, contentOf } = setUp()
    captures.take(64 * 1024 * 1024 - 20_000)
    arrival.capture?.answerHead(['content-type', 'text/plain'])
    for (let piece = 0; piece < 50; piece++) arrival.capture?.answer(Buffer.alloc(1000, 'x'))
    await arrival.capture?.journal(end)
    expect(journaled[1]).toMatchObject({ bytes: 50_000, truncated: true })
    expect(contentOf('answer').length).toBeLessThan(20_000)
    expect(contentOf('answer').length).toBeGreaterThan(5000)
  })
})
