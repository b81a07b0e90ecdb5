import { describe, expect, it } from 'vitest'
import { fault } from '../../src/core/errors.ts'
import type { Signal } from '../../src/core/record.ts'
import { type AttemptPorts, attempt, type Failure, type Sent } from '../../src/routing/attempt.ts'

type Script = Record<string, Sent<string>[]>

const answered = (answer: string): Sent<string> => ({ kind: 'answered', answer })
const failed = (failure: Partial<Failure<string>> = {}): Sent<string> => ({
  kind: 'failed',
  failure: {
    fault: fault('provider_unreachable'),
    answer: null,
    next: 'retry',
    fallback: true,
    retryAfterMs: null,
    reason: 'reset',
    ...failure,
  },
})

/** Runs a script of outcomes by candidate; says what was sent, what was waited for and noted. */
async function run(script: Script, retries = 1, hangUpAtWait = false) {
  const sent: string[] = []
  const waits: number[] = []
  const notes: Signal[] = []
  const skipped: string[] = []
  const discarded: string[] = []
  const passed: string[] = []
  const ports: AttemptPorts<string, string> = {
    send: async (candidate) => {
      sent.push(candidate)
      return script[candidate]!.shift()!
    },
    wait: async (ms) => {
      waits.push(ms)
      return !hangUpAtWait
    },
    describe: (candidate) => candidate,
    record: (signal) => notes.push(signal),
    recordSkip: (candidate, { reason }) => skipped.push(`${candidate}: ${reason}`),
    random: () => 0,
    discard: (answer) => discarded.push(answer),
    pass: (answer) => passed.push(answer),
  }
  const outcome = await attempt(Object.keys(script), retries, ports)
  return { outcome, sent, waits, notes, skipped, discarded, passed }
}

describe('attempt', () => {
  it('takes the first answer', async () => {
    const { outcome, sent, passed } = await run({ a: [answered('yes')], b: [answered('never')] })
    expect(outcome).toEqual({ kind: 'answered', answer: 'yes', retryAfterMs: null })
    expect([sent, passed]).toEqual([['a'], []])
  })

  it('discards answers that another takes the place of, and not the one that goes out', async () => {
    const own = (answer: string) => failed({ answer, next: 'target' })
    expect((await run({ a: [own('a')], b: [own('b')], c: [answered('c')] })).discarded).toEqual(['a', 'b'])
    const last = await run({ a: [own('a')], b: [own('b')] })
    expect([last.discarded, last.outcome]).toEqual([['a'], { kind: 'answered', answer: 'b', retryAfterMs: null }])
    const skipped = failed({ fault: fault('provider_not_ready'), next: 'target' })
    const first = await run({ a: [own('a')], b: [skipped] })
    expect([first.discarded, first.passed, first.outcome]).toMatchObject([[], ['a'], { answer: 'a' }])
    expect((await run({ a: [own('a')], b: [{ kind: 'gone' }] })).discarded).toEqual(['a'])
  })

  it('retries one target before it falls back, and notes both', async () => {
    const { outcome, sent, notes } = await run({ a: [failed(), failed()], b: [answered('b')] })
    expect(outcome).toMatchObject({ answer: 'b' })
    expect(sent).toEqual(['a', 'a', 'b'])
    expect(notes.map(({ rule }) => rule)).toEqual(['retry', 'fallback'])
  })

  it('says why in one sentence, and of a target that could not be called only that it was skipped', async () => {
    const unreachable = failed({ reason: 'The provider refused the connection. Try again later.' })
    const notReady = failed({ fault: fault('provider_not_ready'), reason: 'paused', next: 'target' })
    const { notes, skipped } = await run({ a: [unreachable, notReady], b: [notReady], c: [answered('c')] })
    expect(notes.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^a: The provider refused the connection; tried again after \d+ ms\.$/),
      'a: The provider refused the connection; fell back to the next target.',
    ])
    expect(skipped).toEqual(['a: paused', 'b: paused'])
  })

  it('passes on why a request cannot be asked of a target only where no other has answered', async () => {
    const untold = failed({ fault: fault('not_translatable'), next: 'target', uncalled: 'format' })
    const first = await run({ a: [untold], b: [untold] })
    expect(first.outcome).toMatchObject({ kind: 'failed', fault: { code: 'not_translatable' } })
    expect(first.skipped).toHaveLength(2)
    const own = await run({ a: [failed({ fault: fault('provider_timeout'), next: 'target' })], b: [untold] })
    expect(own.outcome).toMatchObject({ kind: 'failed', fault: { code: 'provider_timeout' } })
  })

  it('waits as long as a provider asks, and leaves one that asks for more than 5 s to the next', async () => {
    expect((await run({ a: [failed({ retryAfterMs: 3000 }), answered('a')] })).waits).toEqual([3000])
    const { sent, waits } = await run({ a: [failed({ retryAfterMs: 6000 })], b: [answered('b')] })
    expect([sent, waits]).toEqual([['a', 'b'], []])
  })

  it('tries another credential of the same target at once', async () => {
    const { sent, waits } = await run({ a: [failed({ next: 'credential' }), answered('a')] }, 0)
    expect([sent, waits]).toEqual([['a', 'a'], []])
  })

  it("passes the last provider's own error, with a wait that is true of the whole route", async () => {
    const asked = (answer: string, retryAfterMs: number | null) => failed({ answer, retryAfterMs, next: 'target' })
    expect((await run({ a: [asked('a', 9000)], b: [asked('b', 90_000)] })).outcome).toEqual({
      kind: 'answered',
      answer: 'b',
      retryAfterMs: 9000,
    })
    expect((await run({ a: [asked('a', null)], b: [asked('b', 90_000)] })).outcome).toMatchObject({
      retryAfterMs: null,
    })
  })

  it('ends with the fault when there is no error to pass', async () => {
    expect((await run({ a: [failed({ next: 'target' })] })).outcome).toMatchObject({
      kind: 'failed',
      fault: { code: 'provider_unreachable' },
    })
  })

  it('keeps what a target answered when it, or the next, cannot be asked any more', async () => {
    const notReady = failed({ fault: fault('provider_not_ready'), next: 'target' })
    expect((await run({ a: [failed(), notReady] })).outcome).toMatchObject({ fault: { code: 'provider_unreachable' } })
    expect((await run({ a: [failed({ answer: 'a', next: 'target' })], b: [notReady] })).outcome).toMatchObject({
      kind: 'answered',
      answer: 'a',
    })
    expect((await run({ a: [notReady], b: [failed({ next: 'target' })] })).outcome).toMatchObject({
      fault: { code: 'provider_unreachable' },
    })
    expect((await run({ a: [notReady], b: [notReady] })).outcome).toMatchObject({
      fault: { code: 'provider_not_ready' },
    })
  })

  it('stops where the conditions of the route do not let it fall back', async () => {
    const { sent } = await run({ a: [failed({ fallback: false, next: 'target' })], b: [answered('b')] })
    expect(sent).toEqual(['a'])
  })

  it('ends when the client hangs up, also during a wait', async () => {
    expect((await run({ a: [{ kind: 'gone' }], b: [answered('b')] })).outcome).toEqual({ kind: 'gone' })
    const { outcome, sent } = await run({ a: [failed(), answered('a')], b: [answered('b')] }, 1, true)
    expect([outcome, sent]).toEqual([{ kind: 'gone' }, ['a']])
  })
})
