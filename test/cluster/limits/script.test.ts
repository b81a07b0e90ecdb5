import fc from 'fast-check'
import { Redis } from 'iovalkey'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { bucketMs, type LimitCall, type LimitReply, readReply } from '../../../src/cluster/limits/call.ts'
import { limitScript } from '../../../src/cluster/limits/script.ts'
import { Authority } from '../../support/limits/authority.ts'
import { hasRedis, needsRedis, RedisServer } from '../../support/redis-server.ts'

/** The time comes with the call. */
const script = limitScript('{ tonumber(ARGV[2]), tonumber(ARGV[3]) }')
const start = 1_000_000_000_000

/** One call of a trace, in numbers that stand for what a node may say at that moment. */
const steps = fc.record({
  node: fc.nat(2),
  life: fc.nat(40),
  passedMs: fc.oneof({ weight: 4, arbitrary: fc.nat(2000) }, fc.nat(80_000)),
  run: fc.nat(60),
  epoch: fc.nat(30),
  doubt: fc.nat(60),
  behind: fc.nat(8),
  whole: fc.nat(4),
  known: fc.nat(6),
  late: fc.nat(9),
  rows: fc.array(
    fc.record({
      limit: fc.constantFrom(0, 2, 5, 60, 1_000_000),
      slots: fc.boolean(),
      want: fc.nat(30),
      need: fc.nat(4),
      share: fc.integer({ min: -1, max: 6 }),
      known: fc.nat(12),
      held: fc.array(fc.nat(9), { minLength: 7, maxLength: 7 }),
    }),
    { maxLength: 3 },
  ),
})
type Step = typeof steps extends fc.Arbitrary<infer Value> ? Value : never

describe.skipIf(!hasRedis)(`the script of limits (${needsRedis})`, () => {
  let server: RedisServer
  let redis: Redis
  beforeAll(async () => {
    server = await RedisServer.start()
    redis = new Redis(server.port, '127.0.0.1')
  })
  afterAll(async () => {
    redis?.disconnect()
    await server?.remove()
  })

  beforeEach(async () => void (await redis.flushall()))

  const ask = async (node: string, life: string, seconds: number, more: Partial<LimitCall>): Promise<LimitReply> => {
    const now = start + seconds * 1000
    const call = { ...calm, node, life, bucket: Math.floor(now / bucketMs), ...more }
    const answer = await redis.eval(script, 2, 'state', 'row', JSON.stringify(call), Math.floor(now / 1000), 0)
    return readReply(answer)
  }

  it('keeps back what a node may have used alone before it died, where the next server is asked first by its next life', async () => {
    const { epoch, tag } = await ask('one', 'one-1', 1, { number: 1 })
    const known = { epoch, tag }
    await ask('one', 'one-1', 2, { ...known, number: 2, ack: start + 1000 })
    await ask('two', 'two-1', 2, { ...known, number: 2, ack: start + 1000 })
    // Its life before was cut off, used its even part until just now, and never spoke to this server.
    const heard = { ...known, known: false }
    expect((await ask('three', 'three-2', 79, { ...heard, number: 1 })).open).toBe(false)
    await ask('three', 'three-2', 79, { ...heard, number: 2, ack: start + 79_000 })
    await ask('two', 'two-1', 80, { ...known, number: 3, ack: start + 79_500 })
    const opened = await ask('one', 'one-1', 81, { ...known, number: 3, ack: start + 80_000, rows: [wanting] })
    expect(opened).toMatchObject({ open: true, rows: [{ given: 12, room: 28 }] })
    // Nor does it forget that when the node starts once more.
    await ask('three', 'three-3', 82, { ...heard, number: 1, ack: start + 81_500 })
    const later = await ask('one', 'one-1', 83, { ...known, number: 4, ack: start + 82_500, rows: [holding] })
    expect(later.rows[0]?.room).toBe(28)
  })

  it('says in how many buckets there is room for what it refuses', async () => {
    const { epoch, tag } = await ask('one', 'one-1', 1, { number: 1 })
    const known = { epoch, tag }
    for (const node of ['one', 'two', 'three'])
      await ask(node, `${node}-1`, 2, { ...known, number: 2, ack: start + 1000 })
    // 30 of a minute's 60 were used in this bucket, and 30 in the next one.
    const used = [60, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0, 0, 30]
    await ask('two', 'two-1', 3, { ...known, number: 3, ack: start + 2000, rows: [used] })
    await ask('three', 'three-1', 12, { ...known, number: 3, ack: start + 11_000, rows: [used] })
    const alive = { ...known, ack: start + 12_500 }
    await ask('two', 'two-1', 13, { ...alive, number: 4 })
    const asks = async (need: number, number: number) => {
      const rows = [[60, 0, need, need, 0, 0, 0, 0, 0, 0, 0, 0, 0]]
      const reply = await ask('one', 'one-1', 13, { ...alive, number, rows })
      return reply.rows.map(({ given, frees }) => [given, frees])
    }
    expect(await asks(1, 3)).toEqual([[0, 6]])
    expect(await asks(31, 4)).toEqual([[0, 7]])
    // More than all leaves with these.
    expect(await asks(61, 5)).toEqual([[0, 0]])
  })

  it('does what the model does that the simulations run', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 5, maxLength: 60 }), async (trace) => {
        await redis.flushall()
        const authority = new Authority()
        let now = start
        let seen = { epoch: 0, tag: '' }
        for (const [index, step] of trace.entries()) {
          now += step.passedMs
          const call = toCall(step, { now, number: index + 1, seen })
          const keys = call.rows.map((_, place) => `row:${place}`)
          const time = [Math.floor(now / 1000), (now % 1000) * 1000]
          const answer = await redis.eval(script, keys.length + 1, 'state', ...keys, JSON.stringify(call), ...time)
          const reply = authority.answer(call, keys, now)
          expect(readReply(answer)).toEqual(reply)
          seen = reply
        }
      }),
      { numRuns: 100 },
    )
  })
})

/** A limit of 60, of which a request of 12 waits. */
const wanting = [60, 0, 12, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0]

/** It was granted. */
const holding = [60, 0, 0, 0, -1, 1, 0, 0, 0, 0, 0, 0, 12]

const calm: Omit<LimitCall, 'node' | 'life' | 'bucket'> = {
  ...{ run: 'run-a', epoch: 0, tag: '', doubt: false, number: 1, members: ['one', 'two', 'three'] },
  ...{ whole: true, known: true, ack: 0, rows: [] },
}

function toCall(
  step: Step,
  { now, number, seen }: { now: number; number: number; seen: { epoch: number; tag: string } },
) {
  const { node, life, run, epoch, doubt, behind, whole, known, late, rows } = step
  const call: LimitCall = {
    run: run === 0 ? 'run-b' : 'run-a',
    epoch: epoch === 0 ? seen.epoch + 1 : epoch === 1 ? Math.max(0, seen.epoch - 1) : seen.epoch,
    tag: epoch === 2 ? 'another' : seen.tag,
    doubt: doubt === 0,
    node: `node-${node}`,
    life: `${node}:${life === 0 ? 1 : 0}`,
    number: late === 0 ? number - 3 : number,
    members: ['node-0', 'node-1', ...(known === 1 ? [] : ['node-2'])],
    whole: whole > 0,
    known: known > 0,
    ack: whole > 1 ? now - whole * 100 : 0,
    bucket: Math.floor(now / bucketMs) - (behind === 0 ? 1 : 0),
    rows: rows.map(({ limit, slots, want, need, share, known, held }) => [
      ...[limit, slots ? 1 : 0, want, need, share, known === 0 ? 1 : 0],
      ...(slots ? held.slice(0, 1) : held),
    ]),
  }
  return call
}
