import { MessageChannel } from 'node:worker_threads'
import { afterEach, expect, it, vi } from 'vitest'
import type { OutboxReport } from '../../../src/cluster/protocol.ts'
import { Shipper } from '../../../src/cluster/records/shipper.ts'
import type { OutboxQuestion } from '../../../src/store/replica/outbox-types.ts'
import { freePort } from '../../support/postgres-server.ts'

const self = { cluster: 'cls_1', member: 'nod_1', incarnation: 'one' }

// Started while PostgreSQL is away, a node does not know yet whether it is still a member.
it.each([self, null])('says what waits also where it has never shipped anything: as %j', async (member) => {
  const { port1, port2 } = new MessageChannel()
  const usage = { usage: 1, usageSince: '2026-11-27T13:00:00.000Z' }
  const waiting = { depth: 3, since: '2026-11-27T14:00:00.000Z', history: false, ...usage }
  port2.on('message', ({ id, act, input }: OutboxQuestion) => {
    port2.postMessage(act === 'state' ? { id, output: waiting } : { id, failure: `${act} ${JSON.stringify(input)}` })
  })
  const reported = Promise.withResolvers<OutboxReport>()
  const server = { host: '127.0.0.1', port: await freePort(), user: 'spgw', database: 'spgw' }
  const shipper = new Shipper({
    ...{ address: { ...server, password: null, authority: null, plain: true }, name: 'gw-a' },
    keeps: { keepMs: 1000, keepBodiesMs: 1000 },
    report: (report) => report.depth > 0 && reported.resolve(report),
    isFollowed: () => false,
    ask: async () => null,
  })
  try {
    shipper.be(member)
    shipper.take(port1)
    const trouble = expect.stringContaining(member === null ? 'since the start of this node' : 'ECONNREFUSED')
    expect(await reported.promise).toEqual({ ...waiting, trouble, isRefused: false })
  } finally {
    await shipper.close()
    port2.close()
  }
})

afterEach(() => void vi.useRealTimers())

it('says what it said before again after some seconds: a thread of which nothing is heard counts as stuck', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const server = { host: '127.0.0.1', port: await freePort(), user: 'spgw', database: 'spgw' }
  const reports: OutboxReport[] = []
  let heard = Promise.withResolvers<void>()
  const shipper = new Shipper({
    ...{ address: { ...server, password: null, authority: null, plain: true }, name: 'gw-a' },
    ...{ keeps: { keepMs: 1000, keepBodiesMs: 1000 }, isFollowed: () => false, ask: async () => null },
    report(report) {
      reports.push(report)
      heard.resolve()
    },
  })
  shipper.be(null)
  await heard.promise
  heard = Promise.withResolvers()
  // Nothing has changed, and nothing does.
  expect(await shipper.flush()).toBe('it ships nothing now')
  expect(reports).toHaveLength(1)
  vi.advanceTimersByTime(6000)
  await shipper.flush()
  await heard.promise
  expect(reports).toEqual([reports[0], reports[0]])
  await shipper.close()
})

it('ends also while nothing comes of what it asked for last', async () => {
  const { port1, port2 } = new MessageChannel()
  const asked = Promise.withResolvers<void>()
  // A store that is asked, and never answers.
  port2.on('message', () => asked.resolve())
  const server = { host: '127.0.0.1', port: await freePort(), user: 'spgw', database: 'spgw' }
  const shipper = new Shipper({
    ...{ address: { ...server, password: null, authority: null, plain: true }, name: 'gw-a' },
    ...{ keeps: { keepMs: 1000, keepBodiesMs: 1000 }, isFollowed: () => false, ask: async () => null },
    report() {},
  })
  shipper.be(self)
  shipper.take(port1)
  await asked.promise
  await shipper.close()
  port2.close()
})
